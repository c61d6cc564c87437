"""The base class of every similarity."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Self

import torch
from torch import Tensor

from .. import _checks

if TYPE_CHECKING:
    from .diagnosis import Diagnosis

# The number of entries of S to hold at once when all of S is too large.
_CHUNK_ENTRIES = 1 << 22

# What some methods call, by name. It is in files that import this one: the package fills it in.
METHODS: dict[str, Callable[..., Any]] = {}


class Similarity(ABC):
    r"""How alike the classes are: a value :math:`S \in [0, 1]^{C \times C}`, row = true class.

    Made by the builders in :mod:`simloss.similarity`, never directly. Each structure
    (powers of one number, a stored matrix, vectors) stores as little as possible and
    computes rows on request; callers do not need to know which one it is.

    Attributes:
        num_classes: C.
        names: one name per class, or None.
        kind: "similarity" (diagonal 1) or "probability" (rows sum to 1).
        tensors: what the structure stores, by name.
        kept: if a builder dropped classes, the indices of those it kept; else None.
        notes: what a builder decided by itself, one sentence each.

    Example:
        >>> from simloss.similarity import order
        >>> S = order(4, r=0.5)
        >>> S
        order(4 classes, r=0.5)
        >>> S.to_dense()
        tensor([[1.0000, 0.5000, 0.2500, 0.1250],
                [0.5000, 1.0000, 0.5000, 0.2500],
                [0.2500, 0.5000, 1.0000, 0.5000],
                [0.1250, 0.2500, 0.5000, 1.0000]])
    """

    structure: ClassVar[str]
    kept: tuple[int, ...] | None = None
    notes: tuple[str, ...] = ()
    __hash__ = None  # type: ignore[assignment]  # equal by value, and tensors can change

    def __init__(
        self,
        num_classes: int,
        tensors: dict[str, Tensor],
        *,
        names: tuple[str, ...] | None = None,
        kind: str = "similarity",
        **options: Any,
    ) -> None:
        # No checks here: the builders have done them, and the losses call this in every step.
        self.num_classes = num_classes
        self.tensors = tensors
        self.names = names
        self.kind = kind
        self.options = options

    @property
    def num_rows(self) -> int:
        """The number of rows: C, or more if inner nodes have rows too."""
        return self.num_classes

    @abstractmethod
    def _similarities(self, target: Tensor, dtype: torch.dtype) -> Tensor:
        """Rows before any normalisation, (*, C)."""

    @abstractmethod
    def _row_sums(self, target: Tensor, dtype: torch.dtype) -> Tensor:
        """Sums of the rows before any normalisation, (*)."""

    @abstractmethod
    def _description(self) -> str:
        """The part of the repr between the number of classes and the closing bracket."""

    @abstractmethod
    def normalized(self) -> "Similarity":
        r"""Each row divided by its sum, of kind "probability": the paper's appendix.

        :math:`S_{ij} / \sum_k S_{ik}`. The gradient of every loss stays the same. The value of
        SimLoss and the proper loss grows by the mean of :math:`\log \sum_k S_{yk}`; soft targets
        keep their value, because they divide the rows by their sums anyway.

        Example:
            >>> from simloss.similarity import order
            >>> order(2, r=0.25).normalized().to_dense()
            tensor([[0.8000, 0.2000],
                    [0.2000, 0.8000]])
        """

    def rows(self, target: Any, dtype: torch.dtype | None = None) -> Tensor:
        """The rows of S for the given true classes, shape of `target` + (C).

        Example:
            >>> from simloss.similarity import order
            >>> order(4, r=0.5).rows([0, 2])
            tensor([[1.0000, 0.5000, 0.2500, 0.1250],
                    [0.2500, 0.5000, 1.0000, 0.5000]])
        """
        target, dtype = self._index(target), dtype or self._dtype()
        rows = self._similarities(target, dtype)  # (*, C)
        if self._is_normalized_on_the_fly():
            rows = rows / self._row_sums(target, dtype).unsqueeze(-1)
        return rows

    def log_rows(self, target: Tensor, dtype: torch.dtype) -> Tensor:
        """The logarithm of the rows of S, (..., C); minus infinity where S is 0."""
        # In a narrower dtype, S would underflow before the logarithm is taken.
        return self.rows(target, torch.promote_types(dtype, self._dtype())).log().to(dtype)

    def columns(self, target: Any, dtype: torch.dtype | None = None) -> Tensor:
        """The columns of S for the given classes, shape of `target` + (C).

        A structure that may be asymmetric overrides this method.
        """
        target, dtype = self._index(target), dtype or self._dtype()
        columns = self._similarities(target, dtype)  # (*, C), because S is symmetric
        if self._is_normalized_on_the_fly():
            columns = columns / self._row_sums(self._all_classes(), dtype)
        return columns

    def to_dense(self, dtype: torch.dtype | None = None) -> Tensor:
        """All of S, (C, C)."""
        return self.rows(self._all_classes(), dtype)

    def cost(self) -> Tensor:
        r"""The cost a similarity implies, :math:`-\log S`, (C, C).

        Example:
            >>> from simloss.similarity import order
            >>> order(3, r=0.5).cost() / order(3, r=0.5).cost()[0, 1]
            tensor([[0., 1., 2.],
                    [1., 0., 1.],
                    [2., 1., 0.]])
        """
        cost = -self.log_rows(self._all_classes(), self._dtype())
        if bool(cost.isinf().any()):
            row, column = (int(i) for i in cost.isinf().nonzero()[0])
            raise ValueError(
                f"cost() is -log S and must be finite, but S is 0 in row {row}, column {column}; "
                f"use `1 - similarity.to_dense()`, or a similarity without zeros."
            )
        return cost + 0.0  # -0. becomes 0.

    def with_tensors(self, tensors: dict[str, Tensor]) -> Self:
        """The same structure with other tensors; nothing is checked."""
        same = type(self)(
            self.num_classes, tensors, names=self.names, kind=self.kind, **self.options
        )
        same.kept, same.notes = self.kept, self.notes
        return same

    def detached(self) -> Self:
        """A copy on the CPU without gradients, to show or to store."""
        return self.with_tensors({k: v.detach().cpu() for k, v in self.tensors.items()})

    def diagnose(self, prior: Any = None, uncertainty: Any = None) -> "Diagnosis":
        """Its properties and possible problems; see :func:`simloss.similarity.diagnose`."""
        return METHODS["diagnose"](self, prior, uncertainty)

    def figure(self, *, order: str = "given") -> Any:
        """An interactive heat map (plotly); see :func:`simloss.similarity.figure`."""
        return METHODS["figure"](self, order=order)

    def sketch(self) -> str:
        """A heat map in text, for a terminal; see :func:`simloss.similarity.sketch`."""
        return METHODS["sketch"](self)

    def save(self, path: str | PathLike[str]) -> None:
        """Write .csv, .npz or .safetensors; :func:`simloss.similarity.load` reads it back."""
        METHODS["save"](self, path)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Similarity):
            return NotImplemented
        if (self.num_classes, self.num_rows, self.names, self.kind) != (
            other.num_classes,
            other.num_rows,
            other.names,
            other.kind,
        ):
            return False
        every = torch.arange(self.num_rows, device=self._device())
        return all(
            torch.equal(self.rows(some, torch.float64).cpu(), other.rows(some, torch.float64).cpu())
            for some in every.split(max(1, _CHUNK_ENTRIES // self.num_classes))
        )

    def __repr__(self) -> str:
        count = f"{self.num_classes} class" + ("es" if self.num_classes != 1 else "")
        kind = "" if self.kind == "similarity" else f", {self.kind}"
        described = "" if self._device().type == "meta" else self._description()
        return f"{self.structure}({count}{described}{kind})"

    def _is_normalized_on_the_fly(self) -> bool:
        return self.kind == "probability"

    def _dtype(self) -> torch.dtype:
        # Half precision is for logits: r = .999 is 1 in bfloat16.
        return torch.promote_types(torch.get_default_dtype(), torch.float32)

    def _wide(self) -> torch.dtype:
        """The dtype for work that must not lose digits: float64 if the device has it."""
        return torch.float32 if self._device().type == "mps" else torch.float64

    def _device(self) -> torch.device:
        return next(iter(self.tensors.values())).device

    def _all_classes(self) -> Tensor:
        return torch.arange(self.num_classes, device=self._device())

    def _chunks(self) -> tuple[Tensor, ...]:
        """All classes, in chunks whose rows fit in memory."""
        return self._all_classes().split(max(1, _CHUNK_ENTRIES // self.num_classes))

    def _with_row_sums(self) -> Self:
        """The kind "probability", with the row sums stored as one more tensor."""
        sums = [self._similarities(some, self._wide()).sum(1) for some in self._chunks()]
        tensors = {**self.tensors, "row_sums": torch.cat(sums)}
        return type(self)(
            self.num_classes, tensors, names=self.names, kind="probability", **self.options
        )

    def _index(self, target: Any) -> Tensor:
        is_tensor = isinstance(target, Tensor)
        if not is_tensor or (_checks.values_can_be_read(target) and target.numel()):
            target = _checks.class_indices("target", target, self.num_rows)
        return torch.as_tensor(target, dtype=torch.long, device=self._device())
