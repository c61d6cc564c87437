"""An S of powers in log space, by cumulative sums: O(C) a row of the batch."""

import torch
from torch import Tensor

from .log_operator import ComputedLogOperator


class OrderLogOperator(ComputedLogOperator):
    """S_ij = r^|i - j|, normalised or not."""

    def mixtures(self, t: Tensor) -> Tensor:
        return self._signed(t, 0.0) / self._row_sums()

    def pullback(self, t: Tensor) -> Tensor:
        return self._signed(t / self._row_sums(), 0.0)

    def row_sums(self) -> Tensor:
        classes = self.similarity._all_classes()
        return self.similarity._row_sums(classes, self.dtype) / self._row_sums()

    def log_mixtures(self, z: Tensor) -> Tensor:
        return log_order_mixtures(z, self.similarity.tensors["r"]) - self._row_sums().log()

    def shared_out(self, k: Tensor, z: Tensor, log_mixtures: Tensor) -> Tensor:
        shared = self._signed(k, log_mixtures + self._row_sums().log(), z)
        # With the identity each class keeps what it has, also one whose logit is -inf.
        return torch.where(self.similarity.tensors["r"] > 0, shared, k)

    def _signed(self, k: Tensor, below: Tensor | float, above: Tensor | float = 0.0) -> Tensor:
        """``(k / below.exp()) @ powers * above.exp()``, the two signs of k apart."""
        r = self.similarity.tensors["r"]
        plus, minus = (
            (above + log_order_mixtures(part.clamp(min=0).log() - below, r)).exp()
            for part in (k, -k)
        )
        return plus - minus

    def _row_sums(self) -> Tensor:
        """What the rows are divided by, (C): 1 for a similarity."""
        classes = self.similarity._all_classes()
        if self.similarity.kind == "similarity":
            return torch.ones(self.num_classes, dtype=self.dtype, device=classes.device)
        return self.similarity._row_sums(classes, self.dtype)


def log_order_mixtures(z: Tensor, r: Tensor) -> Tensor:
    r""":math:`\log \sum_c r^{|i - c|} e^{z_c}` for every class i, (..., C), in O(C).

    The classes up to i give :math:`i \log r + \log \sum_{c \le i} e^{z_c - c \log r}`, a cumulative
    sum; those after i the same from the other end. In float64, because c log r grows large.
    """
    wide = z.to(torch.float32 if z.device.type == "mps" else torch.float64)
    log_r = torch.where(r > 0, r, 1.0).to(wide.dtype).log()
    ramp = torch.arange(z.shape[-1], device=z.device) * log_r
    upto = ramp + (wide - ramp).logcumsumexp(-1)
    after = (wide + ramp).flip(-1).logcumsumexp(-1).flip(-1) - ramp
    after = torch.nn.functional.pad(after[..., 1:] + log_r, (0, 1), value=float("-inf"))
    return torch.where(r > 0, torch.logaddexp(upto, after), wide).to(z.dtype)
