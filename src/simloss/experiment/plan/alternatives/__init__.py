"""What others do about classes that are not equally far apart, trained as ours is.

One file per alternative, written from its paper's mathematics. A configuration names them as losses
without a similarity: ``{loss: cdw, value: 2}``.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ....data import Dataset
from ....loss import ProperSimLoss, SimilarityLoss, SimLoss
from ....similarity import order, tree
from ..similarities import tree_of
from .annealed import Annealed
from .binary_answers import BinaryAnswers
from .conse import conse, word_vectors
from .corn import CORN
from .distance_weighted import DistanceWeighted
from .hierarchical import HierarchicalCrossEntropy
from .kernel_score import KernelScore
from .label_distribution import LabelDistribution
from .noise_layer import NoiseLayer
from .objective import Objective, objective_of
from .regression import Regression, places_of
from .squared_emd import SquaredEMD

__all__ = [
    "ALTERNATIVES",
    "RIVALS",
    "Alternative",
    "Objective",
    "Regression",
    "conse",
    "objective_of",
    "word_vectors",
]


@dataclass(frozen=True)
class Alternative:
    """A loss that is given no similarity.

    Attributes:
        label: what a table calls it.
        make: (data set, value of the parameter) -> the loss.
        parameter: its name; None where it has none.
        values: as many as are tried of ours, or nearly.
        uses_similarity: whether it is ours in another form, with a similarity of its own.
        learner: what learns: the configuration's "net", a "linear" one or boosted "trees".
        needs: what must be known about the classes: "order", or None.
    """

    label: str
    make: Callable[[Dataset, float], nn.Module]
    parameter: str | None = None
    values: tuple[float, ...] = ()
    uses_similarity: bool = False
    learner: str = "net"
    needs: str | None = None


def _blended(name: str, loss: type[SimilarityLoss], r: float) -> Alternative:
    """With a share of cross entropy; r is large enough that blending matters."""
    return Alternative(
        f"{name} r = {r:g} blended",
        lambda dataset, share: loss(order(dataset.num_classes, r), cross_entropy_share=share),
        "share",
        (0.05, 0.1, 0.25, 0.5, 0.75),
        uses_similarity=True,
    )


def _distance(dataset: Dataset) -> Tensor:
    """Heights in the tree of a data set that has one, else places in the order."""
    if dataset.tree is not None:
        return tree(dataset.tree, temperature=1.0).cost()
    place = torch.arange(dataset.num_classes, dtype=torch.float32)
    return (place - place.unsqueeze(1)).abs()


ALTERNATIVES = {
    "label-smoothing": Alternative(
        "label smoothing",
        lambda dataset, epsilon: nn.CrossEntropyLoss(label_smoothing=epsilon),
        "epsilon",
        (0.02, 0.05, 0.1, 0.2, 0.4),
    ),
    "squared-emd": Alternative(
        "squared EMD",
        lambda dataset, share: SquaredEMD(share),
        "share",
        (0.0, 0.1, 0.25, 0.5, 0.75),
    ),
    "kernel-score": Alternative(
        "kernel score",
        lambda dataset, share: KernelScore(_distance(dataset), share),
        "share",
        (0.0, 0.1, 0.25, 0.5, 0.75),
    ),
    "dldl-v2": Alternative(
        "DLDL-v2", lambda dataset, width: LabelDistribution(width), "width", (0.5, 1.0, 2.0, 3.0)
    ),
    "cdw": Alternative(
        "CDW", lambda dataset, alpha: DistanceWeighted(alpha), "alpha", (0.5, 1.0, 2.0, 3.0, 5.0)
    ),
    "corn": Alternative("CORN", lambda dataset, _: CORN()),
    "or-cnn": Alternative("OR-CNN", lambda dataset, _: BinaryAnswers()),
    "noise-layer": Alternative(
        "learned matrix",
        lambda dataset, trace: NoiseLayer(dataset.num_classes, trace),
        "trace",
        (0.0, 0.01, 0.1, 1.0),
    ),
    "hierarchical": Alternative(
        "hierarchical cross entropy",
        lambda dataset, alpha: HierarchicalCrossEntropy(tree_of(dataset), alpha),
        "alpha",
        (0.1, 0.2, 0.4, 0.8),
    ),
    "annealed": Alternative(
        "SimLoss annealed",
        lambda dataset, epochs: Annealed(dataset.num_classes, epochs),
        "epochs",
        (3.0, 6.0, 12.0, 25.0, 50.0),
        uses_similarity=True,
    ),
    "blend": _blended("SimLoss", SimLoss, 0.9),
    "proper-blend": _blended("proper SimLoss", ProperSimLoss, 0.95),
}

# What people would use instead of a net that knows about the classes.
RIVALS = {
    "boosting": Alternative("boosted trees", lambda *_: nn.CrossEntropyLoss(), learner="trees"),
    "boosted-regression": Alternative(
        "boosted regression (L1)",
        lambda dataset, _: Regression(places_of(dataset)),
        learner="trees",
        needs="order",
    ),
    "boosted-regression-l2": Alternative(
        "boosted regression (L2)",
        lambda dataset, _: Regression(places_of(dataset), squared=True),
        learner="trees",
        needs="order",
    ),
    "linear": Alternative("linear model", lambda *_: nn.CrossEntropyLoss(), learner="linear"),
    "regression": Alternative(
        "regression net (L1)", lambda dataset, _: Regression(places_of(dataset)), needs="order"
    ),
    "regression-l2": Alternative(
        "regression net (L2)",
        lambda dataset, _: Regression(places_of(dataset), squared=True),
        needs="order",
    ),
}
