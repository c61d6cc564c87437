"""Reads files into tensors; one file per source.

Nothing here needs Pillow until an image is decoded.
"""

from .afad import afad
from .arrays import arrays
from .cifar100 import PAPER_DROPS, cifar100
from .cifar100_components import cifar100_components
from .components import Components
from .dataset import Dataset
from .download import download
from .encoder import Encoder
from .encoders.texts import encoded_texts
from .encoders.tfidf import Tfidf
from .errors import DataError, MissingDataError
from .image_cache import cache_folder
from .image_folder import image_folder, image_table
from .packaged import fair, skordinal
from .rows import rows
from .shipped import abalone, diamonds
from .split import split
from .standardize import Standardizer
from .table import table
from .text_folder import text_folder
from .utkface import utkface
from .utkface_components import utkface_components

__all__ = [
    "PAPER_DROPS",
    "Components",
    "DataError",
    "Dataset",
    "Encoder",
    "MissingDataError",
    "Standardizer",
    "Tfidf",
    "abalone",
    "afad",
    "arrays",
    "cache_folder",
    "cifar100",
    "cifar100_components",
    "diamonds",
    "download",
    "encoded_texts",
    "fair",
    "image_folder",
    "image_table",
    "rows",
    "skordinal",
    "split",
    "table",
    "text_folder",
    "utkface",
    "utkface_components",
]
