"""`simloss compare`: whether similarity helps on this data."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

Several = Parameter(consume_multiple=True, negative="")


def compare(
    data: str | None = None,
    /,
    *,
    r: Annotated[list[float] | None, Several] = None,
    loss: Annotated[list[str] | None, Several] = None,
    seeds: int = 10,
    epochs: int | None = None,
    out: Path | None = None,
    resume: Annotated[bool, Parameter(negative="")] = False,
    workers: int | None = None,
) -> None:
    """Train with and without similarity, and say whether it helps.

    Cross entropy, SimLoss, the proper and the soft-target loss, each answered by argmax and by the
    median, on a new split for every seed. r is chosen on validation data; the verdict is on test
    data, with statistics.

    Parameters
    ----------
    data
        diamonds or abalone, the two shipped tables; both if not given.
    r
        The reduction factors to try.
    loss
        Which losses beside cross entropy: simloss, proper, soft-target.
    seeds
        How many runs of each treatment.
    epochs
        The most epochs a net may train.
    out
        The run folder; runs/NAME-DIGEST if not given, and then an earlier start is gone on with.
    resume
        Go on with the run in --out.
    workers
        Processes; as many as there are cores if not given.
    """
    from ..experiment.presets import COMPARE_LOSSES, COMPARE_R, comparison
    from .running import run_and_report

    tables = [data] if data else ["diamonds", "abalone"]
    for table in tables:
        config = comparison(
            table, r=r or COMPARE_R, losses=loss or COMPARE_LOSSES, seeds=seeds, epochs=epochs
        )
        folder = out / table if out and len(tables) > 1 else out
        run_and_report(config, out=folder, resume=resume, workers=workers)
