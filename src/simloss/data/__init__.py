"""Files made into tensors. One file a source.

Nothing here needs Pillow until an image has to be decoded.
"""

from .afad import afad
from .cifar100 import PAPER_DROPS, cifar100
from .dataset import Dataset
from .download import download
from .errors import DataError, MissingDataError
from .image_cache import cache_folder
from .rows import rows
from .shipped import abalone, diamonds
from .split import split
from .standardize import Standardizer
from .utkface import utkface

__all__ = [
    "PAPER_DROPS",
    "DataError",
    "Dataset",
    "MissingDataError",
    "Standardizer",
    "abalone",
    "afad",
    "cache_folder",
    "cifar100",
    "diamonds",
    "download",
    "rows",
    "split",
    "utkface",
]
