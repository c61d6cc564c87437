"""Classes with one vector each: word vectors, image features, anything with a direction."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .. import _checks
from .base import Similarity

KERNELS = ("cosine", "angle")


class EmbeddingSimilarity(Similarity):
    """One unit vector per class; rows are computed on request, O(C D) each."""

    structure = "embedding"

    def normalized(self) -> "EmbeddingSimilarity":
        return self._with_row_sums()

    def _similarities(self, target: Tensor, dtype: torch.dtype) -> Tensor:
        vectors = self.tensors["vectors"].to(torch.promote_types(dtype, torch.float32))
        cosine = (vectors[target] @ vectors.T).clamp(-1, 1)  # (*, C)
        if self.options["kernel"] == "cosine":
            similarity = cosine.clamp(min=0)
        else:
            similarity = torch.exp(-cosine.arccos() / self.tensors["temperature"])
        lower_bound = self.tensors["lower_bound"]
        similarity = (similarity - lower_bound).clamp(min=0) / (1 - lower_bound)
        # Rounding leaves the diagonal slightly off 1.
        own_class = self._all_classes() == target.unsqueeze(-1)
        return torch.where(own_class, 1.0, similarity).to(dtype)

    def _row_sums(self, target: Tensor, dtype: torch.dtype) -> Tensor:
        return self.tensors["row_sums"][target].to(dtype)

    def _description(self) -> str:
        dimensions = self.tensors["vectors"].shape[1]
        text = f", {dimensions} dimensions, {self.options['kernel']} kernel"
        if self.options["kernel"] == "angle":
            text += f", temperature={float(self.tensors['temperature']):.6g}"
        lower_bound = float(self.tensors["lower_bound"])
        return text + (f", lower_bound={lower_bound:.6g}" if lower_bound else "")


def embedding(
    vectors: Any,
    lower_bound: float = 0.0,
    kernel: str = "cosine",
    names: Sequence[str] | None = None,
    *,
    temperature: float = 1.0,
) -> Similarity:
    r"""Similarity of classes with one vector each, (C, D).

    .. math:: S_{ij} = \frac{\max(0, \mathrm{sim}_{ij} - l)}{1 - l}

    Equation 3 of the paper, with :math:`\mathrm{sim}_{ij} = \max(0, \cos(v_i, v_j))` or, with
    ``kernel="angle"``, :math:`\exp(-\mathrm{angle}(v_i, v_j) / \mathrm{temperature})`. At
    `lower_bound` 0 the proper loss was proper with the angle kernel wherever that was tested, and
    almost never with the clipped cosine. Neither is a theorem; :func:`diagnose` tests your vectors.

    It stores the C vectors, not the C x C matrix.

    Args:
        vectors: (C, D), any length but zero.
        lower_bound: l in [0, 1); similarities below it become 0.
        kernel: "cosine" or "angle".
        names: one name per class; by default the index of a pandas table.
        temperature: of the angle kernel, in radians; the larger, the more alike.

    Example:
        >>> embedding([[1, 0], [1, 1], [-1, 0]], lower_bound=0.5).to_dense()
        tensor([[1.0000, 0.4142, 0.0000],
                [0.4142, 1.0000, 0.0000],
                [0.0000, 0.0000, 1.0000]])
    """
    tensor = _checks.vectors(vectors)
    lower_bound = _checks.fraction("lower_bound", lower_bound)
    kernel = _checks.choice("kernel", kernel, KERNELS)
    temperature = _checks.positive("temperature", temperature)
    if kernel == "cosine" and temperature != 1:
        raise ValueError(
            f"`temperature` must be used with kernel='angle', "
            f"but got {temperature} with kernel='cosine'."
        )
    labels = _checks.row_labels(vectors)
    names = _checks.class_names(labels if names is None else names, tensor.shape[0])
    # Divide by the largest entry first: squares of very long or short vectors over- or underflow.
    wide = tensor.detach().double()
    wide = wide / wide.abs().amax(1, keepdim=True)
    wide = wide / wide.norm(dim=1, keepdim=True)
    tensors = {
        "vectors": wide.to(tensor.dtype),
        "lower_bound": torch.tensor(lower_bound, dtype=torch.float64),
        "temperature": torch.tensor(temperature, dtype=torch.float64),
    }
    return EmbeddingSimilarity(tensor.shape[0], tensors, names=names, kernel=kernel)
