"""Finite and right where the plain formula is not: against 50 digits."""

import mpmath
import pytest
import torch

import simloss
from simloss import sim_loss
from simloss.similarity import cost, matrix, order, sparse, values

mpmath.mp.dps = 50


def judge(name, z, y, S):
    """Value and gradient with 50 digits; S as mpmath numbers."""
    z = [mpmath.mpf(v) for v in z]
    C = range(len(z))
    shift = max(z)
    e = [mpmath.exp(v - shift) for v in z]
    total = mpmath.fsum(e)
    p = [v / total for v in e]
    if name == "soft":
        row = mpmath.fsum(S[y])
        t = [v / row for v in S[y]]
        log_p = [v - shift - mpmath.log(total) for v in z]
        return -mpmath.fsum(t[c] * log_p[c] for c in C), [p[c] - t[c] for c in C]
    a = [mpmath.fsum(S[i][k] * p[k] for k in C) for i in C]
    if name == "sim":
        return -mpmath.log(a[y]), [p[c] - S[y][c] * p[c] / a[y] for c in C]
    value = -mpmath.log(a[y]) + 1 - mpmath.fsum(p[i] * S[i][y] / a[i] for i in C)
    by_p = [
        -S[y][c] / a[y]
        - S[c][y] / a[c]
        + mpmath.fsum(p[i] * S[i][y] * S[i][c] / a[i] ** 2 for i in C)
        for c in C
    ]
    mean = mpmath.fsum(p[c] * by_p[c] for c in C)
    return value, [p[c] * (by_p[c] - mean) for c in C]


LOGITS = {
    "the 2020 code's failure": [0.0, 100.0, -3.0, 1.0],
    "sure and right": [1e4, -1e4, 0.0, 3.0],
    "sure and wrong": [-1e4, 1e4, 1e4 - 1, 0.0],
    "huge and close": [9999.0, 9999.5, 9998.0, 9999.25],
    "tiny": [1e-30, -1e-30, 0.0, 1e-30],
    "far apart": [-1e4, -5e3, 5e3, 1e4],
    "beyond all digits": [1e30, 0.0, -1e30, 1.0],
    "at the last digit": [1e16, 0.0, 1e16, 1.0],
}


def similarities():
    zeros = torch.tensor([[1, 0, 0.5, 0], [0, 1, 0, 0], [0.25, 0, 1, 1], [0, 0, 1e-30, 1.0]])
    forms = {f"order r={r}": order(4, r) for r in (0.0, 1e-300, 0.1, 0.5, 0.9, 0.999)}
    return {**forms, "zeros": matrix(zeros.double()), "normalised": order(4, 0.5).normalized()}


def exact(S):
    """S in 50 digits: as stored, except that r^d is not rounded."""
    if "r" in S.tensors:
        r = mpmath.mpf(S.tensors["r"].item())
        dense = [[r ** abs(i - j) for j in range(4)] for i in range(4)]
        if S.kind == "probability":
            dense = [[v / mpmath.fsum(row) for v in row] for row in dense]
        return dense
    return [[mpmath.mpf(v) for v in row] for row in S.to_dense(torch.float64).tolist()]


TOLERANCE = {torch.float64: 1e-12, torch.float32: 4e-6, torch.bfloat16: 8e-3, torch.float16: 1e-3}


@pytest.mark.parametrize("way", ["kernel", "formula"])
@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("logits", LOGITS)
@pytest.mark.parametrize("form", similarities())
def test_against_fifty_digits(loss_name, loss_function, form, logits, dtype, way, monkeypatch):
    if way == "formula":
        monkeypatch.setattr("simloss.loss.kernel._kernel", None)
    S = similarities()[form]
    z = torch.tensor(LOGITS[logits], dtype=torch.float64).to(dtype).requires_grad_()
    if not z.isfinite().all():
        pytest.skip("half precision ends before")
    for y in range(4):
        value, gradient = judge(loss_name, z.tolist(), y, exact(S))
        loss = loss_function(z, torch.tensor(y), S)
        grad = torch.autograd.grad(loss, z)[0]
        assert loss.item() == pytest.approx(
            float(value), rel=TOLERANCE[dtype], abs=TOLERANCE[dtype]
        )
        assert grad.tolist() == pytest.approx([float(g) for g in gradient], abs=TOLERANCE[dtype])


def test_where_the_published_code_is_wrong():
    """log(sum + 1e-8) answers 18.4 with gradient 4e-36; right are 100 and -1."""
    z = torch.tensor([[0.0, 100.0, -3.0]], requires_grad=True)
    loss = sim_loss(z, torch.tensor([0]), torch.eye(3))
    gradient = torch.autograd.grad(loss, z)[0]
    assert loss.item() == 100
    assert gradient[0, 0].item() == -1


def test_label_smoothing_and_soft_targets_at_the_extremes(loss_name, loss_function):
    """These need every class's loss, also those whose mixture underflows in linear space."""
    S = order(4, 0.0)
    z = torch.tensor([-1e4, 0.0, 1e4, 3.0], dtype=torch.float64)
    each = [float(judge(loss_name, z.tolist(), y, exact(S))[0]) for y in range(4)]
    smooth = loss_function(z, torch.tensor(1), S, label_smoothing=0.4)
    assert smooth.item() == pytest.approx(0.6 * each[1] + 0.1 * sum(each), rel=1e-12)
    target = torch.tensor([0.1, 0.2, 0.3, 0.4], dtype=torch.float64)
    soft = loss_function(z, target, S)
    assert soft.item() == pytest.approx(
        sum(t * e for t, e in zip(target, each, strict=True)).item()
    )


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_r_is_not_rounded_to_half_precision(loss_function, dtype):
    """.999 is 1.0 in bfloat16: a module cast to it must not turn into the constant 0."""
    z = torch.linspace(-1, 1, 200).to(dtype)
    loss = loss_function(z, torch.tensor(150), order(200, 0.999))
    expected = loss_function(z.double(), torch.tensor(150), order(200, 0.999))
    assert loss.item() == pytest.approx(expected.item(), rel=1e-2)
    assert expected.item() > 0.01


def test_many_classes(loss_name, loss_function):
    """Rows of S that underflow to 0 in any dtype still pull in the right direction."""
    if loss_name != "sim":
        pytest.skip("the others need all of S p")
    z = torch.zeros(20000, dtype=torch.float64)
    z[0] = 1e4
    loss = sim_loss(z, torch.tensor(19999), order(20000, 0.5))
    # The mass at class 0 is worth r^19999 e^10000, that at 19999 and around it e^0 / (1 - r).
    far = -19999 * mpmath.log(2) + 10000
    near = mpmath.log(2 * (1 - mpmath.mpf("0.5") ** 20000))
    expected = 10000 - mpmath.log(mpmath.exp(far) + mpmath.exp(near))
    assert loss.item() == pytest.approx(float(expected), rel=1e-12)


@pytest.mark.parametrize(
    "loss", [simloss.sim_loss, simloss.proper_sim_loss, simloss.soft_target_loss]
)
def test_logits_that_are_nan_give_nan_with_sparse_rows_too(loss):
    z = torch.tensor([[float("nan"), 0.0, 0.0]], requires_grad=True)
    s = simloss.similarity.sparse(simloss.similarity.order(3, 0.5))
    assert loss(z, torch.tensor([0]), s).isnan()


def test_a_weight_that_wants_a_gradient_gets_one_at_any_size():
    weight = torch.ones(4, requires_grad=True)
    s = simloss.similarity.order(4, 0.5)
    simloss.sim_loss(torch.randn(3, 4), torch.tensor([0, 1, 1]), s, weight=weight).backward()
    assert weight.grad is not None


class TestSimilaritiesTooSmallForFloat32:
    """The sure answer is hardly like the true class: the loss is -log S, however small S is."""

    Z, Y = torch.tensor([[0.0, 200.0]]), torch.tensor([0])

    @pytest.mark.parametrize("far", [90.0, 100.0, 103.0, 150.0])
    @pytest.mark.parametrize("form", [cost, lambda costs: sparse(cost(costs))])
    def test_every_way_has_the_same_loss_and_gradient(self, form, far):
        S = form([[0, far], [far, 0]])
        z = self.Z.clone().requires_grad_()
        loss = sim_loss(z, self.Y, S)
        assert loss.item() == pytest.approx(far)
        again = torch.autograd.grad(loss, z, create_graph=True)[0]  # by the plain formula
        assert again.tolist()[0] == pytest.approx([0.0, 0.0], abs=1e-20)
        apart = torch.func.vmap(lambda z, y: sim_loss(z, y, S))(self.Z, self.Y)
        assert apart.item() == pytest.approx(far)

    @pytest.mark.parametrize("far", [90.0, 100.0, 103.0, 150.0])
    def test_a_module_stores_no_digit_less(self, far):
        S = values([0, far], scale=1)
        assert simloss.SimLoss(S)(self.Z, self.Y).item() == pytest.approx(far)
