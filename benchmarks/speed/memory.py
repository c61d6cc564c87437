"""By how much the resident size of a fresh process grows, at its peak, over what it began with.

python -m benchmarks.speed.memory logits "SimLoss, order" 1024 1000
"""

import ctypes
import gc
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def growth(kind: str, name: str, *numbers: int) -> dict[str, float] | None:
    """The peak memory in megabytes of a contender's step, in its own process."""
    command = [sys.executable, "-m", "benchmarks.speed.memory", kind, name, *map(str, numbers)]
    result = subprocess.run(command, capture_output=True, text=True, env=os.environ)
    if result.returncode:
        return None
    found: dict[str, float] = json.loads(result.stdout.splitlines()[-1])
    return found


def peak_of(step: Callable[[], object]) -> dict[str, float]:
    """The peak over what was resident before, and of the whole process, in megabytes."""
    _give_back()
    before = _forget_peak()
    step()
    peak = _peak()
    return {"growth": peak - before, "process": peak}


def _give_back() -> None:
    """Release freed memory: if still resident, it would be reused and not counted."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _forget_peak() -> float:
    """The resident size now, from where on the peak counts."""
    clear = Path("/proc/self/clear_refs")
    if clear.exists():
        clear.write_text("5")
        return _status("VmRSS")
    return _peak()


def _peak() -> float:
    if Path("/proc/self/status").exists():
        return _status("VmHWM")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _status(name: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) / 1024
    raise OSError(f"/proc/self/status has no {name}")


def main() -> None:
    """The step that the command line names, measured."""
    import torch

    from . import contenders, linear, million

    torch.set_num_threads(2)
    kind, name, *numbers = sys.argv[1:]
    makers: dict[str, Callable[..., Any]] = {
        "logits": lambda name, *shape: contenders.step(name, shape),
        "linear": linear.step,
        "million": million.step,
    }
    # What is loaded once, however large the batch, does not count as growth.
    small = {"logits": (64, 600), "linear": (8, 4, 600), "million": (8, 600)}
    warm_up = makers[kind](name, *small[kind])
    if warm_up is not None:
        warm_up()
    step = makers[kind](name, *map(int, numbers))
    print(json.dumps(None if step is None else peak_of(step)))


if __name__ == "__main__":
    main()
