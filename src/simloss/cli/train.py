"""`simloss train`: one net, saved."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from .._imports import UsersName
from .data_options import SHIPPED, TheirOptions
from .parameters import Decision

if TYPE_CHECKING:
    from ..experiment.plan.config import Config

_WITH_DATA = ("utkface", "afad", "cifar100")
_SOURCES = (*SHIPPED, *_WITH_DATA)


def train(
    source: UsersName,
    /,
    *,
    data: Path | None = None,
    loss: UsersName | None = None,
    value: Annotated[float | None, Parameter(name=["--value", "--r"])] = None,
    decision: Decision | None = None,
    epochs: int | None = None,
    seed: int = 0,
    device: str = "auto",
    out: Path = Path("model.safetensors"),
    theirs: TheirOptions = TheirOptions(),  # noqa: B008
) -> None:
    """Train one net, print what it reaches, and save it as a file that cannot run code.

    Parameters
    ----------
    source
        A table with --target or a folder of images, as for compare; diamonds or abalone, which are
        shipped; or utkface, afad, cifar100 with --data.
    data
        The archive or folder of utkface, afad or cifar100.
    loss
        The loss to train with: blended, soft-target, simloss, proper, cross-entropy, or
        module:class; on a table also a rival: boosting, boosted-regression, linear, regression.
        If not given, cross-entropy, which untuned nothing was better than on all of our data; with
        --value, blended (proper with a tenth of cross entropy).
    value
        The similarity's parameter: r of order and values, the width of gaussian, the lower bound
        of words, the temperature of words-angle and tree, the power of a saved one.
    decision
        How the net will answer; the best epoch is chosen for it. If not given, what suits the
        classes: the median of an order, the lowest expected height in a tree.
    epochs
        The most epochs to train; without it, until early stopping.
    seed
        Of the initial weights, the order of examples and, but for utkface, afad and cifar100,
        which examples are for training, validation and test.
    device
        auto, cpu, cuda or mps.
    out
        Where the model goes.
    theirs
        What is said about your own table or images.
    """
    from .. import _checks
    from .._disk import expanded
    from ..experiment.saved.train_one import train_and_save, training_config

    _checks.seed("seed", seed)
    _refuse_without_use(source, data, loss, value, theirs.similarity)
    if source in _SOURCES:
        theirs.refuse_for_shipped(source, but=("similarity", "model"))
        config = training_config(
            source,
            str(expanded(data).resolve()) if data else None,
            loss=loss,
            similarity=theirs.similarity,
            value=value,
            rule=decision,
            model=theirs.model,
            epochs=epochs,
            device=device,
            seed=seed,
        )
    else:
        config = _theirs(source, theirs, loss, value, decision, epochs, device, seed)
    for line in train_and_save(config, out, _show):
        print(line, flush=True)


def _refuse_without_use(
    source: str, data: Path | None, loss: str | None, value: float | None, similarity: str | None
) -> None:
    """One sentence on an option that would change nothing."""
    from ..experiment.plan.alternatives import RIVALS
    from ..loss.registry import BASELINE

    if data is not None and source not in _WITH_DATA:
        raise ValueError(f"`--data` must go with {', '.join(_WITH_DATA)}, but got {source!r}.")
    if loss != BASELINE and loss not in RIVALS:
        return
    if value is not None:
        raise ValueError(f"`--value` is for a loss with similarity, but got --loss {loss}.")
    if similarity is not None and source in _SOURCES:  # of their own data it says what is measured
        raise ValueError(f"`--similarity` is for a loss with similarity, but got --loss {loss}.")


def _theirs(
    source: UsersName,
    theirs: TheirOptions,
    loss: str | None,
    value: float | None,
    decision: str | None,
    epochs: int | None,
    device: str,
    seed: int,
) -> "Config":
    """The training of one net on a user's own data, said aloud."""
    from .. import metrics
    from ..experiment.plan.locate import one_of, their_comparison
    from ..experiment.plan.propose import knows_better_mistakes
    from .data_options import decided, described, split_described

    data, dataset, made = decided(theirs, source, decision)
    config = their_comparison(
        data,
        dataset,
        made,
        epochs=epochs,
        model=theirs.model,
        augment=theirs.augment,
        device=device,
    )
    for line in described(data, dataset, made):
        print(line)
    for line in split_described(dataset, config.split, (seed,)):
        print(line)
    # By a metric that knows no better mistakes, right answers are not traded for near ones.
    is_plain = not knows_better_mistakes(metrics.find(made.metrics[0]))
    rule = "argmax" if is_plain and decision is None else made.rules[-1]
    return one_of(config, loss=loss, value=value, rule=rule, seed=seed)


def _show(line: dict[str, Any]) -> None:
    values = ", ".join(f"{rule} {value:.4g}" for rule, value in line["validation"].items())
    text = f"epoch {line['epoch']}: loss {line['loss']:.4g}, validation: {values}"
    print(text, file=sys.stderr, flush=True)
