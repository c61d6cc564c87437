"""`simloss reproduce`: the paper's experiments."""

from pathlib import Path
from typing import Annotated, Literal

from .._imports import UsersName
from .parameters import Data, Flag, Name, Names, Output, Several, Similarity, Training


def reproduce(
    task: Literal["utkface", "afad", "cifar100"],
    /,
    *,
    data: Annotated[Path | None, Data] = None,
    r: Annotated[list[float] | None, Several, Similarity] = None,
    lower_bound: Annotated[list[float] | None, Several, Similarity] = None,
    loss: Annotated[list[UsersName] | None, Names, Several, Similarity] = None,
    similarity: Annotated[UsersName | None, Name, Similarity] = None,
    seeds: Annotated[int, Training] = 10,
    epochs: Annotated[int | None, Training] = None,
    out: Annotated[Path | None, Output] = None,
    resume: Annotated[bool, Flag, Output] = False,
    workers: Annotated[int, Training] = 1,
    cluster: Annotated[str | None, Training] = None,
    device: Annotated[str, Training] = "auto",
    download: Annotated[bool, Flag, Data] = False,
) -> None:
    """Rerun an experiment of the paper; every default is the paper's.

    Parameters
    ----------
    task
        utkface or afad (age from a face), or cifar100 (96 of its classes).
    data
        The archive or folder of the data set.
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
    epochs
        The most epochs a net may train; without it, until early stopping.
    out
        The run folder; if not given, runs/NAME-DIGEST, which resumes an earlier run.
    resume
        Resume the run in --out.
    workers
        Processes with one thread each; 1 trains one net at a time with all cores.
    cluster
        dask://host:port, to train on a Dask cluster instead.
    device
        auto, cpu, cuda or mps.
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
    )
    run_and_report(Setup(config), out=out, resume=resume, workers=workers, cluster=cluster)
