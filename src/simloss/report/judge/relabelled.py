"""The claimed similarity against the mistakes of the nets that were never told of it."""

import numpy as np
from numpy.typing import NDArray

from ...experiment.grid.store import RunFolder
from ...experiment.plan.config import Config
from ...experiment.plan.treatment import Treatment
from ...experiment.writing import RunFolderError
from ...statistics import Relabelling, relabelling_test
from .candidates import best_on_validation, candidates
from .classes import Classes
from .results import Results, Row


def relabelling(folder: RunFolder, classes: Classes, results: Results) -> Relabelling | None:
    """Of the similarity that is best on validation data; None where it cannot be tested."""
    rows = [row for row in results.done if row.treatment.get("similarity") is not None]
    best = best_on_validation(results, candidates(results, rows))
    confusion = _confusions(folder, results)
    if best is None or confusion is None or len(confusion) != len(classes):
        return None
    try:
        treatment = treatment_of(results.config, best.row)
        known = treatment.similarity_for(classes.as_dataset(results.config.name))
    except (ValueError, TypeError, OSError, ImportError):
        return None  # the user's own, which is not there any more
    return None if known is None else relabelling_test(confusion, known.to_dense().numpy())


def treatment_of(config: Config, row: Row) -> Treatment:
    """As the configuration has it, which may be in the user's own words; else as recorded."""
    settings = {
        name: row.treatment[name]
        for name in ("loss", "similarity", "value", "options")
        if row.treatment.get(name) is not None
    }
    recorded = Treatment(**settings)
    return next((each for each in config.treatments if each == recorded), recorded)


def _confusions(folder: RunFolder, results: Results) -> NDArray[np.float64] | None:
    """Cross entropy's probabilities by true class, of all its test parts together.

    Not its answers: those hardly ever name a rare class, so that they tell nothing of it.
    """
    total = None
    for cell in results.baseline.cells.values() if results.baseline else ():
        try:
            arrays = folder.sidecar(cell)
            found = arrays["test_counts"][:, None] * arrays["test_mean_output"].astype(np.float64)
        except (RunFolderError, KeyError):
            continue
        total = found if total is None or total.shape != found.shape else total + found
    return total
