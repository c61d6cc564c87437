"""Many small nets at once against one by one: `python -m benchmarks.many_nets`.

The same cells of the diamonds grid, the same number of epochs, without early stopping, in turns,
with as many threads as torch takes by itself, as `simloss compare` has them; training and measuring
are timed separately, because measuring is the same work both ways; it prints both ratios.
"""

import argparse
import time
from dataclasses import replace
from statistics import median

import torch

from simloss.cli.memory import keep_memory
from simloss.experiment.grid.cell import run_cell
from simloss.experiment.grid.run import cells_of
from simloss.experiment.grid.setup import Setup
from simloss.experiment.grid.stacked_cells import run_cells_together
from simloss.experiment.plan.presets import comparison


def main() -> None:
    keep_memory()  # as commands do
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nets", type=int, default=40)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    config = comparison("diamonds", epochs=options.epochs)
    config = replace(config, training=replace(config.training, patience=options.epochs))
    cells = cells_of(config)[: options.nets]
    ratios, whole_ratios = [], []
    for repeat in range(options.repeats):
        start = time.perf_counter()
        stacked = [
            record for record, _ in run_cells_together(Setup(config), cells, lambda line: None)
        ]
        middle = time.perf_counter()
        single = [run_cell(Setup(config), treatment, seed)[0] for treatment, seed in cells]
        end = time.perf_counter()
        together = max(record["seconds"]["train"] for record in stacked)
        one_by_one = sum(record["seconds"]["train"] for record in single)
        ratios.append(one_by_one / together)
        whole_ratios.append((end - middle) / (middle - start))
        print(
            f"{repeat + 1}: {options.nets} nets, {options.epochs} epochs, {options.threads} "
            f"threads: training one by one {one_by_one:.1f} s, together {together:.1f} s, ratio "
            f"{ratios[-1]:.1f}; with measuring {end - middle:.1f} s and {middle - start:.1f} s",
            flush=True,
        )
    for what, found in (("training", ratios), ("with measuring", whole_ratios)):
        print(f"{what}: ratio {median(found):.1f}, from {min(found):.1f} to {max(found):.1f}")


if __name__ == "__main__":
    main()
