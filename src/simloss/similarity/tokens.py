"""The tokens of a language model: numbers are similar by value, other tokens to none."""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor

from .. import _checks
from .base import Similarity
from .sparse import _MOST_ENTRIES, SparseSimilarity

# A whole number as tokenizers write it: after a space (Ġ of byte-level BPE, ▁ of SentencePiece),
# inside a word (## of WordPiece), at the end of a word (</w>) or before its end (@@).
_NUMBER = re.compile(r"(Ġ|▁| |##)?(-?)([0-9]+)(</w>|@@)?")

# With more digits than this, float64 cannot tell neighbouring numbers apart.
_MOST_DIGITS = 15

_SCALES = {
    "absolute": lambda value: value,
    "relative": lambda value: math.copysign(math.log1p(abs(value)), value),
}


def tokens(
    tokenizer: Any,
    r: float,
    *,
    num_classes: int | None = None,
    distance: str = "absolute",
    value: Callable[[str], float | None] | None = None,
) -> Similarity:
    r"""Similarity of a tokenizer's tokens: numbers by value, identity elsewhere, in sparse rows.

    .. math::

        S_{ij} = r^{|a_i - a_j|} \text{ for number tokens of the same form}, \qquad
        S_{ij} = [i = j] \text{ else}

    The tokenizer is only read. A language model that writes 41 for 42 then learns that this
    is nearly right, which cross entropy does not tell it.

    **The same form** means: the same mark of a space or a word's end (``"Ġ7"`` and ``"7"`` are
    not alike: one begins a number, the other may continue one, so confusing them turns "17" into
    "1 7"), and both without leading zeros, or both with them and of the same length
    (``"07"`` only ever continues a number; it is like ``"05"`` but not like ``"7"``). So two tokens
    are never interchangeable, and :func:`simloss.proper_sim_loss` is proper with this S. Tokens
    are taken at face value: if a number is written as several tokens, the loss does not know that
    the first matters most.

    Args:
        tokenizer: anything with ``get_vocab()`` (transformers, slow or fast, or tokenizers), or
            a mapping of token -> id.
        r: similarity of two numbers at distance 1, in [0, 1); 0 is the identity.
        num_classes: the number of logits of the model if its vocabulary is padded beyond the
            tokenizer's. By default the highest id plus 1.
        distance: "absolute", :math:`|a - b|`, or "relative",
            :math:`|\log(1 + a) - \log(1 + b)|` (below 0: mirrored), where 1000 is about as far from
            1100 as 100 is from 110.
        value: a function that replaces the rule above: token -> number, or None if it is not a
            number; for tokens such as "3.5", "<bin_17>" or "three". All numbers then have one
            form, and those with the same value are interchangeable.

    Example:
        >>> S = tokens({"+": 0, "1": 1, "2": 2, "5": 3, "Ġ2": 4, "02": 5}, r=0.5, num_classes=8)
        >>> S
        sparse(8 classes, 14 entries)
        >>> S.rows([1, 4]).float()
        tensor([[0.0000, 1.0000, 0.5000, 0.0625, 0.0000, 0.0000, 0.0000, 0.0000],
                [0.0000, 0.0000, 0.0000, 0.0000, 1.0000, 0.0000, 0.0000, 0.0000]])
        >>> S.notes
        ('3 of 6 tokens are numbers that are alike, from 1 to 5.',)
    """
    vocabulary = _vocabulary(tokenizer)
    r = _checks.fraction("r", r)
    _checks.choice("distance", distance, tuple(_SCALES))
    num_classes = _class_count(num_classes, max(vocabulary.values()) + 1)
    forms = _by_form(vocabulary, _form_and_value if value is None else _reading(value))
    blocks = [_block(numbers, r, _SCALES[distance]) for numbers in forms]
    similarity = _with_identity(blocks, num_classes)
    similarity.notes = (_note(forms, len(vocabulary)),)
    return similarity


def _form_and_value(token: str) -> tuple[Any, float] | None:
    """The form of a number token and its value; None for other tokens."""
    found = _NUMBER.fullmatch(token)
    if found is None:
        return None
    before, minus, digits, after = found.groups()
    if len(digits) > _MOST_DIGITS or (minus and int(digits) == 0):  # "-0" would be a second 0
        return None
    leading_zeros = (minus, len(digits)) if len(digits) > 1 and digits[0] == "0" else None
    return (before, after, leading_zeros), int(minus + digits)


def _by_form(
    vocabulary: Mapping[str, int], read: Callable[[str], tuple[Any, float] | None]
) -> list[dict[int, float]]:
    """The numbers of each form that has more than one: id -> value, by rising id."""
    forms: dict[Any, dict[int, float]] = {}
    for token, index in sorted(vocabulary.items(), key=lambda item: item[1]):
        found = read(token)
        if found is not None:
            form, number = found
            forms.setdefault(form, {})[index] = number
    return [numbers for numbers in forms.values() if len(numbers) > 1]


def _reading(value: Callable[[str], float | None]) -> Callable[[str], tuple[Any, float] | None]:
    """The user's own rule: all numbers of one form."""

    def read(token: str) -> tuple[Any, float] | None:
        found = value(token)
        if found is None:
            return None
        number = _checks.real("value", found)
        if not math.isfinite(number):
            raise ValueError(
                f"`value` must give finite numbers, but gave {number} for the token {token!r}."
            )
        return None, number

    return read


def _block(
    numbers: Mapping[int, float], r: float, scale: Callable[[float], float]
) -> tuple[Tensor, Tensor]:
    """The ids (K) of the numbers of one form, and the similarity among them (K, K)."""
    if len(numbers) ** 2 > _MOST_ENTRIES:
        raise ValueError(
            f"`tokenizer` must have fewer number tokens of one form, but got {len(numbers):,}; "
            f"use `simloss.similarity.values`, which never holds all pairs."
        )
    at = torch.tensor([scale(number) for number in numbers.values()], dtype=torch.float64)
    distance = (at.unsqueeze(1) - at).abs()  # (K, K)
    return torch.tensor(list(numbers)), torch.tensor(r, dtype=torch.float64).pow(distance)


def _with_identity(blocks: Iterable[tuple[Tensor, Tensor]], num_classes: int) -> SparseSimilarity:
    """Sparse rows with the blocks in their places, and 1 on the rest of the diagonal."""
    alone = torch.ones(num_classes, dtype=torch.bool)
    rows, columns, values = [], [], []
    for indices, block in blocks:
        alone[indices] = False
        row, column = block.nonzero(as_tuple=True)  # entries that underflow are dropped
        rows.append(indices[row])
        columns.append(indices[column])
        values.append(block[row, column])
    own = alone.nonzero().squeeze(1)
    row = torch.cat([*rows, own])
    by_row = row.argsort(stable=True)
    crow = torch.zeros(num_classes + 1, dtype=torch.long)
    crow[1:] = row.bincount(minlength=num_classes).cumsum(0)
    tensors = {
        "crow": crow,
        "column": torch.cat([*columns, own])[by_row],
        "value": torch.cat([*values, torch.ones(len(own), dtype=torch.float64)])[by_row],
    }
    return SparseSimilarity(num_classes, tensors)


def _note(forms: list[dict[int, float]], count: int) -> str:
    numbers = [number for form in forms for number in form.values()]
    if not numbers:
        return f"No two of {count:,} tokens are similar numbers: this is the identity."
    return (
        f"{len(numbers):,} of {count:,} tokens are numbers that are alike, "
        f"from {min(numbers):.6g} to {max(numbers):.6g}."
    )


def _vocabulary(tokenizer: Any) -> Mapping[str, int]:
    """Token -> id."""
    found = tokenizer.get_vocab() if hasattr(tokenizer, "get_vocab") else tokenizer
    if not isinstance(found, Mapping):
        raise TypeError(
            f"`tokenizer` must have get_vocab(), or be a mapping of token -> id, "
            f"but got {type(found).__name__}."
        )
    _checks.not_empty("tokenizer", found)
    owner: dict[int, str] = {}
    for token, index in found.items():
        if not isinstance(token, str) or isinstance(index, bool) or not isinstance(index, int):
            raise TypeError(
                f"`tokenizer` must map tokens (str) to ids (int), but got {token!r}: {index!r}."
            )
        if index < 0:
            raise ValueError(f"`tokenizer` must have ids from 0 on, but got {token!r}: {index}.")
        if index in owner:
            raise ValueError(
                f"`tokenizer` must give each token its own id, "
                f"but {owner[index]!r} and {token!r} both have {index}."
            )
        owner[index] = token
    return found


def _class_count(num_classes: int | None, needed: int) -> int:
    if num_classes is None:
        return needed
    num_classes = _checks.class_count("num_classes", num_classes)
    if num_classes < needed:
        raise ValueError(
            f"`num_classes` must be at least {needed}, the highest id of the tokenizer plus 1, "
            f"but got {num_classes}."
        )
    return num_classes
