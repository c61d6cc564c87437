r"""The product with a matrix of powers, :math:`y_i = \sum_c r^{|i - c|} x_c`, in O(C).

A block of b classes is multiplied by a small b x b matrix of powers. What lies to the left of a
block reaches into it through one number, the value the sum would have just before the block; what
lies to the right through another. Those carries follow a recursion from block to block with the
factor r^b, which is again such a product, over C / b numbers.
"""

import torch
from torch import Tensor

_BLOCK = 32
# Up to here one matrix product is as quick.
_WHOLE = 128


class PowerProduct:
    """Equals ``x @ (r ** (i - j).abs())`` for x (m, C), with i, j all pairs of classes."""

    def __init__(self, num_classes: int, r: float, dtype: torch.dtype) -> None:
        self.num_classes = num_classes
        self._whole = num_classes <= _WHOLE
        size = num_classes if self._whole else _BLOCK
        step = torch.arange(size)
        power = torch.tensor(r, dtype=torch.float64)
        self._within = power.pow((step - step.unsqueeze(1)).abs()).to(dtype)  # (b, b)
        if not self._whole:
            reach = torch.stack([power.pow(step + 1), power.pow(size - step)])
            self._reach = reach.to(dtype)  # (2, b)
            self._carry = Carry(-(-num_classes // size), r**size, dtype)

    def __call__(self, x: Tensor) -> Tensor:
        if self._whole:
            return x @ self._within
        m, padding = x.shape[0], -self.num_classes % _BLOCK
        if padding:
            x = torch.nn.functional.pad(x, (0, padding))
        y = x.reshape(-1, _BLOCK) @ self._within  # (m B, b)
        ends = y.view(m, -1, _BLOCK)[..., [_BLOCK - 1, 0]]  # (m, B, 2): what leaves a block
        from_left = self._carry(ends[..., 0])
        from_right = self._carry(ends[..., 1].flip(1)).flip(1)
        carried = torch.stack([from_left, from_right], -1)  # (m, B, 2)
        y.addmm_(carried.view(-1, 2), self._reach)
        return y.view(m, -1)[:, : self.num_classes]


class Carry:
    r""":math:`y_i = \sum_{c < i} \rho^{i - 1 - c} x_c` for x (m, B): what arrives at block i."""

    def __init__(self, count: int, rho: float, dtype: torch.dtype) -> None:
        self._whole = count <= _WHOLE
        self._count = count
        size = count if self._whole else _BLOCK
        step = torch.arange(size)
        power = torch.tensor(rho, dtype=torch.float64)
        gap = step - step.unsqueeze(1) - 1  # of column and row
        self._within = torch.where(gap >= 0, power.pow(gap.clamp(min=0)), 0.0).to(dtype)
        if not self._whole:
            self._rho = rho
            self._reach = power.pow(step).to(dtype)  # (b)
            self._carry = Carry(-(-count // size), rho**size, dtype)

    def __call__(self, x: Tensor) -> Tensor:
        if self._whole:
            return x @ self._within
        m, padding = x.shape[0], -self._count % _BLOCK
        x = torch.nn.functional.pad(x, (0, padding)).view(m, -1, _BLOCK)
        y = x @ self._within  # (m, B', b)
        leaving = y[..., -1] * self._rho + x[..., -1]
        y.addcmul_(self._carry(leaving).unsqueeze(-1), self._reach)
        return y.view(m, -1)[:, : self._count]
