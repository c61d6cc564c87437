"""Whether a difference is real: paired over seeds, corrected for multiple comparisons."""

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
