"""`simloss run`: an experiment from its configuration file."""
# ruff: noqa: D417  (what several commands take is described in parameters.py)

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from .parameters import Cluster, Data, Out, Processes, Resume, Training


def run(
    config: Path,
    /,
    *,
    data: Annotated[Path | None, Data] = None,
    out: Out = None,
    resume: Resume = False,
    workers: Processes = 1,
    cluster: Cluster = None,
    device: Annotated[str | None, Training] = None,
) -> None:
    """Run the experiment a config.yaml describes, such as the one in any run folder.

    Parameters
    ----------
    config
        The configuration file.
    data
        Where the data is, if not where the configuration says.
    device
        auto, cpu, cuda or mps; if not given, what the configuration says.
    """
    from ..experiment.grid.setup import Setup
    from ..experiment.plan.config import Config
    from .running import run_and_report

    if not config.is_file():
        raise ValueError(f"`config` must be a configuration file, but none exists at '{config}'.")
    experiment = Config.load(config, named_by_user=True)
    if data is not None:
        experiment = replace(experiment, data=replace(experiment.data, path=str(data)))
    if device is not None:
        training = replace(experiment.training, device=device)
        experiment = replace(experiment, training=training)
    run_and_report(Setup(experiment), out=out, resume=resume, workers=workers, cluster=cluster)
