r"""The product with a matrix of powers, :math:`y_i = \sum_c r^{|i - c|} x_c`, in O(C).

A block of b classes is multiplied by a small b x b matrix of powers. What lies to the left of a
block reaches into it through one number, the value the sum would have just before the block; what
lies to the right through another. Those carries follow a recursion from block to block with the
factor r^b, which is again such a product, over C / b numbers.
"""

import torch
from torch import Tensor

from .scratch import scratch

# The sizes a block may have, the quickest first: one that divides C saves a padded copy.
_BLOCKS = (16, 20, 32, 24, 25, 40, 28, 30, 36, 18, 48, 50, 22, 26, 21, 27)
_BLOCK = 32
# Up to here one matrix product is as quick.
_WHOLE = 128


class PowerProduct:
    """Equals ``x @ (r ** (i - j).abs())`` for x (m, C), with i, j all pairs of classes."""

    def __init__(self, num_classes: int, r: float, dtype: torch.dtype) -> None:
        self.num_classes = num_classes
        self._whole = num_classes <= _WHOLE
        self._size = size = num_classes if self._whole else block_size(num_classes)
        step = torch.arange(size)
        power = torch.tensor(r, dtype=torch.float64)
        self._within = power.pow((step - step.unsqueeze(1)).abs()).to(dtype)  # (b, b)
        if not self._whole:
            reach = torch.stack([power.pow(step + 1), power.pow(size - step)])
            self._reach = reach.to(dtype)  # (2, b)
            count = -(-num_classes // size)
            self._carry = Carry(count, r**size, dtype), Carry(count, r**size, dtype, down=True)

    def __call__(self, x: Tensor, into: str | None = None) -> Tensor:
        m, padding = x.shape[0], -self.num_classes % self._size
        if padding:
            x = torch.nn.functional.pad(x, (0, padding))
        x = x.reshape(-1, self._size)
        out = None if into is None else scratch(into, tuple(x.shape), x.dtype)
        y = torch.mm(x, self._within, out=out)  # (m B, b)
        if self._whole:
            return y
        blocks = y.view(m, -1, self._size)
        carried = torch.empty(*blocks.shape[:2], 2, dtype=x.dtype, device=x.device)
        for side, (carry, last) in enumerate(zip(self._carry, (-1, 0), strict=True)):
            carried[..., side] = carry(blocks[..., last])  # what leaves a block, and arrives
        y.addmm_(carried.view(-1, 2), self._reach)
        return y.view(m, -1)[:, : self.num_classes]


def block_size(num_classes: int) -> int:
    """A size that divides the classes, or the usual one."""
    return next((size for size in _BLOCKS if num_classes % size == 0), _BLOCK)


class Carry:
    r""":math:`y_i = \sum_{c < i} \rho^{i - 1 - c} x_c` for x (m, B): what arrives at block i.

    With `down` it comes from the other side: :math:`y_i = \sum_{c > i} \rho^{c - 1 - i} x_c`.
    """

    def __init__(self, count: int, rho: float, dtype: torch.dtype, *, down: bool = False) -> None:
        self._whole = count <= _WHOLE
        self._count, self._down = count, down
        size = count if self._whole else _BLOCK
        step = torch.arange(size)
        power = torch.tensor(rho, dtype=torch.float64)
        gap = step - step.unsqueeze(1) - 1  # of column and row
        within = torch.where(gap >= 0, power.pow(gap.clamp(min=0)), 0.0).to(dtype)
        self._within = within.T.contiguous() if down else within
        if not self._whole:
            self._rho = rho
            reach = power.pow(step).to(dtype)  # (b)
            self._reach = reach.flip(0) if down else reach
            self._carry = Carry(-(-count // size), rho**size, dtype, down=down)

    def __call__(self, x: Tensor) -> Tensor:
        if self._whole:
            return x @ self._within
        m, padding = x.shape[0], -self._count % _BLOCK
        x = torch.nn.functional.pad(x, (0, padding)).view(m, -1, _BLOCK)
        y = x @ self._within  # (m, B', b)
        last = 0 if self._down else -1
        leaving = y[..., last] * self._rho + x[..., last]
        y.addcmul_(self._carry(leaving).unsqueeze(-1), self._reach)
        return y.view(m, -1)[:, : self._count]
