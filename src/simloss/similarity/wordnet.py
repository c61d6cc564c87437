"""Classes that are nouns of WordNet."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
import torch

from .. import _checks
from .base import Similarity
from .matrix import DenseSimilarity
from .wordnet_database import Synset, WordNet

MEASURES = ("wu-palmer", "path")
Matrix = np.ndarray[Any, np.dtype[np.float64]]
_FAR = 1e6  # larger than the distance of any two nouns


def senses(
    names: Sequence[str], folder: str | PathLike[str] | None = None
) -> dict[str, tuple[Synset, ...]]:
    """The meanings in WordNet of each class name, most frequent first.

    Shows which names are ambiguous before :func:`wordnet` takes the first meaning of each.

    Args:
        names: class names; "_" and space are the same.
        folder: a folder with index.noun and data.noun; by default the usual places.
    """
    names = _checks.class_names(names, len(names)) or ()
    return WordNet(folder).senses(names)


def wordnet(
    names: Sequence[str],
    temperature: float = 1.0,
    *,
    measure: str = "wu-palmer",
    choose: Mapping[str, int | str] | None = None,
    folder: str | PathLike[str] | None = None,
) -> Similarity:
    r"""Similarity of class names by their place among the nouns of WordNet.

    .. math:: S_{ij} = \exp(-d_{ij} / \mathrm{temperature})

    where the distance is "wu-palmer", :math:`-\log \frac{2 n_a}{2 n_a + s_i + s_j}`, at the common
    more general meaning a where it is smallest: n is the number of meanings on the shortest path
    from the top, s the number of steps up to a; temperature 1 gives Wu and Palmer's similarity.
    Or "path": the fewest steps from i up to a common meaning and down to j, which needs a
    temperature of several steps.

    A name with several meanings gets the most frequent one; `S.notes` lists these names and their
    meanings, and `choose` overrides them. A name that WordNet does not know is an error.

    Args:
        names: class names, nouns; "_" and space are the same.
        temperature: the larger, the more alike.
        measure: "wu-palmer" or "path".
        choose: name -> what is meant: the offset of a meaning, as :func:`senses` lists it, or
            another word for it, which gets its most frequent meaning.
        folder: a folder with index.noun and data.noun (Debian: wordnet-base, /usr/share/wordnet).
    """
    names = _checks.class_names(names, len(names)) or ()
    _checks.not_empty("names", names)
    temperature = _checks.positive("temperature", temperature)
    measure = _checks.choice("measure", measure, MEASURES)
    database = WordNet(folder)
    found = database.senses(names)
    chosen, notes = _chosen(found, dict(choose or {}), database)
    distance = _distance([each.offset for each in chosen], database, measure)
    matrix = torch.from_numpy(np.exp(-distance / temperature)).fill_diagonal_(1)
    result = DenseSimilarity(len(names), {"matrix": matrix}, names=names)
    result.notes = tuple(notes)
    return result


def _chosen(
    found: dict[str, tuple[Synset, ...]], choose: dict[str, int | str], database: WordNet
) -> tuple[list[Synset], list[str]]:
    for name in choose:
        if name not in found:
            remedy = _checks.nearest_spelling(name, found)
            raise ValueError(f"`choose` must name classes, but {name!r} is not one{remedy}.")
    unknown = [name for name, some in found.items() if not some and name not in choose]
    if unknown:
        raise ValueError(
            f"`names` must be nouns of WordNet, but {', '.join(map(repr, unknown))} "
            f"{'is' if len(unknown) == 1 else 'are'} not; `choose` another word or meaning."
        )
    chosen, notes = [], []
    for name, some in found.items():
        synset = _meant(choose[name], database) if name in choose else some[0]
        chosen.append(synset)
        if len(some) > 1:
            how = "chosen" if name in choose else "the most frequent"
            notes.append(f"{name!r} has {len(some)} meanings; used: {how}, {synset}")
    return chosen, notes


def _meant(choice: int | str, database: WordNet) -> Synset:
    if not isinstance(choice, str):
        return database.synset(int(choice))
    known = database.senses([choice])[choice]
    if not known:
        raise ValueError(f"`choose` must give nouns of WordNet or offsets, but got {choice!r}.")
    return known[0]


def _distance(offsets: list[int], database: WordNet, measure: str) -> Matrix:
    """The distance of each two meanings, (C, C); infinite if they have nothing in common."""
    above = [database.ancestors(offset) for offset in offsets]
    nodes = sorted({node for some in above for node in some})
    place = {node: i for i, node in enumerate(nodes)}
    steps = np.full((len(offsets), len(nodes)), _FAR)
    for i, some in enumerate(above):
        steps[i, [place[node] for node in some]] = [*some.values()]
    if measure == "path":
        distance = np.stack([(steps + row).min(1) for row in steps])
        return np.where(distance < _FAR, distance, np.inf)
    depth = np.array([_depth(node, database) for node in nodes])
    ratio = np.stack([(2 * depth / (2 * depth + steps + row)).max(1) for row in steps])
    common = np.stack([(steps + row).min(1) for row in steps]) < _FAR
    with np.errstate(divide="ignore"):
        return np.where(common, -np.log(ratio), np.inf)


def _depth(node: int, database: WordNet) -> int:
    """The number of meanings on the shortest path from the top, including both ends."""
    above = database.ancestors(node)
    tops = [steps for each, steps in above.items() if not database.synset(each).parents]
    if not tops:
        raise ValueError(
            f"the WordNet folder must have a top above every meaning, but above {node} there is "
            f"only a cycle."
        )
    return 1 + min(tops)
