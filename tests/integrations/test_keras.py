"""Keras, on each backend in a process of its own: a backend is chosen once."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

pytest.importorskip("keras", reason="make test-integrations brings it")
pytest.importorskip("jax", reason="make test-integrations brings it")

from simloss import sim_loss
from simloss.similarity import order

N, C, D = 24, 7, 5
S = order(C, r=0.6)


@pytest.fixture(scope="module")
def problem():
    generator = np.random.default_rng(0)
    return {
        "logits": 4 * generator.standard_normal((N, C), dtype="float32"),
        "target": generator.integers(C, size=N),
        "weight": generator.random(N, dtype="float32"),
        "similarity": S.to_dense().numpy(),
        "x": generator.standard_normal((N, D), dtype="float32"),
    }


@pytest.fixture(scope="module", params=["torch", "jax"])
def found(request, problem, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    np.savez(folder / "problem.npz", **problem)
    environment = {**os.environ, "KERAS_BACKEND": request.param, "KERAS_HOME": str(folder)}
    script = str(Path(__file__).with_name("keras_numbers.py"))
    files = [str(folder / "problem.npz"), str(folder / "answers.npz")]
    command = [sys.executable, "-W", "error::UserWarning", script, *files]
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    answers = dict(np.load(folder / "answers.npz"))
    assert answers["backend"] == request.param
    return answers


@pytest.fixture(scope="module")
def losses(problem):
    logits, target = torch.from_numpy(problem["logits"]), torch.from_numpy(problem["target"])
    return sim_loss(logits, target, S, reduction="none").numpy()


def same(one, other):
    return np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


def test_the_numbers_of_sim_loss(found, losses):
    for how in ("plain", "column", "probabilities"):
        same(found[f"none/{how}"], losses)
        same(found[f"sum_over_batch_size/{how}"], losses.mean())
        same(found[f"mean_with_sample_weight/{how}"], losses.mean())
        same(found[f"sum/{how}"], losses.sum())
    same(found["grid"], losses.reshape(4, -1))


def test_sample_weights(found, losses, problem):
    weighted = losses * problem["weight"]
    same(found["none/weighted"], weighted)
    same(found["sum/weighted"], weighted.sum())
    same(found["sum_over_batch_size/weighted"], weighted.mean())
    same(found["mean_with_sample_weight/weighted"], weighted.sum() / problem["weight"].sum())


def test_exact_at_large_logits_and_finite_at_probability_0(found):
    far = torch.zeros(1, 300)
    far[0, -1] = 1e3
    same(found["far"], sim_loss(far, torch.tensor([0]), order(300, r=0.5)).item())
    assert found["certain"] == pytest.approx(-np.log(np.finfo("float32").tiny))


def test_fit_takes_the_steps_of_a_plain_loop(found, problem):
    x, y = torch.from_numpy(problem["x"]), torch.from_numpy(problem["target"])
    layer = torch.nn.Linear(D, C)
    layer.load_state_dict(
        {"weight": torch.from_numpy(found["kernel_before"].T), "bias": torch.zeros(C)}
    )
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.5)
    for _ in range(5):
        for batch in torch.arange(N).split(8):
            optimizer.zero_grad()
            sim_loss(layer(x[batch]), y[batch], S).backward()
            optimizer.step()
    np.testing.assert_allclose(found["kernel"], layer.weight.detach().T, atol=1e-5)
    assert found["epochs"][-1] < found["epochs"][0] - 0.1


def test_a_saved_model_loads_with_its_loss(found):
    assert found["evaluated"][0] > 0
    same(found["evaluated"][0], found["evaluated"][1])


def test_bad_input():
    from simloss.integrations.keras import SimLoss

    with pytest.raises(ValueError, match="`similarity` must be of kind 'similarity'"):
        SimLoss(S.normalized())
    logits = torch.zeros(2, C)
    with pytest.raises(ValueError, match=r"class indices of shape \(2,\) .* `y.argmax\(-1\)`"):
        SimLoss(S)(torch.zeros(2, C), logits)
    with pytest.raises(ValueError, match=r"must have the 7 classes .* but got shape \(2, 5\)"):
        SimLoss(S)(torch.zeros(2), logits[:, :5])
