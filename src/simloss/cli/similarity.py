"""`simloss similarity KIND`: build a similarity, see what it means, keep it."""
# ruff: noqa: D417  (`answer` holds the options that all kinds have in common)

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter

from .._imports import UsersName
from .parameters import Flag, Name, Several
from .similarity_input import choice, listed_names, named_numbers, prior

if TYPE_CHECKING:
    from ..similarity import Similarity

similarity = App(
    name="similarity",
    help="Say what you know about your classes, and see what it means.",
)


@Parameter(name="*")
@dataclass
class Answer:
    """What to do with the similarity.

    Attributes
    ----------
    out
        Write the similarity: .csv opens in a spreadsheet; .npz and .safetensors are compact.
    figure
        Write an interactive heat map, an .html file that works offline.
    sketch
        Print the similarity in shades, too.
    clustered
        In the heat map, put classes that are alike next to each other.
    top_k
        How many other classes to keep in each row.
    prior
        A CSV file that says how frequent each class is: one number per line, or name and number.
    uncertainty
        How unsure a classifier will be, in steps to the next class; for the vanishing classes.
    """

    out: Path | None = None
    figure: Path | None = None
    sketch: Annotated[bool, Flag] = False
    clustered: Annotated[bool, Flag] = False
    top_k: int | None = None
    prior: Path | None = None
    uncertainty: float = 1.0


# What several kinds take.
_FACTOR = Parameter(help="The reduction factor, in [0, 1).")
_ALIKE = Parameter(help="The larger, the more alike.")
_BOUND = Parameter(help="What is less similar, in [0, 1), counts as not similar at all.")
_KERNEL = Parameter(help="cosine as in the paper, or angle, mostly keeping the proper loss proper.")
_ANGLES = Parameter(help="Of the angle kernel; the larger, the more alike.")
_HEADER = Parameter(help="The first line only names the columns.")
_NAMES = Parameter(help="The class names, such as rose violet truck.")
_FILE = Parameter(help="A file with one class name per line, instead.")


@similarity.command
def order(
    *,
    classes: Annotated[int, Parameter(help="The number of classes.")],
    r: Annotated[float, _FACTOR],
    answer: Answer | None = None,
) -> None:
    """Classes in an order: r^|i - j|."""
    from ..similarity import order as build

    _answer(build(classes, r), answer)


@similarity.command
def circular(
    *,
    classes: Annotated[int, Parameter(help="The number of classes.")],
    r: Annotated[float, _FACTOR],
    answer: Answer | None = None,
) -> None:
    """Classes in a circle, such as hours: r^(steps round the circle)."""
    from ..similarity import circular as build

    _answer(build(classes, r), answer)


@similarity.command
def values(
    positions: Annotated[list[float], Several, Parameter(help="One per class, such as 0 18 65.")],
    /,
    *,
    scale: Annotated[float, Parameter(help="The distance at which it has fallen to 1/e.")],
    answer: Answer | None = None,
) -> None:
    """Classes at numbers: exp(-|a - b| / scale)."""
    from ..similarity import values as build

    _answer(build(positions, scale), answer)


@similarity.command
def words(
    names: Annotated[list[str] | None, Several, _NAMES] = None,
    /,
    *,
    names_from: Annotated[Path | None, _FILE] = None,
    lower_bound: Annotated[float, _BOUND] = 0.0,
    kernel: Annotated[Literal["cosine", "angle"], _KERNEL] = "cosine",
    temperature: Annotated[float, _ANGLES] = 1.0,
    vectors: Path | None = None,
    encoder: Annotated[UsersName | None, Name] = None,
    missing: Literal["error", "alone", "drop"] = "error",
    answer: Answer | None = None,
) -> None:
    """Class names by what the words mean, from the shipped word vectors or others.

    Parameters
    ----------
    vectors
        Other word vectors: word2vec, GloVe or fastText text, or word2vec .bin, plain or .gz.
    encoder
        A text encoder instead, which knows every word: hf:NAME-OR-FOLDER or module:callable.
    missing
        Refuse a name without a vector, make its class like no other (alone), or drop it.
    """
    from ..data import encoded_texts
    from ..similarity import words as build

    if encoder is not None and vectors is not None:
        raise ValueError("`--vectors` and `--encoder` must not both be given.")
    source = vectors if encoder is None else partial(encoded_texts, encoder=encoder)
    known = listed_names(names, names_from)
    made = build(known, lower_bound, kernel, source, missing, temperature=temperature)
    _answer(made, answer)


@similarity.command
def tree(
    paths: Path,
    /,
    *,
    temperature: Annotated[float, _ALIKE] = 1.0,
    measure: Literal["height", "path", "wu-palmer"] = "height",
    parents: Annotated[bool, Flag] = False,
    separator: Annotated[str, Parameter(help="What separates the names of a path.")] = "/",
    header: Annotated[bool, _HEADER, Flag] = False,
    answer: Answer | None = None,
) -> None:
    """Classes in a tree, one per line of a CSV file: exp(-distance / temperature).

    Parameters
    ----------
    paths
        The file: one column of paths (animal/bird/robin), or one column per level, the class last.
    measure
        The height of the common ancestor, the length of the path, or that of Wu and Palmer.
    parents
        The two columns of the file are a node and its parent instead.
    """
    from ..similarity import Tree
    from ..similarity import tree as build

    made = Tree.from_csv(paths, parents=parents, header=header, separator=separator)
    _answer(build(made, temperature, measure=measure), answer)


@similarity.command
def graph(
    edges: Path,
    /,
    *,
    temperature: Annotated[float, Parameter(help="The length of way that falls to 1/e.")] = 1.0,
    classes: Annotated[list[str] | None, Several] = None,
    classes_from: Annotated[Path | None, _FILE] = None,
    directed: Annotated[bool, Flag] = False,
    header: Annotated[bool, _HEADER, Flag] = False,
    answer: Answer | None = None,
) -> None:
    """Classes in a graph: exp(-shortest way / temperature).

    Parameters
    ----------
    edges
        A CSV file with two nodes per line, and perhaps a length.
    classes
        The nodes that are classes, in class order; else all.
    directed
        An edge leads only from its first node to its second.
    """
    from ..similarity import graph as build

    nodes = listed_names(classes, classes_from) if classes or classes_from else None
    made = build(edges, temperature, classes=nodes, directed=directed, header=header)
    _answer(made, answer)


@similarity.command
def wordnet(
    names: Annotated[list[str] | None, Several, _NAMES] = None,
    /,
    *,
    names_from: Annotated[Path | None, _FILE] = None,
    temperature: Annotated[float, _ALIKE] = 1.0,
    measure: Literal["wu-palmer", "path"] = "wu-palmer",
    choose: Annotated[list[str] | None, Several] = None,
    folder: Path | None = None,
    answer: Answer | None = None,
) -> None:
    """Class names by their place among the nouns of WordNet; says which names are ambiguous.

    Parameters
    ----------
    measure
        The similarity of Wu and Palmer, or the length of the path.
    choose
        For an ambiguous name, what is meant: name=offset or name=word.
    folder
        A folder with index.noun and data.noun; else the usual places.
    """
    from ..similarity import wordnet as build

    known, meant = listed_names(names, names_from), dict(choice(each) for each in choose or ())
    _answer(build(known, temperature, measure=measure, choose=meant, folder=folder), answer)


@similarity.command
def geo(
    places: Path,
    /,
    *,
    scale_km: Annotated[float, Parameter(help="The distance at which it has fallen to 1/e.")],
    header: Annotated[bool, _HEADER, Flag] = False,
    answer: Answer | None = None,
) -> None:
    """Places on Earth: exp(-great-circle distance / scale).

    Parameters
    ----------
    places
        A CSV file with name, latitude and longitude (in degrees) in each line.
    """
    from ..similarity import geo as build

    names, points = named_numbers(places, header, 2)
    _answer(build(points, scale_km, names=names), answer)


@similarity.command
def embedding(
    vectors: Annotated[Path, Parameter(help="A CSV file with a name and numbers in each line.")],
    /,
    *,
    lower_bound: Annotated[float, _BOUND] = 0.0,
    kernel: Annotated[Literal["cosine", "angle"], _KERNEL] = "cosine",
    temperature: Annotated[float, _ANGLES] = 1.0,
    header: Annotated[bool, _HEADER, Flag] = False,
    answer: Answer | None = None,
) -> None:
    """Classes with a vector each."""
    from ..similarity import embedding as build

    names, numbers = named_numbers(vectors, header, None)
    _answer(build(numbers, lower_bound, kernel, names, temperature=temperature), answer)


@similarity.command
def cost(
    matrix: Path,
    /,
    *,
    temperature: Annotated[float, Parameter(help="The cost that falls to 1/e.")] = 1.0,
    answer: Answer | None = None,
) -> None:
    """A cost for taking one class for another: exp(-cost / temperature).

    Parameters
    ----------
    matrix
        A CSV table, row = true class, 0 on the diagonal, with or without names.
    """
    from ..similarity import cost as build
    from ..similarity.spreadsheet import read_table

    _, names, numbers = read_table(matrix)
    _answer(build(numbers, temperature, names=names), answer)


@similarity.command
def confusion(
    counts: Path,
    /,
    *,
    kind: Literal["similarity", "probability"] = "similarity",
    smoothing: Annotated[float, Parameter(help="What is added to every count.")] = 1.0,
    answer: Answer | None = None,
) -> None:
    """How often one class was taken for another, by a classifier or by people.

    Parameters
    ----------
    counts
        A CSV table of counts, row = true class, with or without names.
    kind
        A symmetric similarity, or the probabilities that noisy labels need.
    """
    from ..similarity import confusion as build
    from ..similarity.spreadsheet import read_table

    _, names, numbers = read_table(counts)
    _answer(build(numbers, kind=kind, smoothing=smoothing, names=names), answer)


@similarity.command
def load(
    path: Annotated[Path, Parameter(help="The file.")], /, *, answer: Answer | None = None
) -> None:
    """A similarity from a file: .csv (also made by hand), .npz or .safetensors."""
    from ..similarity import load as read

    _answer(read(path), answer)


def _answer(made: "Similarity", answer: Answer | None) -> None:
    """Print the diagnosis; write what was asked for."""
    from .._disk import whole_file
    from ..similarity import sparse

    answer = answer or Answer()
    _check(answer)
    if answer.top_k is not None:
        made = sparse(made, top_k=answer.top_k)
    frequency = None if answer.prior is None else prior(answer.prior, made)
    print(made.diagnose(frequency, answer.uncertainty))
    if answer.sketch:
        print(made.sketch())
    if answer.out is not None:
        made.save(answer.out)
        print(f"Written: {answer.out}")
    if answer.figure is not None:
        picture = made.figure(order="clustered" if answer.clustered else "given")
        with whole_file(answer.figure) as file:
            file.write(picture.to_html(include_plotlyjs=True).encode())
        print(f"Written: {answer.figure}")


def _check(answer: Answer) -> None:
    """One sentence on what cannot be written, or would change nothing, before anything is said."""
    from .. import _checks

    for option, path in (("--out", answer.out), ("--figure", answer.figure)):
        if path is not None:
            _checks.in_existing_folder(option, path)
    if answer.figure is not None and answer.figure.suffix.lower() != ".html":
        raise ValueError(f"`--figure` must end in .html, but got '{answer.figure}'.")
    if answer.clustered and answer.figure is None:
        raise ValueError("`--clustered` must go with --figure, but that was not given.")
