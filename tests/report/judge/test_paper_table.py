import csv
import io
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import wilcoxon

from report import made_up
from simloss import metrics
from simloss.experiment.plan.treatment import Treatment
from simloss.report import markdown, verdict
from simloss.report.tables.csv_table import csv_of
from simloss.report.tables.latex import latex_of
from simloss.report.tables.markdown import markdown_of


def drifting(arm, rule, metric):
    """The larger the value, the lower every number; so MAE gets better and accuracy worse."""
    return 2.0 - (arm.value or 0) / 2


@pytest.fixture(scope="module")
def config():
    return made_up.config()


@pytest.fixture(scope="module")
def made(config):
    return made_up.records(config, drifting)


@pytest.fixture(scope="module")
def found(made, config):
    return verdict(made, config)


def values(made, label, part, rule, metric):
    """One row's numbers by seed, from the records themselves."""
    return [
        record["metrics"][part][rule][metric]
        for record in made
        if record["treatment"]["label"] == label
    ]


def lines_of(table):
    return [line for group in table.groups.values() for line in group]


def test_one_table_a_rule_with_every_treatment_and_cross_entropy_first(found, config):
    assert [table.rule for table in found.tables] == ["argmax", "median"]
    for table in found.tables:
        assert next(iter(table.groups)) == "cross entropy"
        assert {line.row.label for line in lines_of(table)} == {
            treatment.label for treatment in config.treatments
        }
        assert [metric.name for metric in table.columns] == [
            "mae",
            "accuracy",
            "nll",
            "calibration_error",
        ]


def test_means_spreads_and_marks_are_those_of_the_definition(found, made):
    marks = set()
    for table in found.tables:
        for line in lines_of(table):
            for metric, entry in zip(table.columns, line.parts["test"], strict=True):
                own = values(made, line.row.label, "test", table.rule, metric.name)
                assert entry.mean == pytest.approx(np.mean(own))
                assert entry.spread == pytest.approx(np.std(own, ddof=1))
                if line.row.is_baseline:
                    assert entry.mark == ""
                    continue
                base = values(made, "cross entropy", "test", table.rule, metric.name)
                p = wilcoxon(own, base, method="exact").pvalue
                better = (np.mean(own) > np.mean(base)) == metric.higher_is_better
                assert entry.p == pytest.approx(p)
                assert entry.mark == ("" if p > 0.05 else "+" if better else "-")
                marks.add(entry.mark)
    assert {"+", "-"} <= marks


def test_the_best_validation_value_is_bold_and_no_other(found, made, config):
    for table in found.tables:
        for i, metric in enumerate(table.columns):
            means = {
                treatment.label: np.mean(
                    values(made, treatment.label, "validation", table.rule, metric.name)
                )
                for treatment in config.treatments
            }
            best = (max if metric.higher_is_better else min)(means, key=means.get)
            bold = [
                line.row.label for line in lines_of(table) if line.parts["validation"][i].is_best
            ]
            assert bold == [best]
            assert not any(line.parts["test"][i].is_best for line in lines_of(table))


def test_no_marks_where_no_run_could_make_them():
    config = made_up.config(seeds=5)
    found = verdict(made_up.records(config, drifting), config)
    entries = [e for t in found.tables for line in lines_of(t) for e in line.parts["test"]]
    assert all(entry.mark == "" and math.isnan(entry.p) for entry in entries)
    assert "There are no marks of significance" in markdown_of(found)


def test_markdown_holds_verdict_tables_and_numbers(found, made):
    text = markdown_of(found)
    assert text.startswith("# made up\n")
    assert "## Answered by the median" in text
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| SimLoss | 0.8 ")]
    assert len(rows) == 2
    mean = np.mean(values(made, "SimLoss, r = 0.8", "test", "argmax", "mae"))
    assert rows[0][7].startswith(f"{mean:.2f} ± ")
    assert rows[0][7].endswith("(+)")
    assert len({line.count("|") for line in text.splitlines() if line.startswith("|")}) == 1
    assert text.count("**") == 2 * 2 * 4  # one bold value a column and rule


def test_markdown_of_a_folder(ordered):
    text = markdown(ordered)
    assert "Training with similarity " in text
    assert "rings" in text
    lower = markdown(ordered, level=3)
    assert lower.startswith("### made up\n")
    assert "\n#### Answered by the median\n" in lower


def test_markdown_cannot_be_broken_out_of(three, broken):
    assert "# &lt;b&gt;three&lt;/b&gt;" in markdown(three)
    text = markdown(broken)
    assert "- SimLoss, r = 0.8, seed 0: the loss became &lt;nan&gt; in epoch 2" in text


def test_latex_is_the_papers_layout(found, config):
    text = latex_of(found)
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 2
    assert r"\multicolumn{4}{c}{Validation} & \multicolumn{4}{c}{Test}" in text
    assert text.count(r"\textbf{") == 2 * 4
    assert "$^{+}$" in text
    assert "$^{-}$" in text
    assert r"\quad $r = 0.8$" in text
    rows = [line for line in text.splitlines() if line.startswith((r"\quad", "cross entropy &"))]
    assert len(rows) == 2 * len(config.treatments)
    assert {row.count("&") for row in rows} == {8}
    assert not re.search(r"(?<!\\)%(?! needs)", text)  # no comment eats a line


def test_latex_of_a_family_with_and_without_a_value():
    """A saved similarity as it is, and to a power."""
    config = made_up.config(losses=(), rules=("argmax",), seeds=1)
    arms = [Treatment("simloss", "own.npz", power) for power in (None, 2.0)]
    config = replace(config, treatments=(*config.treatments, *arms))
    text = latex_of(verdict(made_up.records(config, made_up.same_everywhere), config))
    assert r"\quad -- &" in text
    assert r"\quad $power = 2$ &" in text


def test_latex_escapes_names():
    config = made_up.config(losses=("simloss",), values=(0.5,), rules=("argmax",))
    made = made_up.records(config, drifting)
    for record in made:
        if record["treatment"].get("value"):
            name = r"a_b & 50 % \input{x} #1 $"
            record["treatment"] |= {"value": 0.6, "label": name, "family": name}
    text = latex_of(verdict(made, config))
    assert r"a\_b \& 50 \% \textbackslash{}input\{x\} \#1 \$" in text
    assert r"\input{x}" not in text


def test_csv_is_long_and_complete(found, made, config):
    rows = list(csv.DictReader(io.StringIO(csv_of(found))))
    assert len(rows) == len(config.treatments) * 2 * 2 * 4
    for row in rows[::7]:
        own = values(made, row["label"], row["part"], row["rule"], row["metric"])
        assert float(row["mean"]) == pytest.approx(np.mean(own))
        assert int(row["runs"]) == 10
    assert {row["against_cross_entropy"] for row in rows} == {"", "better", "worse"}
    assert sum(row["best_on_validation"] == "yes" for row in rows) == 2 * 4


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t"])
def test_csv_defuses_formulas(start):
    config = made_up.config(losses=("simloss",), values=(0.5,), rules=("argmax",), seeds=1)
    made = made_up.records(config, drifting)
    for record in made:
        if record["treatment"].get("value"):
            record["treatment"] |= {"value": 0.6, "label": f"{start}cmd|'/c calc'!A1"}
    rows = list(csv.DictReader(io.StringIO(csv_of(verdict(made, config)))))
    assert not any(row["label"].startswith(start) for row in rows)
    assert any(row["label"] == f"'{start}cmd|'/c calc'!A1" for row in rows)


def test_negative_numbers_stay_numbers():
    config = made_up.config(losses=("simloss",), values=(0.5,), rules=("argmax",), seeds=1)
    made = made_up.records(config, lambda *_: -3.0, noise=0.01, luck=0)
    rows = list(csv.DictReader(io.StringIO(csv_of(verdict(made, config)))))
    assert all(float(row["mean"]) < 0 for row in rows)


def test_a_metric_that_was_not_a_number_is_a_dash(config):
    made = made_up.records(config, drifting)
    for record in made:
        for rules in record["metrics"].values():
            for numbers in rules.values():
                del numbers["accuracy"]
    found = verdict(made, config)
    assert "| – |" in markdown_of(found)
    assert metrics.find("accuracy").format(math.nan) == "–"
