"""SIGTERM and Ctrl-C: the run ends at once with a sentence, and nothing recorded is lost."""

import random
import signal
import subprocess
from importlib import import_module
from pathlib import Path

from simloss.cli import main
from simloss.experiment.grid.store import RunFolder

from .forks import Child, warm
from .grids import Witness, tiny_grid, uninterrupted
from .kills import Figures, start_command

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def stops(folder: Path, forked: int, commands: int, seed: int = 2) -> Figures:
    """Some in forked processes, where only the run itself is hit, some in commands as typed."""
    config = tiny_grid(folder, stacked=False, seeds=12, epochs=20)
    config.save(folder / "config.yaml")
    warm(config)
    import_module("simloss.cli.running")
    import_module("cyclopts")
    baseline = Child(lambda: uninterrupted(config, folder / "whole") and None, folder / "log")
    baseline.wait()
    assert baseline.code == 0, baseline.said()
    chance = random.Random(seed)
    arguments = ["run", str(folder / "config.yaml"), "--resume", "--out"]
    counted, rounds = {"forked": 0, "typed": 0}, 0
    while counted["forked"] < forked or counted["typed"] < commands:
        target = RunFolder(folder / f"stopped{rounds}")
        witness = Witness(config, target, folder / "whole")
        while True:
            kind = "forked" if counted["forked"] < forked else "typed"
            number = chance.choice(_SIGNALS)
            if kind == "forked":
                work = lambda: main([*arguments, str(target.path)])  # noqa: B023, E731
                ended = _stop_fork(work, folder / "log", number, chance.uniform(0.05, 2))
            else:
                ended = _stop_command(folder, target, number, chance)
            witness.look()
            if ended:
                break
            counted[kind] += 1
            print(counted, flush=True)
        witness.conclude()
        rounds += 1
    return {
        "SIGTERM and Ctrl-C in forked runs": counted["forked"],
        "SIGTERM and Ctrl-C to `simloss run`": counted["typed"],
    }


def _stop_fork(work: object, log: Path, number: int, seconds: float) -> bool:
    """Whether the run finished before it was stopped."""
    child = Child(work, log)  # type: ignore[arg-type]
    if child.wait(seconds):
        assert child.code == 0, child.said()
        return True
    child.kill(number)
    assert child.wait(60), "the run did not stop"
    return _ended_well(child.code, child.said(), number)


def _stop_command(folder: Path, target: RunFolder, number: int, chance: random.Random) -> bool:
    process = start_command(folder, target, chance.choice(("1", "2")))
    try:
        process.wait(chance.uniform(0.2, 9))
    except subprocess.TimeoutExpired:
        process.send_signal(number)
        process.wait(60)
    said = (folder / "command.log").read_text(errors="replace")
    return _ended_well(process.returncode, said, number)


def _ended_well(code: int | None, said: str, number: int) -> bool:
    if code == 0:
        return True
    # Before the first line of ours, Python itself ends, by the signal or with its own traceback.
    assert code in (130, 2, -number), f"{code}: {said}"
    if "simloss/cli" in said or "Stopped." in said:
        assert "Traceback" not in said, said
    return False
