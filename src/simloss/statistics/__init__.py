"""Is the difference real? Paired over seeds, corrected for how much was tried."""

from .choice import Choice, Runs, choose_on_validation
from .family import (
    corrected,
    holm,
    paired_comparisons,
    runs_needed,
    significance_note,
    smallest_p_value,
)
from .paired import Comparison, paired_comparison

__all__ = [
    "Choice",
    "Comparison",
    "Runs",
    "choose_on_validation",
    "corrected",
    "holm",
    "paired_comparison",
    "paired_comparisons",
    "runs_needed",
    "significance_note",
    "smallest_p_value",
]
