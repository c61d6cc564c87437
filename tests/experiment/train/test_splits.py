"""Which examples a seed trains on, chooses by and is judged by."""

from dataclasses import replace

import pytest
import torch

from simloss.data import abalone
from simloss.experiment.plan.config import Config
from simloss.experiment.plan.presets import comparison
from simloss.experiment.train.splits import indices_of

CONFIG = comparison("abalone")
KEPT = replace(CONFIG.split, keep_test=True)


def test_a_kept_test_part_is_seen_by_no_seed():
    test = indices_of(abalone(), replace(CONFIG.split, new_for_each_seed=False), 0)["test"]
    parts = [indices_of(abalone(), KEPT, seed) for seed in (1, 2)]
    for part in parts:
        assert torch.equal(part["test"], test)
        together = torch.cat(list(part.values()))
        assert torch.equal(together.sort().values, torch.arange(len(abalone())))
        assert len(part["validation"]) / len(together) == pytest.approx(0.2, abs=1e-3)
        assert torch.equal(part["train"], part["train"].sort().values)
    assert len(parts[0]["train"]) == len(parts[1]["train"])  # nets of all seeds can be stacked
    assert not torch.equal(parts[0]["validation"], parts[1]["validation"])


def test_the_setting_is_written_where_it_is_set_only():
    assert "keep_test" not in CONFIG.as_dict()["split"]
    kept = replace(CONFIG, split=KEPT)
    assert Config.from_dict(kept.as_dict()) == kept
    assert Config.from_dict(CONFIG.as_dict()) == CONFIG


def test_few_examples_of_each_class():
    few = replace(CONFIG.split, per_class=5, stratify=True)
    whole = indices_of(abalone(), replace(few, per_class=None), 3)
    parts = indices_of(abalone(), few, 3)
    labels = abalone().labels
    for name in ("train", "validation"):
        expected = labels[whole[name]].bincount(minlength=29).clamp(max=5)
        assert torch.equal(labels[parts[name]].bincount(minlength=29), expected)
        assert set(parts[name].tolist()) <= set(whole[name].tolist())
    assert torch.equal(parts["test"], whole["test"])
    other = indices_of(abalone(), few, 4)["train"]
    assert len(other) == len(parts["train"])  # nets of all seeds can be stacked
    assert not torch.equal(other, parts["train"])
    assert "per_class" not in CONFIG.as_dict()["split"]
    with pytest.raises(ValueError, match="`per_class` must be at least 1"):
        replace(CONFIG.split, per_class=0)
