"""The cells of a table's grid, trained as one stack and recorded one by one."""

import time
from typing import Any

from ..plan.alternatives import objective_of
from ..plan.config import Config
from ..plan.treatment import Treatment
from ..train.loop import EarlyStopping, Outcome
from ..train.measure import Judge
from ..train.splits import indices_of, parts_of
from .cell import OnEpoch, dataset_of, derived_seed, failed, fresh_net, measured
from .stacked import Member, train_together
from .stacked_loss import StackedLoss
from .store import Arrays


def run_cells_together(
    config: Config, cells: list[tuple[Treatment, int]], on_epoch: OnEpoch
) -> list[tuple[dict[str, Any], Arrays | None]]:
    """Every cell's record and sidecar, as `run_cell` makes them."""
    started = time.perf_counter()
    # Nets with the same loss side by side, so that it takes them as one piece of memory.
    order = sorted(range(len(cells)), key=lambda i: cells[i][0].loss)
    cells = [cells[i] for i in order]
    dataset = dataset_of(config)
    judge = Judge.of(dataset, config.metrics, config.cost)
    seeds = sorted({seed for _, seed in cells})
    parts = [parts_of(dataset, indices_of(dataset, config.split, seed)) for seed in seeds]
    kept = config.rules[:1] if config.training.keep_best_of == "argmax" else config.rules
    members = [
        Member(
            fresh_net(config, dataset, seed),
            seeds.index(seed),
            Outcome(),
            EarlyStopping(kept, config.training.stop_on, config.training.patience),
        )
        for _, seed in cells
    ]
    objectives = [
        objective_of(treatment.loss_for(dataset, len(parts[member.group]["train"])))
        for (treatment, _), member in zip(cells, members, strict=True)
    ]
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
