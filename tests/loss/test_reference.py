"""Every argument against the formulas as plain loops, with an S that is not the identity."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
import simloss
from simloss.similarity import embedding, matrix, order

LOSSES = {
    "sim": (simloss.sim_loss, reference.sim_loss),
    "proper": (simloss.proper_sim_loss, reference.proper_sim_loss),
    "soft": (simloss.soft_target_loss, reference.soft_target_loss),
}


def similarities(C, seed):
    generator = torch.Generator().manual_seed(seed)
    dense = torch.rand(C, C, generator=generator, dtype=torch.float64)
    dense[torch.rand(C, C, generator=generator) < 0.3] = 0
    dense.fill_diagonal_(1)
    vectors = torch.randn(C, 3, generator=generator, dtype=torch.float64)
    return {
        "order": order(C, 0.7),
        "asymmetric": matrix(dense),
        "plain": dense,
        "cosine": embedding(vectors, 0.1),
        "normalised order": order(C, 0.7).normalized(),
        "normalised dense": matrix(dense).normalized(),
        "normalised cosine": embedding(vectors, 0.1).normalized(),
    }


@settings(max_examples=150, deadline=None)
@given(
    name=st.sampled_from(list(LOSSES)),
    form=st.sampled_from(list(similarities(2, 0))),
    C=st.integers(1, 6),
    N=st.integers(1, 4),
    seed=st.integers(0, 10**6),
    soft=st.booleans(),
    weighted=st.booleans(),
    ignore=st.sampled_from([-100, 0]),
    reduction=st.sampled_from(["none", "mean", "sum"]),
    label_smoothing=st.sampled_from([0.0, 0.2, 1.0]),
    share=st.sampled_from([0.0, 0.3, 1.0]),
)
def test_every_argument(
    name, form, C, N, seed, soft, weighted, ignore, reduction, label_smoothing, share
):
    ours, plain = LOSSES[name]
    generator = torch.Generator().manual_seed(seed)
    similarity = similarities(C, seed)[form]
    dense = similarity if form == "plain" else similarity.to_dense(torch.float64)
    input = 2 * torch.randn(N, C, generator=generator, dtype=torch.float64)
    if soft:
        ignore = -100
        target = torch.rand(N, C, generator=generator, dtype=torch.float64)
    else:
        target = torch.randint(C, (N,), generator=generator)
        target[0] = C - 1
        if C == 1 and ignore == 0:
            ignore = -100  # all ignored: NaN in both, tested elsewhere
    weight = torch.rand(C, generator=generator, dtype=torch.float64) + 0.1 if weighted else None
    options = {
        "ignore_index": ignore,
        "reduction": reduction,
        "label_smoothing": label_smoothing,
        "cross_entropy_share": share,
    }
    result = ours(input, target, similarity, weight=weight, **options)
    expected = reference.contract(
        plain,
        input.tolist(),
        target.tolist(),
        dense.tolist(),
        weight=weight.tolist() if weighted else None,
        **options,
    )
    assert result.tolist() == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", LOSSES)
def test_spatial_is_many_examples(name):
    ours = LOSSES[name][0]
    S = order(5, 0.6)
    input, target = torch.randn(2, 5, 3, 4), torch.randint(5, (2, 3, 4))
    together = ours(input, target, S, reduction="none")
    for n in range(2):
        for i in range(3):
            for j in range(4):
                one = ours(input[n, :, i, j], target[n, i, j], S)
                assert together[n, i, j].item() == pytest.approx(one.item(), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("name", LOSSES)
def test_row_normalised_the_papers_appendix(name):
    """Equal gradients; values apart by the mean log row sum; a floor of 0 only without it."""
    ours = LOSSES[name][0]
    S = order(6, 0.7)
    input = torch.randn(8, 6, dtype=torch.float64, requires_grad=True)
    target = torch.randint(6, (8,))
    values, gradients = [], []
    for similarity in (S, S.normalized()):
        loss = ours(input, target, similarity)
        values.append(loss.item())
        gradients.append(torch.autograd.grad(loss, input)[0])
    assert torch.allclose(*gradients, atol=1e-14)
    gap = S.to_dense(torch.float64).sum(1).log()[target].mean().item()
    certain = torch.full((6,), -1e4).scatter(0, torch.tensor(2), 1e4)
    floors = [ours(certain, torch.tensor(2), s).item() for s in (S, S.normalized())]
    if name == "soft":  # it normalises anyway
        assert values[0] == pytest.approx(values[1], rel=1e-12)
    else:
        assert values[1] - values[0] == pytest.approx(gap, rel=1e-10)
        assert floors[0] == 0
        assert floors[1] == pytest.approx(S.to_dense().sum(1).log()[2].item(), rel=1e-6)


def test_interchangeable_classes_cost_nothing():
    S = torch.tensor([[1.0, 1, 0], [1, 1, 0], [0, 0, 1]])
    logits = torch.tensor([[0.0, 50, -1e4]])
    assert simloss.sim_loss(logits, torch.tensor([0]), S).item() == pytest.approx(0, abs=1e-6)
    assert simloss.proper_sim_loss(logits, torch.tensor([0]), S).item() == pytest.approx(
        0, abs=1e-6
    )


@pytest.mark.parametrize("r", [0.2, 0.5, 0.8])
def test_the_proper_loss_is_proper_and_simloss_is_not(r):
    """Minimise the expected loss over q: the proper optimum is P itself, SimLoss's is sparse."""
    S = order(4, r)
    truth = torch.tensor([0.45, 0.3, 0.2, 0.05], dtype=torch.float64)
    for name, is_proper in (("proper", True), ("sim", False)):
        logits = torch.zeros(4, dtype=torch.float64, requires_grad=True)
        optimizer = torch.optim.LBFGS([logits], max_iter=500, line_search_fn="strong_wolfe")

        def closure(logits=logits, optimizer=optimizer, loss=LOSSES[name][0]):
            optimizer.zero_grad()
            value = loss(logits, truth, S)
            value.backward()
            return value

        optimizer.step(closure)
        answer = logits.detach().softmax(0)
        assert torch.allclose(answer, truth, atol=1e-3) == is_proper
    assert (answer < 1e-4).any()
