"""A grid of 20,000 tiny cells: memory stays flat, it resumes at once, and its report is made."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from simloss.experiment.grid import run as grid
from simloss.experiment.grid.progress import Progress
from simloss.experiment.grid.store import RunFolder
from simloss.experiment.plan.config import Config, TrainingConfig
from simloss.experiment.plan.treatment import Treatment
from simloss.report import report

from .grids import tiny_grid
from .kills import Figures

CELLS = 20_000
TREATMENTS = 20
MOST_GROWTH = 100 * 2**20
MOST_SECONDS_TO_RESUME = 5.0
MOST_SECONDS_TO_REPORT = 60.0


class Watch(Progress):
    """Records the memory in use from time to time."""

    def __init__(self) -> None:
        self.memory: list[int] = []

    def show(self, records: list[dict[str, Any]]) -> None:
        if self.done % 1000 < len(records):
            self.memory.append(memory_in_use())


def long(folder: Path, cells: int = CELLS) -> Figures:
    """Run it, resume it with nothing left to do, report on it."""
    folder.mkdir(parents=True, exist_ok=True)
    config, target, watch = long_grid(folder, cells), RunFolder(folder / "long"), Watch()
    started = time.perf_counter()
    grid.run(config, target, progress=watch)
    trained = time.perf_counter()
    again = grid.run(config, target, resume=True)
    resumed = time.perf_counter()
    page = report(target.path)
    reported = time.perf_counter()
    # The first tenth fills caches and the allocator's pools.
    growth = max(watch.memory) - watch.memory[len(watch.memory) // 10]
    assert len(again) == cells
    assert growth < MOST_GROWTH, f"memory grew by {growth:,} bytes: {watch.memory}"
    assert resumed - trained < MOST_SECONDS_TO_RESUME, f"resumed after {resumed - trained:.1f} s"
    assert reported - resumed < MOST_SECONDS_TO_REPORT, f"reported in {reported - resumed:.1f} s"
    return {
        "cells of one grid": cells,
        "minutes to train them": round((trained - started) / 60, 1),
        "MB of memory at a tenth": round(watch.memory[len(watch.memory) // 10] / 2**20),
        "MB of memory at most after that": round(max(watch.memory) / 2**20),
        "seconds to resume": round(resumed - trained, 1),
        "seconds to report": round(reported - resumed, 1),
        "MB of records": round(target.records_path.stat().st_size / 2**20, 1),
        "MB of the page": round(page.stat().st_size / 2**20, 1),
    }


def long_grid(folder: Path, cells: int) -> Config:
    """Twenty treatments, as many seeds as it takes, one epoch each."""
    config = tiny_grid(folder, stacked=True, seeds=cells // TREATMENTS, epochs=1)
    values = [0.05 * i for i in range(1, TREATMENTS)]
    treatments = [Treatment("simloss", "order", round(value, 2)) for value in values]
    return replace(
        config,
        treatments=(Treatment("cross-entropy"), *treatments),
        rules=("argmax",),
        training=TrainingConfig(epochs=1, patience=1, batch_size=1024, device="cpu"),
    )


def memory_in_use() -> int:
    """Bytes of this process that are in memory now."""
    import resource

    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
