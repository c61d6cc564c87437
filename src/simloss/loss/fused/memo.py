"""What was computed from tensors, for as long as they stay as they are."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary


class Memo:
    """Results by the first of the tensors they were computed from.

    It goes when that tensor goes, and is computed anew when one of them was written to or moved.
    """

    def __init__(self) -> None:
        self._kept = WeakTensorKeyDictionary()

    def get(self, tensors: list[Tensor], compute: Callable[[], Any]) -> Any:
        """What `compute` returns, or returned when the tensors were what they are now."""
        if any(each.is_inference() for each in tensors):
            return compute()  # these do not count their versions
        state = [(each.data_ptr(), each._version, each.shape, each.dtype) for each in tensors]
        known, result = self._kept.get(tensors[0], (None, None))
        if known != state:
            with torch.inference_mode(False), torch.no_grad():
                result = compute()
            self._kept[tensors[0]] = (state, result)
        return result
