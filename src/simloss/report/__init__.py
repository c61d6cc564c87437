"""Records made into a verdict, tables, figures and one page. Reads run folders, never a model."""

from .verdict import Recommendation, Verdict, verdict

__all__ = ["Recommendation", "Verdict", "verdict"]
