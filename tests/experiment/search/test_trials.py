"""A search: what it may choose, when it gives up, what it costs, that it can be interrupted."""

import json
from dataclasses import replace

import pytest
import torch

from simloss.experiment.grid.setup import Setup
from simloss.experiment.grid.store import RunFolder, RunFolderError
from simloss.experiment.plan.presets import comparison
from simloss.experiment.plan.treatment import Treatment
from simloss.experiment.search import search as searching
from simloss.experiment.search.race import Trial, is_behind
from simloss.experiment.search.search import search
from simloss.experiment.search.search_space import SearchSpace, space_of
from simloss.experiment.search.trials import final_config, plan, setup_of
from simloss.experiment.train.loop import NotFiniteError
from simloss.loss.registry import BASELINE, WITH_SIMILARITY

SPACE = SearchSpace(("simloss", "soft-target"), "order")
PRESET = comparison("abalone", epochs=40)


def made_up(value_of, epochs=20):
    """A stand-in for training: each net falls to `value_of(loss, r)` and stays there."""

    def train(net, loss, training, validation, judge, rules, config, seed, on_epoch):
        loss = loss.loss
        kind = type(loss).__name__
        r = 0.0 if kind == "CrossEntropyLoss" else float(loss.similarity.tensors["r"])
        value = value_of(kind, r)
        for epoch in range(1, epochs + 1):
            on_epoch({"epoch": epoch, "validation": dict.fromkeys(rules, value * (1 + 1 / epoch))})

    return train


def bowl(kind, r):
    """Soft targets are best at r = 0.7."""
    return {"CrossEntropyLoss": 2.0, "SimLoss": 2.5, "SoftTargetLoss": 1.5 + 2 * (r - 0.7) ** 2}[
        kind
    ]


def soft_targets_win(kind, r):
    return 1.0 if kind == "SoftTargetLoss" else 2.0


@pytest.fixture
def fake(monkeypatch):
    return lambda value_of, **options: monkeypatch.setattr(
        searching, "train", made_up(value_of, **options)
    )


def tried(space, value_of, count):
    """What a space tries where each treatment comes out as `value_of` says."""
    past = []
    while len(past) < count and (treatment := space.following(past)) is not None:
        past.append(Trial(treatment, [[value_of(treatment)]]))
    return [trial.treatment for trial in past]


class TestSpace:
    def test_cross_entropy_is_always_in_it_and_tried_second(self):
        space = space_of("order", ["cross-entropy", "proper"])
        assert space.losses == ("proper",)
        assert space.first()[1] == Treatment(BASELINE)

    def test_the_smooth_losses_are_in_it_unless_losses_are_named(self):
        labels = [each.label for each in space_of("order").first()]
        assert labels[5:] == ["cross entropy + smooth", "blended proper SimLoss, r = 0.95 + smooth"]
        assert len(space_of("order", WITH_SIMILARITY).first()) == 5

    @pytest.mark.parametrize(("kind", "value"), [("order", 0.95), ("tree", 1.0), ("words", 0.47)])
    def test_the_blended_loss_begins_where_it_was_good(self, kind, value):
        assert SearchSpace(("blended",), kind).first()[0].value == value

    @pytest.mark.parametrize(
        ("similarity", "parameter", "low", "high"),
        [
            ("order", "r", 0.05, 0.95),
            ("words", "lower_bound", 0, 0.95),
            ("tree", "temperature", 0.05, 5),
        ],
    )
    def test_each_similarity_has_its_parameter(self, similarity, parameter, low, high):
        space = SearchSpace(("simloss",), similarity)
        for wanted in (low, high):
            made = tried(space, lambda each, at=wanted: abs((each.value or 9) - at), 40)
            values = [each.value for each in made if each.value is not None]
            assert {each.parameter for each in made} == {None, parameter}
            assert all(low <= value <= high for value in values)
            assert min(abs(value - wanted) for value in values) <= 0.05
            assert len(made) < 40  # it ends where values cannot be told apart

    def test_nothing_is_tried_twice_and_every_loss_is_searched(self):
        made = tried(SPACE, lambda each: {"soft-target": 1.0, "simloss": 2.0}.get(each.loss, 3), 99)
        assert len(made) == len({each.label for each in made})
        values = {loss: [e.value for e in made if e.loss == loss] for loss in SPACE.losses}
        assert all(len(each) >= 3 for each in values.values())

    def test_the_best_loss_is_tried_at_the_far_end_then_beside_its_best(self):
        made = tried(
            SPACE, lambda each: 2 * abs((each.value or 9) - 0.7) + (each.loss != "simloss"), 7
        )
        assert [each.label for each in made[3:]] == [
            *("SimLoss, r = 0.95", "SimLoss, r = 0.72", "SimLoss, r = 0.83", "SimLoss, r = 0.61"),
        ]

    def test_mistakes(self):
        with pytest.raises(ValueError, match="`loss` must be one of 'simloss'"):
            space_of("order", ["hinge"])
        with pytest.raises(ValueError, match="`loss` must name a loss that uses similarity"):
            space_of("order", ["cross-entropy"])


def trial(*nets, gave_up=False):
    return Trial(Treatment(BASELINE), list(nets), gave_up)


class TestRacing:
    def gives_up(self, past, *nets):
        return is_behind(trial(*nets), past, patience=1)

    def test_behind_the_median_of_those_that_got_as_far(self):
        past = [trial([5, 4, last]) for last in (1.0, 2.0, 3.0)]
        assert self.gives_up(past, [5, 4, 2.1])
        assert not self.gives_up(past, [5, 4, 2.0])
        assert not self.gives_up(past, [5, 4, 2.01])  # no difference to speak of
        assert not self.gives_up([], [9, 9, 9])

    def test_below_zero_behind_is_still_behind(self):
        assert self.gives_up([trial([0, -0.5])], [0, -0.4])
        assert not self.gives_up([trial([0, -0.5])], [0, -0.6])

    def test_a_head_start(self):
        past = [trial([5, 4])]
        assert not self.gives_up(past, [9])
        assert self.gives_up(past, [9, 8])

    def test_a_net_that_stopped_early_stays_at_its_best(self):
        assert self.gives_up([trial([5, 1])], [5, 4, 3])
        assert self.gives_up([trial([5, 1], [5, 4], gave_up=True)], [5, 4, 3])

    def test_who_gave_up_before_is_no_rival(self):
        gone = trial([5, 1], gave_up=True)
        assert not self.gives_up([gone], [5, 4, 3])
        assert self.gives_up([gone], [5, 4])

    def test_the_second_seed_is_compared_with_the_second_seed(self):
        past = [trial([5, 1], [4, 3])]
        assert not self.gives_up(past, [5, 1], [4, 3])
        assert self.gives_up(past, [5, 1], [4, 3.5])


class TestSearch:
    def test_finds_the_bottom_of_a_bowl(self, fake, tmp_path):
        fake(bowl)
        found = search(plan(PRESET, SPACE, trials=25, budget=2000), tmp_path / "run")
        assert found.best.loss == "soft-target"
        assert abs(found.best.value - 0.7) <= 0.1
        assert found.candidate == found.best
        assert found.baseline == pytest.approx(2.0 * (1 + 1 / 16))  # at the end of its head start
        assert found.baseline_gave_up
        assert found.value == pytest.approx(bowl("SoftTargetLoss", found.best.value) * 1.05)
        assert 0 < found.pruned < found.trials <= 25

    def test_cross_entropy_may_win(self, fake, tmp_path):
        fake(lambda kind, r: 1.0 if kind == "CrossEntropyLoss" else 2.0 + r)
        found = search(plan(PRESET, SPACE, trials=6), tmp_path)
        assert found.best == Treatment(BASELINE)
        assert found.value == found.baseline
        assert found.candidate.loss in SPACE.losses
        arms = final_config(plan(PRESET, SPACE), found, 3).treatments
        assert arms == (Treatment(BASELINE), found.candidate)

    def test_where_higher_is_better(self, monkeypatch, tmp_path):
        def rising(net, loss, training, validation, judge, rules, config, seed, on_epoch):
            top = 0.6 if hasattr(loss.loss, "similarity") else 0.5
            for epoch in range(1, 20):
                on_epoch({"epoch": epoch, "validation": dict.fromkeys(rules, top - 0.1 / epoch)})

        monkeypatch.setattr(searching, "train", rising)
        found = search(plan(PRESET, SPACE, metric="accuracy", trials=5), tmp_path)
        assert found.best.loss != BASELINE
        assert found.value > found.baseline > 0.4

    def test_the_budget_is_kept(self, fake, tmp_path):
        fake(lambda kind, r: 1.0)  # nobody is behind
        assert search(plan(PRESET, SPACE, budget=200), tmp_path / "given").epochs == 200
        # Each loss once and two more values of the best, of 3 nets with 20 epochs each.
        wide = SearchSpace(("simloss", "proper", "soft-target"), "order")
        assert search(plan(PRESET, wide), tmp_path / "equals").epochs == 360
        fake(soft_targets_win)  # all others are given up when their head start of 16 epochs is over
        guessed = search(plan(PRESET, wide, trials=1000), tmp_path / "guessed")
        assert 3 * 60 + 3 * 16 <= guessed.epochs <= 3 * 60 + 3 * 17
        few = search(plan(PRESET, SPACE, budget=1), tmp_path / "least")
        assert (few.trials, few.epochs) == (2, 60 + 16)

    def test_it_ends_when_nothing_is_left_to_try(self, fake, tmp_path):
        fake(lambda kind, r: 1.0)
        lines = []
        search(plan(PRESET, SPACE, trials=400, budget=100_000), tmp_path, lines.append)
        labels = [line.partition(": ")[2].rpartition(": ")[0] for line in lines]
        assert 10 < len(labels) == len(set(labels)) < 60

    def test_a_loss_that_is_not_finite_loses(self, monkeypatch, tmp_path):
        def breaks(*losses):
            def train(net, loss, *others):
                if type(loss.loss).__name__ in losses:
                    raise NotFiniteError("the loss became nan in epoch 1")
                made_up(bowl)(net, loss, *others)

            return train

        monkeypatch.setattr(searching, "train", breaks("SoftTargetLoss"))
        lines = []
        found = search(plan(PRESET, SPACE, trials=4), tmp_path / "one", lines.append)
        assert (found.best.loss, found.candidate.loss) == (BASELINE, "simloss")
        assert "the loss became nan" in lines[0]
        monkeypatch.setattr(searching, "train", breaks("SoftTargetLoss", "SimLoss"))
        with pytest.raises(ValueError, match="cannot be trained here: soft targets, r = 0.5: the"):
            search(plan(PRESET, SPACE, trials=4), tmp_path / "two")

    def test_real_nets_and_the_test_part_plays_no_role(self, tmp_path):
        small = plan(
            replace(PRESET, training=replace(PRESET.training, epochs=2)), SPACE, budget=5, seeds=1
        )
        found = search(small, tmp_path / "one")
        assert found.epochs == 5
        setup = setup_of(small)
        dataset, test = setup.dataset, setup.indices(1)["test"]
        labels = dataset.labels.clone()
        labels[test] = 0
        inputs = dataset.inputs.clone()
        inputs[test] = 1e6
        spoilt = replace(dataset, labels=labels, inputs=inputs)
        again = search(small, tmp_path / "two", setup=setup_of(small, spoilt))
        assert again == found


class TestInterruption:
    def trials(self, path):
        lines = []
        found = search(plan(PRESET, SPACE, trials=12, budget=2000), path, lines.append)
        return found, lines

    def test_goes_on_and_ends_as_if_nothing_had_happened(self, fake, monkeypatch, tmp_path):
        fake(bowl)
        wanted, all_lines = self.trials(tmp_path / "whole")
        calls = []

        def interrupted(*arguments):
            calls.append(1)
            if len(calls) == 14:  # in the middle of a trial
                raise KeyboardInterrupt
            made_up(bowl)(*arguments)

        monkeypatch.setattr(searching, "train", interrupted)
        with pytest.raises(KeyboardInterrupt):
            self.trials(tmp_path / "run")
        fake(bowl)
        found, lines = self.trials(tmp_path / "run")
        assert found == wanted
        assert "are recorded already" in lines[0]
        assert lines[1:] == all_lines[len(all_lines) - len(lines) + 1 :]
        assert 1 < len(lines) < len(all_lines)
        assert self.trials(tmp_path / "run")[0] == wanted  # nothing left to do

    def test_more_trials_later(self, fake, tmp_path):
        fake(bowl)
        search(plan(PRESET, SPACE, trials=3, budget=2000), tmp_path)
        assert search(plan(PRESET, SPACE, trials=6, budget=2000), tmp_path).trials == 6

    def test_another_search_is_refused(self, fake, tmp_path):
        fake(bowl)
        search(plan(PRESET, SPACE, trials=2), tmp_path)
        with pytest.raises(RunFolderError, match="its 'rule' was 'median' and is now 'mean'"):
            search(plan(PRESET, SPACE, rule="mean", trials=2), tmp_path)
        assert json.loads((tmp_path / "search.json").read_text())["settings"]["rule"] == "median"

    @pytest.mark.parametrize(
        "damage",
        [
            {"treatment": "SimLoss, r = 0.3"},
            {"curves": [[]]},
            {"curves": [[float("nan")]]},
            {"curves": [[1.0]] * 4},
            {"error": "why"},
            {"gave_up": 1},
        ],
    )
    def test_a_trial_that_is_none_of_this_search_is_one_sentence(self, fake, tmp_path, damage):
        fake(bowl)
        path = tmp_path / "search.json"
        search(plan(PRESET, SPACE, trials=2), tmp_path)
        kept = json.loads(path.read_text())
        kept["trials"][0] |= damage
        path.write_text(json.dumps(kept))
        with pytest.raises(RunFolderError, match="must hold the trials of a search, but: trial 1"):
            search(plan(PRESET, SPACE, trials=2), tmp_path)

    def test_one_writer_at_a_time(self, fake, tmp_path):
        with RunFolder(tmp_path).lock(), pytest.raises(RunFolderError, match="one writer"):
            search(plan(PRESET, SPACE, trials=2), tmp_path)


class TestPlan:
    def test_the_final_comparison_has_fresh_seeds_and_the_untouched_test_part(self, fake, tmp_path):
        fake(bowl)
        made = plan(PRESET, SPACE, trials=4)
        config = final_config(made, search(made, tmp_path), 5)
        assert not set(config.seeds) & set(made.seeds)
        assert len(config.seeds) == 5
        setup = Setup(config)
        tests = [setup.indices(seed)["test"] for seed in (*made.seeds, *config.seeds)]
        assert all(torch.equal(test, tests[0]) for test in tests)
        assert config.training.stop_on == config.metrics[0] == "mae"

    def test_a_metric_and_a_decision(self):
        made = plan(PRESET, SPACE, metric="acc", rule="argmax")
        assert (made.metric, made.config.metrics[0]) == ("accuracy", "accuracy")
        assert made.config.rules == ("argmax",)
        assert made.config.training.stop_on == "accuracy"

    def test_mistakes(self):
        with pytest.raises(ValueError, match="`trials` must be at least 2"):
            plan(PRESET, SPACE, trials=1)
        with pytest.raises(ValueError, match="`budget` must be at least 1"):
            plan(PRESET, SPACE, budget=0)
        with pytest.raises(ValueError, match="`search_seeds` must be at least 1"):
            plan(PRESET, SPACE, seeds=0)
        with pytest.raises(ValueError, match="'superclass_accuracy' needs superclasses"):
            setup_of(plan(PRESET, SPACE, metric="superclass_accuracy"))
        with pytest.raises(ValueError, match="'mean_similarity' needs a similarity"):
            setup_of(plan(PRESET, SPACE, metric="mean_similarity"))
        with pytest.raises(ValueError, match="`decision` 'tree' needs superclasses"):
            setup_of(plan(PRESET, SPACE, rule="tree"))
        with pytest.raises(ValueError, match="`similarity` 'tree' needs superclasses"):
            setup_of(plan(PRESET, SearchSpace(("simloss",), "tree")))
