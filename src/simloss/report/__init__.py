"""Turns records into a verdict, tables, figures and one page. Reads run folders, never a model."""

from .judge.candidates import Candidate
from .judge.verdict import Verdict, verdict
from .tables.markdown import markdown
from .write import report

__all__ = ["Candidate", "Verdict", "markdown", "report", "verdict"]
