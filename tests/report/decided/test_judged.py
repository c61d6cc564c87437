"""What each rule costs, against the plain functions on all examples at once."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

import simloss
from simloss import Tree, metrics
from simloss.calibration import fit_temperature, logits
from simloss.data import probability_file
from simloss.data.class_order import ClassOrder
from simloss.data.probability_file import ProbabilityFile
from simloss.report.decided.estimates import Estimate, change
from simloss.report.decided.judged import KAPPA, judged
from simloss.report.decided.mistakes import Mistakes, Told
from simloss.report.decided.page import costliest, page
from simloss.report.decided.sampling import FOLDS, Sample, folds
from simloss.report.decided.table import as_text, columns, rows
from simloss.report.decided.verdict import verdict

CLASSES = 5


def drawn(count, seed=0, sharpness=2.0):
    """A model that is too sure of itself, of classes in an order, with long tails upwards."""
    random = np.random.default_rng(seed)
    away = np.arange(CLASSES) - random.uniform(-1.5, CLASSES - 1, (count, 1))
    density = np.exp(-np.where(away > 0, away / 2.5, -away / 0.3))
    density /= density.sum(1, keepdims=True)
    truth = (density.cumsum(1) < random.random((count, 1))).sum(1).clip(max=CLASSES - 1)
    p = density**sharpness
    return p / p.sum(1, keepdims=True), truth


def written(folder, p, truth, names=None):
    names = names or [str(i + 1) for i in range(p.shape[1])]
    frame = pd.DataFrame(p, columns=names)
    frame["truth"] = [names[k] if isinstance(k, (int, np.integer)) else k for k in truth]
    path = folder / "p.parquet"
    frame.to_parquet(path)
    return path


def judge(path, told=None, *, by_value=False, **options):
    told = told or Told(None)
    others = ["truth", *options.values()]
    file = ProbabilityFile.open(path, classes=told.names, others=others)
    return judged(file, Mistakes.of(told, file.order, by_value=by_value), truth="truth", **options)


def own_fold_probabilities(p, truth):
    """Each row at the temperature that was fitted on the rows of the other folds."""
    fold = folds(1 + np.arange(len(p)))
    made = np.empty_like(p)
    for part in range(FOLDS):
        others = fold != part
        temperature = fit_temperature(logits(p[others]), truth[others])
        made[~others] = (logits(p[~others]) / temperature).softmax(-1).numpy()
    return made


@pytest.fixture
def found(tmp_path):
    p, truth = drawn(600)
    return judge(written(tmp_path, p, truth)), p, truth


def test_every_line_is_what_the_plain_functions_say(found):
    found, p, truth = found
    calibrated = own_fold_probabilities(p, truth)
    wanted = {
        ("the most probable class", "as is"): simloss.decide(p),
        ("the median", "as is"): simloss.decide(p, "median"),
        ("the mean", "as is"): simloss.decide(p, "mean"),
        ("the median", "calibrated"): simloss.decide(calibrated, "median"),
        ("the mean", "calibrated"): simloss.decide(calibrated, "mean"),
    }
    lines = {(line.rule, line.probabilities): line for line in found.lines}
    for key, answers in wanted.items():
        line = lines.pop(key)
        assert line.answers.tolist() == answers.tolist()
        assert line.costs.tolist() == np.abs(answers - truth).tolist()
        assert line.accuracy == metrics.accuracy(answers, truth)
        assert line.kappa == metrics.quadratic_kappa(answers, truth)
    assert sorted(lines) == [("always '4'", ""), (KAPPA, "calibrated")]
    before, after = found.nll
    assert before == pytest.approx(metrics.nll(p, truth))
    assert after == pytest.approx(metrics.nll(calibrated, truth))
    for at, each in enumerate((p, calibrated)):
        assert found.calibration_error[at] == pytest.approx(metrics.calibration_error(each, truth))
        assert found.reliability[at].count == metrics.reliability(each, truth).count
    assert found.temperature == pytest.approx(fit_temperature(logits(p), truth), rel=1e-6)
    curve = metrics.abstention_curve(calibrated, truth, "absolute")
    np.testing.assert_allclose(found.curves["calibrated"].risk, curve.risk)


def test_reading_in_parts_changes_nothing(tmp_path, monkeypatch):
    p, truth = drawn(600)
    path = written(tmp_path, p, truth)
    whole = judge(path)
    monkeypatch.setattr(probability_file, "_PART_ENTRIES", 7 * CLASSES)
    in_parts = judge(path)
    assert [float(line.costs.sum()) for line in in_parts.lines] == [
        float(line.costs.sum()) for line in whole.lines
    ]
    assert in_parts.nll == pytest.approx(whole.nll)
    assert in_parts.temperature == pytest.approx(whole.temperature)


def test_the_thresholds_for_kappa_are_fitted_on_the_other_folds(found):
    found, p, truth = found
    line = next(line for line in found.lines if line.rule == KAPPA)
    fold = folds(1 + np.arange(len(p)))
    calibrated = own_fold_probabilities(p, truth)
    scores = calibrated @ np.arange(CLASSES)
    for part in range(FOLDS):
        own = fold == part
        cuts = simloss.fit_thresholds(calibrated[~own], truth[~own]).values
        assert line.answers[own].tolist() == np.searchsorted(cuts, scores[own]).tolist()


def test_the_chosen_rule_is_not_chosen_by_what_it_costs(found):
    found, _, _ = found
    assert (found.chosen.rule, found.chosen.probabilities) == ("the median", "calibrated")
    told = verdict(found)
    assert told.mood == "helps"
    assert told.sentence.startswith("Answer by the median at temperature 2")
    assert "too sure of themselves" in told.advice[0]
    assert "--abstain" in told.advice[1]


def test_probabilities_that_mean_what_they_say_are_left_alone(tmp_path):
    found = judge(written(tmp_path, *drawn(3000, sharpness=1.0)))
    assert found.chosen.probabilities == "as is"
    assert "about as sure as they should be" in verdict(found).advice[0]


def test_a_gain_that_may_be_luck_is_no_reason_for_a_temperature(tmp_path):
    """Exact posteriors: the temperature is 1.11, and .0002 nats per example better elsewhere."""
    random = np.random.default_rng(3)
    centres = random.normal(size=(6, 32))
    truth = random.integers(0, 6, 900)
    z = -np.square((centres[truth] + random.normal(0, 2, (900, 32)))[:, None] - centres).sum(-1) / 8
    p = np.exp(z - z.max(1, keepdims=True))
    found = judge(written(tmp_path, p / p.sum(1, keepdims=True), truth))
    assert found.gain.value > 0
    assert abs(found.temperature - 1) > 0.05
    assert found.own.probabilities == "as is"
    assert "about as sure as they should be" in verdict(found).advice[0]


def test_a_gain_that_is_clear_but_tiny_is_no_reason_either(tmp_path):
    found = judge(written(tmp_path, *drawn(5000, seed=1, sharpness=1.2)))
    assert found.gain.low > 0
    assert found.own.probabilities == "as is"


def test_a_truth_of_probability_0_is_not_what_a_temperature_gains_by(tmp_path):
    p, truth = drawn(600)
    before = judge(written(tmp_path, p, truth)).gain
    p[0, truth[0]] = 0.0
    after = judge(written(tmp_path, p / p.sum(1, keepdims=True), truth)).gain
    assert after.low > 0
    assert abs(after.value - before.value) < 16 / 600


def test_a_tendency_and_a_loss_are_called_so(tmp_path):
    p, truth = drawn(40, seed=3, sharpness=1.0)
    told = verdict(judge(written(tmp_path, p, truth)))
    assert told.mood == "tendency"
    assert "do not differ clearly" in told.sentence
    # The truth is always the most probable class, whatever the rest of the probabilities say.
    random = np.random.default_rng(0)
    p = random.dirichlet(np.full(CLASSES, 0.7), 500)
    told = verdict(judge(written(tmp_path, p, p.argmax(1))))
    assert told.sentence.startswith("The most probable class is right in all 500 examples")
    truth = np.where(random.random(500) < 0.9, p.argmax(1), 0)
    told = verdict(judge(written(tmp_path, p, truth), Told("squared")))
    assert told.sentence.startswith("Stay with the most probable class")


def test_what_is_marked_and_written_is_what_the_sentence_advises(tmp_path):
    """The mean of probabilities that say nothing beyond the most probable class is worse."""
    random = np.random.default_rng(0)
    p = random.dirichlet(np.full(CLASSES, 0.7), 500)
    for truth in (p.argmax(1), np.where(random.random(500) < 0.9, p.argmax(1), 0)):
        found = judge(written(tmp_path, p, truth), Told("squared"))
        told = verdict(found)
        assert found.stays
        assert found.chosen is found.baseline
        assert rows(found)[0].is_chosen
        assert told.mood == ""
        assert "--abstain" not in " ".join(told.advice)
        html = page(found, told, Path("p.csv"), "simloss decide new.csv")
        assert 'most probable class <span class="tag">we would use' in html
        assert "answers by the most probable class:" in html or not costliest(found)


def test_abstaining_is_advised_only_where_it_lowers_the_cost(tmp_path):
    """The surer these are of a class, the likelier it is wrong."""
    sure = np.linspace(0.95, 0.55, 200)
    p = np.stack([sure, 1 - sure], axis=1)
    truth = np.r_[np.arange(100) % 3 == 0, np.arange(100) % 10 == 0].astype(int)
    told = verdict(judge(written(tmp_path, p, truth), Told("zero-one")))
    assert "--abstain" not in " ".join(told.advice)


def test_classes_in_no_order_cost_the_same(tmp_path):
    p, truth = drawn(200)
    found = judge(written(tmp_path, p, truth, ["elk", "ant", "cow", "bee", "dog"]))
    assert found.mistakes.kind == "zero-one"
    assert found.chosen is found.baseline
    assert {line.rule for line in found.lines[:-1]} == {"the most probable class"}
    assert "If every mistake costs the same" in verdict(found).sentence
    assert "quadratic κ" not in columns(found)


def test_rows_without_a_truth_are_left_out(tmp_path):
    p, truth = drawn(100)
    cells = [str(k + 1) for k in truth]
    path = written(tmp_path, p, [None if n % 4 == 0 else c for n, c in enumerate(cells)])
    found = judge(path)
    assert len(found.truth) == 75
    assert found.left_out == 25
    assert "25 rows without a known class are left out." in verdict(found).notes
    with pytest.raises(ValueError, match="at least 20 rows to judge by, but names that of 5"):
        judge(written(tmp_path, p, [c if n < 5 else None for n, c in enumerate(cells)]))


class TestTrees:
    tree = Tree.from_paths(["bird/robin", "bird/crow", "fish/cod", "fish/eel", "rock"])

    def told(self):
        return Told("tree", self.tree, self.tree.class_names)

    def test_costs_are_heights(self, tmp_path):
        p, truth = drawn(300)
        path = written(tmp_path, p, truth, list(self.tree.class_names))
        found = judge(path, self.told())
        chosen = found.lines[1]
        order = found.mistakes.order.names  # by the alphabet
        assert chosen.rule == "the lowest expected tree cost"
        again = self.tree.restricted([self.tree.class_names.index(name) for name in order])
        assert float(chosen.costs.mean()) == metrics.mean_height(chosen.answers, found.truth, again)
        assert found.node_curve is not None

    def test_a_truth_may_be_known_to_a_node_only(self, tmp_path):
        p, truth = drawn(300)
        names = list(self.tree.class_names)
        cells = [names[k] if n % 3 else ("bird" if k < 2 else "fish") for n, k in enumerate(truth)]
        found = judge(written(tmp_path, p, cells, names), self.told())
        assert int((found.truth >= 5).sum()) == 100
        tree = found.mistakes.tree
        answers = found.baseline.answers
        assert found.baseline.accuracy == metrics.node_accuracy(answers, found.truth, tree)
        assert any("name only an inner node" in note for note in verdict(found).notes)
        assert costliest(found)

    def test_a_column_of_superclasses_stands_in_for_an_empty_class(self, tmp_path):
        p, truth = drawn(90)
        names = list(self.tree.class_names)
        path = written(
            tmp_path, p, [None if n % 3 == 0 else names[k] for n, k in enumerate(truth)], names
        )
        frame = pd.read_parquet(path)
        frame["group"] = ["bird" if k < 2 else "fish" for k in truth]
        frame.to_parquet(path)
        found = judge(path, self.told(), superclass="group")
        assert (len(found.truth), found.left_out) == (90, 0)
        assert int((found.truth >= 5).sum()) == 30
        plain = judge(path, Told("zero-one", self.tree, self.tree.class_names), superclass="group")
        assert (len(plain.truth), plain.left_out) == (60, 30)  # other costs know no nodes

    def test_class_names_that_are_paths_are_a_tree(self, tmp_path):
        p, truth = drawn(60)
        names = ["bird/robin", "bird/crow", "fish/cod", "fish/eel", "rock/granite"]
        assert judge(written(tmp_path, p, truth, names), Told("tree")).mistakes.tree is not None
        with pytest.raises(ValueError, match=r"must have a tree: .* paths, .* but got '1'"):
            judge(written(tmp_path, p, truth), Told("tree"))


class TestMistakes:
    order = ClassOrder(("1", "2", "4"), "numbers")

    def test_costs_of_files_are_put_into_class_order(self, tmp_path):
        file = tmp_path / "cost.csv"
        file.write_text(",4,1,2\n4,0,7,8\n1,5,0,6\n2,3,9,0\n")
        made = Mistakes.of(Told.of(str(file), None, None), self.order, by_value=False)
        assert made.cost.tolist() == [[0, 6, 5], [9, 0, 3], [7, 8, 0]]
        assert made.rule == "the lowest expected cost"
        costs = made.of_answers(torch.tensor([2, 0]), torch.tensor([0, 1]))
        assert costs.tolist() == [5, 9]

    def test_similarities_are_put_into_class_order(self, tmp_path):
        file = tmp_path / "s.csv"
        simloss.similarity.order(3, r=0.5, names=["2", "1", "4"]).save(file)
        made = Mistakes.of(Told.of(None, file, None), self.order, by_value=False)
        wanted = [[1, 0.5, 0.5], [0.5, 1, 0.25], [0.5, 0.25, 1]]
        assert made.cost.to_dense().tolist() == wanted
        assert made.of_answers(torch.tensor([2]), torch.tensor([1])).tolist() == [0.75]

    def test_distances_by_value(self):
        made = Mistakes.of(Told("absolute"), self.order, by_value=True)
        assert made.positions == [1, 2, 4]
        assert made.of_answers(torch.tensor([2]), torch.tensor([0])).tolist() == [3]
        squared = Mistakes.of(Told("squared"), self.order, by_value=True)
        assert squared.of_answers(torch.tensor([2]), torch.tensor([0])).tolist() == [9]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (("cheap", None, None), r"`--cost` must be one of zero-one, .* or a CSV file"),
            (("absolute", Path("s.csv"), None), r"`--similarity` must be used alone"),
            (("c.csv", None, Path("t.csv")), r"`--cost` with `--tree` must be a word"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, options, message, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        Path("t.csv").write_text("bird,robin\nbird,crow\n")
        with pytest.raises(ValueError, match=message):
            Told.of(*options)

    def test_a_similarity_in_place_of_costs_is_refused(self, tmp_path):
        file = tmp_path / "s.csv"
        simloss.similarity.order(3, r=0.5, names=["1", "2", "4"]).save(file)
        with pytest.raises(ValueError, match="looks like a similarity"):
            Told.of(str(file), None, None)

    def test_other_misfits(self):
        with pytest.raises(ValueError, match="`--by-value` needs absolute or squared"):
            Mistakes.of(Told("zero-one"), self.order, by_value=True)
        words = ClassOrder(("low", "high"), "words")
        with pytest.raises(ValueError, match="classes that are numbers or dates, but got 'low'"):
            Mistakes.of(Told("absolute"), words, by_value=True)
        with pytest.raises(ValueError, match=r"`--cost` must have as many classes .* has 2 and"):
            Mistakes.of(Told("matrix", torch.zeros(2, 2)), self.order, by_value=False)
        alphabet = ClassOrder(("apple", "dog", "truck"), "names")
        with pytest.raises(ValueError, match="needs classes in an order, .* with --class-order"):
            Mistakes.of(Told("absolute"), alphabet, by_value=False)


class TestSampling:
    def test_folds_are_even_and_lasting(self):
        fold = folds(np.arange(10_000))
        assert np.bincount(fold, minlength=FOLDS).min() > 1900
        assert folds(np.array([17, 4000])).tolist() == fold[[17, 4000]].tolist()

    def test_a_sample_does_not_depend_on_how_the_rows_come(self):
        p, truth = drawn(1000)
        numbers = np.arange(1, 1001)
        at_once, in_parts = Sample(100, CLASSES), Sample(100, CLASSES)
        at_once.add(numbers, p, truth)
        for first in range(0, 1000, 33):
            some = slice(first, first + 33)
            in_parts.add(numbers[some], p[some], truth[some])
        assert in_parts.rows.tolist() == at_once.rows.tolist()
        np.testing.assert_array_equal(in_parts.probabilities, p[at_once.rows - 1])
        assert in_parts.truth.tolist() == truth[at_once.rows - 1].tolist()
        assert 400 < at_once.rows.mean() < 600


class TestWords:
    def test_the_interval_is_students(self):
        values = torch.tensor([1.0, 2, 3, 4, 10], dtype=torch.float64)
        found = Estimate.of(values)
        assert found.value == 4
        reach = 2.7764451 * float(values.std()) / 5**0.5
        assert (found.low, found.high) == pytest.approx((4 - reach, 4 + reach))
        moved = change(values, torch.full((5,), 2.0, dtype=torch.float64))
        assert moved.value == pytest.approx(1.0)

    def test_the_table(self, found):
        found, _, _ = found
        text = as_text(found)
        assert len(text.splitlines()) == 2 + len(found.lines)
        assert text.endswith("\n   → what we would use")
        assert [row.is_chosen for row in rows(found)].count(True) == 1
        assert "→  the median" in text
        assert all(len(row.cells) == len(columns(found)) for row in rows(found))

    def test_the_costliest_mistakes_are_those_that_cost_most_in_all(self, found):
        found, _, truth = found
        answers = found.chosen.answers.numpy()
        pairs = {}
        for y, a in zip(truth, answers, strict=True):
            pairs[y, a] = pairs.get((y, a), 0) + abs(y - a)
        first = costliest(found)[0]
        assert pairs[int(first.truth) - 1, int(first.answer) - 1] == max(pairs.values())

    def test_the_page_is_whole_and_safe(self, tmp_path):
        p, truth = drawn(100)
        names = ["<script>alert(1)</script>", "b", "c", "d", "e"]
        found = judge(written(tmp_path, p, truth, names))
        html = page(found, verdict(found), Path("<b>.csv"), "simloss decide new.csv")
        assert "<script>alert" not in html
        assert "<b>.csv" not in html
        assert "simloss decide new.csv" in html
        for place in ("abstain", "reliability"):
            assert f'data-figure="{place}"' in html
        assert "http:" not in html.partition("<script>")[0]
