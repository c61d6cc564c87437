"""What every similarity is, whatever it was made from."""

from abc import ABC, abstractmethod
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Self

import torch
from torch import Tensor

from .. import _checks

if TYPE_CHECKING:
    from .diagnosis import Diagnosis

# Rows of S that are looked at together where all of S is too much to hold.
_CHUNK_ENTRIES = 1 << 22


class Similarity(ABC):
    r"""How alike the classes are: a value :math:`S \in [0, 1]^{C \times C}`, row = true class.

    Made by the builders in :mod:`simloss.similarity`, never by hand. Each structure
    (powers of one number, a stored matrix, vectors) keeps as little as it can and
    computes rows when they are asked for; nobody needs to know which one it is.

    Attributes:
        num_classes: C.
        names: one name a class, or None.
        kind: "similarity" (diagonal 1) or "probability" (rows sum to 1).
        tensors: what the structure keeps, by name.
        kept: where a builder dropped classes, the places of those it kept; else None.
        notes: what a builder decided by itself, a sentence each.

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
        # No checks here: the builders have made them, and the losses call this in every step.
        self.num_classes = num_classes
        self.tensors = tensors
        self.names = names
        self.kind = kind
        self.options = options

    @property
    def num_rows(self) -> int:
        """How many rows there are to ask for: C, or more where inner nodes have one, too."""
        return self.num_classes

    @abstractmethod
    def _similarities(self, target: Tensor, dtype: torch.dtype) -> Tensor:
        """Rows before any normalisation, (*, C)."""

    @abstractmethod
    def _row_sums(self, target: Tensor, dtype: torch.dtype) -> Tensor:
        """Sums of the rows before any normalisation, (*)."""

    @abstractmethod
    def _description(self) -> str:
        """What stands in the repr between the number of classes and the bracket."""

    @abstractmethod
    def normalized(self) -> "Similarity":
        r"""Each row divided by its sum: the paper's appendix, of kind "probability".

        :math:`S_{ij} / \sum_k S_{ik}`. Each loss has the same gradient with it. SimLoss and the
        proper loss have a value larger by the mean of :math:`\log \sum_k S_{yk}`; soft targets,
        which divide the rows by their sums themselves, the same value.

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
        """The logarithm of those rows, (..., C); minus infinity where S is 0."""
        # In a narrower dtype than its own S would underflow before the logarithm is taken.
        return self.rows(target, torch.promote_types(dtype, self._dtype())).log().to(dtype)

    def columns(self, target: Any, dtype: torch.dtype | None = None) -> Tensor:
        """The columns of S for the given classes, shape of `target` + (C).

        A structure that need not be symmetric has a method of its own for them.
        """
        target, dtype = self._index(target), dtype or self._dtype()
        columns = self._similarities(target, dtype)  # (*, C), for S is symmetric
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
        """The same structure holding other tensors; nothing is checked."""
        same = type(self)(
            self.num_classes, tensors, names=self.names, kind=self.kind, **self.options
        )
        same.kept, same.notes = self.kept, self.notes
        return same

    def detached(self) -> Self:
        """The same on the CPU and without gradients: to look at, to store."""
        return self.with_tensors({k: v.detach().cpu() for k, v in self.tensors.items()})

    def diagnose(self, prior: Any = None, uncertainty: Any = None) -> "Diagnosis":
        """What there is to know and to worry about; :func:`simloss.similarity.diagnose`."""
        from .diagnosis import diagnose

        return diagnose(self, prior, uncertainty)

    def figure(self, *, order: str = "given") -> Any:
        """An interactive heat map (plotly); :func:`simloss.similarity.figure`."""
        from .figure import figure

        return figure(self, order=order)

    def sketch(self) -> str:
        """The same in shades of text, for a terminal; :func:`simloss.similarity.sketch`."""
        from .sketch import sketch

        return sketch(self)

    def save(self, path: str | PathLike[str]) -> None:
        """Write .csv, .npz or .safetensors; :func:`simloss.similarity.load` reads it back."""
        from .storage import save

        save(self, path)

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
        """The dtype of work that must not lose digits: float64 where the device has it."""
        return torch.float32 if self._device().type == "mps" else torch.float64

    def _device(self) -> torch.device:
        return next(iter(self.tensors.values())).device

    def _all_classes(self) -> Tensor:
        return torch.arange(self.num_classes, device=self._device())

    def _chunks(self) -> tuple[Tensor, ...]:
        """All classes, in parts whose rows can be held at once."""
        return self._all_classes().split(max(1, _CHUNK_ENTRIES // self.num_classes))

    def _with_row_sums(self) -> Self:
        """Of kind "probability", the row sums kept as one more tensor."""
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
