"""Each alternative against its formula as plain loops."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from reference import softmax
from simloss import decide
from simloss.experiment.plan.alternatives.annealed import Annealed
from simloss.experiment.plan.alternatives.binary_answers import BinaryAnswers
from simloss.experiment.plan.alternatives.corn import CORN
from simloss.experiment.plan.alternatives.distance_weighted import DistanceWeighted
from simloss.experiment.plan.alternatives.hierarchical import HierarchicalCrossEntropy
from simloss.experiment.plan.alternatives.kernel_score import KernelScore
from simloss.experiment.plan.alternatives.label_distribution import LabelDistribution
from simloss.experiment.plan.alternatives.noise_layer import NoiseLayer
from simloss.experiment.plan.alternatives.objective import Objective, OnLogits, objective_of
from simloss.experiment.plan.alternatives.squared_emd import SquaredEMD
from simloss.similarity import Tree, order

TREE = Tree.from_paths(["a/b/0", "a/b/1", "a/2", "c/3", "c/d/4"])


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def squared_emd(z, y, share=0.3):
    p, total, below = softmax(z), 0.0, 0.0
    for c in range(len(z)):
        below += p[c]
        total += (below - (1.0 if y <= c else 0.0)) ** 2
    return (1 - share) * total - share * math.log(p[y])


def heights(i, j):
    return 0.0 if i == j else 1.0 if {i, j} == {0, 1} else 2.0 if {i, j} <= {0, 1, 2} else 3.0


def kernel_score(z, y, share=0.2):
    p, total = softmax(z), 0.0
    for c in range(len(z)):
        total += p[c] * heights(c, y)
        for k in range(len(z)):
            total -= p[c] * p[k] * heights(c, k) / 2
    return (1 - share) * total - share * math.log(p[y])


def label_distribution(z, y, width=1.5):
    p = softmax(z)
    bell = [math.exp(-((c - y) ** 2) / (2 * width**2)) for c in range(len(z))]
    total = abs(sum(c * p[c] for c in range(len(z))) - y)
    for c in range(len(z)):
        total -= bell[c] / sum(bell) * math.log(p[c])
    return total


def distance_weighted(z, y, alpha=1.5):
    p, total = softmax(z), 0.0
    for c in range(len(z)):
        total -= abs(c - y) ** alpha * math.log(1 - p[c])
    return total


def binary_answers(z, y):
    total = 0.0
    for k in range(len(z) - 1):
        total -= math.log(sigmoid(z[k]) if y > k else 1 - sigmoid(z[k]))
    return total


def noise_layer(z, y, trace=0.7, off=0.01):
    C, p = len(z), softmax(z)
    total = 0.0
    for k in range(C):
        total += p[k] * (1 - off if k == y else off / (C - 1))
    return -math.log(total) + trace * (1 - off)


def hierarchical(z, y, alpha=0.4):
    p = softmax(z)

    def probability(node):
        if node < len(z):
            return p[node]
        return sum(probability(child) for child in TREE.children[node])

    total, node = 0.0, y
    while TREE.parents[node] != -1:
        step = probability(node) / probability(TREE.parents[node])
        total -= math.exp(-alpha * (TREE.depths[node] - 1)) * math.log(step)
        node = TREE.parents[node]
    return total


FORMULAS = {
    "squared EMD": (SquaredEMD(0.3), squared_emd),
    "CDW": (DistanceWeighted(1.5), distance_weighted),
    "OR-CNN": (BinaryAnswers(), binary_answers),
    "learned matrix": (NoiseLayer(5, 0.7).double(), noise_layer),
    "kernel score": (
        KernelScore(torch.tensor([[heights(i, j) for j in range(5)] for i in range(5)]), 0.2),
        kernel_score,
    ),
    "label distribution": (LabelDistribution(1.5), label_distribution),
    "hierarchical": (HierarchicalCrossEntropy(TREE, 0.4), hierarchical),
}
logits = st.lists(st.floats(-8, 8), min_size=5, max_size=5)
batches = st.lists(st.tuples(logits, st.integers(0, 4)), min_size=1, max_size=4)


def tensors(batch):
    z = torch.tensor([z for z, _ in batch], dtype=torch.float64)
    return z, torch.tensor([y for _, y in batch])


@pytest.mark.parametrize("name", FORMULAS)
@given(batch=batches)
def test_the_mean_over_a_batch_is_that_of_the_loops(name, batch):
    objective, loop = FORMULAS[name]
    expected = sum(loop(z, y) for z, y in batch) / len(batch)
    assert objective(*tensors(batch)).item() == pytest.approx(expected, rel=1e-6, abs=1e-9)


@given(batch=batches)
def test_corn_is_the_mean_over_all_questions_asked(batch):
    total, asked = 0.0, 0
    for z, y in batch:
        for k in range(4):
            if y >= k:
                asked += 1
                total -= math.log(sigmoid(z[k]) if y > k else 1 - sigmoid(z[k]))
    assert CORN()(*tensors(batch)).item() == pytest.approx(total / asked, rel=1e-6)


@pytest.mark.parametrize("objective", [*(each for each, _ in FORMULAS.values()), CORN()])
def test_gradients_are_right_and_extremes_finite(objective):
    generator = torch.Generator().manual_seed(0)
    z = torch.randn(3, 5, dtype=torch.float64, generator=generator, requires_grad=True)
    y = torch.tensor([0, 4, 2])
    assert torch.autograd.gradcheck(lambda x: objective(x, y), z)
    far = (60 * z.detach().float()).requires_grad_()
    value = objective.float()(far, y)
    value.backward()
    assert value.isfinite()
    assert far.grad.isfinite().all()
    assert objective.logits(far.detach()).softmax(-1).isfinite().all()
    objective.double()


@given(z=logits)
def test_what_corn_answers(z):
    reached, expected = 1.0, []
    for k in range(4):
        expected.append(reached * (1 - sigmoid(z[k])))
        reached *= sigmoid(z[k])
    p = CORN().logits(torch.tensor(z, dtype=torch.float64)).softmax(-1)
    assert p.tolist() == pytest.approx([*expected, reached], abs=1e-9)


@given(z=logits)
def test_what_or_cnn_answers(z):
    answers = sorted((sigmoid(v) for v in z[:4]), reverse=True)
    ends = [1.0, *answers, 0.0]
    expected = [ends[i] - ends[i + 1] for i in range(5)]
    p = BinaryAnswers().logits(torch.tensor(z, dtype=torch.float64)).softmax(-1)
    assert p.tolist() == pytest.approx(expected, abs=1e-5)


@given(z=st.lists(st.floats(-8, 8).filter(lambda v: abs(v) > 1e-3), min_size=5, max_size=5))
def test_the_authors_own_decisions_are_the_median(z):
    outputs = torch.tensor(z, dtype=torch.float64)
    binary = decide(BinaryAnswers().logits(outputs).softmax(-1), "median").item()
    assert binary == sum(sigmoid(v) > 0.5 for v in z[:4])
    reached, rank = 1.0, 0
    for v in z[:4]:
        reached *= sigmoid(v)
        rank += reached > 0.5
    corn = CORN().logits(outputs).softmax(-1)
    if min(abs(corn.cumsum(0) - 0.5)) > 1e-6:
        assert decide(corn, "median").item() == rank


def test_the_last_output_is_left_alone():
    for objective in (CORN(), BinaryAnswers()):
        z = torch.randn(4, 6, requires_grad=True)
        objective(z, torch.tensor([0, 5, 3, 2])).backward()
        assert (z.grad[:, -1] == 0).all()
        assert (z.grad[:, :-1] != 0).any()


def test_special_cases():
    z, y = torch.randn(6, 5), torch.tensor([0, 1, 2, 3, 4, 2])
    plain = torch.nn.functional.cross_entropy(z, y)
    assert torch.allclose(HierarchicalCrossEntropy(TREE, 0.0)(z, y), plain)
    assert torch.allclose(SquaredEMD(1.0)(z, y), plain)
    faded = Annealed(5, epochs=4)
    faded.begin_epoch(5)
    assert torch.allclose(faded(z, y), plain)


def test_the_matrix_is_learned():
    torch.manual_seed(0)
    objective = NoiseLayer(3, 0.0)
    truth = torch.arange(3).repeat(200)
    labels = torch.where(torch.rand(600) < 0.3, (truth + 1) % 3, truth)  # 30 % are off by one
    sure = 12.0 * torch.nn.functional.one_hot(truth, 3)
    optimizer = torch.optim.Adam(objective.parameters(), lr=0.05)
    for _ in range(200):
        optimizer.zero_grad()
        objective(sure, labels).backward()
        optimizer.step()
    learned = objective.weights.softmax(-1).detach()
    assert torch.allclose(learned.sum(1), torch.ones(3))
    assert learned.diagonal().tolist() == pytest.approx([0.7] * 3, abs=0.08)


def test_annealing_ends_in_cross_entropy():
    objective = Annealed(9, epochs=3)
    seen = []
    for epoch in range(1, 6):
        objective.begin_epoch(epoch)
        seen.append(objective.loss.similarity.to_dense())
    for at, r in enumerate((0.9, 0.6, 0.3, 0.0, 0.0)):
        assert torch.allclose(seen[at], order(9, r).to_dense())


def test_a_loss_of_logits_is_an_objective():
    plain = torch.nn.CrossEntropyLoss()
    objective = objective_of(plain)
    assert isinstance(objective, OnLogits)
    assert objective_of(objective) is objective
    z, y = torch.randn(3, 4), torch.tensor([0, 3, 1])
    assert torch.equal(objective(z, y), plain(z, y))
    assert objective.logits(z) is z
    with pytest.raises(NotImplementedError):
        Objective()(z, y)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SquaredEMD(1.5), r"`share` must be in \[0, 1\], but got 1.5"),
        (lambda: DistanceWeighted(0), "`alpha` must be .*above 0.*, but got 0"),
        (lambda: NoiseLayer(3, -1), "`trace` must be .*at least 0, but got -1"),
        (lambda: HierarchicalCrossEntropy(TREE, -0.1), "`alpha` must be .*at least 0"),
        (lambda: Annealed(3, 0), "`epochs` must be .*above 0.*, but got 0"),
    ],
)
def test_bad_parameters(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_the_kernel_score_of_an_order_is_the_squared_emd():
    place = torch.arange(5.0)
    steps = (place - place.unsqueeze(1)).abs()
    z, y = torch.randn(6, 5), torch.tensor([0, 1, 2, 3, 4, 2])
    for share in (0.0, 0.25):
        ours, theirs = KernelScore(steps, share)(z, y), SquaredEMD(share)(z, y)
        assert ours.item() == pytest.approx(theirs.item(), rel=1e-5)
