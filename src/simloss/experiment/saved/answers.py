"""A saved net's answers as a table: class, probabilities, expected cost."""

from typing import Any

import torch
from torch import Tensor

from ... import _checks
from ...decision import decide, expected_cost
from ...decision.answer import UNSURE
from ...decision.rules import RULES
from .model import SavedModel
from .new_data import NewData

Table = dict[str, list[Any]]
"""Heading -> one cell per example."""

_FEW = 3


def answers(
    saved: SavedModel,
    data: NewData,
    *,
    rule: str | None = None,
    abstain: float | None = None,
    all_probabilities: bool = False,
) -> Table:
    """One row per example: the answer, its probability, what it is expected to cost, the others.

    Where the classes are bins of a number, "value" is the number that stands for the answer: the
    median of the bin. Where the data is a table, "outside" names the cells that lie more than a
    tenth of their column's range beyond what the net was trained on, and the columns that identify
    a row come first.

    The answer, its expected cost and whether to abstain all go by the probabilities that are shown.

    Args:
        saved: the net.
        data: the examples.
        rule: the decision, if not the one the net was kept for.
        abstain: give no answer where it is expected to cost more than this.
        all_probabilities: of every class, instead of the three most probable ones.
    """
    p = saved.probabilities(data.inputs)
    cost, positions = cost_of(saved, rule or saved.rule)
    chosen = decide(p, cost, positions=positions)
    costs = expected_cost(p, chosen, cost, positions=positions)
    limit = float("inf") if abstain is None else _checks.threshold("abstain", abstain)
    final = chosen.masked_fill(costs > limit, UNSURE)
    names = saved.class_names
    table: Table = {"answer": [names[i] if i >= 0 else None for i in final.tolist()]}
    if saved.positions is not None:  # of bins, in the target's unit
        table["value"] = [saved.positions[i] if i >= 0 else None for i in final.tolist()]
    table |= {
        "probability": _rounded(p.gather(1, chosen.unsqueeze(1)).squeeze(1)),
        "expected_cost": _rounded(costs),
    }
    if abstain is not None:
        table["abstained"] = (final < 0).tolist()
    if data.outside is not None:
        table["outside"] = [*data.outside]
    table |= _every(p, names) if all_probabilities else _most_probable(p, names)
    return {data.name_heading: data.names} | _beside(data.carried, table) | table


def cost_of(saved: SavedModel, rule: str) -> tuple[Any, Tensor | None]:
    """What `decide` takes for a rule: the cost, and the positions of the classes."""
    _checks.choice("decision", rule, tuple(RULES))
    judge = saved.judge()
    cost = judge.cost(rule)
    if cost is None:
        raise ValueError(f"`decision` {rule!r} must suit the model, but it knows no {rule}.")
    return cost, judge.where(rule)


def right_share(saved: SavedModel, data: NewData, table: Table) -> tuple[int, int]:
    """How many of the answers are right, and how many examples have both answer and truth."""
    truth = data.truth or []
    known = [
        (a, y) for a, y in zip(table["answer"], truth, strict=bool(truth)) if a is not None and y
    ]
    return sum(a == y for a, y in known), len(known)


def _beside(carried: Table, answers: Table) -> Table:
    """Columns of the data under their own headings, or another where an answer has that."""
    return {f"{name} (data)" if name in answers else name: cells for name, cells in carried.items()}


def _every(p: Tensor, names: tuple[str, ...]) -> Table:
    return {f"p({name})": _rounded(p[:, i]) for i, name in enumerate(names)}


def _most_probable(p: Tensor, names: tuple[str, ...]) -> Table:
    best, at = p.topk(min(_FEW, len(names)), dim=1)
    table: Table = {}
    for k in range(best.shape[1]):
        table[f"class_{k + 1}"] = [names[i] for i in at[:, k].tolist()]
        table[f"p_{k + 1}"] = _rounded(best[:, k])
    return table


def _rounded(values: Tensor) -> list[float]:
    return [round(value, 6) for value in values.to(torch.float64).tolist()]
