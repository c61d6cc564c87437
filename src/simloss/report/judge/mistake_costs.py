"""What each confusion costs, as the run itself was judged."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from ...experiment.plan.config import Config
from ...experiment.plan.similarities import positions_of, similarity_of, tree_of
from ...metrics.tree import common_heights
from .classes import Classes, Indices

Costs = NDArray[np.float64]


@dataclass(frozen=True)
class MistakeCosts:
    """The cost of a mistake.

    Attributes:
        of: (truth, answers), class indices (M) each -> the cost of each pair (M).
        word: what heads a column of them.
        note: a sentence for the reader, or nothing.
    """

    of: Callable[[Indices, Indices], Costs]
    word: str
    note: str = ""


def mistake_costs(classes: Classes, config: Config) -> MistakeCosts:
    """Positions apart, 1 - S, places apart or the height in the tree, by what the run went by."""
    try:
        return _as_judged(classes, config)
    except (ValueError, TypeError, OSError, ImportError) as error:
        return _all_alike(f"Every mistake costs 1 here, because its own cost is lost: {error}")


def _as_judged(classes: Classes, config: Config) -> MistakeCosts:
    dataset = classes.as_dataset(config.name)
    if config.cost == "values":
        at = positions_of(dataset).numpy()
        return MistakeCosts(lambda truth, answers: np.abs(at[truth] - at[answers]), "apart")
    if config.cost is not None:
        known = similarity_of(config.cost, None, dataset).to_dense().double().numpy()
        note = "The cost is 1 less the similarity of the two."
        return MistakeCosts(lambda truth, answers: 1 - known[truth, answers], "cost", note)
    if classes.is_ordered:
        return MistakeCosts(
            lambda truth, answers: np.abs(truth - answers).astype(np.float64), "places apart"
        )
    if classes.superclasses is None:
        return _all_alike("Every mistake costs 1.")
    tree = tree_of(dataset)

    def heights(truth: Indices, answers: Indices) -> Costs:
        found = common_heights(torch.from_numpy(answers), torch.from_numpy(truth), tree)
        return found.numpy().astype(np.float64)

    flat = tree.heights[tree.root] == 2
    return MistakeCosts(
        heights,
        "cost",
        "The cost is 1 within a superclass and 2 beyond it."
        if flat
        else "The cost is how far up the tree the two meet.",
    )


def _all_alike(note: str) -> MistakeCosts:
    return MistakeCosts(lambda truth, answers: (truth != answers).astype(np.float64), "cost", note)
