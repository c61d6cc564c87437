"""A configuration made into a folder of records: model, training, grid, store."""

from .._imports import UsersName

__all__ = ["UsersName"]
