"""The ways to write a tree, each turned into links: node -> parent, None for the root.

A node of a parent map is its name; a node of a path is its name and the number of the node above,
because the same name may occur in several places.
"""

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import PurePath
from typing import Any

from .. import _checks
from .csv_lines import equally_long, read_lines

_ROOT = "root"
Path = tuple[str, ...]


def label(node: Hashable) -> str:
    """The name of a node; that of a path is last in its pair."""
    if isinstance(node, tuple):
        return str(node[-1]) if node else _ROOT
    return str(node)


def paths_of_dict(nested: Mapping[str, Any]) -> Iterator[Path]:
    """One path per leaf."""
    if not isinstance(nested, Mapping):
        raise TypeError(f"`nested` must be a dict, but got {type(nested).__name__}.")
    return _paths_below(nested, (), ())


def _paths_below(below: Any, path: Path, open_dicts: tuple[int, ...]) -> Iterator[Path]:
    if id(below) in open_dicts:
        raise ValueError(f"`nested` must be a tree, but {'/'.join(path)!r} contains itself.")
    if isinstance(below, Mapping) and below:
        for name, rest in below.items():
            yield from _paths_below(rest, (*path, str(name)), (*open_dicts, id(below)))
    elif below is None or (isinstance(below, (Mapping, Sequence)) and not below):
        yield path
    elif isinstance(below, str):
        yield (*path, below)
    elif isinstance(below, Sequence):
        for rest in below:
            if isinstance(rest, Mapping):
                yield from _paths_below(rest, path, (*open_dicts, id(below)))
            elif _checks.is_missing(rest) or (
                isinstance(rest, Collection) and not isinstance(rest, str)
            ):
                raise TypeError(
                    f"`nested` must have names or dicts in its lists, "
                    f"but {'/'.join(path)!r} has {rest!r} in one."
                )
            else:
                yield (*path, str(rest))
    else:
        raise TypeError(
            f"`nested` must hold dicts, lists of names, names or None, "
            f"but {'/'.join(path)!r} holds {type(below).__name__}."
        )


def paths_of_superclasses(names: Sequence[str], superclasses: Sequence[str]) -> list[Path]:
    """Two levels: superclass, class."""
    _checks.in_class_order("names", names)
    _checks.in_class_order("superclasses", superclasses)
    if isinstance(superclasses, str) or len(superclasses) != len(names):
        came = repr(superclasses) if isinstance(superclasses, str) else len(superclasses)
        raise ValueError(
            f"`superclasses` must have one name for each of the {len(names)} classes, "
            f"but got {came}."
        )
    _checks.not_missing("names", names)
    _checks.not_missing("superclasses", superclasses)
    return [(str(above), str(name)) for above, name in zip(superclasses, names, strict=True)]


def paths_of_csv(path: str | PathLike[str], header: bool, separator: str) -> list[Path]:
    """One path per line, in one column or one column per level."""
    lines = read_lines(path)
    equally_long(path, lines, "; leave a cell empty if a branch lacks that level")
    lines = lines[1:] if header else lines
    if lines and len(lines[0]) == 1:
        _refuse_other_separators(path, [line[0] for line in lines], separator)
        return [_split(line[0], separator) for line in lines]
    return [tuple(cell.strip() for cell in line if cell.strip()) for line in lines]


def _refuse_other_separators(path: str | PathLike[str], cells: list[str], separator: str) -> None:
    """Refuse levels separated as in spreadsheets with a decimal comma: `bird;robin`."""
    for other, name in ((";", "semicolons"), ("\t", "tabs")):
        if all(other in cell and separator not in cell for cell in cells):
            raise ValueError(
                f"{path} must have {separator!r} or commas between the levels, but it has {name}; "
                f"pass separator={other!r}."
            )


def pairs_of_csv(path: str | PathLike[str], header: bool) -> list[tuple[str, str | None]]:
    """A child and its parent per line; an empty parent means none."""
    lines = read_lines(path)
    for number, line in enumerate(lines, 1):
        if len(line) != 2:
            raise ValueError(
                f"{path} must have a child and its parent in each line, "
                f"but line {number} has {len(line)} cells."
            )
    lines = lines[1:] if header else lines
    return [(child.strip(), parent.strip() or None) for child, parent in lines]


def _split(path: str, separator: str) -> Path:
    names = tuple(name.strip() for name in path.strip().strip(separator).split(separator))
    if not all(names):
        raise ValueError(f"`paths` must have a name between two separators, but {path!r} does not.")
    return names


def _path(given: Any, separator: str) -> Path:
    """The names from the root down: from text, a path of the operating system, or a tuple."""
    if isinstance(given, PathLike):
        return _split(PurePath(given).as_posix(), "/")
    if isinstance(given, str):
        return _split(given, separator)
    if not isinstance(given, Iterable):
        raise TypeError(f"`paths` must hold text or sequences of names, but got {given!r}.")
    names = tuple(given)
    if any(_checks.is_missing(name) or name == "" for name in names):
        raise ValueError(
            f"`paths` must have no gaps, but got {names!r}; leave out a missing level."
        )
    return tuple(map(str, names))


def links_of_paths(
    paths: Iterable[str | PathLike[str] | Sequence[str]], separator: str, *, root: bool = False
) -> tuple[dict[Hashable, Hashable], list[Hashable]]:
    """The links, and the leaves in the order of the paths; `root` adds one node above them all."""
    if isinstance(paths, (str, PathLike)) or not isinstance(paths, Iterable):
        raise TypeError(f"`paths` must be a list of paths, but got {paths!r}.")
    _checks.in_class_order("paths", paths)
    ways = [_path(given, separator) for given in paths]
    if not ways:
        raise ValueError("`paths` must be a list of at least one path, but it is empty.")
    leaves: list[Hashable] = []
    links: dict[Hashable, Hashable] = {}
    numbers: dict[Hashable, int] = {}  # of the nodes that are above others
    for path in ways:
        if not path:
            raise ValueError("`paths` must hold at least one name each, but one is empty.")
        node: Hashable = ()
        for name in path:
            above, node = node, (numbers.setdefault(node, len(numbers)), name)
            links[node] = above
        leaves.append(node)
    inner = set(links.values())
    for leaf, path in zip(leaves, ways, strict=True):
        if leaf in inner:
            raise ValueError(
                f"`paths` must end at leaves, but {separator.join(path)!r} is both a class and "
                f"the parent of other classes; give it its own leaf below."
            )
    return ({**links, (): None} if root else _with_one_root(links, ())), leaves


def links_of_parents(
    parents: Mapping[str, str | None] | Iterable[tuple[str, str | None]],
) -> dict[Hashable, Hashable]:
    """The links, checked: every node is known, and none is its own ancestor."""
    links: dict[Hashable, Hashable] = {}
    for child, given in _pairs(parents):
        if _checks.is_missing(child) or child == "":
            raise ValueError(
                f"`parents` must have no gaps, but {given!r} is the parent of {child!r}."
            )
        parent = None if _checks.is_missing(given) or given == "" else given
        if links.get(child, parent) != parent:
            raise ValueError(
                f"`parents` must give each node one parent, "
                f"but {child!r} has two, {links[child]!r} and {parent!r}."
            )
        links[child] = parent
    if not links:
        raise ValueError("`parents` must hold at least one node, but it is empty.")
    for parent in [parent for parent in links.values() if parent not in links]:
        if parent is not None:
            links[parent] = None
    _refuse_cycle(links)
    return _with_one_root(links, None)


def _pairs(parents: Any) -> Iterator[tuple[Any, Any]]:
    """Child and parent; in a pandas column, the child is the index."""
    is_column = hasattr(parents, "items") and getattr(parents, "ndim", None) == 1
    if isinstance(parents, Mapping) or is_column:
        parents = parents.items()
    if not isinstance(parents, Iterable) or isinstance(parents, str):
        raise TypeError(f"`parents` must be a dict or pairs, but got {parents!r}.")
    for pair in parents:
        if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
            raise TypeError(f"`parents` must be (node, parent) pairs, but got {pair!r}.")
        yield pair


def _refuse_cycle(links: dict[Hashable, Hashable]) -> None:
    done: set[Hashable] = set()
    for start in links:
        line: dict[Hashable, None] = {}  # in the order visited
        node: Hashable = start
        while node is not None and node not in done:
            if node in line:
                circle = [*line][[*line].index(node) :]
                way = " -> ".join(str(each) for each in (*circle, node))
                raise ValueError(f"`parents` must be a tree, but it has a cycle: {way}.")
            line[node] = None
            node = links[node]
        done.update(line)


def _with_one_root(links: dict[Hashable, Hashable], top: Hashable) -> dict[Hashable, Hashable]:
    """Nodes below `top` are roots: a single one stays, several get the node `()` above them."""
    roots = [node for node, parent in links.items() if parent == top]
    if len(roots) == 1:
        return {**links, roots[0]: None}
    return {**links, **dict.fromkeys(roots, ()), (): None}


def numbered(links: Mapping[Any, Any], leaves: Sequence[Any]) -> tuple[list[int], list[Any]]:
    """Parents as numbers, and the nodes in that order: leaves, then each node before its parent."""
    depths: dict[Any, int] = {None: -1}
    for start in links:
        line = []
        node = start
        while node not in depths:
            line.append(node)
            node = links[node]
        line.reverse()
        depths.update(zip(line, range(depths[node] + 1, depths[node] + 1 + len(line)), strict=True))
    is_leaf = set(leaves)
    inner = sorted((node for node in links if node not in is_leaf), key=lambda node: -depths[node])
    nodes = [*leaves, *inner]
    number: dict[Any, int] = {node: i for i, node in enumerate(nodes)}
    number[None] = -1
    return [number[links[node]] for node in nodes], nodes
