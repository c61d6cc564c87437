"""Ready configurations: the paper's experiments, and the comparison on the shipped tables."""

from collections.abc import Sequence

from ... import _checks
from . import sources
from .comparison import comparison_on
from .config import Config, DataConfig, TrainingConfig
from .propose import proposal
from .similarities import values_of
from .treatment import treatments

ORDER_METRICS = ("mae", "mse", "accuracy")
TREE_METRICS = ("accuracy", "superclass_accuracy", "failed_superclass_accuracy")

PAPER_R = tuple(round(0.1 * step, 1) for step in range(10))
PAPER_LOWER_BOUNDS = (*PAPER_R, 0.99)
PAPER_SEEDS = 10


def reproduction(
    task: str,
    path: str | None,
    *,
    r: Sequence[float] | None = None,
    lower_bound: Sequence[float] | None = None,
    losses: Sequence[str] = ("simloss",),
    seeds: int = PAPER_SEEDS,
    epochs: int | None = None,
    device: str = "auto",
    similarity: str | None = None,
    augment: bool = False,
) -> Config:
    """An experiment of the paper: "utkface", "afad" or "cifar100", its defaults the paper's.

    r = 0 and a lower bound of .99 make the similarity the identity, so they are run as what they
    are, cross entropy. A similarity that the paper does not have is tried with our own values.
    """
    _checks.choice("task", task, ("utkface", "afad", "cifar100"))
    faces = task != "cifar100"
    kind = similarity or ("order" if faces else "words")
    papers = {"order": PAPER_R, "words": PAPER_LOWER_BOUNDS}
    values = (r if faces else lower_bound) or papers.get(kind) or values_of(kind)
    plain = {"order": 0.0, "words": 0.99}.get(kind)
    values = [value for value in values if value != plain]
    training = TrainingConfig(
        epochs=TrainingConfig.epochs if epochs is None else epochs,
        patience=10 if faces else 20,
        stop_on="mae" if faces else "accuracy",
        augment=augment,
        device=device,
    )
    return Config(
        name=task,
        data=DataConfig(task, path),
        model="age-cnn" if faces else "lenet",
        treatments=tuple(treatments(list(losses), kind, values)),
        seeds=tuple(range(_checks.run_count("seeds", seeds))),
        metrics=ORDER_METRICS if faces else TREE_METRICS,
        rules=("argmax", "median") if faces else ("argmax", "tree"),
        training=training,
    )


def comparison(
    source: str,
    *,
    r: Sequence[float] | None = None,
    losses: Sequence[str] | None = None,
    seeds: int = 10,
    epochs: int | None = None,
) -> Config:
    """The comparison on a shipped table, "diamonds" or "abalone", as `simloss compare` plans it."""
    data, dataset = DataConfig(source), sources.dataset(source, None, {})
    return comparison_on(
        data, dataset, proposal(dataset), values=r, losses=losses, seeds=seeds, epochs=epochs
    )
