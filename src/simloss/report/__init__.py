"""Turns records into a verdict, tables, figures and one page. Reads run folders, never a model."""

from .judge.verdict import Recommendation, Verdict, verdict
from .tables.markdown import markdown
from .write import report

__all__ = ["Recommendation", "Verdict", "markdown", "report", "verdict"]
