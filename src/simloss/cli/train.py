"""`simloss train`: one net, saved."""

import sys
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter


def train(
    source: Literal["diamonds", "abalone", "utkface", "afad", "cifar100"],
    /,
    *,
    data: Path | None = None,
    loss: Literal["simloss", "proper", "soft-target", "cross-entropy"] = "simloss",
    similarity: str | None = None,
    value: Annotated[float | None, Parameter(name=["--value", "--r"])] = None,
    decision: Literal["argmax", "median", "mean", "tree"] = "argmax",
    model: str | None = None,
    epochs: int | None = None,
    seed: int = 0,
    device: str = "auto",
    out: Path = Path("model.safetensors"),
) -> None:
    """Train one net, print what it reaches, and save it as a file that cannot run code.

    Parameters
    ----------
    source
        diamonds or abalone, which are shipped, or utkface, afad, cifar100 with --data.
    data
        The archive or folder of the data set.
    loss
        The loss to train with.
    similarity
        order, words, words-angle or tree, or the path of a saved one.
    value
        The similarity's parameter: r of order, the lower bound of words, a temperature.
    decision
        How the net will answer; the best epoch is chosen for it.
    model
        age-cnn, lenet, mlp, or module:factory; what suits the data if not given.
    epochs
        The most epochs to train; without it, until early stopping.
    seed
        Of the initial weights and the order of examples.
    device
        auto, cpu, cuda or mps.
    out
        Where the model goes.
    """
    from ..experiment.single import train_and_save, training_config

    path = str(data.expanduser().resolve()) if data else None
    config = training_config(
        source,
        path,
        loss=loss,
        similarity=similarity,
        value=value,
        rule=decision,
        model=model,
        epochs=epochs,
        device=device,
        seed=seed,
    )
    for line in train_and_save(config, out, _show):
        print(line, flush=True)


def _show(line: dict[str, Any]) -> None:
    values = ", ".join(f"{rule} {value:.4g}" for rule, value in line["validation"].items())
    text = f"epoch {line['epoch']}: loss {line['loss']:.4g}, validation: {values}"
    print(text, file=sys.stderr, flush=True)
