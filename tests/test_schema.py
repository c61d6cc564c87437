"""What a file may hold, said as a type."""

import json
from typing import Any, Literal, NotRequired, TypedDict

import pytest

from simloss._schema import AtLeastOne, Finite, Measured, Positive, fits, misfit


class Inner(TypedDict):
    name: str
    value: NotRequired[float | None]


class Outer(TypedDict):
    inner: Inner
    sizes: dict[str, AtLeastOne]
    kind: Literal["a", "b"]
    pairs: NotRequired[list[tuple[int, str]]]


GOOD = {"inner": {"name": "x"}, "sizes": {"train": 3}, "kind": "a"}


def test_what_fits():
    assert misfit(GOOD, Outer) is None
    assert misfit({**GOOD, "later": object()}, Outer) is None
    assert (
        misfit({**GOOD, "pairs": [[1, "x"]], "inner": {"name": "", "value": None}}, Outer) is None
    )


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"inner": 5}, "inner"),
        ({"inner": {}}, "inner.name"),
        ({"inner": {"name": 3}}, "inner.name"),
        ({"inner": {"name": "x", "value": "y"}}, "inner.value"),
        ({"sizes": []}, "sizes"),
        ({"sizes": {"train": 0}}, "sizes.train"),
        ({"sizes": {"train": True}}, "sizes.train"),
        ({"sizes": {3: 3}}, "sizes.3"),
        ({"kind": "c"}, "kind"),
        ({"kind": ["a"]}, "kind"),
        ({"pairs": [[1]]}, "pairs"),
        ({"pairs": [["x", 1]]}, "pairs"),
        ({"pairs": "12"}, "pairs"),
    ],
)
def test_the_first_thing_that_does_not_is_named(change, where):
    assert misfit({**GOOD, **change}, Outer) == where


def test_a_key_that_is_missing_is_named():
    assert misfit({}, Outer) == "inner"
    assert misfit([], Outer) == ""


@pytest.mark.parametrize(
    ("text", "fitting"),
    [
        ("1", (float, int, Finite, Positive, Measured, Any)),
        ("1.5", (float, Finite, Positive, Measured, Any)),
        ("-1", (float, int, Finite, Measured, Any)),
        ("NaN", (float, Any)),
        ("Infinity", (float, Any)),
        ("1e200", (float, Finite, Positive, Any)),
        ("1" + "0" * 400, (Any,)),
        ("99999999999999999999", (float, Finite, Positive, Measured, Any)),
        ("true", (bool, Any)),
        ("null", (None, Any)),
        ('"1"', (str, Any)),
        ("[]", (list[int], tuple[int, ...], Any)),
        ("{}", (dict[str, int], Any)),
    ],
)
def test_each_kind(text, fitting):
    kinds = (float, int, Finite, Positive, Measured, bool, None, str, Any)
    kinds += (list[int], tuple[int, ...], dict[str, int])
    assert [k for k in kinds if fits(json.loads(text), k)] == [k for k in kinds if k in fitting]
