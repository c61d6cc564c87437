"""What `compare`, `train` and `tune` say about the data before anything is trained."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import _checks
from .parameters import as_list

if TYPE_CHECKING:
    from ..data import Dataset
    from ..experiment.grid.setup import Setup
    from ..experiment.plan.config import DataConfig
    from ..experiment.plan.propose import Proposal

_MOST_SHOWN = 2000  # classes, of which the nearest are looked for
_FEWEST = 20  # examples to test with
_LACKING = (
    (
        "short_rows",
        "row has fewer cells than the heading; those it lacks count as empty",
        "rows have fewer cells than the heading; those they lack count as empty",
    ),
    (
        "rows_without_class",
        "row without a class is left out",
        "rows without a class are left out",
    ),
    (
        "rows_without_image",
        "row without an image is left out",
        "rows without an image are left out",
    ),
)


def described(data: "DataConfig", dataset: "Dataset", made: "Proposal") -> Iterator[str]:
    """What was found, line by line, before anything is trained."""
    notes = dataset.notes
    encoder = data.options.get("encoder")
    yield f"{dataset.name}: {len(dataset):,} examples{_inputs(dataset)}"
    yield from _texts(dataset, encoder or "tfidf")
    if encoder and dataset.columns is None:
        yield f"  images encoded by {encoder} as {dataset.input_shape[0]:,} numbers"
    for name, reason in notes.get("unused", {}).items():
        yield f"  column {name!r} is not used: {reason}"
    for name, entry in notes.get("not_numbers", {}).items():
        yield (
            f"  cells of {name!r} that are not numbers count as missing: {entry['count']:,}, "
            f"such as {entry['example']!r}"
        )
    for name in notes.get("tells_class", ()):
        yield (
            f"  column {name!r} tells the class by itself; if it is known only after the class, "
            f"leave it out: --drop {shlex.quote(as_list([name]))}"
        )
    yield from _lacking(notes)
    if "parts" in notes:
        yield f"  {notes['parts']}"
    yield _classes(dataset, made)
    if bins := notes.get("bins"):
        yield f"  --bins {bins} gives {dataset.num_classes} classes, because values repeat"
    if medians := notes.get("positions"):
        listed = ", ".join(f"{median:.6g}" for median in medians[:5]) + ", …" * (len(medians) > 5)
        yield f"  each bin stands for the median of its rows: {listed}"
    if rare := notes.get("rare_classes"):
        listed = ", ".join(f"{name} ({count})" for name, count in rare.items())
        yield f"  rare, fewer than 3 examples: {listed}"
    chosen = "" if made.reason.startswith("you") else "; --similarity chooses another"
    if chosen and made.similarity.startswith("words") and len(dataset.class_names) > 2:
        chosen += "; if the classes have an order, name it with --class-order"
    name = Path(made.similarity).name  # of a file, without its folder
    yield f"Similarity: {name.removesuffix('.npz')}, because {made.reason}{chosen}"
    if made.cost == made.similarity:
        yield from _most_alike(dataset, made)


def _lacking(notes: dict[str, Any]) -> Iterator[str]:
    """The rows and files that lack something, line by line."""
    for name, one, several in _LACKING:
        if count := notes.get(name):
            yield f"  {_checks.counted(count, one, several)}"
    for reason, entry in notes.get("left_out", {}).items():
        files = _checks.counted(entry["count"], "file", "files")
        yield f"  {files} left out ({reason}): {', '.join(entry['names'][:3])}"


def split_described(setup: "Setup", seeds: tuple[int, ...]) -> Iterator[str]:
    """What makes a split tell little or too much: few examples, a missing class, repeated rows."""
    from ..data.leaks import seen_in_training

    for part, names in setup.lacking(seeds):
        some = ", ".join(names[:10]) + (", …" if len(names) > 10 else "")
        whole = "training" if part == "train" else part
        yield f"  no example in the {whole} part of some split: {some}"
    first, dataset = setup.indices(seeds[0]), setup.dataset
    tested = len(first["test"])
    if tested < _FEWEST:
        yield f"  only {tested} to test with, of {len(dataset)}: so few can tell nothing apart"
    if seen := seen_in_training(dataset, first):
        yield (
            f"  {seen:,} of {tested:,} examples to test with are in the training part, too, "
            f"and can be known by heart"
        )


def _most_alike(dataset: "Dataset", made: "Proposal") -> Iterator[str]:
    """The pairs that count as most alike, so that the user can see when that is wrong."""
    from ..experiment.plan.similarities import similarity_of

    if not 2 < dataset.num_classes <= _MOST_SHOWN:
        return
    known = similarity_of(made.similarity, None, dataset)
    yield from (f"  {note}" for note in known.notes if "like no other class" in note)
    alike = known.to_dense()
    alike = alike.maximum(alike.T).triu(1)
    best = alike.flatten().topk(min(6, dataset.num_classes * (dataset.num_classes - 1) // 2))
    names, count = dataset.class_names, dataset.num_classes
    pairs = [
        f"{names[at // count]} and {names[at % count]} {value:.2f}"
        for at, value in zip(best.indices.tolist(), best.values.tolist(), strict=True)
    ]
    yield f"  most alike: {', '.join(pairs)}"


def _inputs(dataset: "Dataset") -> str:
    if dataset.columns is None:
        shape = " x ".join(str(size) for size in dataset.input_shape)
        return f" of {shape}" if len(dataset.input_shape) > 1 else f" of {shape} numbers each"
    kinds = [column.kind for column in dataset.columns]
    words = {"number": "numeric", "date": "of dates", "rank": "of ordered words"}
    words |= {"category": "of words", "vector": "of lists of numbers", "text": "of text"}
    parts = [f"{kinds.count(kind)} {word}" for kind, word in words.items() if kind in kinds]
    gaps = sum(column.has_missing for column in dataset.columns)
    also = f", {gaps} with gaps" if gaps else ""
    columns = "1 column" if len(kinds) == 1 else f"{len(kinds)} columns"
    return f", {columns} to predict from ({', '.join(parts)}{also})"


def _texts(dataset: "Dataset", encoder: str) -> Iterator[str]:
    """Which columns are read as text, and what makes numbers of them."""
    for column in dataset.columns or ():
        if column.kind == "text":
            named = " and ".join(map(repr, column.words)) + " are" * (len(column.words) > 1)
            how = ", fitted on each training part" if dataset.texts is not None else ""
            yield (
                f"  text: {named}{' joined,' * (len(column.words) > 1)} encoded by {encoder} "
                f"as {column.size} numbers{how}"
            )


def _classes(dataset: "Dataset", made: "Proposal") -> str:
    from ..data.class_order import ClassOrder

    is_ordered = made.similarity in ("order", "values", "gaussian")
    order = ClassOrder(dataset.class_names, "given" if is_ordered else "names")
    how = "in this order" if is_ordered else "in no order"
    return f"{dataset.num_classes} classes, {how}: {order}"
