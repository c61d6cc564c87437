"""Columns that tell the class, and rows of the test part that were trained on."""

import numpy as np
import pandas as pd
import pytest
import torch

from simloss import data
from simloss.data.leaks import seen_in_training


def frame(count=400, seed=0):
    random = np.random.default_rng(seed)
    score = random.normal(size=count)
    made = pd.DataFrame({"near": score + 0.5 * random.normal(size=count)})
    made["colour"] = random.choice(["red", "green", "blue"], count)
    made["grade"] = np.array(["low", "mid", "high"])[np.digitize(score, [-0.5, 0.5])]
    return made, score


def told(tmp_path, **columns):
    made, _ = frame()
    path = tmp_path / "t.csv"
    made.assign(**columns).to_csv(path, index=False)
    return data.table(path, target="grade").notes.get("tells_class")


def test_ordinary_columns_tell_nothing(tmp_path):
    assert told(tmp_path) is None


def test_columns_that_tell_the_class_are_named(tmp_path):
    made, score = frame()
    code = made["grade"].map({"low": 3, "mid": 1, "high": 2})
    town = made["grade"].str[0] + pd.Series(np.arange(400) % 7).astype(str)
    mostly = code.where(np.arange(400) % 200 > 0, 1)
    assert told(tmp_path, score=score, code=code, town=town, mostly=mostly) == [
        *("score", "code", "town", "mostly")
    ]


def test_gaps_may_tell_too_and_rare_classes_need_more(tmp_path):
    path = tmp_path / "t.csv"
    random = np.random.default_rng(1)
    y = np.array(["no"] * 396 + ["yes"] * 4)
    noise = random.normal(size=400).round(3)
    pd.DataFrame({"noise": noise, "y": y}).to_csv(path, index=False)
    assert "tells_class" not in data.table(path, target="y").notes
    refund = np.where(y == "yes", 5.0, np.nan)
    pd.DataFrame({"noise": noise, "refund": refund + noise, "y": y}).to_csv(path, index=False)
    assert data.table(path, target="y").notes["tells_class"] == ["refund"]


def test_identifiers_do_not(tmp_path):
    random = np.random.default_rng(2)
    codes = [f"{n:06d}x" for n in random.permutation(400)]
    assert told(tmp_path, code=[f"{a}{b}" for a, b in zip(codes, codes[::-1], strict=True)]) is None


@pytest.mark.parametrize("gap", [False, True])
def test_rows_of_the_test_part_that_were_trained_on_are_counted(tmp_path, gap):
    made, _ = frame(6)
    if gap:
        made.loc[0, "near"] = np.nan
    pd.concat([made, made.iloc[:2], made.iloc[[2]].assign(grade="other")]).to_csv(
        tmp_path / "t.csv", index=False
    )
    read = data.table(tmp_path / "t.csv", target="grade")
    parts = {"train": torch.arange(6), "test": torch.arange(6, 9)}
    assert seen_in_training(read, parts) == 2  # the third has another class
    assert seen_in_training(read, {"train": torch.arange(2, 6), "test": torch.arange(6, 9)}) == 0
