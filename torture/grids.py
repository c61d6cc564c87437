"""A grid that takes a fraction of a second, and what must be true of its folder at any moment."""

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch import nn

from simloss.experiment import UsersName
from simloss.experiment.grid.run import cells_of, run
from simloss.experiment.grid.setup import Setup
from simloss.experiment.grid.store import RunFolder
from simloss.experiment.plan.config import Config, DataConfig, TrainingConfig
from simloss.experiment.plan.treatment import Treatment

# Not part of a result: how long it took, on how many threads.
_ASIDE = ("seconds", "threads")


def lone_net(shape: tuple[int, ...], classes: int) -> nn.Module:
    """A net that is not a plain chain, so that its cells are trained and recorded one by one."""
    return nn.Sequential(nn.Linear(shape[0], 8), nn.LayerNorm(8), nn.Linear(8, classes))


def write_table(path: Path, rows: int = 120) -> Path:
    """A small table of three ordered classes."""
    chance = random.Random(0)
    lines = ["weight,length,size"]
    for _ in range(rows):
        size = chance.randrange(3)
        weight, length = chance.gauss(size, 0.7), chance.gauss(-size, 0.7)
        lines.append(f"{weight:.3f},{length:.3f},{'SML'[size]}")
    path.write_text("\n".join(lines) + "\n")
    return path


def tiny_grid(folder: Path, *, stacked: bool, seeds: int = 4, epochs: int = 4) -> Config:
    """Two treatments x seeds on a small table that is written to `folder`."""
    table = write_table(folder / "sizes.csv")
    return Config(
        name="torture",
        data=DataConfig("table", str(table), {"target": "size", "class_order": ["S", "M", "L"]}),
        model="mlp" if stacked else UsersName("torture.grids:lone_net"),
        treatments=(Treatment("cross-entropy"), Treatment("simloss", "order", 0.5)),
        seeds=tuple(range(seeds)),
        metrics=("mae", "accuracy"),
        rules=("argmax", "median"),
        training=TrainingConfig(epochs=epochs, patience=epochs, batch_size=32, device="cpu"),
    )


def with_data_at(config: Config, path: Path) -> Config:
    """The same grid with its table elsewhere."""
    return replace(config, data=replace(config.data, path=str(path)))


def comparable(folder: RunFolder) -> dict[str, dict[str, Any]]:
    """Every record without times, by cell."""
    return {
        record["cell"]: {k: v for k, v in record.items() if k not in _ASIDE}
        for record in folder.records()
    }


def tables_of(folder: Path) -> dict[str, str]:
    """The report's tables as text."""
    from simloss.report.judge.run import Run
    from simloss.report.tables.csv_table import csv_of
    from simloss.report.tables.latex import latex_of
    from simloss.report.tables.markdown import markdown_of

    verdict = Run.read(folder).verdict
    return {"csv": csv_of(verdict), "md": markdown_of(verdict), "tex": latex_of(verdict)}


class Witness:
    """Remembers every recorded line, and checks that it still exists exactly once.

    It reads the file directly, not through the package.
    """

    def __init__(self, config: Config, folder: RunFolder, whole: Path) -> None:
        self.config, self.folder = config, folder
        self.expected = comparable(RunFolder(whole))
        self.tables = tables_of(whole)
        self.lines: dict[str, str] = {}

    def look(self) -> int:
        """Check the current state; returns how many cells are recorded."""
        counted = complete_lines(self.folder.records_path)
        cells = [json.loads(line)["cell"] for line in counted]
        assert len(cells) == len(set(cells)), f"{self.folder.path}: a cell is recorded twice"
        now = dict(zip(cells, counted, strict=True))
        for cell, line in self.lines.items():
            assert now.get(cell) == line, f"{self.folder.path}: the record of {cell} is lost"
        for cell in now:
            assert self.folder.sidecar(cell), f"{self.folder.path}: {cell} has no arrays"
        self.lines = now
        return len(now)

    def conclude(self) -> None:
        """Check a finished grid: the records and tables of one that was never interrupted."""
        assert self.look() == len(cells_of(self.config))
        assert len(self.folder.records_path.read_bytes().splitlines()) == len(self.lines)
        assert comparable(self.folder) == self.expected, f"{self.folder.path}: other records"
        assert tables_of(self.folder.path) == self.tables, f"{self.folder.path}: other tables"
        left = [p.name for p in self.folder.path.rglob(".*") if p.is_file()]
        assert not [name for name in left if name.startswith(".records")], left


def complete_lines(path: Path) -> list[str]:
    """The lines that count: those of a stack only if all of them exist."""
    if not path.exists():
        return []
    content = path.read_bytes()
    lines = content[: content.rfind(b"\n") + 1].decode().splitlines()
    counted: list[str] = []
    while len(counted) < len(lines):
        together = json.loads(lines[len(counted)])["together"]
        some = lines[len(counted) : len(counted) + together]
        if len(some) < together:
            break
        counted += some
    return counted


def uninterrupted(config: Config, path: Path) -> Path:
    """The same grid, run to its end at once."""
    run(Setup(config), RunFolder(path))
    return path
