"""Pages of results: made from records, in step with them."""

import json
import math
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from statistics import fmean, median, stdev
from types import MappingProxyType, SimpleNamespace

import pytest
import torch
from tools.results.beside_paper import beside_paper, hours, missing_runs
from tools.results.over_sources import over_sources
from tools.results.page import refresh, refreshed
from tools.results.paper import in_the_paper, papers_table
from tools.results.prose_numbers import NUMBER, with_numbers
from tools.results.settings import settings
from tools.results.shared_seeds import shared_seeds
from tools.results.stand_in import stand_in
from tools.results.start_rules import RULES, Case, left_out
from tools.results.starting_values import cases, starting_values
from tools.results.table import results_table

from report import made_up
from simloss.experiment.grid.setup import Setup
from simloss.experiment.grid.store import RunFolder
from simloss.experiment.plan.alternatives import ALTERNATIVES
from simloss.experiment.plan.config import Config, DataConfig, cell_id
from simloss.experiment.plan.presets import reproduction
from simloss.experiment.plan.treatment import Treatment
from simloss.report.judge.results import Results
from simloss.report.judge.run import Run
from simloss.report.judge.verdict import verdict

PAGE = Path(__file__).parents[2] / "docs" / "results.md"
PAPER_PAGE = PAGE.with_name("paper.md")
# Pages whose prose has numbers from the records.
PAGES = [
    *(PAGE.with_name(name) for name in ("results.md", "choose.md")),
    PAPER_PAGE,
    PAGE.parents[1] / "README.md",
]


def changed():
    """What git sees changed in the records and the page; None where there is no git."""
    command = ["git", "status", "--porcelain", "experiments", "benchmarks/results", str(PAGE)]
    try:
        done = subprocess.run(command, cwd=PAGE.parents[1], capture_output=True, text=True)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


@pytest.mark.skipif(not PAGE.exists(), reason="not in a clone")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_published_pages_are_in_step_with_the_committed_records(page):
    if changed():
        pytest.skip("records or page are being changed; judged when they are committed")
    text = page.read_text(encoding="utf-8")
    assert NUMBER.search(text), "numbers in its prose are filled in from the records"
    assert refreshed(text, page.parent) == text, f"run: python -m tools.results {page}"


@pytest.mark.skipif(not PAGE.exists(), reason="not in a clone")
def test_no_number_of_the_summary_is_written_by_hand():
    text = PAGE.read_text(encoding="utf-8")
    summary = text[text.index("## In short") : text.index("### What was asked")]
    by_hand = re.findall(r"[−+]\d+(?:\.\d+)?|\b\d+\.\d+", NUMBER.sub("", summary))
    assert by_hand == [], "mark it: <!-- number: ... -->, as tools/results/prose_numbers.py says"


def test_the_papers_row_of_afad_at_r_8_lies_between_its_neighbours_as_the_page_says():
    _, numbers = papers_table(reproduction("afad", "."))
    learned, mixed, nothing = (numbers[r] for r in (0.7, 0.8, 0.9))
    ways = [(m - a) / (b - a) for a, m, b in zip(learned, mixed, nothing, strict=True)]
    assert ways == pytest.approx([0.55] * 3, abs=0.005)
    assert "about half way, 55 %, from its row .7 to its row .9" in " ".join(
        PAPER_PAGE.read_text("utf-8").split()
    )


def cells(table):
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]


def helped(arm, rule, metric):
    """Only the proper loss helps, the more the larger r; the median helps all."""
    if metric == "accuracy":
        return 0.3
    gain = arm.value if arm.loss == "proper" else 0.0
    return 4 - gain - 0.5 * (rule == "median")


def made_run(**options):
    config = made_up.config(**options)
    return config, made_up.records(config, helped, noise=0.02, luck=0.1)


def test_a_line_a_family_at_its_chosen_parameter():
    config, records = made_run()
    head, _, *lines = cells(results_table(verdict(records, config)))
    assert head[:5] == ["loss", "parameter", "runs", "MAE, argmax", "MAE, median"]
    assert head[-2:] == ["NLL", "ECE"]
    found = {line[0]: dict(zip(head, line, strict=True)) for line in lines}
    assert list(found) == ["cross entropy", "SimLoss", "proper SimLoss", "soft targets"]
    best = found["proper SimLoss"]
    assert best["parameter"] == "r = 0.8"
    assert best["runs"] == "10"
    assert best["MAE, argmax"].startswith("(+) 3.2")
    assert best["MAE, median"].startswith("(+) **2.7")
    assert "(" not in found["cross entropy"]["MAE, median"]
    rows = {row.label: row for row in Results.of(records, config).rows}
    chosen = rows["proper SimLoss, r = 0.8"]
    assert best["NLL"] == f"{chosen.mean('test', 'argmax', 'nll'):.2f}"
    errors = list(chosen.by_seed("test", "median", "mae").values())
    assert f" ± {stdev(errors):.2f}" in best["MAE, median"]


def test_a_line_a_treatment_with_marks_for_the_chosen():
    config, records = made_run(losses=("proper",), values=(0.3, 0.8))
    for record in records:
        for rules in record["metrics"].values():
            for values in rules.values():
                values["nll_calibrated"] = 0.5
    head, _, *lines = cells(results_table(verdict(records, config), every=True))
    assert head[-1] == "NLL, scaled"
    assert [line[:2] for line in lines] == [
        ["cross entropy", "–"],
        ["proper SimLoss", "r = 0.3"],
        ["proper SimLoss", "r = 0.8"],
    ]
    at = head.index("MAE, argmax")
    assert [line[at][:3] for line in lines] == ["4.0", "3.7", "(+)"]
    assert {line[-1] for line in lines} == {"0.500"}


def test_a_run_under_way_has_differences_of_paired_seeds():
    config, records = made_run(losses=("proper",), values=(0.3, 0.8))
    begun = [each for each in records if each["seed"] < 2]
    more = [each for each in records if each["seed"] == 2][:1]  # cross entropy's alone
    tables = [results_table(verdict(x, config), every=True) for x in (begun, [*begun, *more])]
    now, then = ([cells(each)[i] for i in (2, 3, 4)] for each in tables)
    assert [line[2] for line in now] == ["2", "2", "2"]
    assert [line[2] for line in then] == ["3", "2", "2"]
    error = [[float(line[3].split(" ±")[0]) for line in each] for each in (now, then)]
    assert error[0][0] != error[1][0]
    for before, after in zip(error[0][1:], error[1][1:], strict=True):
        assert after - error[1][0] == pytest.approx(before - error[0][0], abs=0.011)


def test_what_counts_as_similarity():
    config = made_up.config(losses=())
    arms = (*config.treatments, Treatment("corn"), Treatment("blend", value=0.1))
    config = replace(config, treatments=arms)
    rows = {row.family: row for row in Results.of([], config).rows}
    used = [name for name, row in rows.items() if row.uses_similarity]
    assert used == ["SimLoss r = 0.9 blended"]


def test_decisions_may_choose_differently():
    config = made_up.config(losses=("proper",))

    def opposite(arm, rule, metric):
        return 4 - (arm.value or 0) * (1 if rule == "argmax" else -1)

    records = made_up.records(config, opposite, noise=0.01)
    table = results_table(verdict(records, config))
    assert "| r = 0.8 / 0.3 |" in table


def test_the_papers_numbers_stand_beside_ours():
    config, _ = made_run()
    config = replace(config, data=DataConfig("utkface"), model="age-cnn")
    records = made_up.records(config, helped)
    head, _, *lines = cells(results_table(verdict(records, config)))
    assert head[-1] == "the paper's, argmax"
    found = {line[0]: line[-1] for line in lines}
    assert found["cross entropy"] == "MAE 7.39, Accuracy 14.47 %"
    assert found["proper SimLoss"] == "–"
    rows = Results.of(records, config).rows
    simloss = next(row for row in rows if row.label == "SimLoss, r = 0.8")
    assert in_the_paper(config, simloss) == {"accuracy": 0.1257, "mae": 7.01, "mse": 117.99}
    assert in_the_paper(replace(config, model="resnet"), simloss) == {}


def test_the_papers_table_beside_ours():
    config, _ = made_run()
    config = replace(config, data=DataConfig("utkface"), model="age-cnn")

    def better(arm, rule, metric):
        return 0.3 if metric == "accuracy" else 4 - (arm.loss == "simloss")

    records = made_up.records(config, better, noise=0.02)
    lacking = [r for r in records if r["treatment"].get("value") != 0.3 or r["seed"]]
    results = Results.of(lacking, config)
    made = SimpleNamespace(results=results, config=config)
    made.folder = SimpleNamespace(each_record=lambda: lacking)
    lines = {line[0]: line for line in cells(beside_paper(made))}
    assert lines["0 (cross entropy)"][1:4] == ["14.47 %", "7.39", "131.7"]
    base, row = results.baseline, next(r for r in results.rows if r.label == "SimLoss, r = 0.8")
    assert lines["0.8"][5] == f"(+) {row.mean('test', 'argmax', 'mae'):.2f}"
    fewer = next(r for r in results.rows if r.label == "SimLoss, r = 0.3")
    after = fewer.by_seed("test", "argmax", "mae")
    before = base.by_seed("test", "argmax", "mae")
    of_those = fmean(before[seed] for seed in after)
    assert len(after) == len(before) - 1
    assert lines["0.3"][5] == f"(+) {of_those:.2f} → {fmean(after.values()):.2f}"
    assert lines["0.1"][4:] == ["–", "–", "–", "–", "0"]
    missing = cells(missing_runs([made]))[2][1]
    assert missing.startswith("none at 0.1")
    assert f"{len(after)} at 0.3; {len(before)} at " in missing


def test_hours_are_those_of_whole_runs(tmp_path):
    """A run that was resumed has its training time whole and the rest since."""
    times = [{"train": 3600.0, "total": 1800.0}, {"train": 1790.0, "total": 1800.0}]
    records = [*({"seconds": each} for each in times), {"status": "failed"}]
    assert hours(SimpleNamespace(each_record=lambda: records)) == ("2", "1.5")


def test_settings_of_the_paper_beside_its_numbers(tmp_path):
    path, paper = tmp_path / "settings.json", {"validation": (0.4689, 0.5578, 0.1673)}
    names = ("accuracy", "superclass_accuracy", "failed_superclass_accuracy")
    paper["test"] = (0.3951, 0.4922, 0.1605)
    exact = {part: dict(zip(names, values, strict=True)) for part, values in paper.items()}
    face = {"accuracy": 0.2, "mae": 7.0, "mse": 100.0}
    ends = ("", ", its own epoch")
    medians = {f"test by median{end}": {**face, "mae": 6.5 - len(end)} for end in ends}
    recorded = {
        "cifar100": {"the same": {**exact, "epochs": 9}},
        "utkface": {"the preset": {"test": face, **medians, "epochs": 7}},
    }
    path.write_text(json.dumps(recorded))
    _, _, theirs, ours = cells(settings(path, "cifar100"))
    assert theirs[1:4] == ours[1:4] == ["46.9, 55.8, 16.7", "39.5, 49.2, 16.1", "1.19"]
    assert ours[4] == "9"
    assert cells(settings(path, "utkface"))[2] == [
        *("the preset", "20.00 %", "7.00", "100.0", "6.50", f"{6.5 - len(ends[1]):.2f}", "7")
    ]


@pytest.mark.skipif(not PAGE.exists(), reason="not in a clone")
def test_misnumbered_classes_are_trained_under_the_number_before(tmp_path):
    """Each pixel of an image is the number of its class in the file."""
    from benchmarks.paper_settings import misnumbered

    dropped = ("aquarium_fish", "keyboard", "pickup_truck", "sweet_pepper")
    kept = ("apple", "couch", "crab", "kangaroo")  # 0 to 3 of the preset, which has no keyboard
    names = sorted([*dropped, *kept])
    for file, count in {"train.bin": 20, "test.bin": 4}.items():
        images = [bytes([0, i] + 3072 * [i]) for _ in range(count) for i in range(len(names))]
        (tmp_path / file).write_bytes(b"".join(images))
    (tmp_path / "fine_label_names.txt").write_text("\n".join(names))
    (tmp_path / "coarse_label_names.txt").write_text("all")
    parts = misnumbered(Setup(reproduction("cifar100", tmp_path)))
    found = {
        name: {(names[x[0, 0, 0]], int(y)) for x, y in zip(part.inputs, part.labels, strict=True)}
        for name, part in parts.items()
    }
    wrong = {("apple", 0), ("crab", 1), ("kangaroo", 2), ("keyboard", 3)}
    assert found["train"] == found["validation"] == wrong
    assert found["test"] == {(name, kept.index(name)) for name in kept}


@pytest.mark.skipif(not PAGE.exists(), reason="not in a clone")
def test_the_quick_normalisation_is_torchs():
    from benchmarks.paper_settings import LocalNorm

    images = 30 * torch.randn(2, 20, 5, 5, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(LocalNorm(20)(images), torch.nn.LocalResponseNorm(5)(images))


def test_regions_are_made_anew_and_prose_is_kept(ordered, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"# Ours\n\n<!-- results: {ordered} -->\nstale\n<!-- end -->\n\nAnd so on.\n")
    here = Path(__file__).parents[2]
    command = [sys.executable, "-m", "tools.results", str(page)]
    done = subprocess.run(command, cwd=here, capture_output=True, text=True)
    assert done.stdout == f"made anew: {ordered}\n", done.stderr
    text = page.read_text()
    assert text.startswith("# Ours\n\n<!-- results: ")
    assert text.endswith("<!-- end -->\n\nAnd so on.\n")
    assert "stale" not in text
    assert "*29 classes, mlp, 10 seeds, a new split each; 600 train" in text
    assert "| cross entropy | – | 10 |" in text
    refresh(page)
    assert page.read_text() == text


def test_a_run_that_has_hardly_begun(tmp_path):
    config, records = made_run(seeds=3)
    made_up.folder(tmp_path / "begun", config, records[:2])
    made_up.folder(tmp_path / "empty", config, [])
    text = "<!-- every result: begun -->\n<!-- end -->\n<!-- results: empty -->\n<!-- end -->\n"
    made = refreshed(text, tmp_path)
    assert "28 of 30 runs are not there yet" in made
    assert "No run has finished" in made


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<!-- results: x -->\n", "but 1 are opened and 0 closed"),
        ("<!-- results: nowhere -->\n<!-- end -->", "must be a run folder with a config.yaml"),
        ("<!-- starting values: nowhere -->\n<!-- end -->", "must name run folders to learn from"),
    ],
)
def test_a_broken_page(text, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        refreshed(text, tmp_path)


def case(name, classes, best, group=None):
    """Errors that rise with the distance from the best r."""
    errors = {r: 1 + abs(r - best) for r in (0.3, 0.5, 0.7, 0.9)}
    return Case(name, group or name, classes, 1000, math.log(classes), errors, errors, 1.5)


def test_one_value_for_all_is_that_of_the_others():
    known = [case("a", 10, 0.5), case("b", 10, 0.5), case("c", 10, 0.9)]
    found = left_out(known, RULES["one r for all"])
    assert found["c"] == (0.5, pytest.approx(0.4))


def test_a_line_finds_what_depends_on_the_number_of_classes():
    known = [case("a", 5, 0.3), case("b", 20, 0.5), case("c", 80, 0.7), case("d", 640, 0.9)]
    by_classes = left_out(known, RULES["by the number of classes"])
    alike = left_out(known, RULES["one r for all"])
    assert sum(regret for _, regret in by_classes.values()) < sum(r for _, r in alike.values())


def test_data_of_one_source_is_left_out_together():
    seen = []

    def fit(known):
        seen.append({each.name for each in known})
        return lambda each: 0.5

    left_out([case("a", 5, 0.3, "x"), case("b", 5, 0.3, "x"), case("c", 5, 0.9)], fit)
    assert seen == [{"c"}, {"a", "b"}]


def test_effective_classes_fall_with_r():
    known = [case("a", 10, 0.3), case("b", 10, 0.3), case("c", 10, 0.3)]
    assert left_out(known, RULES["by effective classes"])["c"][0] == 0.3


def test_starting_values_from_records(tmp_path):
    runs = []
    for at in range(3):
        config, records = made_run(seeds=2, values=(0.3, 0.8))
        config = replace(
            config, name=f"set {at}", data=DataConfig("table", None, {"target": str(at)})
        )
        made_up.folder(tmp_path / str(at), config, records)
        runs.append(Run.read(tmp_path / str(at)))
    (first, *_) = cases(runs, "proper SimLoss", "median")
    assert (first.tuned, first.examples, first.classes) == (0.8, 600, 29)
    assert first.regret(0.8) == 0
    assert first.regret(0.3) == pytest.approx(3.2 / 2.7 - 1, abs=0.05)
    text = starting_values(runs)
    assert "| set 0 | 29 | 600 |" in text
    assert "| r = 0.3, whatever the data |" in text
    assert "no similarity: cross entropy" in text
    assert "| one value for all | value, argmax | error, argmax | value, median | error," in text
    (proper,) = re.findall(r"\| proper SimLoss (\| .* \|)$", text, re.MULTILINE)
    known = cases(runs, "proper SimLoss", "median")
    changes = [100 * (case.test[0.8] / case.baseline - 1) for case in known]
    middle, worst, best = (f"{f(changes):+.1f}".replace("-", "−") for f in (median, max, min))
    assert proper.endswith(f"| 0.8 | {middle} ({worst}, best {best}) |")
    assert cases(runs, "nobody's loss", "median") == []


def test_a_run_says_nothing_about_a_decision_it_did_not_make(tmp_path):
    runs = []
    for name, rules in (("both", ("argmax", "median")), ("argmax only", ("argmax",))):
        config, records = made_run(seeds=2, values=(0.3, 0.8), rules=rules)
        made_up.folder(tmp_path / name, replace(config, name=name), records)
        runs.append(Run.read(tmp_path / name))
    assert [case.name for case in cases(runs, "SimLoss", "median")] == ["both"]
    line = next(each for each in starting_values(runs).splitlines() if "| argmax only |" in each)
    assert line.endswith("| – | – | – |")


def test_thinned_records_say_the_same(ordered, tmp_path):
    thin_records = pytest.importorskip("tools.thin_records", reason="not in a clone")
    shutil.copytree(ordered, tmp_path / "thin")
    folder = RunFolder(tmp_path / "thin")
    before = Run.read(ordered).verdict
    old, new = thin_records.thin(folder)
    assert new < old / 2
    after = Run.read(tmp_path / "thin").verdict
    assert after.sentence == before.sentence
    assert [r["cell"] for r in folder.records()] == [
        r["cell"] for r in RunFolder(ordered).records()
    ]
    assert not any("history" in record for record in folder.records())


class TestOverSources:
    """Two tables and a third that has two sizes; what a setting gains is known."""

    GAINS = MappingProxyType({"one": 0.10, "two": -0.05, "three": 0.20, "three-5-percent": 0.40})

    @pytest.fixture
    def runs(self):
        made = []
        for name, gain in self.GAINS.items():

            def value(arm, rule, metric, gain=gain):
                if metric != "mae":
                    return 0.3
                smooth = arm.options.get("smoothness") == "rule"
                return 2 * (1 - gain * (smooth + 0.5 * (arm.value == 0.3) + (arm.value == 0.5)))

            data = DataConfig("table", f"{name.partition('-')[0]}.csv", {"target": "y"})
            arms = (
                Treatment("cross-entropy"),
                Treatment("cross-entropy", "order", options={"smoothness": "rule"}),
                Treatment("soft-target", "order", 0.3),
                Treatment("soft-target", "order", 0.5),
            )
            config = replace(made_up.config(), name=name, data=data, treatments=arms)
            records = made_up.records(config, value, noise=0, luck=0)
            made.append(SimpleNamespace(config=config, results=Results.of(records, config)))
        return made

    def test_by_hand(self, runs):
        table, against = over_sources(runs).split("\n\n")
        head, _, *lines = cells(table)
        found = {line[0]: dict(zip(head[1:], line[1:], strict=True)) for line in lines}
        assert found["one"]["B"] == "−10.0"
        assert found["two"]["B"] == "+5.0"
        assert found["three"]["B"] == "−30.0"  # the mean of its two sizes
        assert found["**middle**"]["B"] == "−10.0"
        assert found["**lower than cross entropy in**"]["B"] == "2"
        assert float(found["**p against cross entropy**"]["B"]) == 0.5  # 2 of 8 patterns of signs
        # r = .5 gains twice what .3 does: the others choose it, and for "two" that is wrong.
        assert found["two"]["soft targets, chosen"] == "+5.0"
        assert cells(against)[2][:3] == ["B", "soft targets, chosen", "0 of 3"]

    def test_a_source_that_lacks_a_setting_is_left_out(self, runs):
        runs[0].results.rows[1].cells.clear()
        table, _ = over_sources(runs).split("\n\n")
        assert [line[0] for line in cells(table)[2:4]] == ["two", "three"]


class TestNumbersInProse:
    FIXTURE = PAGE.parents[1] / "tests" / "fixtures" / "formats-1"

    def values(self, label):
        run = Run.read(self.FIXTURE / "run")
        row = next(row for row in run.results.done if row.label == label)
        return list(row.by_seed("test", "argmax", "mae").values())

    def test_a_mean_and_a_change(self):
        text = (
            "from <!-- number: run; cross entropy; argmax; mae -->9<!-- . --> by "
            "<!-- number: run; SimLoss, r = 0.5; argmax; mae; against cross entropy -->?<!-- . -->"
        )
        before, after = (fmean(self.values(name)) for name in ("cross entropy", "SimLoss, r = 0.5"))
        change = f"{100 * (after / before - 1):+.1f} %".replace("-", "−")
        found = re.sub("<!--.*?-->", "", with_numbers(text, self.FIXTURE))
        assert found == f"from {before:.2f} by {change}"
        assert with_numbers(with_numbers(text, self.FIXTURE), self.FIXTURE) == with_numbers(
            text, self.FIXTURE
        )

    def test_a_cell_of_a_table(self, tmp_path):
        table = "| x | A | B |\n| --- | --- | --- |\n| **middle** | 1 | −2.5 |\n"
        (tmp_path / "other.md").write_text(table, encoding="utf-8")
        for page, text in (("other.md", ""), ("this page", f"\n\n{table}")):
            marked = f"<!-- number: {page}; B; middle -->?<!-- . -->{text}"
            assert "-->−2.5<!--" in with_numbers(marked, tmp_path)
        with pytest.raises(ValueError, match="none has 'C' and 'middle'"):
            with_numbers("<!-- number: other.md; C; middle --><!-- . -->", tmp_path)

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("<!-- number: run; cross entropy; argmax; mae -->9", "must close each number"),
            ("<!-- number: run; cross entropy -->9<!-- . -->", "must say `folder; label; rule"),
            ("<!-- number: run; magic; argmax; mae -->9<!-- . -->", "'magic' is not"),
        ],
    )
    def test_what_cannot_be_filled_in(self, text, words):
        with pytest.raises(ValueError, match=words):
            with_numbers(text, self.FIXTURE)

    def test_shared_seeds_are_raw(self):
        """A treatment with one of two seeds stands beside cross entropy on that seed alone."""
        run = Run.read(self.FIXTURE / "run")
        row = run.results.done[-1]
        for numbers in row.numbers.values():
            numbers.pop(1)
        base = run.results.baseline.by_seed("test", "argmax", "mae")[0]
        line = cells(shared_seeds(run))[-1]
        assert line[1] == "1"
        own = row.by_seed("test", "argmax", "mae")[0]
        assert line[2] == f"{base:.2f} → {own:.2f}"


def test_every_alternative_can_be_written_and_searched():
    for name, alternative in ALTERNATIVES.items():
        assert (alternative.parameter is None) == (not alternative.values), name
    config = stand_in("abalone")
    assert Config.from_dict(config.as_dict()) == config
    assert {t.loss for t in config.treatments} == {
        *("cross-entropy", "simloss", "proper", "soft-target"),
        *(set(ALTERNATIVES) - {"hierarchical", "kernel-score"}),
    }
    assert len({cell_id(config, t, 0) for t in config.treatments}) == len(config.treatments)
