"""Many small nets at once against one by one: `python -m benchmarks.many_nets`.

The same cells of the diamonds grid, the same number of epochs, without early stopping, in turns.
"""

import argparse
import time
from dataclasses import replace
from statistics import median

import torch

from simloss.experiment.cell import run_cell
from simloss.experiment.grid import cells_of
from simloss.experiment.presets import comparison
from simloss.experiment.together_cells import run_cells_together


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nets", type=int, default=40)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    config = comparison("diamonds", epochs=options.epochs)
    config = replace(config, training=replace(config.training, patience=options.epochs))
    cells = cells_of(config)[: options.nets]
    ratios = []
    for repeat in range(options.repeats):
        start = time.perf_counter()
        records = [record for record, _ in run_cells_together(config, cells, lambda line: None)]
        middle = time.perf_counter()
        for treatment, seed in cells:
            run_cell(config, treatment, seed)
        end = time.perf_counter()
        # Measuring is the same work both ways; the grid's gain is in training.
        together = max(record["seconds"]["train"] for record in records)
        ratios.append((end - middle) / (middle - start))
        print(
            f"{repeat + 1}: {options.nets} nets, {options.epochs} epochs: "
            f"one by one {end - middle:.1f} s, together {middle - start:.1f} s "
            f"(training {together:.1f} s), ratio {ratios[-1]:.1f}",
            flush=True,
        )
    print(f"median ratio {median(ratios):.1f}, from {min(ratios):.1f} to {max(ratios):.1f}")


if __name__ == "__main__":
    main()
