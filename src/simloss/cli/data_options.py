"""What `compare` and `train` are told about a table or an image folder of the user's own."""

import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from .._imports import UsersName
from .parameters import Flag, Several

if TYPE_CHECKING:
    from ..data import Dataset
    from ..experiment.plan.config import DataConfig
    from ..experiment.plan.propose import Proposal

_MOST_SHOWN = 2000  # classes, of which the nearest are looked for
SHIPPED = ("diamonds", "abalone")
_FEWEST = 20  # examples to test with


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class TheirOptions:
    """Of a table or image folder.

    Parameters
    ----------
    target
        The column of a table to predict.
    image_column
        The column of a table that holds the paths of images, relative to the table.
    similarity
        How alike the classes are: order, values, gaussian, words, words-angle, tree, names (by the
        encoder of the texts), hf:NAME-OR-FOLDER (the names by that model), the path of a saved
        similarity, or module:factory; what the classes suggest if not given.
    descriptions
        For names: a CSV file with a class and its description in each line, to go by instead.
    class_order
        All classes in order, with commas: low,medium,high.
    bins
        Make this many ordered classes of a numeric target, of about equally many rows.
    superclass
        The column that holds the superclass of each class.
    drop
        Columns not to be used.
    encoder
        What makes features of texts or images before the net: tfidf for texts, fitted on each
        training part, which a table with a text has if not given; hf:NAME-OR-FOLDER for any Hugging
        Face model (with @cls or @mean behind it for the pooling); or module:callable.
    metric
        The metric to optimise.
    model
        mlp for tables, small-cnn or resnet for images, or module:factory.
    size
        Height and width of images, in pixels.
    augment
        Flip and shift training images; only with resnet if not given.
    skip_unreadable
        Leave out image files that cannot be read.
    """

    target: str | None = None
    image_column: str | None = None
    similarity: UsersName | None = None
    descriptions: Path | None = None
    class_order: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None
    bins: int | None = None
    superclass: str | None = None
    drop: Annotated[list[str] | None, Several] = None
    encoder: UsersName | None = None
    metric: str | None = None
    model: UsersName | None = None
    size: int | None = None
    augment: bool | None = None
    skip_unreadable: Annotated[bool, Flag] = False

    def data_config(self, data: UsersName, class_order: str | None = None) -> "DataConfig":
        """Where the data is and how it is read."""
        from ..experiment.plan.locate import data_config

        order = class_order or self.class_order
        return data_config(
            data,
            target=self.target,
            image_column=self.image_column,
            class_order=[name.strip() for name in order.split(",")] if order else None,
            bins=self.bins,
            superclass=self.superclass,
            drop=self.drop or (),
            size=self.size,
            skip_unreadable=self.skip_unreadable,
            encoder=self.encoder,
        )

    def refuse_for_shipped(self, source: str, but: tuple[str, ...] = ()) -> None:
        """One sentence if an option is given that a data set of the package has no use for."""
        for name, value in vars(self).items():
            if name not in but and value not in (None, False):
                flag = name.replace("_", "-")
                raise ValueError(f"`--{flag}` is for your own files; {source} needs none.")


def decided(
    options: TheirOptions, named: UsersName, decision: str | None
) -> "tuple[DataConfig, Dataset, Proposal]":
    """The data, and what is to be compared on it; asks where neither tells and someone is there."""
    from ..experiment.plan.locate import dataset_at
    from ..experiment.plan.propose import proposal, proposed

    data = options.data_config(named)
    dataset = dataset_at(data)
    kind: str | None = options.similarity
    if (encoder := _encoder_of_names(options, dataset)) is not None:
        return data, dataset, _by_names(options, dataset, encoder, decision)
    if options.descriptions is not None:
        raise ValueError("`--descriptions` is for --similarity names or hf:NAME-OR-FOLDER.")
    if kind is None and proposed(dataset) is None and sys.stdin.isatty():
        kind, order = _asked(dataset)
        if order:
            data = options.data_config(named, order)
            dataset = dataset_at(data)
    if kind is not None and Path(kind).is_file():
        kind = str(Path(kind).resolve())
    return data, dataset, _as_asked(options, dataset, proposal(dataset, kind), decision)


def _as_asked(
    options: TheirOptions, dataset: "Dataset", made: "Proposal", decision: str | None
) -> "Proposal":
    from ..experiment.plan.propose import with_metric, with_rule

    if decision is not None:
        made = with_rule(dataset, made, decision)
    if options.metric is not None:
        made = with_metric(dataset, made, options.metric)
    return made


def _encoder_of_names(options: TheirOptions, dataset: "Dataset") -> UsersName | None:
    """What is to encode the class names: as asked, or where nothing else is known of them."""
    from ..experiment.plan.propose import proposed

    kind, columns = options.similarity, dataset.columns or ()
    if kind is not None and kind.startswith("hf:"):
        return kind
    is_at_hand = any(each.kind == "text" for each in columns) and dataset.texts is None
    if kind == "names" and not is_at_hand:
        raise ValueError(
            "`--similarity names` needs a text encoder: give hf:NAME-OR-FOLDER in its place, "
            "or as the --encoder of a table with texts."
        )
    if kind is None and is_at_hand:
        found = proposed(dataset)
        is_at_hand = found is None or found[0] == "words-angle"
        return options.encoder if is_at_hand else None
    return options.encoder if kind == "names" else None


def _by_names(
    options: TheirOptions, dataset: "Dataset", encoder: UsersName, decision: str | None
) -> "Proposal":
    """The similarity of the class names by an encoder, kept in a file."""
    from dataclasses import replace

    from ..data.encoders.names import descriptions_in, kept_similarity, similarity_of_names
    from ..experiment.plan.propose import proposal

    what, descriptions = "names", None
    if options.descriptions is not None:
        what = "descriptions"
        descriptions = descriptions_in(options.descriptions, dataset.class_names)
    made = similarity_of_names(dataset.class_names, encoder, descriptions)
    found = proposal(dataset, str(kept_similarity(made).resolve()))
    found = replace(found, reason=f"{encoder} says how alike the {what} of the classes are")
    return _as_asked(options, dataset, found, decision)


def _asked(dataset: "Dataset") -> tuple[UsersName | None, str | None]:
    """The similarity, and the class order where it needs one, from whoever sits there."""
    print(f"The classes: {', '.join(dataset.class_names)}")
    print("Their names do not tell how alike they are. Are they\n")
    print("  order   in an order, like low < medium < high")
    print("  words   words whose meanings are alike or not")
    print("  a path  of a similarity you have saved (simloss similarity makes one)\n")
    try:
        kind = UsersName(input("order, words, or a path: ").strip())
        is_order = kind == "order"
        return kind, input("All classes in order, with commas: ").strip() if is_order else None
    except EOFError:  # Ctrl-D: no answer
        print()
        return None, None


def described(data: "DataConfig", dataset: "Dataset", made: "Proposal") -> Iterator[str]:
    """What was found, line by line, before anything is trained."""
    notes = dataset.notes
    encoder = data.options.get("encoder")
    yield f"{dataset.name}: {len(dataset):,} examples{_inputs(dataset)}"
    yield from _texts(dataset, encoder or "tfidf")
    for name, reason in notes.get("unused", {}).items():
        yield f"  column {name!r} is not used: {reason}"
    for name, entry in notes.get("not_numbers", {}).items():
        yield (
            f"  {entry['count']:,} cells of {name!r} are no number and count as missing, "
            f"such as {entry['example']!r}"
        )
    for name in notes.get("tells_class", ()):
        yield (
            f"  column {name!r} tells the class by itself; if it is known only after the class, "
            f"leave it out: --drop {shlex.quote(name)}"
        )
    if count := notes.get("rows_without_class"):
        yield f"  {count:,} rows without a class are left out"
    if count := notes.get("rows_without_image"):
        yield f"  {count:,} rows without an image are left out"
    for reason, entry in notes.get("left_out", {}).items():
        yield f"  {entry['count']:,} files left out ({reason}): {', '.join(entry['names'][:3])}"
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
    name = Path(made.similarity).name  # of a file, without its folder
    yield f"Similarity: {name.removesuffix('.npz')}, because {made.reason}{chosen}"
    if made.cost == made.similarity:
        yield from _most_alike(dataset, made)


def split_described(dataset: "Dataset", split: object, seeds: tuple[int, ...]) -> Iterator[str]:
    """What makes a split tell little or too much: few examples, a class that lacks, rows twice."""
    from ..data.leaks import seen_in_training
    from ..experiment.plan.config import SplitConfig
    from ..experiment.train.splits import indices_of

    assert isinstance(split, SplitConfig)
    lacking: dict[str, dict[str, None]] = {}
    splits = [indices_of(dataset, split, seed) for seed in seeds]
    for parts in splits:
        for part, indices in parts.items():
            present = set(dataset.labels[indices].tolist())
            for label, name in enumerate(dataset.class_names):
                if label not in present:
                    lacking.setdefault(part, {})[name] = None
    for part, names in lacking.items():
        some = ", ".join(list(names)[:10]) + (", …" if len(names) > 10 else "")
        yield f"  no example in the {part} part of some split: {some}"
    tested = len(splits[0]["test"])
    if tested < _FEWEST:
        yield f"  only {tested} to test with, of {len(dataset)}: so few can tell nothing apart"
    if seen := seen_in_training(dataset, splits[0]):
        yield (
            f"  {seen:,} of {tested:,} examples to test with are in the training part, too, "
            f"and can be known by heart"
        )


def _most_alike(dataset: "Dataset", made: "Proposal") -> Iterator[str]:
    """The pairs that are held to be most alike, for whoever sees that they are not."""
    from ..experiment.plan.similarities import similarity_of

    if not 2 < dataset.num_classes <= _MOST_SHOWN:
        return
    alike = similarity_of(made.similarity, None, dataset).to_dense()
    alike = alike.maximum(alike.T).triu(1)
    best = alike.flatten().topk(min(6, dataset.num_classes * (dataset.num_classes - 1) // 2))
    names, count = dataset.class_names, dataset.num_classes
    pairs = [
        f"{names[at // count]} – {names[at % count]} {value:.2f}"
        for at, value in zip(best.indices.tolist(), best.values.tolist(), strict=True)
    ]
    yield f"  most alike: {', '.join(pairs)}"


def _inputs(dataset: "Dataset") -> str:
    if dataset.columns is None:
        shape = " x ".join(str(size) for size in dataset.input_shape)
        return f" of {shape}"
    kinds = [column.kind for column in dataset.columns]
    words = {"number": "numeric", "date": "dates", "rank": "ordered words", "category": "words"}
    words |= {"vector": "lists of numbers", "text": "text"}
    parts = [f"{kinds.count(kind)} {word}" for kind, word in words.items() if kind in kinds]
    gaps = sum(column.has_missing for column in dataset.columns)
    also = f", {gaps} with gaps" if gaps else ""
    return f", {len(kinds)} columns to predict from ({', '.join(parts)}{also})"


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
