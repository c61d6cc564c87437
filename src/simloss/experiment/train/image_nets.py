"""Nets for images of any size: a small one, and a compact residual one."""

from itertools import pairwise
from typing import cast

import torch.nn.functional as F
from torch import Tensor, nn

_GROUPS = 8  # of channels that are normalised together; unlike batches, it fits any batch size


class SmallCNN(nn.Module):
    """Four convolutions that each halve the image, then the mean of what is left, in 2 x 2 fields.

    Example:
        >>> import torch
        >>> SmallCNN(12)(torch.zeros(2, 3, 28, 40)).shape
        torch.Size([2, 12])
    """

    def __init__(self, num_classes: int, width: int = 16) -> None:
        super().__init__()
        widths = (3, width, 2 * width, 4 * width, 4 * width)
        layers: list[nn.Module] = []
        for before, after in pairwise(widths):
            layers += [nn.Conv2d(before, after, 3, stride=2, padding=1), nn.ReLU()]
        self.layers = nn.Sequential(
            *layers,
            nn.AdaptiveAvgPool2d(2),  # (N, 4 width, 2, 2)
            nn.Flatten(),
            nn.Linear(16 * width, 64),
            nn.ReLU(),
            nn.Linear(64, num_classes),
        )

    def forward(self, x: Tensor) -> Tensor:
        return cast(Tensor, self.layers(x))


class _Block(nn.Module):
    """Two convolutions beside a shortcut."""

    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(_GROUPS, before), nn.GroupNorm(_GROUPS, after)
        self.conv1 = nn.Conv2d(before, after, 3, stride, padding=1, bias=False)
        self.conv2 = nn.Conv2d(after, after, 3, padding=1, bias=False)
        is_same = before == after and stride == 1
        self.shortcut = nn.Identity() if is_same else nn.Conv2d(before, after, 1, stride)

    def forward(self, x: Tensor) -> Tensor:
        inner = self.conv1(F.relu(self.norm1(x)))
        return cast(Tensor, self.shortcut(x) + self.conv2(F.relu(self.norm2(inner))))


class ResNet(nn.Module):
    """A compact residual net (He et al. 2016): three stages of two blocks, 0.7 million weights.

    Normalised by groups of channels (Wu and He 2018), so that small batches do it no harm.

    Example:
        >>> import torch
        >>> ResNet(12, 64)(torch.zeros(2, 3, 64, 64)).shape
        torch.Size([2, 12])
    """

    def __init__(self, num_classes: int, size: int) -> None:
        super().__init__()
        stride = 2 if size >= 64 else 1
        stages: list[nn.Module] = []
        for before, after, step in ((32, 32, 1), (32, 64, 2), (64, 128, 2)):
            stages += [_Block(before, after, step), _Block(after, after, 1)]
        self.layers = nn.Sequential(
            nn.Conv2d(3, 32, 3, stride, padding=1),
            *stages,
            nn.GroupNorm(_GROUPS, 128),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(128, num_classes),
        )

    def forward(self, x: Tensor) -> Tensor:
        return cast(Tensor, self.layers(x))
