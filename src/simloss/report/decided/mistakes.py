"""The cost of a mistake, as the user gives it, for the classes of a file."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from torch import Tensor

from ... import _checks, similarity
from ...data.class_order import ClassOrder, spaced_positions
from ...decision.rules import RULES
from ...metrics.costs import charged
from ...metrics.ordinal import distances
from ...similarity import Similarity, Tree
from ...similarity.spreadsheet import read_table

_LARGEST_COST = 1e100  # of which squares and sums are still numbers

WORDS = ("zero-one", "absolute", "squared", "tree")

_RULES = {rule.cost: rule.answer for rule in RULES.values() if rule.cost is not None}
_RULES["matrix"] = "the lowest expected cost"
_NOUNS = {
    "zero-one": "the share of mistakes",
    "absolute": "the mean error",
    "squared": "the mean squared error",
    "tree": "the mean distance in the tree",
    "similarity": "the mean cost (1 - similarity)",
    "matrix": "the mean cost",
}


@dataclass(frozen=True)
class Told:
    """The costs the user passed, before the classes are known.

    Attributes:
        kind: a word of `WORDS`, "similarity" or "matrix"; None by default.
        value: the similarity, the tree or the costs.
        names: its class names, if it has them.
    """

    kind: str | None
    value: Any = None
    names: tuple[str, ...] | None = None

    @classmethod
    def of(cls, cost: str | None, similarity_file: Path | None, tree_file: Path | None) -> "Told":
        """From the options of the command."""
        if similarity_file is not None and (cost is not None or tree_file is not None):
            raise ValueError("`--similarity` must be used alone, without `--cost` and `--tree`.")
        if similarity_file is not None:
            loaded = similarity.load(similarity_file)
            _checks.of_kind_similarity("--similarity", loaded.kind)
            return cls("similarity", loaded, loaded.names)
        if tree_file is not None:
            tree = Tree.from_csv(tree_file)
            return cls(_word(cost) or "tree", tree, tree.class_names)
        if cost is None or cost in WORDS:
            return cls(cost)
        if not Path(cost).is_file():
            raise ValueError(
                f"`--cost` must be one of {', '.join(WORDS)} or a CSV file of costs, "
                f"but got '{cost}'."
            )
        _, names, costs = read_table(cost)
        _checks.square("--cost", costs)
        _checks.finite("--cost", costs)
        if float(costs.abs().max()) > _LARGEST_COST:
            raise ValueError(f"`--cost` must hold numbers up to {_LARGEST_COST:g} in size.")
        _checks.not_a_similarity("--cost", costs)
        return cls("matrix", costs, names)


def _word(cost: str | None) -> str | None:
    if cost is not None and cost not in WORDS:
        raise ValueError(f"`--cost` with `--tree` must be a word, but got '{cost}'.")
    return cost


@dataclass(frozen=True)
class Mistakes:
    """The costs of mistakes.

    Attributes:
        order: the classes.
        kind: "zero-one", "absolute", "squared", "tree", "similarity" or "matrix".
        cost: as for :func:`simloss.decide`.
        positions: those of the classes, if distances use their values.
        tree: the tree of the classes, if they have one.
        reason: why this kind; empty if the user chose it.
    """

    order: ClassOrder
    kind: str
    cost: Any
    positions: list[float] | None = None
    tree: Tree | None = None
    reason: str = ""

    @classmethod
    def of(cls, told: Told, order: ClassOrder, *, by_value: bool) -> "Mistakes":
        """The costs for the classes of a file; by default what their names suggest."""
        names = order.names
        kind, reason = told.kind, ""
        if kind is None:
            kind = "absolute" if order.is_ordered else "zero-one"
            has = "in an order" if order.is_ordered else "in no order that their names show"
            reason = f"the classes are {has}"
        tree = _tree(told.value, names, is_needed=kind == "tree")
        positions = _positions(names, kind) if by_value else None
        if kind in ("absolute", "squared") and not order.is_ordered and len(names) > 2:
            raise ValueError(
                f"`--cost {kind}` needs classes in an order, which the names {order} do not tell; "
                f"name it with --class-order."
            )
        if kind in ("similarity", "matrix"):
            cost = _in_class_order(told, names)
        else:
            cost = tree if kind == "tree" else kind
        return cls(order, kind, cost, positions, tree, reason)

    @property
    def rule(self) -> str:
        """How the answer is chosen to keep the cost low."""
        return _RULES[self.kind]

    @property
    def noun(self) -> str:
        """What is measured, inside a sentence."""
        return _NOUNS[self.kind]

    @property
    def heading(self) -> str:
        """The same as a column heading."""
        return "mean cost" if self.kind in ("tree", "similarity", "matrix") else self.noun[4:]

    @property
    def unit(self) -> str:
        """The unit after a number: " classes"."""
        return " classes" if self.kind == "absolute" and self.positions is None else ""

    @property
    def zero_one(self) -> "Mistakes":
        """The same classes, where every mistake costs 1."""
        return replace(self, kind="zero-one", cost="zero-one", positions=None)

    def rules(self) -> dict[str, tuple[Any, Any]]:
        """Label -> cost and positions, for every rule worth comparing; the plain one first."""
        found: dict[str, tuple[Any, Any]] = {_RULES["zero-one"]: ("zero-one", None)}
        if self.order.is_ordered:
            found[_RULES["absolute"]] = ("absolute", self.positions)
            found[_RULES["squared"]] = ("squared", self.positions)
        found[self.rule] = (self.cost, self.positions)
        return found

    def of_answers(self, answers: Tensor, truth: Tensor) -> Tensor:
        """The cost of each answer, (M), in float64."""
        if self.positions is None:
            return charged(answers, truth, self.cost, tuple(answers.shape)).double()
        away = distances(answers, truth, self.positions).double()
        return away.square() if self.kind == "squared" else away


def _tree(value: Any, names: Sequence[str], *, is_needed: bool) -> Tree | None:
    if isinstance(value, Tree):
        at = _places(value.class_names, names, "--tree")
        return value if at == list(range(value.num_classes)) else value.restricted(at)
    are_paths = all("/" in name.strip("/") for name in names)
    if is_needed and not are_paths:
        raise ValueError(
            "`--cost tree` must have a tree: pass its file with `--tree`, or class columns whose "
            f"names are paths, such as bird/robin, but got {names[0]!r}."
        )
    return Tree.from_paths(names) if are_paths else None


def _positions(names: Sequence[str], kind: str) -> list[float]:
    if kind not in ("absolute", "squared"):
        raise ValueError(f"`--by-value` needs absolute or squared costs, but got {kind}.")
    found = spaced_positions(names)
    if found is None:
        raise ValueError(
            f"`--by-value` needs classes that are numbers or dates, but got {names[0]!r}."
        )
    return found


def _in_class_order(told: Told, names: Sequence[str]) -> Any:
    """The similarity or the costs, (C, C), of the classes of the file."""
    value = told.value
    count = value.num_classes if isinstance(value, Similarity) else len(value)
    option = "--similarity" if isinstance(value, Similarity) else "--cost"
    if told.names is None:
        _checks.class_counts_agree(option, count, "the file of probabilities", len(names))
        return value
    at = _places(told.names, names, option)
    if at == list(range(count)):
        return value
    return similarity.restricted(value, at) if isinstance(value, Similarity) else value[at][:, at]


def _places(known: Sequence[str], names: Sequence[str], option: str) -> list[int]:
    """The index of each class in what the user passed."""
    place = {name: at for at, name in enumerate(known)}
    for name in names:
        if name not in place:
            remedy = _checks.nearest_spelling(name, known)
            raise ValueError(
                f"`{option}` must contain every class, but {name!r} is missing{remedy}."
            )
    return [place[name] for name in names]
