"""The run folders that the report is tested with."""

from report.conftest import ordered

__all__ = ["ordered"]
