"""SimLoss whose similarity fades: first the rough place, then the class."""

from torch import Tensor

from .... import _checks
from ....loss import SimLoss
from ....similarity import order
from .objective import Objective

_FIRST_R = 0.9


class Annealed(Objective):
    r"""SimLoss with :math:`r_e = 0.9\,(1 - (e - 1)/E)` in epoch e, and 0 from epoch E + 1 on.

    Args:
        num_classes: C.
        epochs: E, over which r falls from .9 to 0; after them it is cross entropy.

    Example:
        >>> loss = Annealed(9, epochs=3)
        >>> for epoch in (1, 2, 4):
        ...     loss.begin_epoch(epoch)
        ...     print(loss.loss.similarity)
        order(9 classes, r=0.9)
        order(9 classes, r=0.6)
        order(9 classes, r=0: the identity)
    """

    def __init__(self, num_classes: int, epochs: float) -> None:
        super().__init__()
        self.num_classes, self.epochs = num_classes, _checks.positive("epochs", epochs)
        self.loss = SimLoss(order(num_classes, _FIRST_R))

    def forward(self, outputs: Tensor, target: Tensor) -> Tensor:
        value: Tensor = self.loss(outputs, target)
        return value

    def begin_epoch(self, epoch: int) -> None:
        left = max(0.0, 1 - (epoch - 1) / self.epochs)
        self.loss.set_similarity(order(self.num_classes, _FIRST_R * left))
