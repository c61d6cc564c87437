"""The cells of a table's grid, trained as one stack and recorded one by one."""

import time
from typing import Any

from ..plan.treatment import Treatment
from ..train.loop import EarlyStopping, Outcome
from .cell import OnEpoch, failed, measured
from .setup import Setup, derived_seed
from .stacked import Member, train_together
from .stacked_loss import StackedLoss
from .store import Arrays


def run_cells_together(
    setup: Setup, cells: list[tuple[Treatment, int]], on_epoch: OnEpoch
) -> list[tuple[dict[str, Any], Arrays | None]]:
    """Every cell's record and sidecar, as `run_cell` makes them."""
    started = time.perf_counter()
    # Nets with the same loss side by side, so that it takes them as one piece of memory.
    order = sorted(range(len(cells)), key=lambda i: cells[i][0].loss)
    cells = [cells[i] for i in order]
    config, judge = setup.config, setup.judge
    seeds = sorted({seed for _, seed in cells})
    parts = [setup.parts(seed) for seed in seeds]
    kept = config.rules[:1] if config.training.keep_best_of == "argmax" else config.rules
    members = [
        Member(
            setup.net(seed),
            seeds.index(seed),
            Outcome(),
            EarlyStopping(kept, config.training.stop_on, config.training.patience),
        )
        for _, seed in cells
    ]
    objectives = [setup.objective(treatment, seed) for treatment, seed in cells]
    loss = StackedLoss(objectives)
    train_together(
        members,
        loss,
        [part["train"] for part in parts],
        [part["validation"] for part in parts],
        judge,
        config.rules,
        config.training,
        [derived_seed(seed, "order") for seed in seeds],
        on_epoch,
    )
    finished: list[tuple[dict[str, Any], Arrays | None]] = []
    for (treatment, seed), member, objective in zip(cells, members, objectives, strict=True):
        if member.failure:
            finished.append((failed(config, treatment, seed, member.failure), None))
            continue
        member.outcome.seconds["total"] = (time.perf_counter() - started) / len(cells)
        finished.append(
            measured(
                config,
                treatment,
                seed,
                member.net,
                member.outcome,
                parts[member.group],
                judge,
                objective,
            )
        )
    return [made for _, made in sorted(zip(order, finished, strict=True), key=lambda pair: pair[0])]
