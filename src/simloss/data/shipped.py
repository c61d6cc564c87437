"""The two tables that are shipped with the package."""

import csv
from importlib.resources import files

import torch

from .dataset import Dataset

_CUT = ("Fair", "Good", "Very Good", "Premium", "Ideal")
_COLOR = "JIHGFED"  # worst to best
_CLARITY = ("I1", "SI2", "SI1", "VS2", "VS1", "VVS2", "VVS1", "IF")


def _rows(name: str) -> list[dict[str, str]]:
    text = files("simloss.data").joinpath("tables", f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def diamonds() -> Dataset:
    """4,000 diamonds; the class is the percentile of the price, 100 ordered classes.

    From the `diamonds` data of ggplot2 (MIT licence). Cut, colour and clarity are graded, so they
    become ranks.

    Example:
        >>> diamonds()
        Dataset(diamonds: 4,000 examples of 9, 100 classes)
    """
    rows = _rows("diamonds")
    features = [
        [
            *(float(row[name]) for name in ("carat", "depth", "table", "x", "y", "z")),
            float(_CUT.index(row["cut"])),
            float(_COLOR.index(row["color"])),
            float(_CLARITY.index(row["clarity"])),
        ]
        for row in rows
    ]
    return Dataset(
        name="diamonds",
        inputs=torch.tensor(features),
        labels=torch.tensor([int(row["price_percentile"]) for row in rows]),
        class_names=tuple(str(percentile) for percentile in range(100)),
        notes={"unit": "percentiles of the price"},
    )


def abalone() -> Dataset:
    """4,177 abalones; the class is the age in rings, 1 to 29.

    Nash et al. 1994, UCI Machine Learning Repository (CC BY 4.0). Sex is M, F or I (infant), one
    column each.

    Example:
        >>> abalone()
        Dataset(abalone: 4,177 examples of 10, 29 classes)
    """
    rows = _rows("abalone")
    measures = [name for name in rows[0] if name not in ("sex", "rings")]
    features = [
        [float(row[name]) for name in measures] + [float(row["sex"] == sex) for sex in "MFI"]
        for row in rows
    ]
    return Dataset(
        name="abalone",
        inputs=torch.tensor(features),
        labels=torch.tensor([int(row["rings"]) - 1 for row in rows]),
        class_names=tuple(str(rings) for rings in range(1, 30)),
        notes={"unit": "rings"},
    )
