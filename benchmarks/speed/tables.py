"""The tables: what is measured, and the record that is kept of it."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from simloss.similarity import embedding, order

from . import contenders, linear, million, operations
from .memory import growth
from .timing import in_pairs, take_turns

Record = dict[str, Any]

SHAPES = ((1024, 96), (1024, 1000), (4096, 1000), (256, 32000))
SEGMENTATION = (8, 21, 128, 128)
TINY = (8, 10)
GROWTH_CLASSES = (32, 100, 320, 1000, 3200, 10_000, 32_000, 100_000)
GROWTH_EXAMPLES = (16, 64, 256, 1024, 4096)
GROWING = (
    "F.cross_entropy",
    "SimLoss, order",
    "SimLoss, sparse (50 per row)",
    "SimLoss, dense",
    "ProperSimLoss, order",
    "SoftTargetLoss, order",
)


def losses(seconds: float) -> list[Record]:
    """Time and peak memory of every loss at the four shapes, in segmentation, for a tiny batch."""
    return [
        record
        for shape in (*SHAPES, SEGMENTATION, TINY)
        for record in _of_shape(shape, tuple(contenders.CONTENDERS), seconds)
    ]


def _of_shape(
    shape: tuple[int, ...], names: tuple[str, ...], seconds: float, *, memory: bool = True
) -> list[Record]:
    steps = {name: contenders.step(name, shape) for name in names}
    there = {name: step for name, step in steps.items() if step is not None}
    calls = 20 if shape == TINY else 1
    timings = in_pairs(there, seconds=seconds, calls=calls)
    records = []
    for name in there:
        record = {"name": name, "shape": list(shape), **asdict(timings[name])}
        if memory and shape != TINY:
            record["memory"] = growth("logits", name, *shape)
        records.append(record)
    return records


def growing(seconds: float) -> list[Record]:
    """How the time grows with the number of classes and of examples."""
    shapes = [(256, C) for C in GROWTH_CLASSES] + [(N, 1000) for N in GROWTH_EXAMPLES]
    return [
        record
        for shape in shapes
        for record in _of_shape(shape, GROWING, seconds / 4, memory=False)
    ]


def linear_layer(seconds: float) -> list[Record]:
    """The last layer and the loss in one."""
    steps = {name: linear.step(name, *linear.SHAPE) for name in linear.CONTENDERS}
    there = {name: step for name, step in steps.items() if step is not None}
    timings = take_turns(there, seconds=10 * seconds, least=3, most=10)
    return [
        {
            "name": name,
            "shape": list(linear.SHAPE),
            **asdict(timings[name]),
            "memory": growth("linear", name, *linear.SHAPE),
        }
        for name in there
    ]


def many_classes(seconds: float) -> list[Record]:
    """A step of training with a million classes."""
    records = []
    for name, N, C in million.STEPS:
        timing = take_turns({name: million.step(name, N, C)}, seconds=seconds / 4, most=10)[name]
        memory = growth("million", name, N, C)
        records.append({"name": name, "shape": [N, C], **asdict(timing), "memory": memory})
    return records


def similarity_memory(seconds: float) -> list[Record]:
    """The appendix's claim: what S takes stored, computed on the fly, and normalised."""
    records = []
    for C in (1000, 10_000, 100_000, 1_000_000):
        for name, S in (("order", order(C, 0.8)), ("embedding", _few_vectors(C))):
            record = {"name": name, "classes": C, "stored": 4 * C * C}
            record["on the fly"] = million.stored_bytes(S)
            if name == "order":
                record["normalised"] = million.stored_bytes(S.normalized())
            else:
                record["normalised"] = record["on the fly"] + 8 * C  # and the sum of each row
            records.append(record)
    return records


def counted_operations(seconds: float) -> list[Record]:
    """The work of a loss on a GPU: counted, not timed."""
    N, C = operations.SHAPE
    records = []
    for name, loss in operations.losses(C).items():
        kernels = operations.compiled_kernels(loss, C)
        eager, passes = operations.counted(loss, (N, C))
        records.append(
            {"name": name, "shape": [N, C], "eager": eager, "passes": passes, "compiled": kernels}
        )
    return records


def _few_vectors(num_classes: int) -> Any:
    return embedding(million._vectors(num_classes))


TABLES: dict[str, Callable[[float], list[Record]]] = {
    "losses": losses,
    "linear": linear_layer,
    "growth": growing,
    "million": many_classes,
    "similarity": similarity_memory,
    "operations": counted_operations,
}
