import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from simloss.similarity import geo, identity

points = st.lists(st.tuples(st.floats(-90, 90), st.floats(-180, 180)), min_size=1, max_size=6)


def angle_between(a, b):
    """By the angle of two vectors, from the cross product: another formula than the builder's."""
    u, v = (
        (math.cos(lat) * math.cos(lon), math.cos(lat) * math.sin(lon), math.sin(lat))
        for lat, lon in ((math.radians(x), math.radians(y)) for x, y in (a, b))
    )
    cross = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
    return math.atan2(math.hypot(*cross), sum(x * y for x, y in zip(u, v, strict=True)))


@given(points, st.floats(100, 10_000))
def test_formula(at, scale):
    S = geo(at, scale).to_dense(torch.float64)
    assert torch.equal(S, S.T)
    for i, a in enumerate(at):
        for j, b in enumerate(at):
            expected = math.exp(-6371.0088 * angle_between(a, b) / scale)
            assert S[i, j].item() == pytest.approx(expected, abs=1e-5)


def test_known_distance():
    # A quarter of a meridian is the metre's old definition: about 10,000 km.
    S = geo([(0, 0), (90, 0), (0, 180)], scale_km=1)
    km = -S.log_rows(torch.tensor(0), torch.float64)
    assert km.tolist() == pytest.approx([0, 10007.557, 20015.115], abs=1e-2)


def test_monotone_in_the_scale_and_the_identity_at_a_small_one():
    at = [(52.5, 13.4), (48.9, 2.4), (35.7, 139.7)]
    near, far = (geo(at, s).to_dense(torch.float64) for s in (500, 900))
    assert bool((far >= near).all())
    assert geo(at, 1e-3) == identity(3)


@pytest.mark.parametrize(
    ("at", "message"),
    [
        ([(91, 0)], r"latitude in \[-90, 90\].* got \(91.0, 0.0\) for class 0"),
        ([(0, 0), (0, 361)], "for class 1"),
        ([1, 2], r"must have shape \(C, 2\)"),
        ([(0, float("nan"))], "must be finite, but got nan in row 0, column 1"),
    ],
)
def test_bad_input(at, message):
    with pytest.raises(ValueError, match=message):
        geo(at, 100)
