"""`simloss run`: an experiment from its configuration file."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from .parameters import Flag


def run(
    config: Path,
    /,
    *,
    data: Path | None = None,
    out: Path | None = None,
    resume: Annotated[bool, Flag] = False,
    workers: int = 1,
    cluster: str | None = None,
) -> None:
    """Run the experiment a config.yaml describes, such as the one in any run folder.

    Parameters
    ----------
    config
        The configuration file.
    data
        Where the data lies, if not where the configuration says.
    out
        The run folder; runs/NAME-DIGEST if not given, and then an earlier start is gone on with.
    resume
        Go on with the run in --out.
    workers
        Processes with one thread each; 1 trains one net at a time with all cores.
    cluster
        dask://host:port, to train on a Dask cluster instead.
    """
    from ..experiment.plan.config import Config
    from .running import run_and_report

    if not config.is_file():
        raise ValueError(f"`config` must be a configuration file, but there is none at '{config}'.")
    experiment = Config.load(config, named_by_user=True)
    if data is not None:
        experiment = replace(experiment, data=replace(experiment.data, path=str(data)))
    run_and_report(experiment, out=out, resume=resume, workers=workers, cluster=cluster)
