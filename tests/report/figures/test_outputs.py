import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from report import made_up
from simloss.report.figures import distributions
from simloss.report.figures.bins import Bins, most_common
from simloss.report.figures.distributions import BUDGET, Distributions, encoded, fitting
from simloss.report.figures.outputs import effective_count, outputs_of
from simloss.report.judge.classes import Classes, is_ordered
from simloss.report.judge.run import Run


def classes(count, *, ordered=True):
    return Classes(tuple(f"c{i}" for i in range(count)), None, ordered)


def decoded(packed):
    import base64

    steps = np.frombuffer(base64.b64decode(packed["data"]), dtype="<u2")
    return steps * packed["scale"] / 65535


def test_outputs_are_averaged_over_seeds_by_their_counts(ordered):
    run = Run.read(ordered)
    row = run.results.baseline
    ((_, found),) = outputs_of(run.folder, [row], 29)
    arrays = [run.folder.sidecar(cell) for cell in row.cells.values()]
    assert found.seeds == len(arrays) == 10
    whole, examples = np.zeros(29), 0
    for each in arrays:
        for truth in range(29):
            whole += each["test_counts"][truth] * each["test_mean_output"][truth].astype(float)
            examples += each["test_counts"][truth]
    np.testing.assert_allclose(found.mean("test"), whole / examples)
    np.testing.assert_array_equal(
        found.confusion["argmax"], sum(each["test_confusion_argmax"] for each in arrays)
    )
    np.testing.assert_allclose(found.shares("argmax"), found.confusion["argmax"].sum(0) / examples)
    np.testing.assert_allclose(found.by_class("test")[9].sum(), 1, atol=2e-3)


def test_damaged_missing_and_foreign_arrays_are_left_out(broken):
    run = Run.read(broken)
    rows = run.results.done
    found = list(outputs_of(run.folder, rows, 29))
    assert sum(outputs.seeds for _, outputs in found) == sum(len(r.cells) for r in rows) - 2
    assert list(outputs_of(run.folder, rows, 30)) == []


def test_effective_count_of_equal_shares_is_their_number():
    assert effective_count(np.full(7, 1 / 7)) == pytest.approx(7)
    assert effective_count(np.zeros(3)) == 0


@given(st.integers(1, 400), st.integers(1, 120))
def test_bins_cover_every_class_once(count, most):
    bins = Bins.of(classes(count), most)
    assert len(bins.starts) == len(bins.labels) == len(bins.firsts) == min(count, most)
    assert bins.columns(np.ones(count)).sum() == count
    sizes = bins.columns(np.ones(count))
    assert sizes.max() - sizes.min() <= 1
    assert bins.both(np.ones((count, count))).sum() == count**2


def test_most_common_keeps_the_order():
    assert most_common(np.array([0.1, 0.5, 0.2, 0.4]), 2).tolist() == [1, 3]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_encoding_keeps_four_digits(values):
    array = np.array(values)
    np.testing.assert_allclose(decoded(encoded(array)), array, atol=array.max() / 65535)


@pytest.mark.parametrize("is_ordered", [True, False])
@pytest.mark.parametrize("count", [3, 29, 100, 101, 1000, 5000])
@pytest.mark.parametrize("curves", [1, 13, 33])
def test_distributions_stay_in_the_budget(count, curves, is_ordered):
    about = classes(count, ordered=is_ordered)
    parts, all_fit = fitting(about, curves, 4)
    shown = curves if all_fit else 4
    made = Distributions(about, parts, shown)
    assert len(parts) * shown * len(made.places) * Distributions.width(about) <= BUDGET
    assert len(set(made.places.tolist())) == len(made.places)
    if count <= 100 and curves <= 13:
        assert len(made.places) == count


def test_what_a_small_page_holds_is_what_the_arrays_say(ordered):
    run = Run.read(ordered)
    ((row, outputs),) = outputs_of(run.folder, [run.results.baseline], 29)
    made = Distributions(run.classes, ("test",), 1)
    made.add(row, outputs)
    packed = made.as_dict([])
    by_class = decoded(packed["curves"][0]["byClass"]["test"]).reshape(29, 29)
    np.testing.assert_allclose(by_class, outputs.by_class("test"), atol=1e-4)
    np.testing.assert_allclose(decoded(packed["truth"]["test"]), outputs.truth("test"), atol=1e-4)
    assert packed["target"] == list(range(29))
    assert packed["answers"] is None
    middle = np.searchsorted(outputs.truth("test").cumsum(), 0.5)
    assert abs(packed["first"] - middle) <= 1


def test_many_ordered_classes_are_binned_and_the_target_is_in_its_bin(thousand):
    run = Run.read(thousand)
    ((row, outputs),) = outputs_of(run.folder, [run.results.baseline], 1000)
    made = Distributions(run.classes, ("test",), 1)
    made.add(row, outputs)
    packed = made.as_dict([])
    assert len(packed["labels"]) == 100
    assert packed["labels"][3] == "class 30–class 39"
    assert packed["target"][337] == 33
    row_of_337 = decoded(packed["curves"][0]["byClass"]["test"]).reshape(1000, 100)[337]
    assert row_of_337.argmax() == 33


def test_of_many_unordered_classes_the_probable_answers_are_kept(nominal):
    run = Run.read(nominal)
    ((row, outputs),) = outputs_of(run.folder, [run.results.baseline], 120)
    made = Distributions(run.classes, ("test",), 1)
    made.add(row, outputs)
    packed = made.as_dict([])
    by_class = decoded(packed["curves"][0]["byClass"]["test"]).reshape(120, 20)
    expected = np.take_along_axis(outputs.by_class("test"), np.array(packed["answers"]), 1)
    np.testing.assert_allclose(by_class, expected, atol=1e-4)
    assert 40 in packed["answers"][40]


def test_too_many_classes_are_sampled(monkeypatch):
    monkeypatch.setattr(distributions, "BUDGET", 1000)
    made = Distributions(classes(50), ("test",), 2)
    assert len(made.places) == 10
    assert made.places[0] == 0
    assert made.places[-1] == 49


def test_what_makes_classes_ordered():
    assert is_ordered(made_up.config())
    plain = {"metrics": ("accuracy",), "similarity": "tree", "rules": ("argmax",)}
    assert not is_ordered(made_up.config(**plain))
    assert is_ordered(made_up.config(**plain | {"metrics": ("accuracy", "mae")}))
    assert is_ordered(made_up.config(**plain | {"rules": ("argmax", "mean")}))
    assert is_ordered(made_up.config(**plain | {"similarity": "order"}))


def test_classes_come_from_the_folder_or_the_arrays(three, tmp_path):
    assert Run.read(three).classes.names[0].startswith("<script>")
    assert Run.read(three).classes.unit == "grades"
    config = made_up.config(seeds=1, losses=(), source="utkface")
    made = made_up.records(config, made_up.same_everywhere)
    made_up.folder(tmp_path / "run", config, made, num_classes=7)
    assert Run.read(tmp_path / "run").classes.names == ("0", "1", "2", "3", "4", "5", "6")
