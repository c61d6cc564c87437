"""The properties and possible problems of a similarity."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .. import _checks
from . import properness, triangle, vanishing
from .advice import advice, table
from .base import Similarity
from .counterexample import expected_loss
from .matrix import as_similarity
from .properness import Verdict

# Hundreds of rows are looked at; those of more classes fill the memory.
_MOST_CLASSES = 1_000_000
# With more classes than this, only a sample is examined, and the diagnosis says so.
_ALL_UP_TO = 1024
_SAMPLE = 256
_SEEDS = 16
# A posterior is cut to this many classes if there are more than twice as many.
_NEIGHBOURS = 64
_MOST_PAIRS = 1000


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """The result of :func:`diagnose`; ``print`` shows it.

    Attributes:
        similarity: the similarity examined.
        sampled: the number of classes examined if there are too many for all; else None.
        symmetric: whether S_ij = S_ji.
        interchangeable: pairs of different classes with S = 1 (the first thousand).
        smallest_eigenvalue: of the symmetric part of S.
        positive_definite: whether the smallest eigenvalue is above 0.
        triangle: whether -log S obeys the triangle inequality; None for kind "probability".
        worst_triangle: (i, j, k) for which S_ij S_jk exceeds S_ik most; None if it never does.
        proper: whether the proper loss is proper: True if proved, False if refuted by
            the counterexample below, None if unknown or for kind "probability".
        proper_reason: what proves it; or what failed, or how much was examined.
        improper_at: the counterexample: a posterior (C) that is not its own best answer.
        better_answer: an answer that is better there, (C).
        expected_losses: the expected losses of these two answers, the posterior first.
        effective_classes: the number of distinct classes under the prior (Leinster and Cobbold,
            order 1), exp(-sum p log S p); None for kind "probability".
        nearest: for each class examined, the class most like it.
        nearest_similarity: how alike the two are.
        looked_at: the classes that `nearest` is about.
        mean_similarity: the mean of S off the diagonal.
        uncertainty: the width of the posteriors in steps, or None if they were given.
        answered: how many classes SimLoss's optimum uses on average; 1 is one-hot.
        vanishing: possible classes that get probability 0 in SimLoss's optimum for every posterior.
        vanishing_of: the number of classes examined for that.
        density: the share of entries above 0.
        memory: the size of the similarity in bytes.
        advice: what to worry about and what to do, one sentence each.
    """

    similarity: Similarity
    sampled: int | None
    symmetric: bool
    interchangeable: tuple[tuple[int, int], ...]
    smallest_eigenvalue: float
    positive_definite: bool
    triangle: bool | None
    worst_triangle: tuple[int, int, int] | None
    proper: bool | None
    proper_reason: str
    improper_at: Tensor | None
    better_answer: Tensor | None
    expected_losses: tuple[float, float] | None
    effective_classes: float | None
    nearest: tuple[int, ...]
    nearest_similarity: tuple[float, ...]
    looked_at: tuple[int, ...]
    mean_similarity: float
    uncertainty: float | None
    answered: float
    vanishing: tuple[int, ...]
    vanishing_of: int
    density: float
    memory: int
    advice: tuple[str, ...] = ()

    @property
    def properness(self) -> str:
        """Whether the proper loss is proper: "proved", "refuted" or "unknown", and why."""
        if self.expected_losses is not None:
            itself, other = self.expected_losses
            return (
                f"refuted: expected loss {itself:.8f} for a truth, {other:.8f} for another answer"
            )
        return f"{'proved' if self.proper else 'unknown'}: {self.proper_reason}"

    def name(self, place: int) -> str:
        """The name of a class, or its number."""
        names = self.similarity.names
        return names[place] if names else str(place)

    def __str__(self) -> str:
        return table(self)


def diagnose(similarity: Any, prior: Any = None, uncertainty: Any = None) -> Diagnosis:
    r"""Examine a similarity: whether it is sound, which losses suit it, which classes would vanish.

    With more than 1,024 classes it examines a sample, and says so.

    That the proper loss is proper is **proved** by structure for classes on a line and for trees;
    for other similarities by S^-1, or by the curvature at every corner of the simplex, which
    decides it either way (docs/mathematics.md; in float64, so up to rounding of 1e-9). It is
    **refuted** only by an example. It is **unknown** if neither was found: with more than 362
    classes, where rounding hides the sign, or if S is not symmetric and has zeros. The reason then
    says which, or how much was examined.

    Args:
        similarity: any similarity.
        prior: how frequent each class is, (C), as counts or probabilities; by default equal.
        uncertainty: how unsure a classifier will be, to find the classes that vanish from SimLoss's
            optimum: the width of a bell-shaped posterior around each class, in steps to the next
            class (by default 1; the distance is -log S, and a step is its median to the nearest
            class). Or the posteriors themselves, (C, C), one row per class.

    Example:
        >>> from simloss.similarity import order
        >>> found = order(9, r=0.8).diagnose()
        >>> found.proper, found.proper_reason
        (True, 'the classes are positions on a line')
        >>> found.vanishing
        ()
        >>> round(found.effective_classes, 2)
        1.76
    """
    whole = as_similarity(similarity).detached()
    if whole.num_classes < 2:
        raise ValueError("`similarity` must have at least 2 classes to be diagnosed, but has 1.")
    if whole.num_classes > _MOST_CLASSES:
        raise ValueError(
            f"`similarity` must have at most {_MOST_CLASSES:,} classes to be diagnosed, "
            f"but has {whole.num_classes:,}; diagnose a smaller one of its kind."
        )
    p = _prior(prior, whole.num_classes)
    seeds, some, close = _looked_at(whole)
    rows = whole.rows(some, torch.float64)  # (M, C)
    part = whole.rows(close, torch.float64)[:, close]  # (M, M)
    found = {**_of_rows(whole, rows, some, p), **_of_part(whole, part, close)}
    found |= _properness(whole, part, close)
    found |= _vanishing(whole, p, uncertainty, seeds, some)
    diagnosis = Diagnosis(
        whole,
        sampled=len(some) if len(some) < whole.num_classes else None,
        memory=sum(t.numel() * t.element_size() for t in whole.tensors.values()),
        **found,
    )
    return replace(diagnosis, advice=tuple(advice(diagnosis)))


def _prior(prior: Any, num_classes: int) -> Tensor:
    if prior is None:
        return torch.full((num_classes,), 1 / num_classes, dtype=torch.float64)
    tensor = _checks.float_tensor("prior", prior).detach().double()
    if tensor.shape != (num_classes,):
        raise ValueError(
            f"`prior` must have one number for each of the {num_classes} classes, "
            f"but got shape {tuple(tensor.shape)}."
        )
    _checks.not_negative("prior", tensor)
    if float(tensor.sum()) == 0:
        raise ValueError("`prior` must have an entry above 0, but all are 0.")
    return tensor / tensor.sum()


def _looked_at(whole: Similarity) -> tuple[Tensor, Tensor, Tensor]:
    """All classes three times; or a sample: random ones, and a few with their neighbours."""
    classes = torch.arange(whole.num_classes)
    if whole.num_classes <= _ALL_UP_TO:
        return classes, classes, classes
    generator = torch.Generator().manual_seed(0)
    some = torch.randperm(whole.num_classes, generator=generator)[:_SAMPLE]
    seeds = some[:_SEEDS]
    close = whole.rows(seeds, torch.float64).topk(_SAMPLE // _SEEDS, dim=1).indices
    return seeds, some, close.unique()


def _of_rows(whole: Similarity, rows: Tensor, some: Tensor, p: Tensor) -> dict[str, Any]:
    own = some.unsqueeze(1)
    others = rows.scatter(1, own, -1.0)
    similarity, nearest = others.max(1)
    pairs = (others >= 1 - 1e-6).nonzero()[:_MOST_PAIRS]
    pairs[:, 0] = some[pairs[:, 0]]
    effective = None
    if whole.kind == "similarity":
        log_ordinary = (rows @ p).clamp(min=1e-300).log()
        weight = p[some] if float(p[some].sum()) > 0 else torch.ones_like(p[some])
        effective = float((-(weight * log_ordinary).sum() / weight.sum()).exp())
    return {
        "interchangeable": tuple(sorted({(min(a, b), max(a, b)) for a, b in pairs.tolist()})),
        "effective_classes": effective,
        "nearest": tuple(nearest.tolist()),
        "nearest_similarity": tuple(similarity.tolist()),
        "looked_at": tuple(some.tolist()),
        "mean_similarity": float((rows.sum(1) - rows.gather(1, own).squeeze(1)).mean())
        / (whole.num_classes - 1),
        "density": float((rows > 0).double().mean()),
    }


def _of_part(whole: Similarity, part: Tensor, close: Tensor) -> dict[str, Any]:
    smallest = triangle.smallest_eigenvalue(part)
    found: dict[str, Any] = {
        "symmetric": bool(((part - part.T).abs() <= _checks.ROUNDING * part + 1e-12).all()),
        "smallest_eigenvalue": smallest,
        "positive_definite": smallest > 1e-9 * len(part),
        "triangle": None,
        "worst_triangle": None,
    }
    if whole.kind == "similarity":
        triples, _ = triangle.triangle_violations(part)
        found["triangle"] = len(triples) == 0
        if len(triples):
            found["worst_triangle"] = tuple(close[triples[0]].tolist())
    return found


def _properness(whole: Similarity, part: Tensor, close: Tensor) -> dict[str, Any]:
    decided = Verdict(None, "does not apply to probabilities")
    if whole.kind == "similarity":
        decided = properness.decide(whole, part, close)
    p, q = decided.example or (None, None)
    losses = None
    if p is not None and q is not None:
        some = ((p > 0) | (q > 0)).nonzero().squeeze(1)  # not always among `close`
        few = whole.rows(some, torch.float64)[:, some]
        losses = tuple(float(expected_loss(few, p[some], each[some])) for each in (p, q))
    return {
        "proper": decided.proper,
        "proper_reason": decided.reason,
        "improper_at": p,
        "better_answer": q,
        "expected_losses": losses,
    }


def _vanishing(
    whole: Similarity, p: Tensor, uncertainty: Any, seeds: Tensor, some: Tensor
) -> dict[str, Any]:
    width = None
    if uncertainty is None or np.ndim(uncertainty) == 0:
        width = _checks.positive("uncertainty", 1.0 if uncertainty is None else uncertainty)
        centres, local = _neighbourhoods(whole, seeds)
        step = vanishing.step_length(whole, some)
        posteriors = vanishing.bells_among(whole, p, width, centres, local, step)
    else:
        seeds = torch.arange(whole.num_classes)
        posteriors = vanishing.given_posteriors(uncertainty, whole.num_classes)
        posteriors, local = posteriors.topk(_size(whole), dim=1)
    answers = vanishing.optima(whole, local, posteriors)  # (B, m)
    largest = torch.zeros_like(p).scatter_reduce(0, local.reshape(-1), answers.reshape(-1), "amax")
    judged = seeds[p[seeds] > 0]
    return {
        "uncertainty": width,
        "answered": float((answers > 0).double().sum(1).mean()),
        "vanishing": tuple(judged[largest[judged] == 0].tolist()),
        "vanishing_of": len(judged),
    }


def _neighbourhoods(whole: Similarity, seeds: Tensor) -> tuple[Tensor, Tensor]:
    """The centres of posteriors (B), and the classes examined around each, (B, m)."""
    near = whole.log_rows(seeds, torch.float64).topk(_size(whole), dim=1).indices  # (seeds, m)
    if len(seeds) == whole.num_classes:
        return seeds, near
    # A class can also be answered when the truth is one of its neighbours.
    around = _NEIGHBOURS // 2
    return near[:, :around].reshape(-1), near.repeat_interleave(around, dim=0)


def _size(whole: Similarity) -> int:
    return whole.num_classes if whole.num_classes <= 2 * _NEIGHBOURS else _NEIGHBOURS
