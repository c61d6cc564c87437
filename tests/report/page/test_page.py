import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from report import made_up
from simloss.experiment.grid.store import RunFolderError
from simloss.experiment.plan.config import DataConfig
from simloss.experiment.plan.treatment import Treatment
from simloss.report import report
from simloss.report.judge.run import Run
from simloss.report.page.about_similarity import about_similarity
from simloss.report.page.page import page

LARGEST = 7_000_000


class Parts(HTMLParser):
    """The page taken apart: tags with attributes, text outside scripts, the data for the script."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text, self.data, self.ids = [], [], "", []
        self._inside = None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.tags.append((tag, attributes))
        if attributes.get("id"):
            self.ids.append(attributes["id"])
        self._inside = "data" if attributes.get("type") == "application/json" else tag

    def handle_endtag(self, tag):
        self._inside = None

    def handle_data(self, data):
        if self._inside == "data":
            self.data += data
        elif self._inside not in ("script", "style"):
            self.text.append(data)

    @property
    def words(self):
        return " ".join(" ".join(self.text).split())


@pytest.fixture(scope="session")
def parts_of(page_of):
    """Run folder -> its page, taken apart."""
    return lambda run: Parts(page_of(run).read_text(encoding="utf-8"))


def test_every_page_is_small_whole_and_asks_nobody(any_run, page_of):
    path = page_of(any_run)
    assert path.stat().st_size < LARGEST
    parts = Parts(path.read_text(encoding="utf-8"))
    for tag, attributes in parts.tags:
        for name in ("src", "href", "action", "srcset", "data"):
            target = attributes.get(name) or "#"
            assert target.startswith(("#", "data:")), (tag, target)
    policy = next(a["content"] for t, a in parts.tags if a.get("http-equiv"))
    assert policy.startswith("default-src 'none'")
    assert len(parts.ids) == len(set(parts.ids))
    places = {a["href"][1:] for t, a in parts.tags if t == "a"}
    assert places <= set(parts.ids)
    json.loads(parts.data)
    assert {each.name for each in path.parent.iterdir()} == {
        "report.html",
        "table.md",
        "table.tex",
        "table.csv",
    }


def test_the_page_begins_with_the_verdict(ordered, parts_of):
    run = Run.read(ordered)
    words = parts_of(ordered).words.replace("\u00a0", " ")
    assert run.verdict.sentence in words  # folded
    box = words.partition("Verdict")[2].partition("In full")[0]
    assert "We would use: " in box
    assert "%" in run.verdict.sentence
    assert "%" not in box.partition("In code")[0]  # one number per claim
    assert words.index("We would use: ") < words.index("Each loss with the parameter")
    for title in ("Trade-off", "What the nets put out", "Classes in use", "Mistakes"):
        assert title in words


def test_a_rule_that_only_rivals_answer_by_has_no_plot_of_the_parameter(tmp_path):
    config = made_up.config(losses=("simloss",), values=(0.3, 0.5))
    config = replace(config, treatments=(*config.treatments, Treatment("boosted-regression")))
    made = made_up.records(config, lambda arm, *_: 3.0 if made_up.without_similarity(arm) else 2.9)
    for record in made:
        if record["treatment"]["loss"] == "boosted-regression":
            of = record["metrics"]
            record["metrics"] = {part: {"nearest": of[part]["median"]} for part in of}
    made_up.folder(tmp_path / "run", config, made)
    words = Parts(page(Run.read(tmp_path / "run"))).words
    shown = words.partition("Choosing the parameter")[2].partition("Trade-off")[0]
    assert "Answered by the median" in shown
    assert "nearest" not in shown


def test_the_configuration_and_versions_are_there(ordered, parts_of):
    words = parts_of(ordered).words
    assert "simloss run config.yaml" in words
    assert "torch 2.13.0" in words
    assert "new_for_each_seed: true" in words


def test_the_page_does_not_say_where_files_lie(tmp_path):
    config = made_up.config(seeds=10, losses=("simloss",), similarity="/home/me/alike.npz")
    classes = ["/news/asia/all", "/shop/asia/all"]
    options = {"encoder": "hf:/home/me/net", "class_order": classes}
    config = replace(config, data=DataConfig("table", "/home/me/small.csv", options))
    made = made_up.records(config, lambda arm, *_: 2 - (arm.loss == "simloss"))
    made[-1] = made_up.failed(made[-1], "No such file: '/home/me/alike.npz'")
    made_up.folder(tmp_path / "run", config, made)
    run = Run.read(tmp_path / "run")
    assert str(tmp_path) in " ".join(run.verdict.advice)
    shown = page(run)
    assert str(tmp_path) not in shown
    assert "/home/me" not in shown
    assert "No such file: &#39;alike.npz&#39;" in shown
    assert "simloss train" in shown
    assert "path: small.csv" in shown
    assert "encoder: net" in shown
    assert all(f"- {name}" in shown for name in classes)


def test_names_cannot_break_out(three, page_of):
    text = page_of(three).read_text(encoding="utf-8")
    assert "<script>alert" not in text
    assert "<b>three</b>" not in text
    parts = Parts(text)
    assert "<b>three</b>" in parts.words  # as text
    assert [tag for tag, _ in parts.tags].count("script") == 3
    data = json.loads(parts.data)
    assert data["outputs"]["classes"][0].startswith("<script>alert")
    hovered = json.dumps(data["plots"])
    assert "<script>" not in hovered
    assert "&lt;script&gt;" in hovered
    assert len(max(data["outputs"]["classes"], key=len)) <= 40


def test_failed_cells_are_listed_with_their_reason(broken, all_failed, parts_of):
    words = parts_of(broken).words
    assert "SimLoss, r = 0.8, seeds 0, 1, 2: the loss became <nan> in epoch 2" in words
    assert "3 runs failed and are left out." in words
    nothing = parts_of(all_failed).words
    assert "No run has finished" in nothing
    assert "Failed runs" in nothing
    assert "Trade-off" not in nothing


def test_one_seed_has_no_intervals_and_says_so(three, parts_of):
    words = parts_of(three).words
    assert "1 run cannot tell whether training with similarity helps" in words
    assert "interval" not in words


def test_hovering_tells_spread_p_and_what_a_temperature_would_do(tmp_path):
    config = made_up.config(losses=("proper",), values=(0.5,), rules=("argmax",))
    made = made_up.records(config, lambda arm, *_: 4.0 if made_up.without_similarity(arm) else 3.0)
    for record in made:
        for rules in record["metrics"].values():
            rules["argmax"]["nll_calibrated"] = 1.25
    made_up.folder(tmp_path / "run", config, made)
    parts = Parts(page(Run.read(tmp_path / "run")))
    titles = [a["title"] for tag, a in parts.tags if tag == "td" and "title" in a]
    assert any("p = 0.002" in title for title in titles)
    assert any(title.endswith("1.25 after temperature scaling") for title in titles)
    assert all(
        title.startswith("10 runs, standard deviation") for title in titles if "runs" in title
    )


def test_unordered_classes_have_costs_by_superclass(nominal, parts_of):
    words = parts_of(nominal).words
    assert "The cost is 1 within a superclass and 2 beyond it." in words


def test_the_similarity_is_shown_and_diagnosed(ordered, alone, nominal):
    about = about_similarity(Run.read(ordered))
    assert "order(29 classes, r=" in about.text
    assert ("Positive definite", "yes") in about.facts
    assert len(about.figure["labels"]) == 29
    assert about_similarity(Run.read(alone)) is None
    assert "tree(120 classes" in about_similarity(Run.read(nominal)).text


def test_a_blended_loss_that_is_best_shows_the_similarity_of_another(tmp_path):
    config = made_up.config(losses=("proper",), seeds=2)
    config = replace(config, treatments=(*config.treatments, Treatment("blend", value=0.1)))
    best = made_up.records(config, lambda arm, rule, metric: 3 if arm.loss == "blend" else 4)
    made_up.folder(tmp_path / "run", config, best)
    assert "That of proper SimLoss" in about_similarity(Run.read(tmp_path / "run")).text


def test_a_similarity_that_is_gone_is_a_sentence(tmp_path):
    saved = tmp_path / "gone.npz"
    config = made_up.config(seeds=1, losses=("simloss",), values=(0.5,), similarity=str(saved))
    made = made_up.records(config, lambda arm, *_: 4.0 if made_up.without_similarity(arm) else 3.0)
    made_up.folder(tmp_path / "run", config, made)
    about = about_similarity(Run.read(tmp_path / "run"))
    assert "cannot be shown" in about.text
    assert about.figure is None


def test_a_large_grid_shows_the_best_lines_only(tmp_path):
    config = made_up.config(
        seeds=1, losses=("simloss",), values=tuple(i / 100 for i in range(1, 61))
    )
    made = made_up.records(config, made_up.same_everywhere)
    run = made_up.folder(tmp_path / "run", config, made[:0])
    run.records_path.write_text(
        "".join(json.dumps({"format": 1, "together": 1, **record}) + "\n" for record in made)
    )
    words = Parts(page(Run.read(tmp_path / "run"))).words  # no arrays: only what records allow
    assert "70 more lines are in table.csv and table.md." in words
    assert "What the nets put out" not in words


def test_into_the_run_folder_by_default(ordered):
    assert report(ordered) == ordered / "report.html"
    assert (ordered / "table.tex").exists()


def test_no_run_folder_and_no_place_to_write(ordered, tmp_path):
    with pytest.raises(RunFolderError, match=r"must be a run folder with a config\.yaml"):
        report(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(RunFolderError, match="cannot be written: "):
        report(ordered, tmp_path / "file" / "out")


def test_the_page_reads_without_colour_alone(ordered, parts_of):
    """Families differ in mark or dash, not in colour only."""
    data = json.loads(parts_of(ordered).data)
    lines = data["plots"]["training"]["0"]["data"]
    assert len({line["line"]["dash"] for line in lines}) == len(lines)
    points = data["plots"]["parameter-0"]["mae"]["data"]
    marks = [line["marker"]["symbol"] for line in points if "marker" in line]
    assert len(set(marks)) == len(marks)
    assert re.fullmatch(r"#[0-9A-Fa-f]{6}", lines[0]["line"]["color"])


def test_a_test_value_that_was_not_a_number_leaves_a_gap(tmp_path):
    """A record leaves out what is not finite; here all of one loss under one decision."""
    config = made_up.config(seeds=2, losses=("simloss", "proper"), values=(0.5,))
    records = made_up.records(config, made_up.same_everywhere)
    for record in records:
        if record["treatment"]["loss"] == "proper":
            del record["metrics"]["test"]["median"]["mae"]
    made_up.folder(tmp_path, config, records)
    data = json.loads(Parts(page(Run.read(tmp_path))).data)
    marks = [each for each in data["plots"]["summary"]["0"]["data"] if each["mode"] == "markers"]
    assert [None in each["x"] for each in marks] == [False, True]


def test_options_and_units_stay_on_one_line_and_names_are_text():
    from simloss.report.page.shell import _tidy

    assert str(_tidy("5 % <b>: --abstain 0.5")) == (
        '5\u00a0% &lt;b&gt;: <span class="option">--abstain</span> 0.5'
    )
