"""`simloss reproduce`: the paper's experiments."""
# ruff: noqa: D417  (what several commands take is described in parameters.py)

from typing import Annotated, Literal

from .._imports import UsersName
from .parameters import (
    Cluster,
    Data,
    Device,
    Epochs,
    Flag,
    Name,
    Names,
    Out,
    Papers,
    Processes,
    Resume,
    Several,
    Similarity,
    Training,
)


def reproduce(
    task: Literal["utkface", "afad", "cifar100"],
    /,
    *,
    data: Papers = None,
    r: Annotated[list[float] | None, Several, Similarity] = None,
    lower_bound: Annotated[list[float] | None, Several, Similarity] = None,
    loss: Annotated[list[UsersName] | None, Names, Several, Similarity] = None,
    similarity: Annotated[UsersName | None, Name, Similarity] = None,
    seeds: Annotated[int, Training] = 10,
    epochs: Epochs = None,
    augment: Annotated[bool, Flag, Training] = False,
    out: Out = None,
    resume: Resume = False,
    workers: Processes = 1,
    cluster: Cluster = None,
    device: Device = "auto",
    download: Annotated[bool, Flag, Data] = False,
) -> None:
    """Rerun an experiment of the paper; every default is the paper's.

    Parameters
    ----------
    task
        utkface or afad (age from a face), or cifar100 (96 of its classes).
    r
        Reduction factors of the age tasks; 0 is cross entropy, which always runs.
    lower_bound
        Lower bounds of cifar100; .99 is cross entropy, which always runs.
    loss
        simloss, proper, soft-target, blended, or module:class; cross-entropy always runs.
    similarity
        order, values, gaussian; words, words-angle, tree; a saved file, or module:factory.
    seeds
        How many runs of each treatment, all on the paper's one split.
    augment
        Crop and flip training images: not in the paper's text, but nearer to its cifar100.
    download
        Fetch CIFAR-100 into the cache folder first.
    """
    from .._disk import expanded
    from ..experiment.grid.setup import Setup
    from ..experiment.plan.presets import reproduction
    from .running import run_and_report

    of_cifar = {"lower-bound": lower_bound, "download": download}
    for option, value in ({"r": r} if task == "cifar100" else of_cifar).items():
        if value:
            raise ValueError(f"`--{option}` does not apply to {task}.")
    path = str(expanded(data).resolve()) if data else None
    if download:
        from ..data import cifar100

        cifar100(path, download=True)
    config = reproduction(
        task,
        path,
        r=r,
        lower_bound=lower_bound,
        losses=loss or ("simloss",),
        similarity=similarity,
        seeds=seeds,
        epochs=epochs,
        device=device,
        augment=augment,
    )
    run_and_report(Setup(config), out=out, resume=resume, workers=workers, cluster=cluster)
