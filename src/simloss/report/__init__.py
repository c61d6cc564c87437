"""Records made into a verdict, tables, figures and one page. Reads run folders, never a model."""

from .markdown import markdown
from .verdict import Recommendation, Verdict, verdict
from .write import report

__all__ = ["Recommendation", "Verdict", "markdown", "report", "verdict"]
