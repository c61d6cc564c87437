"""A step of training with a million classes, and what a similarity takes stored or not."""

from collections.abc import Callable

import torch

import simloss
from simloss.similarity import Similarity, embedding, order

from .contenders import sparse_rows

FEATURES = 32
DIMENSIONS = 100


def _vectors(num_classes: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(num_classes, DIMENSIONS, generator=generator)


def _embedding(num_classes: int) -> Similarity:
    return embedding(_vectors(num_classes), lower_bound=0.5)


SIMILARITIES: dict[str, Callable[[int], Similarity]] = {
    "order": lambda C: order(C, 0.8),
    "sparse (50 per row)": sparse_rows,
    "embedding (100 numbers per class)": _embedding,
}


def step(name: str, N: int, C: int) -> Callable[[], object]:
    """A step of a net's last layer, with all logits at once or, by "linear", never with them."""
    kind, _, structure = name.partition(": ")
    S = SIMILARITIES[structure](C)
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(N, FEATURES, generator=generator)
    y = torch.randint(C, (N,), generator=generator)
    if kind == "SimLoss":
        layer, loss = torch.nn.Linear(FEATURES, C, bias=False), simloss.SimLoss(S)
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)

        def train() -> None:
            optimizer.zero_grad()
            loss(layer(x), y).backward()
            optimizer.step()

        return train
    joint = simloss.LinearSimLoss(FEATURES, C, S)
    both = torch.optim.SGD(joint.parameters(), lr=0.1)

    def train_jointly() -> None:
        both.zero_grad()
        joint(x, y).backward()
        both.step()

    return train_jointly


STEPS = (
    ("SimLoss: order", 64, 1_000_000),
    ("LinearSimLoss: order", 64, 1_000_000),
    ("SimLoss: sparse (50 per row)", 64, 1_000_000),
    ("LinearSimLoss: sparse (50 per row)", 64, 1_000_000),
    ("SimLoss: embedding (100 numbers per class)", 64, 200_000),
    ("LinearSimLoss: embedding (100 numbers per class)", 64, 200_000),
)


def stored_bytes(similarity: Similarity) -> int:
    """What a similarity keeps."""
    return sum(tensor.numel() * tensor.element_size() for tensor in similarity.tensors.values())
