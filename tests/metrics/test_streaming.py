"""Streaming metrics: batch by batch, over processes and from a checkpoint the plain value."""

import pickle

import pytest
import torch

import simloss
from simloss import Tree, metrics
from simloss.similarity import order

pytest.importorskip("torchmetrics", reason="the extra `torchmetrics` is not installed")

from simloss.metrics.streaming import StreamingMetric, collection

TREE = Tree.from_superclasses(list("uvwxyz"), ["a", "a", "b", "b", "b", "c"])
CONTEXT = {"cost": "squared", "tree": TREE, "similarity": order(6, r=0.5)}
GENERATOR = torch.Generator().manual_seed(0)
P = torch.randn(50, 6, generator=GENERATOR).softmax(-1)
TRUTH = torch.randint(5, (50,), generator=GENERATOR)  # class 5 never occurs


def made(name, **options):
    own = {k: v for k, v in CONTEXT.items() if k in metrics.find(name).arguments}
    return StreamingMetric(name, 6, **own, **options)


@pytest.mark.parametrize("name", metrics.METRICS)
def test_batch_by_batch_is_all_at_once(name):
    metric = made(name, decision="median")
    for p, y in zip(P.split(7), TRUTH.split(7), strict=True):
        metric.update(p, y)
    wanted = metrics.find(name)(simloss.decide(P, "median"), TRUTH, probabilities=P, **CONTEXT)
    assert metric.compute().item() == pytest.approx(wanted, rel=1e-6)
    assert metric.higher_is_better == metrics.find(name).higher_is_better
    metric.reset()
    metric.update(P[:3], TRUTH[:3])
    first = simloss.decide(P[:3], "median")
    wanted = metrics.find(name)(first, TRUTH[:3], probabilities=P[:3], **CONTEXT)
    assert metric.compute().item() == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("name", metrics.METRICS)
def test_two_processes_are_one(name):
    """What torchmetrics does over processes: states summed, or put one after the other."""
    halves = made(name), made(name)
    for half, p, y in zip(halves, P.split(25), TRUTH.split(25), strict=True):
        half.update(p, y)
    halves[0].merge_state(halves[1])
    wanted = metrics.find(name)(P.argmax(-1), TRUTH, probabilities=P, **CONTEXT)
    assert halves[0].compute().item() == pytest.approx(wanted, rel=1e-6)


def test_forward_gives_the_batch_and_keeps_the_rest():
    metric = made("mae")
    first = metric(P[:10], TRUTH[:10])
    metric(P[10:], TRUTH[10:])
    assert first.item() == pytest.approx(metrics.mae(P[:10].argmax(-1), TRUTH[:10]))
    assert metric.compute().item() == pytest.approx(metrics.mae(P.argmax(-1), TRUTH))


def test_answers_will_do_where_probabilities_are_not_needed():
    metric = made("macro_mae")
    metric.update(P.argmax(-1), TRUTH)
    assert metric.compute().item() == pytest.approx(metrics.macro_mae(P.argmax(-1), TRUTH))
    with pytest.raises(ValueError, match="`probabilities` must be given for the metric 'nll'"):
        made("nll").update(P.argmax(-1), TRUTH)


def test_it_can_be_copied_pickled_and_restored():
    metric = made("severity")
    metric.update(P, TRUTH)
    for copy in (metric.clone(), pickle.loads(pickle.dumps(metric))):
        assert copy.compute() == metric.compute()
    metric.persistent(True)
    restored = made("severity")
    restored.load_state_dict(metric.state_dict())
    restored.update(P[:1], TRUTH[:1])
    assert restored.sums[1] >= metric.sums[1]


def test_a_collection_brings_the_companions():
    several = collection(["fsa", "mae"], 6, decision="median", tree=TREE)
    several.update(P, TRUTH)
    values = several.compute()
    assert set(values) == set(metrics.columns(["fsa", "mae"]))
    wanted = metrics.evaluate(
        simloss.decide(P, "median"), TRUTH, ["fsa", "mae"], tree=TREE, probabilities=P
    )
    assert {k: v.item() for k, v in values.items()} == pytest.approx(wanted, rel=1e-6)


def test_no_float64_where_apples_devices_are(monkeypatch):
    monkeypatch.setattr("torch.backends.mps.is_available", lambda: True)
    metric = made("accuracy")
    metric.update(P, TRUTH)
    assert metric.sums.dtype == torch.float32
    assert metric.compute().item() == pytest.approx(metrics.accuracy(P.argmax(-1), TRUTH))


def test_missing_needs_are_refused_at_once():
    with pytest.raises(ValueError, match="`tree` must be given for the metric 'severity'"):
        StreamingMetric("severity", 6)


def test_answers_and_metrics_go_by_the_same_positions():
    at = [0.0, 1.0, 2.0, 30.0, 90.0, 100.0]
    answers = simloss.decide(P, "mean", positions=at)
    several = collection(["mse", "accuracy"], 6, decision="mean", positions=at)
    several.update(P, TRUTH)
    values = several.compute()
    assert values["mse"].item() == pytest.approx(metrics.mse(answers, TRUTH, positions=at))
    assert values["accuracy"].item() == pytest.approx(metrics.accuracy(answers, TRUTH))
    assert not torch.equal(answers, simloss.decide(P, "mean"))


def test_nothing_given_is_ignored():
    with pytest.raises(TypeError, match=r"an option of 'mae'.*\(did you mean 'positions'\?\)"):
        StreamingMetric("mae", 6, position=[0, 1, 2, 3, 4, 5])
    with pytest.raises(ValueError, match="`k` must be part of the metric's name, 'top_5_acc"):
        StreamingMetric("top_5_accuracy", 9, k=1)
    with pytest.raises(TypeError, match="`tree` must be an option of 'accuracy' or 'mae' or"):
        collection(["accuracy", "mae"], 6, tree=TREE)


def test_a_vocabulary_takes_no_square_of_memory():
    """A (C, C) of these classes would be 4 TB."""
    metric = StreamingMetric("nll", 1_000_000)
    metric.update(torch.full((1, 1_000_000), 1e-6), torch.tensor([7]))
    assert metric.compute().item() == pytest.approx(13.8155, rel=1e-4)


@pytest.mark.parametrize("name", ["accuracy", "mae", "quadratic_kappa", "kendall_tau"])
@pytest.mark.filterwarnings("ignore:The ``compute`` method of metric")
def test_without_a_batch_there_is_no_number(name):
    """Above all not the best one, by which a checkpoint might be kept."""
    assert made(name).compute().isnan()
