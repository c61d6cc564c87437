"""A heat map of a similarity for the terminal."""

from typing import Any

import torch

from .figure import block_means, class_name
from .matrix import as_similarity

_CELLS_EACH_WAY = 32
_SHADES = "·░▒▓█"


def sketch(similarity: Any) -> str:
    """S in shades, row = true class: · is 0, ░ below a quarter, ▒ below a half, ▓ below 1, █ is 1.

    With more than 32 classes it shows means of 32 x 32 blocks of neighbouring classes.

    Example:
        >>> from simloss.similarity import order
        >>> print(order(4, r=0.5, names=["low", "fair", "good", "high"]).sketch())
        low  ██▓▓▒▒░░
        fair ▓▓██▓▓▒▒
        good ▒▒▓▓██▓▓
        high ░░▒▒▓▓██
    """
    whole = as_similarity(similarity).detached()
    if whole.num_classes > _CELLS_EACH_WAY:
        values, labels = block_means(whole, _CELLS_EACH_WAY)
    else:
        values = whole.to_dense(torch.float64)
        labels = [class_name(whole, i) for i in range(whole.num_classes)]
    width = max(len(label) for label in labels)
    rows = zip(labels, values.tolist(), strict=True)
    return "\n".join(f"{label:<{width}} {''.join(map(_shade, row))}" for label, row in rows)


def _shade(value: float) -> str:
    steps = (0.0, 0.25, 0.5, 1 - 1e-6)
    return 2 * _SHADES[sum(value >= step for step in steps[1:]) + (value > 0)]
