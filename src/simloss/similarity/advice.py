"""A diagnosis in words: what to worry about, what to do, and a table to read."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .embedding import EmbeddingSimilarity
from .taxonomy import TreeSimilarity

if TYPE_CHECKING:
    from torch import Tensor

    from .diagnosis import Diagnosis

_LISTED = 8
_NOTES = 5
_LARGEST = 6
# The paper's CIFAR-100 words without a lower bound, 4 of 100, learned nothing.
_FEW = 1.5
_FEW_SHARE = 0.05


def advice(found: "Diagnosis") -> Iterator[str]:
    """One sentence for each thing to worry about."""
    yield from _about_use(found)
    if found.interchangeable:
        a, b = found.interchangeable[0]
        yield (
            f"{found.name(a)!r} and {found.name(b)!r}"
            + (
                f" and {len(found.interchangeable) - 1} more pairs"
                * (len(found.interchangeable) > 1)
            )
            + " are interchangeable (S = 1): no loss can tell them apart. If that is intended, "
            "merge them; if not, sharpen the similarity or raise its lower bound."
        )
    if not found.symmetric and found.similarity.kind == "similarity":
        yield (
            "S is not symmetric. SimLoss and SoftTargetLoss use it unchanged (row = true class); "
            "if that is not intended, symmetrized() fixes it."
        )
    if found.similarity.kind == "similarity" and found.proper is not True:
        yield _about_properness(found)
    if found.vanishing:
        yield _about_vanishing(found)
    if isinstance(found.similarity, EmbeddingSimilarity) and found.sampled:
        yield (
            "Rows are computed from the vectors whenever they are needed; sparse(S, top_k=...) "
            "keeps the few entries that matter instead."
        )


def _about_use(found: "Diagnosis") -> Iterator[str]:
    if found.mean_similarity == 0:
        yield "No class is like another: every loss here is plain cross entropy."
    elif found.effective_classes is not None and (
        found.effective_classes < max(_FEW, _FEW_SHARE * found.similarity.num_classes)
    ):
        yield (
            f"All {found.similarity.num_classes:,} classes count as only "
            f"{found.effective_classes:.2f}: almost any answer is forgiven, and SimLoss will "
            f"learn very little. Lower r or the temperature, or raise the lower bound."
        )


def _about_properness(found: "Diagnosis") -> str:
    if found.proper is None:
        return (
            f"Whether ProperSimLoss is proper with this S is unknown: {found.proper_reason}. "
            f"{_remedy(found)}"
        )
    assert found.improper_at is not None
    assert found.better_answer is not None
    assert found.expected_losses is not None
    itself, other = found.expected_losses
    return (
        f"ProperSimLoss is not proper with this S: if the truth is "
        f"{_probabilities(found, found.improper_at)}, its expected loss is {itself:.8f} for that "
        f"answer, but {other:.8f} for {_probabilities(found, found.better_answer)}; "
        f"{found.proper_reason}. {_remedy(found)}"
    )


def _probabilities(found: "Diagnosis", p: "Tensor") -> str:
    """The largest probabilities, with their classes."""
    largest = p.argsort(descending=True, stable=True)[:_LARGEST].tolist()
    parts = [f"{found.name(i)} {float(p[i]):.3f}" for i in largest if float(p[i]) >= 0.0005]
    rest = int((p >= 0.0005).sum()) - len(parts)
    return ", ".join(parts) + (f" and {rest} more" if rest else "")


def _remedy(found: "Diagnosis") -> str:
    similarity = found.similarity
    if isinstance(similarity, EmbeddingSimilarity):
        if float(similarity.tensors["lower_bound"]) > 0:
            return "With kernel='angle' and lower_bound=0 (and a lower temperature) it usually is."
        if similarity.options["kernel"] == "cosine":
            return "With kernel='angle' and the same vectors it usually is."
    if isinstance(similarity, TreeSimilarity):
        return "With measure='height' and the same tree it is."
    return (
        "It always is with order, values and tree (by height), and with any S without zeros that "
        "is blended with enough of identity(). SimLoss and SoftTargetLoss do not need it."
    )


def _about_vanishing(found: "Diagnosis") -> str:
    unsure = (
        "With the given posteriors"
        if found.uncertainty is None
        else f"At an uncertainty of {found.uncertainty:g} step" + ("s" * (found.uncertainty != 1))
    )
    return (
        f"{unsure}, SimLoss would never answer {len(found.vanishing)} of the "
        f"{found.vanishing_of} classes: others stand in for them. If they matter, lower r or the "
        f"temperature, raise the lower bound, blend in cross entropy (cross_entropy_share), or use "
        f"ProperSimLoss or SoftTargetLoss."
    )


def table(found: "Diagnosis") -> str:
    """The diagnosis as lines of text."""
    rows = [*_rows(found)]
    width = max(len(name) for name, _ in rows)
    lines = [repr(found.similarity)]
    if found.sampled:
        lines.append(f"  (a sample of {found.sampled} of {found.similarity.num_classes:,} classes)")
    lines += [f"  {name:<{width}}  {value}" for name, value in rows]
    notes = found.similarity.notes
    lines += ["How it was made"] if notes else []
    lines += [f"  - {note}" for note in notes[:_NOTES]]
    lines += [f"  - and {len(notes) - _NOTES} more (`notes`)"] if len(notes) > _NOTES else []
    lines.append("What to do")
    lines += [f"  - {sentence}" for sentence in found.advice or ["Nothing to worry about."]]
    return "\n".join(lines)


def _rows(found: "Diagnosis") -> Iterator[tuple[str, str]]:
    yield "symmetric", _yes(found.symmetric)
    yield "interchangeable pairs", str(len(found.interchangeable) or "none")
    yield (
        "positive definite",
        f"{_yes(found.positive_definite)} (smallest eigenvalue {found.smallest_eigenvalue:.3g})",
    )
    yield "triangle of -log S", _triangle(found)
    if found.similarity.kind == "similarity":
        yield "proper loss", found.properness
    if found.effective_classes is not None:
        count = found.similarity.num_classes
        yield "effective classes", f"{found.effective_classes:.2f} of {count:,} under the prior"
    yield "mean similarity", f"{found.mean_similarity:.3g} off the diagonal"
    yield "nearest pairs", _nearest(found)
    plural = "" if found.answered == 1 else "es"
    yield "SimLoss's best answer", f"uses {found.answered:.3g} class{plural} on average"
    yield "vanishing classes", _vanishing(found)
    yield "entries above 0", f"{100 * found.density:.3g} %"
    whole = _bytes(4 * found.similarity.num_classes**2)
    yield "memory", f"{_bytes(found.memory)} (all of S in float32: {whole})"


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _triangle(found: "Diagnosis") -> str:
    if found.triangle is None:
        return "does not apply to probabilities"
    if found.worst_triangle is None:
        return "holds"
    return "broken, worst for " + " - ".join(found.name(each) for each in found.worst_triangle)


def _nearest(found: "Diagnosis") -> str:
    each = zip(found.nearest_similarity, found.looked_at, found.nearest, strict=True)
    closest = sorted(each, key=lambda one: (-one[0], one[1:]))
    seen: set[frozenset[int]] = set()
    parts = []
    for similarity, a, b in closest:
        if frozenset((a, b)) not in seen and similarity > 0:
            seen.add(frozenset((a, b)))
            parts.append(f"{found.name(a)} - {found.name(b)} {similarity:.3g}")
    return ", ".join(parts[:4]) or "none: no two classes are alike"


def _vanishing(found: "Diagnosis") -> str:
    unsure = "given" if found.uncertainty is None else f"{found.uncertainty:g} wide"
    if not found.vanishing:
        return f"none (posteriors {unsure})"
    listed = ", ".join(found.name(each) for each in found.vanishing[:_LISTED])
    more = ", ..." if len(found.vanishing) > _LISTED else ""
    return f"{len(found.vanishing)} of {found.vanishing_of} (posteriors {unsure}): {listed}{more}"


def _bytes(count: float) -> str:
    units = ["bytes", "kB", "MB", "GB"]
    while count >= 1000 and len(units) > 1:
        count /= 1000
        units.pop(0)
    return f"{count:.3g} {units[0]}"
