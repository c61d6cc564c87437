"""Reads the pickle files of cifar-100-python without running any code in them.

A pickle is a program. This reader knows only the three names needed for an array of bytes,
and replaces each with a stand-in that only records its arguments; any other name is an error.
"""

import io
import pickle
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import DataError


class _Type:
    """Stands for `numpy.ndarray` and `numpy.dtype` where they are only mentioned or described."""

    def __init__(self, *description: Any) -> None:
        self.description = description

    def __setstate__(self, state: Any) -> None:
        """The rest of a dtype's state does not matter for single bytes."""


class _Array:
    """Stands for an array; given its shape, dtype and bytes, it becomes one of uint8."""

    def __init__(self, *empty: Any) -> None:
        self.values: npt.NDArray[np.uint8] = np.empty(0, np.uint8)

    def __setstate__(self, state: Any) -> None:
        _, shape, dtype, fortran_order, data = state
        if dtype.description[0] not in (b"u1", "u1") or fortran_order:
            raise pickle.UnpicklingError("an array of something other than bytes")
        self.values = np.frombuffer(data, np.uint8).reshape(shape)


# The official files say numpy.core; files rewritten by a newer numpy say numpy._core.
_WORDS: dict[tuple[str, str], type] = {
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy._core.multiarray", "_reconstruct"): _Array,
    ("numpy", "ndarray"): _Type,
    ("numpy", "dtype"): _Type,
}


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        try:
            return _WORDS[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}") from None


def read_pickle(name: str, data: bytes) -> dict[str, Any]:
    """The entries of one file by name; arrays as uint8, text as bytes.

    Example:
        >>> read_pickle("meta", pickle.dumps({b"fine_label_names": [b"apple"]}))
        {'fine_label_names': [b'apple']}
        >>> read_pickle("meta", pickle.dumps(print))
        Traceback (most recent call last):
        ...
        simloss.data.errors.DataError: 'meta' is not a file of cifar-100-python (it asks for
        builtins.print); cifar-100-binary.tar.gz holds the same images without pickle.
    """
    try:
        entries = _Reader(io.BytesIO(data), encoding="bytes").load()
        return {
            key.decode() if isinstance(key, bytes) else key: (
                value.values if isinstance(value, _Array) else value
            )
            for key, value in entries.items()
        }
    except Exception as error:  # a broken program may raise anything
        reason = " ".join(str(error).split())
        raise DataError(
            f"'{name}' is not a file of cifar-100-python ({reason}); "
            f"cifar-100-binary.tar.gz holds the same images without pickle."
        ) from None
