import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from simloss.data import Dataset
from simloss.experiment.plan.alternatives import conse, word_vectors
from simloss.experiment.train.measure import Judge

VECTORS = torch.randn(6, 4, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
weights = st.lists(st.floats(0.01, 1), min_size=6, max_size=6)


@given(weights=weights, top=st.integers(1, 6))
def test_the_nearest_class_by_loops(weights, top):
    p = torch.tensor(weights, dtype=torch.float64)
    p = p / p.sum()
    best = sorted(range(6), key=lambda k: -p[k])[:top]
    mean = [sum(float(p[k]) * float(VECTORS[k, d]) for k in best) for d in range(4)]

    def cosine(c):
        vector = VECTORS[c].tolist()
        length = math.hypot(*vector) * math.hypot(*mean)
        return sum(a * b for a, b in zip(vector, mean, strict=True)) / length

    cosines = sorted((cosine(c) for c in range(6)), reverse=True)
    if cosines[0] - cosines[1] > 1e-9 and len(set(weights)) == 6:
        found = int(conse(p, VECTORS, top=top))
        assert cosine(found) == pytest.approx(cosines[0])


@given(weights=weights)
def test_with_all_classes_it_is_the_highest_expected_cosine(weights):
    p = torch.tensor(weights, dtype=torch.float64)
    p = p / p.sum()
    unit = F.normalize(VECTORS, dim=-1)
    expected = (unit @ unit.T) @ p
    if expected.topk(2).values.diff().abs() > 1e-9:
        assert conse(p, unit, top=6) == expected.argmax()


def test_it_is_a_decision_rule_of_an_experiment():
    names = ("tulip", "violet", "truck")
    nothing = Dataset("x", torch.zeros(0, 1), torch.zeros(0, dtype=torch.long), names)
    judge = Judge.of(nothing, ("accuracy",))
    p = torch.tensor([[0.3, 0.3, 0.4], [0.1, 0.1, 0.8]])
    assert word_vectors(names).shape == (3, 100)
    flower, truck = judge.answers(p, "conse").tolist()
    assert names[flower] in ("tulip", "violet")  # two flowers outweigh a truck
    assert names[truck] == "truck"
