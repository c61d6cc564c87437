"""Is the difference real? Paired over runs, by how much they share, and of classes by chance."""

from .family import corrected, holm, paired_comparisons, smallest_p_value
from .paired import Comparison, paired_comparison
from .relabelling import Relabelling, relabelling_test
from .resampled import resampled_comparison, runs_to_tell

__all__ = [
    "Comparison",
    "Relabelling",
    "corrected",
    "holm",
    "paired_comparison",
    "paired_comparisons",
    "relabelling_test",
    "resampled_comparison",
    "runs_to_tell",
    "smallest_p_value",
]
