"""`simloss reproduce`: the paper's experiments."""

from pathlib import Path
from typing import Annotated, Literal

from .._imports import UsersName
from .parameters import Flag, Several


def reproduce(
    task: Literal["utkface", "afad", "cifar100"],
    /,
    *,
    data: Path | None = None,
    r: Annotated[list[float] | None, Several] = None,
    lower_bound: Annotated[list[float] | None, Several] = None,
    loss: Annotated[list[UsersName] | None, Several] = None,
    similarity: UsersName | None = None,
    seeds: int = 10,
    epochs: int | None = None,
    out: Path | None = None,
    resume: Annotated[bool, Flag] = False,
    workers: int = 1,
    cluster: str | None = None,
    device: str = "auto",
    download: Annotated[bool, Flag] = False,
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
        order, values or gaussian (age), words, words-angle or tree (cifar100), the path of a saved
        one, or module:factory.
    seeds
        How many runs of each treatment, all on the paper's one split.
    epochs
        The most epochs a net may train; without it, until early stopping.
    out
        The run folder; runs/NAME-DIGEST if not given, and then an earlier start is gone on with.
    resume
        Go on with the run in --out.
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
    run_and_report(config, out=out, resume=resume, workers=workers, cluster=cluster)
