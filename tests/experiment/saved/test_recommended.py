"""What `train --from` makes of what a run recommends."""

import pytest

from report import made_up
from simloss.experiment.grid.store import RunFolder
from simloss.experiment.plan.treatment import Treatment
from simloss.experiment.saved.recommended import recommended


@pytest.mark.parametrize(("rule", "saved"), [("nearest", "median"), ("argmax", "argmax")])
def test_a_regression_that_won_by_its_nearest_class_can_be_saved(tmp_path, rule, saved):
    """As on diamonds: "nearest" is no rule that a model could answer by from probabilities."""
    config = made_up.config(losses=(), seeds=2)
    rival = Treatment("boosted-regression-l2")
    records = []
    for seed in config.seeds:
        head = made_up.head(rival, seed)
        best = {"argmax": 30, "median": 40}
        records.append({**head, "status": "done", "metrics": {}, "best_epoch": best})
    folder = RunFolder(tmp_path / "run")
    with folder.open_for_writing(config, resume=False):
        folder.append([(record, None) for record in records])
    found = recommended(folder, records[0]["treatment"], rule)
    assert found.config.rules[-1] == saved
    assert found.config.treatments[-1] == rival
