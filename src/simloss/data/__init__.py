"""Files made into tensors. One file a source."""

from .dataset import Dataset
from .shipped import abalone, diamonds

__all__ = ["Dataset", "abalone", "diamonds"]
