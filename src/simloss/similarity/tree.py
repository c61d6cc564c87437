"""A tree of classes: from a taxonomy, a column of superclasses or a list of paths."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any

import torch
from torch import Tensor

from .. import _checks
from . import tree_sources
from .range_extreme import depth_first_order, range_extreme

# The number of rows of the cost matrix to compute at once.
_CHUNK_ENTRIES = 1 << 22
# The number of lines of a tree to print.
_MOST_LINES = 200


class Tree:
    r"""Classes as the leaves of a tree. Nodes are numbered: the classes first, the root last.

    Node i < C is class i. The inner nodes follow, each before its parent, so one pass from
    0 to the last node can carry values up the tree.

    Made by :meth:`from_dict`, :meth:`from_parents`, :meth:`from_paths`, :meth:`from_csv` or
    :meth:`from_superclasses`. Class order is the order in which the leaves are given, or `classes`.

    Attributes:
        parents: the parent of each node; -1 for the root.
        children: the children of each node.
        names: one name per node. Class names are distinct; inner nodes may share a name.
        num_classes: C.
        depths: the number of steps from the root to each node.
        heights: the number of steps from each node to the **furthest** leaf below it; 0 for a leaf.

    Example:
        >>> tree = Tree.from_paths(["animal/bird/robin", "animal/bird/crow", "animal/cod"])
        >>> tree
        Tree(3 classes, 5 nodes, height 2)
        >>> print(tree)
        animal
          bird
            0 robin
            1 crow
          2 cod
        >>> tree.cost()
        tensor([[0., 1., 2.],
                [1., 0., 2.],
                [2., 2., 0.]])
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, parents: Sequence[int], names: Sequence[str], num_classes: int) -> None:
        # The constructors below have put everything in order; nothing is checked here.
        self.parents = tuple(parents)
        self.names = tuple(names)
        self.num_classes = num_classes
        nodes = range(len(self.parents))
        below: list[list[int]] = [[] for _ in nodes]
        heights, depths, first = [0 for _ in nodes], [0 for _ in nodes], [*nodes]
        for node, parent in enumerate(self.parents[:-1]):
            heights[parent] = max(heights[parent], heights[node] + 1)
            first[parent] = min(first[parent], first[node])
            below[parent].append(node)
        for node in reversed(nodes[:-1]):
            depths[node] = depths[self.parents[node]] + 1
        for some in below:
            some.sort(key=first.__getitem__)  # by the first class below
        self.children = tuple(tuple(some) for some in below)
        self.heights, self.depths = tuple(heights), tuple(depths)

    @classmethod
    def from_dict(
        cls, nested: Mapping[str, Any], *, classes: Sequence[str] | None = None
    ) -> "Tree":
        """From a nested dict; a leaf is an item of a list, or a key with nothing below it.

        Args:
            nested: name -> what is below it: a dict, a list of leaves, one leaf or None.
            classes: all leaves, in class order; by default in the order of the dict.

        Example:
            >>> Tree.from_dict({"bird": ["robin", "crow"], "fish": {"cod": None}}).class_names
            ('robin', 'crow', 'cod')
        """
        return cls.from_paths(list(tree_sources.paths_of_dict(nested)), classes=classes)

    @classmethod
    def from_parents(
        cls,
        parents: Mapping[str, str | None] | Iterable[tuple[str, str | None]],
        *,
        classes: Sequence[str] | None = None,
    ) -> "Tree":
        """From child -> parent: a dict, pairs, or a pandas column with the child as its index.

        A node that is never a parent is a class.

        Several nodes without a parent get a common one, called "root".

        Example:
            >>> Tree.from_parents({"robin": "bird", "crow": "bird", "cod": "fish"}).superclass(1)
            tensor([3, 3, 4])
        """
        if classes is None:
            _checks.in_class_order("parents", parents)
        links = tree_sources.links_of_parents(parents)
        inner = set(links.values())
        return cls._from_links(links, [node for node in links if node not in inner], classes)

    @classmethod
    def from_paths(
        cls,
        paths: Iterable[str | PathLike[str] | Sequence[str]],
        *,
        separator: str = "/",
        classes: Sequence[str] | None = None,
    ) -> "Tree":
        """From one path per class, "animal/bird/robin" or ("animal", "bird", "robin").

        A :class:`pathlib.Path` works as well: the folder of each class.

        The same name in different places means different nodes; only class names must be unique.

        Example:
            >>> Tree.from_paths(["fruit/orange", "colour/red"]).class_names
            ('orange', 'red')
        """
        links, leaves = tree_sources.links_of_paths(paths, separator)
        return cls._from_links(links, leaves, classes)

    @classmethod
    def from_csv(
        cls,
        path: str | PathLike[str],
        *,
        parents: bool = False,
        header: bool = False,
        separator: str = "/",
        classes: Sequence[str] | None = None,
    ) -> "Tree":
        """From a CSV file with one class per line, in class order.

        A single column holds one path per line ("animal/bird/robin"); several columns are the
        levels from the root down, the class last; leave a cell empty if a branch lacks that level.
        With `parents`, each line is a node and its parent instead.

        Args:
            path: the file, UTF-8.
            parents: whether the two columns are child and parent.
            header: whether the first line is a header.
            separator: the character between the names of a path in a single column.
            classes: all leaves, in class order; by default in the order of the lines.
        """
        if parents:
            return cls.from_parents(tree_sources.pairs_of_csv(path, header), classes=classes)
        return cls.from_paths(
            tree_sources.paths_of_csv(path, header, separator), separator=separator, classes=classes
        )

    @classmethod
    def from_superclasses(cls, names: Sequence[str], superclasses: Sequence[str]) -> "Tree":
        """From the superclass of each class: CIFAR-100's 20, or a column of a data sheet.

        Example:
            >>> tree = Tree.from_superclasses(["rose", "truck", "tulip"], ["plant", "car", "plant"])
            >>> [tree.names[node] for node in tree.superclass(1)]
            ['plant', 'car', 'plant']
        """
        paths = tree_sources.paths_of_superclasses(names, superclasses)
        # Always add a root, even above one superclass, so that level 1 is always the superclasses.
        links, leaves = tree_sources.links_of_paths(paths, "/", root=True)
        return cls._from_links(links, leaves, None)

    @classmethod
    def _from_links(
        cls,
        links: dict[Hashable, Hashable],
        leaves: list[Hashable],
        classes: Sequence[str] | None,
    ) -> "Tree":
        """From node -> parent (None for the root), and the leaves among them."""
        names = [tree_sources.label(leaf) for leaf in leaves]
        _checks.class_names(names, len(names))
        if classes is not None:
            place = _checks.permutation("classes", classes, names, "leaves of the tree")
            leaves = [leaves[i] for i in place]
        parents, nodes = tree_sources.numbered(links, leaves)
        return cls(parents, [tree_sources.label(node) for node in nodes], len(leaves))

    @property
    def class_names(self) -> tuple[str, ...]:
        """The names of the leaves, in class order."""
        return self.names[: self.num_classes]

    @property
    def leaves(self) -> tuple[int, ...]:
        """The nodes that are classes, in class order: 0, ..., C - 1."""
        return tuple(range(self.num_classes))

    @property
    def root(self) -> int:
        """The ancestor of all nodes: the last one."""
        return len(self.parents) - 1

    def ancestors(self, node: int) -> tuple[int, ...]:
        """The parent of a node, its parent, and so on up to the root.

        Example:
            >>> tree = Tree.from_paths(["animal/bird/robin", "animal/cod"])
            >>> [tree.names[node] for node in tree.ancestors(0)]
            ['bird', 'animal']
        """
        _checks.index("node", node, len(self.parents))
        return tuple(self._upwards(int(node)))

    def superclass(self, level: int = 1) -> Tensor:
        """The ancestor of each class that is `level` steps below the root, as nodes, (C).

        Level 0 is the root; a class above `level` is its own superclass.

        Example:
            >>> tree = Tree.from_paths(["animal/bird/robin", "animal/bird/crow", "animal/cod"])
            >>> tree.superclass(1)
            tensor([3, 3, 2])
        """
        _checks.index("level", level, self.heights[self.root] + 1)
        found = []
        for leaf in self.leaves:
            line = (leaf, *self._upwards(leaf))
            found.append(line[max(0, self.depths[leaf] - level)])
        return torch.tensor(found)

    def cost(self) -> Tensor:
        r"""The height of the lowest common ancestor of each two classes, (C, C).

        .. math:: d_{ij} = \mathrm{height}(\mathrm{lca}(i, j))

        The height of a node is the number of steps to the furthest leaf below it, so the matrix is
        symmetric and 0 on the diagonal, even if leaves have different depths. It is an ultrametric:
        :math:`d_{ik} \le \max(d_{ij}, d_{jk})`.

        Example:
            >>> Tree.from_paths(["animal/bird/robin", "animal/bird/crow", "plant/rose"]).cost()
            tensor([[0., 1., 3.],
                    [1., 0., 3.],
                    [3., 3., 0.]])
        """
        position, between = depth_first_order(self, self.heights)
        chunk = max(1, _CHUNK_ENTRIES // self.num_classes)
        rows = [
            range_extreme(position, between, some, largest=True)
            for some in torch.arange(self.num_classes).split(chunk)
        ]
        return torch.cat(rows).to(torch.get_default_dtype())

    def restricted(self, classes: Iterable[int]) -> "Tree":
        """The tree above some of the classes, in the given order.

        Inner nodes without a class below them are dropped; heights are those of the smaller tree.

        Example:
            >>> tree = Tree.from_paths(["bird/robin", "bird/crow", "fish/cod"])
            >>> print(tree.restricted([2, 0]))
            root
              fish
                0 cod
              bird
                1 robin
        """
        kept = [_checks.index("classes", i, self.num_classes) for i in classes]
        _checks.distinct("classes", kept)
        links: dict[Hashable, Hashable] = {}
        for leaf in kept:
            for node in (leaf, *self._upwards(leaf)):
                links[node] = self.parents[node] if node != self.root else None
        parents, nodes = tree_sources.numbered(links, kept)
        return Tree(parents, [self.names[node] for node in nodes], len(kept))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return (self.parents, self.names, self.num_classes) == (
            other.parents,
            other.names,
            other.num_classes,
        )

    def __repr__(self) -> str:
        count = f"{self.num_classes} class" + ("es" if self.num_classes != 1 else "")
        return f"Tree({count}, {len(self.parents)} nodes, height {self.heights[self.root]})"

    def __str__(self) -> str:
        lines: list[str] = []
        waiting = [self.root]
        while waiting:
            if len(lines) == _MOST_LINES:
                lines.append(f"... {len(self.parents) - _MOST_LINES:,} more nodes")
                break
            node = waiting.pop()
            number = f"{node} " if node < self.num_classes else ""
            lines.append("  " * self.depths[node] + number + self.names[node])
            waiting.extend(reversed(self.children[node]))
        return "\n".join(lines)

    def _upwards(self, node: int) -> Iterator[int]:
        while (node := self.parents[node]) >= 0:
            yield node
