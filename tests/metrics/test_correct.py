import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, recall_score, top_k_accuracy_score

from metrics.strategies import answers_and_truth, probabilities_and_truth
from simloss import metrics


@given(answers_and_truth())
def test_accuracy(pair):
    answers, truth = pair
    right = 0
    for a, y in zip(answers, truth, strict=True):
        right += a == y
    assert metrics.accuracy(answers, truth) == right / len(truth) == accuracy_score(truth, answers)


@given(answers_and_truth())
def test_balanced_accuracy_is_the_mean_recall_of_the_classes_that_occur(pair):
    answers, truth = pair
    recalls = []
    for k in set(truth):
        own = [a for a, y in zip(answers, truth, strict=True) if y == k]
        recalls.append(sum(a == k for a in own) / len(own))
    assert metrics.balanced_accuracy(answers, truth) == pytest.approx(np.mean(recalls))
    theirs = recall_score(truth, answers, labels=sorted(set(truth)), average="macro")
    assert metrics.balanced_accuracy(answers, truth) == pytest.approx(theirs)
    assert metrics.balanced_accuracy(answers, truth, num_classes=9) == pytest.approx(theirs)


@given(probabilities_and_truth(), st.integers(1, 7))
def test_top_k_accuracy(pair, k):
    p, truth = pair
    right = 0
    for row, y in zip(p, truth, strict=True):
        ranking = sorted(range(len(row)), key=lambda c: (-row[c], c))
        right += y in ranking[:k]
    assert metrics.top_k_accuracy(p, truth, k=k) == right / len(truth)


def test_top_k_accuracy_is_scikit_learns():
    p = torch.rand(200, 9, generator=torch.Generator().manual_seed(0)).softmax(-1)
    truth = torch.randint(9, (200,), generator=torch.Generator().manual_seed(1))
    for k in (1, 3, 8):
        theirs = top_k_accuracy_score(truth, p, k=k, labels=range(9))
        assert metrics.top_k_accuracy(p, truth, k=k) == pytest.approx(theirs)
    assert metrics.top_k_accuracy(p, truth, k=1) == metrics.accuracy(p.argmax(-1), truth)


def test_the_answer_may_be_a_class_that_never_occurs():
    assert metrics.balanced_accuracy([4, 4], [0, 0]) == 0
    assert metrics.accuracy([4, 0], [0, 0]) == 0.5


def test_one_class_only_and_no_error_at_all():
    assert metrics.balanced_accuracy([2, 2], [2, 2]) == 1
    assert metrics.accuracy([2, 2], [2, 2]) == 1
    assert metrics.top_k_accuracy([[1.0]], [0], k=5) == 1


def test_more_dimensions_and_kinds():
    answers, truth = torch.tensor([[0, 1], [2, 2]]), torch.tensor([[0, 1], [2, 0]])
    assert metrics.accuracy(answers, truth) == 0.75
    assert metrics.accuracy(answers.numpy(), truth.numpy()) == 0.75
    assert metrics.accuracy(answers.tolist(), truth.numpy().astype(np.uint8)) == 0.75
    p = torch.eye(3)[answers]
    assert metrics.top_k_accuracy(p, truth, k=1) == 0.75


@pytest.mark.parametrize(
    ("answers", "truth", "error", "message"),
    [
        ([0, 1], [0], ValueError, r"`answers` must have shape \(1,\) to match `truth`"),
        ([], [], ValueError, "`answers` must hold at least one class index"),
        ([-1], [0], ValueError, r"`answers` must be class indices from 0 on, but got -1; .*unsure"),
        ([0], [-100], ValueError, "`truth` must be class indices from 0 on, but got -100"),
        ([0.5], [0], TypeError, "`answers` must be class indices, whole numbers, but got float"),
        ([True], [0], TypeError, "`answers` must be class indices, whole numbers, but got bool"),
        (["a"], [0], TypeError, "`answers` must be class indices, but got list"),
    ],
)
def test_bad_input_is_refused(answers, truth, error, message):
    with pytest.raises(error, match=message):
        metrics.accuracy(answers, truth)


def test_indices_out_of_range_are_refused():
    with pytest.raises(ValueError, match=r"`truth` must be in \[0, 2\), but got 2"):
        metrics.balanced_accuracy([0], [2], num_classes=2)
    with pytest.raises(TypeError, match="`num_classes` must be a whole number, but got '3'"):
        metrics.balanced_accuracy([0], [1], num_classes="3")
    with pytest.raises(ValueError, match=r"`truth` must be in \[0, 2\), but got 2"):
        metrics.top_k_accuracy([[0.5, 0.5]], [2])
    with pytest.raises(ValueError, match="`k` must be at least 1"):
        metrics.top_k_accuracy([[0.5, 0.5]], [1], k=0)
    with pytest.raises(ValueError, match=r"`truth` must have shape \(1,\)"):
        metrics.top_k_accuracy([[0.5, 0.5]], [0, 1])
