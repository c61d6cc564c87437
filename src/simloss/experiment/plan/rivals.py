"""Which rivals a comparison has, and what is to be said about them."""

from collections.abc import Sequence

from ... import _checks, metrics
from ...data import Dataset
from .alternatives import RIVALS
from .config import Config
from .treatment import Treatment

NONE = "none"
# Measured in benchmarks/regression.py: with 24 rows per class a boosted classifier's mean error was
# 1.6 times that of a boosted regression; from 80 on they were alike.
_FEW_ROWS = 50
# Features of an encoder are more. On 384 of them (CEFR, MiniLM) one run of boosted trees took a
# hundred times as long as a net, and its mean error was higher: .50 against .47.
_MOST_FEATURES = 256


def rivals_for(
    named: Sequence[str] | None, dataset: Dataset, measured: Sequence[str]
) -> tuple[Treatment, ...]:
    """The rivals asked for, or all that suit: on a table, those for classes like these.

    Boosted trees on the features of an encoder only if they are named.

    Args:
        named: names in `RIVALS`, or "none" alone; None for all that suit.
        dataset: what is learned.
        measured: the metrics; those of an order say that the classes have one.
    """
    is_table = dataset.inputs.ndim == 2
    has_order = any("order" in metrics.find(name).needs for name in measured)
    if named is None:
        by_square = {"regression-l2"} if measured[0] != "mse" else set()
        suiting = [name for name, each in RIVALS.items() if has_order or each.needs is None]
        slow = {name for name in suiting if _is_slow(name, dataset)}
        named = [name for name in suiting if name not in by_square | slow] if is_table else []
    if list(named) == [NONE]:
        return ()
    for name in named:
        _checks.choice("rivals", name, (*RIVALS, NONE))
        if name == NONE:
            raise ValueError(f"`--rivals` {NONE} must stand alone, but got {' '.join(named)}.")
        if not is_table:
            raise ValueError(f"`--rivals` are for tables, but {dataset.name} has images.")
        if RIVALS[name].needs and not has_order:
            raise ValueError(
                f"`--rivals` {name} needs classes in an order, which is not what is measured here."
            )
    return tuple(Treatment(name) for name in dict.fromkeys(named))


def _is_slow(name: str, dataset: Dataset) -> bool:
    return RIVALS[name].learner == "trees" and dataset.input_shape[0] > _MOST_FEATURES


def notes_on(config: Config, dataset: Dataset) -> list[str]:
    """What a user should know about the rivals, a sentence each."""
    names = {treatment.loss for treatment in config.treatments}
    if "linear" in names and "boosting" not in names and _is_slow("boosting", dataset):
        count = f"{dataset.input_shape[0]:,} features"
        return [f"Boosted trees take long on {count}; --rivals boosting linear has them."]
    rows = config.split.shares[0] * config.split.train_share * len(dataset) / dataset.num_classes
    if "boosting" not in names or rows >= _FEW_ROWS:
        return []
    remedy = "; boosted regression needs fewer" if "boosted-regression" in names else ""
    return [f"Note: {rows:.0f} training rows per class are few for boosted trees{remedy}."]


def time_share(records: Sequence[dict[str, object]]) -> str | None:
    """How much of the training time the rivals took, in a sentence; None where there are none."""
    seconds = {True: 0.0, False: 0.0}
    for record in records:
        took = record.get("seconds")
        if isinstance(took, dict):
            seconds[record["treatment"]["loss"] in RIVALS] += took["total"]  # type: ignore[index]
    if not seconds[True]:
        return None
    share = seconds[True] / sum(seconds.values())
    return f"Rivals took {share:.0%} of the training time ({seconds[True]:.0f} s)."
