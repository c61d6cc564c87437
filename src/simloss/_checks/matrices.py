"""Similarities, costs and the tables that hold them."""

from typing import Any

from torch import Tensor

from .tensors import _refuse_where, values_can_be_read

# A diagonal or a row sum may be off by rounding, but no more.
ROUNDING = 1e-5


def similarity_values(matrix: Tensor, kind: str) -> None:
    """Entries in [0, 1]; diagonal 1 for a similarity, rows that sum to 1 for probabilities."""
    if not values_can_be_read(matrix):
        return
    matrix = matrix.detach()
    for broken, what in (
        (matrix.isnan(), "not be NaN"),
        (matrix < 0, "be at least 0"),
        (matrix > 1 + ROUNDING, "be at most 1"),
    ):
        if bool(broken.any()):
            row, column = (int(i) for i in broken.nonzero()[0])
            raise ValueError(
                f"`similarity` must {what}, but got {matrix[row, column].item():.6g} "
                f"in row {row}, column {column}."
            )
    if kind == "similarity":
        diagonal = matrix.diagonal()
        wrong = (diagonal - 1).abs() > ROUNDING
        if bool(wrong.any()):
            at = int(wrong.nonzero()[0])
            raise ValueError(
                f"`similarity` must have 1 on its diagonal, but got {diagonal[at].item():.6g} "
                f"at class {at}; if its rows are probabilities, pass kind='probability'."
            )
    else:
        sums = matrix.sum(1)
        wrong = (sums - 1).abs() > ROUNDING * matrix.shape[0] ** 0.5
        if bool(wrong.any()):
            at = int(wrong.nonzero()[0])
            raise ValueError(
                f"`similarity` of kind 'probability' must have rows that sum to 1, "
                f"but row {at} sums to {sums[at].item():.6g}; "
                f"`similarity.normalized()` divides each row by its sum."
            )


def cost_values(matrix: Tensor) -> None:
    """Entries of at least 0, infinity allowed; diagonal 0."""
    if not values_can_be_read(matrix):
        return
    _refuse_where(matrix.isnan(), "cost", "not be NaN", matrix)
    _refuse_where(matrix < 0, "cost", "be at least 0", matrix)
    _refuse_where(matrix.diag().diag() != 0, "cost", "be 0 on its diagonal", matrix)


def is_data_frame(value: Any) -> bool:
    """A table with headings and an index, of pandas or similar."""
    return all(hasattr(value, name) for name in ("index", "columns", "to_numpy"))


def row_labels(table: Any) -> list[str] | None:
    """The class names in the index of a pandas table; None if it only numbers the rows."""
    labels = table.index.tolist() if is_data_frame(table) else None
    return None if labels is None or _only_count(labels) else [str(each) for each in labels]


def labels_of_both_sides(name: str, table: Any) -> list[str] | None:
    """The class names of a square pandas table, the same on its rows and its columns.

    If only one side has labels, words are used; numbers might mean other classes.
    """
    if not is_data_frame(table):
        return None
    rows, columns = table.index.tolist(), table.columns.tolist()
    for labels, others in ((rows, columns), (columns, rows)):
        if _only_count(labels) and all(isinstance(each, str) for each in others):
            rows = columns = others
    for place, (row, column) in enumerate(zip(rows, columns, strict=True)):
        if row != column:
            remedy = (
                "; `table.loc[table.columns]` puts the rows into the order of the columns"
                if sorted(map(str, rows)) == sorted(map(str, columns))
                else ""
            )
            raise ValueError(
                f"`{name}` must have the same labels on its rows and its columns, in the same "
                f"order, but row {place} is {row!r} and column {place} is {column!r}{remedy}."
            )
    return None if _only_count(rows) else [str(each) for each in rows]


def _only_count(labels: list[Any]) -> bool:
    return labels == list(range(len(labels)))


def not_a_similarity(name: str, matrix: Tensor) -> None:
    """Refuse a similarity as costs, (..., C, C): its cheapest answer would be the worst."""
    is_similarity = (
        matrix.shape[-1] > 1  # a single class is always answered
        and bool(((matrix.diagonal(dim1=-2, dim2=-1) - 1).abs() <= ROUNDING).all())
        and bool(((matrix >= 0) & (matrix <= 1 + ROUNDING)).all())
    )
    if is_similarity:
        raise ValueError(
            f"`{name}` must be a cost, lowest for the right answer, but with 1 on its "
            f"diagonal it looks like a similarity; pass simloss.similarity.matrix(S), or 1 - S "
            f"for its cost."
        )


def of_kind_similarity(name: str, kind: str) -> None:
    """Diagonal 1, not rows that sum to 1."""
    if kind != "similarity":
        raise ValueError(f"`{name}` must be of kind 'similarity', but got kind {kind!r}.")
