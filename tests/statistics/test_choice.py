"""The protocol: the parameter by validation, the verdict on test, and few false alarms.

The simulated runs have what real ones have: a split that is hard or easy for all (it cancels in
the pairs), neighbouring parameters that behave alike, and luck in training that a run carries from
validation to test.
"""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simloss import statistics
from simloss.statistics import Runs, choose_on_validation

SEEDS, PARAMETERS, LIKENESS = 10, 9, 0.8


def simulated(random, losses, luck, effect=0.0, helped=range(PARAMETERS)):
    """The baseline, which is as like its neighbours as they are, and the treatments."""
    places = np.arange(PARAMETERS + 1)
    likeness = np.linalg.cholesky(LIKENESS ** np.abs(places[:, None] - places))
    split = 2 * random.normal(size=(SEEDS, 1))

    def noise():
        return random.normal(size=(losses, SEEDS, PARAMETERS + 1)) @ likeness.T

    carried = np.sqrt(luck) * noise()
    validation, test = (split + carried + np.sqrt(1 - luck) * noise() for _ in range(2))
    helped = [parameter + 1 for parameter in helped]
    validation[..., helped] += effect
    test[..., helped] += effect
    baseline = Runs(validation[0, :, 0], test[0, :, 0])
    return baseline, {
        f"loss {loss}": {
            r: Runs(validation[loss, :, r + 1], test[loss, :, r + 1]) for r in range(PARAMETERS)
        }
        for loss in range(losses)
    }


def verdicts(losses, luck, effect=0.0, comparisons=200, seed=0, **options):
    random = np.random.default_rng(seed)
    found = []
    for _ in range(comparisons // losses):
        baseline, treatments = simulated(random, losses, luck, effect, **options)
        found += choose_on_validation(baseline, treatments, higher_is_better=True).values()
    return found


@pytest.mark.parametrize("losses", [1, 4])
@pytest.mark.parametrize("luck", [0.0, 0.5, 0.9])
def test_of_200_null_comparisons_at_most_16_are_called_significant(losses, luck):
    found = verdicts(losses, luck)
    assert len(found) == 200
    assert sum(choice.comparison.is_significant for choice in found) <= 16


def test_what_equals_the_baseline_is_not_called_worse_beside_bad_parameters():
    random = np.random.default_rng(0)
    baseline = (np.zeros(SEEDS), np.zeros(SEEDS))
    called, effects = [], np.array([0.0] + [-2.0] * (PARAMETERS - 1))
    while len(called) < 200:
        carried, *own = random.normal(size=(3, SEEDS, PARAMETERS))
        validation, test = (effects + np.sqrt(0.9) * carried + np.sqrt(0.1) * each for each in own)
        runs = {r: Runs(validation[:, r], test[:, r]) for r in range(PARAMETERS)}
        found = choose_on_validation(baseline, {"loss": runs}, higher_is_better=True)["loss"]
        if found.parameter == 0:
            called.append(found.comparison.is_significant)
    assert sum(called) <= 16


def test_the_wrong_order_would_be_caught():
    """Choosing on test data, with the plain test, calls far too many: the simulation can fail."""
    random = np.random.default_rng(0)
    called = 0
    for _ in range(200):
        baseline, treatments = simulated(random, 1, 0.5)
        tests = [runs.test for runs in treatments["loss 0"].values()]
        best = max(tests, key=np.mean)
        found = statistics.paired_comparison(baseline.test, best, higher_is_better=True)
        called += found.is_significant
    assert called > 16


def test_a_planted_effect_is_found():
    found = verdicts(4, 0.5, effect=2.0, comparisons=80)
    assert sum(choice.comparison.mark == "+" for choice in found) >= 0.9 * len(found)
    assert not any(choice.comparison.mark == "-" for choice in found)


def test_the_parameter_that_helps_is_the_one_chosen():
    found = verdicts(1, 0.5, effect=3.0, comparisons=30, helped=[6])
    assert sum(choice.parameter == 6 for choice in found) >= 28
    assert sum(choice.comparison.mark == "+" for choice in found) >= 24


def test_test_values_of_the_others_have_no_influence_on_the_choice():
    random = np.random.default_rng(0)
    baseline, treatments = simulated(random, 1, 0.5)
    first = choose_on_validation(baseline, treatments, higher_is_better=True)["loss 0"]
    tempting = {
        r: runs if r == first.parameter else Runs(runs.validation, np.asarray(runs.test) + 100)
        for r, runs in treatments["loss 0"].items()
    }
    second = choose_on_validation(baseline, {"loss 0": tempting}, higher_is_better=True)["loss 0"]
    assert second.parameter == first.parameter
    assert second.comparison.treatment == first.comparison.treatment


whole = st.integers(-3, 3)


@st.composite
def small_runs(draw, parameters=3):
    seeds = draw(st.integers(1, 5))
    column = st.lists(whole, min_size=seeds, max_size=seeds)
    return [(draw(column), draw(column)) for _ in range(parameters + 1)]


@given(small_runs())
def test_p_is_that_of_the_whole_procedure_by_brute_force(settings):
    (base_validation, base_test), *others = settings
    found = choose_on_validation(
        (base_validation, base_test), {"loss": dict(enumerate(others))}, higher_is_better=True
    )["loss"]
    gains = np.array([np.subtract(v, base_validation) for v, _ in others])  # (R, n)
    better = np.array([np.subtract(t, base_test) for _, t in others])

    def outcome(signs, best=None):
        best = int(np.argmax((gains * signs).sum(1))) if best is None else best
        change = better[best] * signs
        sizes = np.abs(change[change != 0])
        ranks = {s: (sizes < s).sum() + ((sizes == s).sum() + 1) / 2 for s in sizes}
        return sum(np.sign(c) * ranks[abs(c)] for c in change if c)

    def share(best):
        signs = itertools.product((1, -1), repeat=len(base_test))
        every = np.array([outcome(np.array(each), best) for each in signs])
        return 2 * min(np.mean(every >= every[0]), np.mean(every <= every[0]))

    wanted = share(None)
    if outcome(1) <= 0:  # worse: no less than of this parameter alone
        wanted = max(wanted, share(found.parameter))
    assert found.comparison.p_value == pytest.approx(min(1.0, wanted))
    assert found.parameter == int(np.argmax(gains.sum(1)))


@given(small_runs(parameters=1))
def test_with_one_parameter_it_is_wilcoxons_test(settings):
    (baseline, treatment) = settings
    found = choose_on_validation(baseline, {"loss": {0.5: treatment}}, higher_is_better=False)
    plain = statistics.paired_comparison(baseline[1], treatment[1], higher_is_better=False)
    assert found["loss"].comparison.p_value == pytest.approx(plain.p_value)
    assert found["loss"].comparison.effect_size == plain.effect_size


def test_the_metric_of_choice_may_be_another_one():
    baseline = ([0.5] * 6, [7.0] * 6)
    loss = {"a": ([0.6] * 6, [6.0] * 6), "b": ([0.4] * 6, [5.0] * 6)}
    lower = choose_on_validation(baseline, {"loss": loss}, higher_is_better=False)["loss"]
    higher = choose_on_validation(
        baseline, {"loss": loss}, higher_is_better=False, chosen_by_higher=True
    )["loss"]
    assert (lower.parameter, higher.parameter) == ("b", "a")
    assert higher.validation == pytest.approx({"a": 0.6, "b": 0.4})
    assert higher.comparison.difference == -1
    assert higher.comparison.mark == "+"


def test_holm_covers_the_treatments():
    baseline = (list(range(6)), list(range(6)))
    better = {1: ([v + 1 for v in range(6)], [2 * v + 1 for v in range(6)])}
    one = choose_on_validation(baseline, {"a": better}, higher_is_better=True)
    two = choose_on_validation(baseline, {"a": better, "b": better}, higher_is_better=True)
    assert one["a"].comparison.mark == "+"
    assert two["a"].comparison.mark == ""
    assert two["a"].comparison.comparisons == 2


@pytest.mark.parametrize("size", [1e3, 1e13])
def test_a_parameter_that_diverged_does_not_hide_the_others(size):
    runs = np.arange(8.0)
    loss = {
        "as before": (runs, runs),
        "helped": (runs - 1, runs - 1 - runs / 9),
        "diverged": (runs + size, runs + size),
    }
    found = choose_on_validation((runs, runs), {"loss": loss}, higher_is_better=False)["loss"]
    assert found.parameter == "helped"
    assert found.comparison.p_value == 2 * 2 / 2**8


def test_bad_input_is_refused():
    good = ([1, 2], [1, 2])
    with pytest.raises(ValueError, match="`treatments` must each have a parameter, but 'a'"):
        choose_on_validation(good, {"a": {}}, higher_is_better=True)
    with pytest.raises(ValueError, match=r"`treatments\['a'\]\[0.5\]` must have one validation"):
        choose_on_validation(good, {"a": {0.5: ([1], [1])}}, higher_is_better=True)
    with pytest.raises(ValueError, match=r"`baseline` must have one validation and one test"):
        choose_on_validation(([1], [1, 2]), {}, higher_is_better=True)
    with pytest.raises(ValueError, match=r"`treatments\['a'\]\[0.5\]` must be finite"):
        choose_on_validation(good, {"a": {0.5: ([1, np.nan], [1, 2])}}, higher_is_better=True)


@pytest.mark.parametrize(
    ("baseline", "treatments", "message"),
    [
        (5, {}, r"`baseline` must be \(validation values, test values\), but got 5"),
        (([1.0], [1.0], [1.0]), {}, r"`baseline` must be \(validation values, test values\)"),
        (([1.0], [1.0]), 5, "`treatments` must be a dict, but got int"),
        (([1.0], [1.0]), {"a": 5}, r"`treatments\['a'\]` must be a dict, but got int"),
        (([1.0], [1.0]), {"a": {1: 5}}, r"`treatments\['a'\]\[1\]` must be \(validation values"),
    ],
)
def test_what_is_no_pair_of_values(baseline, treatments, message):
    with pytest.raises(TypeError, match=message):
        choose_on_validation(baseline, treatments, higher_is_better=True)
