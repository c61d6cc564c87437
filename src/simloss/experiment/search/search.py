"""A search, trial by trial.

A race over seeds ends what is behind, and every trial is in a file of the run folder before the
next begins: a search that was interrupted and resumed ends as if it had not been.
"""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypedDict

from ... import metrics
from ..._disk import bytes_of
from ..._schema import Finite, fits
from ...loss.registry import BASELINE
from ..grid.setup import Setup, derived_seed
from ..grid.store import RunFolder
from ..plan.treatment import Treatment
from ..train.loop import NotFiniteError, Part, train
from ..writing import RunFolderError, write_whole
from .race import Trial, is_behind
from .trials import Found, Plan, setup_of

# The share of the epochs of a full grid, five values of each loss, that a search may use. How long
# the grid would be is a guess, 1.2 times too long at times; a fifth keeps that below a quarter.
_SHARE, _GRID_VALUES = 1 / 5, 5

# Trials there are whatever budget is given: something that uses similarity, and cross entropy.
_AT_LEAST = 2

# Without a budget, how many values of the best loss are tried beside the first, however long.
_AT_LEAST_BESIDE = 2

TRIALS = "search.json"
_MOST_BYTES = 2**24


def search(
    plan: Plan,
    path: Path,
    tell: Callable[[str], None] = lambda line: None,
    setup: Setup | None = None,
) -> Found:
    """Go through the trials that are not in the folder yet; `tell` gets a line for each."""
    setup = setup or setup_of(plan)
    path.mkdir(parents=True, exist_ok=True)
    with RunFolder(path).lock():
        running = _Search(plan, setup, path / TRIALS)
        running.go_on(tell)
        return running.found()


class _Written(TypedDict):
    """A trial in the file."""

    curves: list[list[Finite]]
    gave_up: bool
    error: str | None


class _Search:
    """The trials of a plan, those in the file first."""

    def __init__(self, plan: Plan, setup: Setup, path: Path) -> None:
        self.plan, self.setup, self.path = plan, setup, path
        self.metric = metrics.find(plan.metric)
        self.sign = -1.0 if self.metric.higher_is_better else 1.0  # a trial's value is a loss
        self.parts: dict[int, dict[str, Part]] = {}
        self.past: list[Trial] = []
        if path.exists() or path.is_symlink():
            self._read()
        else:
            self._write()

    def go_on(self, tell: Callable[[str], None]) -> None:
        """Until there are enough trials or epochs, or nothing is left to try."""
        if self.past:
            tell(f"{len(self.past)} trials with {self.epochs} epochs are recorded already")
        while len(self.past) < self.plan.trials and self.left() > 0:
            treatment = self.plan.space.following(self.past)
            if treatment is None:
                return
            self.past.append(self.run(treatment))
            self._write()
            tell(f"trial {len(self.past)}: {self.told(self.past[-1])}")

    @property
    def epochs(self) -> int:
        """Of all trials."""
        return sum(trial.epochs for trial in self.past)

    def left(self) -> float:
        """How many epochs there still may be; without a budget, each loss has its chance first."""
        at_least = len(self.plan.space.first()) + _AT_LEAST_BESIDE
        if len(self.past) < (at_least if self.plan.budget is None else _AT_LEAST):
            return float("inf")
        if self.plan.budget is not None:
            return self.plan.budget - self.epochs
        losses = len(self.plan.space.losses)
        treatments = len(self.plan.space.first()) + (_GRID_VALUES - 1) * losses
        done = [trial.epochs for trial in self.past if trial.is_done]
        return int(_SHARE * treatments * sum(done) / max(1, len(done))) - self.epochs

    def run(self, treatment: Treatment) -> Trial:
        """One net per seed, until all are done, it is behind, or there are no epochs left."""
        left, trial, bests = self.left(), Trial(treatment), list[float]()

        def on_epoch(line: dict[str, Any]) -> None:
            bests[-1] = min(bests[-1], self.sign * line["validation"][self.plan.rule])
            trial.curves[-1].append(sum(bests) / len(bests))
            behind = is_behind(trial, self.past, self.plan.config.training.patience)
            if behind or trial.epochs >= left:
                raise _GaveUp

        try:
            for seed in self.plan.seeds:
                bests.append(float("inf"))
                trial.curves.append([])
                self.train(treatment, seed, on_epoch)
        except _GaveUp:
            trial.gave_up = True
        except NotFiniteError as error:
            return Trial(treatment, gave_up=True, error=str(error))
        return trial

    def train(
        self, treatment: Treatment, seed: int, on_epoch: Callable[[dict[str, Any]], None]
    ) -> None:
        """One net, just as the comparison will train it."""
        config = self.plan.config
        if seed not in self.parts:
            self.parts[seed] = self.setup.parts(seed)
        train(
            self.setup.net(seed),
            self.setup.objective(treatment, seed),
            self.parts[seed]["train"],
            self.parts[seed]["validation"],
            self.setup.judge,
            config.rules,
            config.training,
            derived_seed(seed, "order"),
            on_epoch,
        )

    def told(self, trial: Trial) -> str:
        """A trial in a line."""
        if trial.error is not None:
            return f"{trial.treatment.label}: {trial.error}"
        value = self.metric.format(self.sign * trial.value)
        ended = "given up " if trial.gave_up else ""
        after = f"{ended}after {trial.epochs} epochs"
        return f"{trial.treatment.label}: {self.metric.label} {value}, {after}"

    def found(self) -> Found:
        """What all trials together say."""
        trained = [trial for trial in self.past if trial.curves]
        done = [trial for trial in trained if trial.is_done]
        others = [trial for trial in trained if trial.treatment.similarity is not None]
        if not others or not done:
            raise ValueError(f"the losses cannot be trained here: {self.told(self.past[0])}.")
        best = min(done, key=lambda trial: trial.value)
        baseline = next(t for t in self.past if t.treatment == Treatment(BASELINE))
        ended = [trial for trial in others if trial.is_done]
        candidate = min(ended or others, key=lambda trial: trial.value)
        return Found(
            best=best.treatment,
            value=self.sign * best.value,
            baseline=self.sign * baseline.value,
            baseline_gave_up=not baseline.is_done,
            candidate=candidate.treatment,
            trials=len(self.past),
            pruned=len(trained) - len(done),
            epochs=self.epochs,
        )

    def _write(self) -> None:
        trials = [{**asdict(trial), "treatment": trial.treatment.label} for trial in self.past]
        content = {"settings": self.plan.as_dict(), "trials": trials}
        write_whole(self.path, json.dumps(content).encode())

    def _read(self) -> None:
        """What an earlier run wrote, if it was a search like this one."""
        try:
            kept = json.loads(bytes_of(self.path, _MOST_BYTES))
            theirs, trials = dict(kept["settings"]), list(kept["trials"])
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise self._damaged(str(error) or type(error).__name__) from None
        for name, value in self.plan.as_dict().items():
            if theirs.get(name) != value:
                raise RunFolderError(
                    f"'{self.path.parent}' must hold the same search to be resumed, but its "
                    f"{name!r} was {theirs.get(name)!r:.80} and is now {value!r:.80}; "
                    f"name another folder with --out."
                )
        for number, written in enumerate(trials, 1):
            # What was tried follows from what came before; the file says how it went.
            treatment = self.plan.space.following(self.past)
            if treatment is None or not self._is_trial(written, treatment):
                raise self._damaged(f"trial {number} is not one of this search")
            how = {name: written[name] for name in _Written.__annotations__}
            self.past.append(Trial(treatment, **how))

    def _is_trial(self, written: Any, treatment: Treatment) -> bool:
        if not isinstance(written, dict) or written.get("treatment") != treatment.label:
            return False
        return (
            fits(written, _Written)
            and all(written["curves"])
            and len(written["curves"]) <= len(self.plan.seeds)
            and (written["error"] is None) == bool(written["curves"])
        )

    def _damaged(self, reason: str) -> RunFolderError:
        said = " ".join(reason.split()).rstrip(".")
        return RunFolderError(
            f"'{self.path}' must hold the trials of a search, but: {said:.200}; "
            f"name another folder with --out."
        )


class _GaveUp(Exception):
    """Not an error: the net need not be trained any further."""
