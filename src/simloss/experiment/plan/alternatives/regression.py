"""Regression on the places of the classes: what people would use instead of classes in an order."""

import torch
from torch import Tensor

from ....calibration import residual_probabilities
from ....data import Dataset
from .objective import Objective

# exp(-60) is far below what a float32 beside 1 can tell.
_CERTAIN = 60.0


def places_of(dataset: Dataset) -> Tensor:
    """Where each class lies, (C): the number it stands for, or else its place in the order."""
    at = list(dataset.positions or ())
    if not at or at not in (sorted(set(at)), sorted(set(at), reverse=True)):
        return torch.arange(dataset.num_classes, dtype=torch.float64)
    return torch.tensor(at, dtype=torch.float64)


class Regression(Objective):
    r"""The mean absolute error of one number per example, or its square.

    .. math:: |z_0 - (t_y - m) / s| \quad\text{or}\quad (z_0 - (t_y - m) / s)^2

    with t the places of the classes, m their mean and s their standard deviation. The first output
    is the prediction; the others are not used. Until :meth:`remember` was called the nearest class
    is certain; from then on the errors on those examples make the probabilities, as
    :func:`simloss.calibration.residual_probabilities` says.

    Args:
        places: where each class lies, (C).
        squared: whether errors are squared.

    Example:
        >>> regression = Regression(torch.tensor([0.0, 1.0, 2.0]))
        >>> regression(torch.zeros(1, 3), torch.tensor([2]))
        tensor(1.2247)
        >>> regression.nearest(torch.tensor([[1.0], [0.2]]))
        tensor([2, 1])
    """

    places: Tensor
    remembered: Tensor
    classes: Tensor

    def __init__(self, places: Tensor, *, squared: bool = False) -> None:
        super().__init__()
        places = places.double()
        self.squared = squared
        self.middle = float(places.mean())
        self.spread = float(places.std(correction=0)) or 1.0
        self.register_buffer("places", places, persistent=False)
        self.register_buffer("remembered", torch.empty(0, dtype=torch.float64))
        self.register_buffer("classes", torch.empty(0, dtype=torch.long))

    def standard(self, target: Tensor) -> Tensor:
        """What is to be predicted for each class (N): its place, at mean 0 and deviation 1."""
        return (self.places[target] - self.middle) / self.spread

    def forward(self, outputs: Tensor, target: Tensor) -> Tensor:
        error = outputs[..., 0] - self.standard(target).to(outputs.dtype)
        return error.square().mean() if self.squared else error.abs().mean()

    def predictions(self, outputs: Tensor) -> Tensor:
        """The predicted places, within those of the classes, float64."""
        found = self.middle + self.spread * outputs[..., 0].double()
        return found.clamp(self.places.min(), self.places.max())

    def nearest(self, outputs: Tensor) -> Tensor:
        return (self.predictions(outputs).unsqueeze(-1) - self.places).abs().argmin(-1)

    def remember(self, outputs: Tensor, target: Tensor) -> None:
        self.remembered, self.classes = self.predictions(outputs), target.clone()

    def recall(self, state: dict[str, Tensor]) -> bool:
        """Take what was remembered out of a file; False where it does not fit the classes."""
        known, classes = (state.get(name) for name in ("remembered", "classes"))
        if known is None or classes is None or not 0 < len(classes) == len(known):
            return False
        if (known.ndim, known.dtype, classes.dtype) != (1, torch.float64, torch.long):
            return False
        if not 0 <= int(classes.min()) <= int(classes.max()) < len(self.places):
            return False
        self.remembered, self.classes = known, classes
        return True

    def logits(self, outputs: Tensor) -> Tensor:
        if not len(self.classes):
            certain = torch.eye(len(self.places), dtype=outputs.dtype, device=outputs.device)
            return _CERTAIN * certain[self.nearest(outputs)]
        return self._around(outputs, self.remembered, self.classes)

    def held_out_logits(self, outputs: Tensor, target: Tensor) -> Tensor:
        """By the errors on the other half, so that no example's own error helps its answer."""
        if len(target) < 2:
            return self.logits(outputs)
        known = self.predictions(outputs)
        found = outputs.new_empty(len(outputs), len(self.places))
        for half in (0, 1):
            other = slice(1 - half, None, 2)
            found[half::2] = self._around(outputs[half::2], known[other], target[other])
        return found

    def _around(self, outputs: Tensor, known: Tensor, classes: Tensor) -> Tensor:
        p = residual_probabilities(
            self.predictions(outputs), known, classes, positions=self.places
        )  # (N, C)
        return torch.from_numpy(p).log().to(outputs)
