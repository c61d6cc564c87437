"""A search, trial by trial.

Optuna proposes, a race over seeds ends what is behind, and every trial is in a file of the run
folder before the next begins: a search that was interrupted and resumed ends as if it had not been.
"""

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ... import _checks, metrics
from ..._disk import bytes_of, file_to_change
from ..._schema import Finite, fits
from ...loss.registry import BASELINE
from ..grid.setup import Setup, derived_seed
from ..grid.store import RunFolder
from ..plan.treatment import Treatment
from ..train.loop import NotFiniteError, Part, train
from ..writing import RunFolderError, write_whole
from .pruning import Trial, is_beaten, is_behind
from .trials import Found, Plan, setup_of

# The share of the epochs of a full grid, five values of each loss, that a search may use. How long
# the grid would be is a guess, 1.4 times too long at times; a sixth keeps that below a quarter.
_SHARE, _GRID_VALUES = 1 / 6, 5

# Trials there are whatever budget is given: something that uses similarity, and cross entropy.
_AT_LEAST = 2

SETTINGS = "search.json"
_MOST_BYTES = 2**24


def search(
    plan: Plan,
    path: Path,
    tell: Callable[[str], None] = lambda line: None,
    setup: Setup | None = None,
) -> Found:
    """Go through the trials that are not in the folder yet; `tell` gets a line for each."""
    optuna = _checks.installed("optuna", "cli")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    setup = setup or setup_of(plan)
    path.mkdir(parents=True, exist_ok=True)
    with RunFolder(path).lock(), warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        _check_same(plan, path / SETTINGS)
        running = _Search(plan, setup, path / "search.journal")
        running.go_on(tell)
        return running.found()


class _Search:
    """An optuna study of a plan, asked and told one trial at a time."""

    def __init__(self, plan: Plan, setup: Setup, journal: Path) -> None:
        import optuna
        from optuna.storages.journal import JournalFileBackend, JournalStorage

        self.plan, self.setup, self.optuna = plan, setup, optuna
        self.states = optuna.trial.TrialState
        # Ours is the only process here; a lock file that is left over is from one that was killed.
        journal.with_name(f"{journal.name}.lock").unlink(missing_ok=True)
        file_to_change(journal).close()  # no link, through which optuna would write
        try:
            self.study = optuna.create_study(
                storage=JournalStorage(JournalFileBackend(str(journal))),
                study_name="search",
                load_if_exists=True,
            )
            for trial in self.study.get_trials(states=(self.states.RUNNING,)):  # of a killed one
                self.study.tell(trial.number, state=self.states.FAIL)
            for trial in self.past():
                _check(trial, plan)
        except Exception as error:  # what optuna makes of damage is almost anything
            reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
            raise RunFolderError(f"'{journal}' must hold trials, but: {reason}.") from None
        self.head_start = 2 * plan.config.training.patience
        self.metric = metrics.find(plan.metric)
        self.sign = -1.0 if self.metric.higher_is_better else 1.0  # what is reported is a loss
        self.parts: dict[int, dict[str, Part]] = {}

    def go_on(self, tell: Callable[[str], None]) -> None:
        """Until there are enough trials or epochs."""
        past = self.past()
        if past:
            tell(f"{len(past)} trials with {_epochs(*past)} epochs are recorded already")
        while len(past) < self.plan.trials and self.left(past) > 0:
            self.trial(past)
            past = self.past()
            tell(f"trial {len(past)}: {self.told(past[-1])}")

    def past(self) -> list[Any]:
        """The trials that count: those that were interrupted are tried again."""
        ended = (self.states.COMPLETE, self.states.PRUNED)
        return self.study.get_trials(deepcopy=False, states=ended)

    def left(self, past: list[Any]) -> float:
        """How many epochs there still may be; without a budget, each loss has its chance first."""
        is_given = self.plan.budget is not None
        if len(past) < (_AT_LEAST if is_given else len(self.plan.space.first_choices())):
            return float("inf")
        if self.plan.budget is not None:
            return self.plan.budget - _epochs(*past)
        treatments = 1 + _GRID_VALUES * len(self.plan.space.losses)
        done = [_epochs(trial) for trial in past if _is_done(trial)]
        return int(_SHARE * treatments * sum(done) / max(1, len(done))) - _epochs(*past)

    def trial(self, past: list[Any]) -> None:
        """One trial, from proposal to record. What is proposed depends on the past alone."""
        first = self.plan.space.first_choices()
        self.study.sampler = self.optuna.samplers.TPESampler(
            n_startup_trials=len(first),
            multivariate=True,
            group=True,
            seed=derived_seed(self.plan.seed, f"trial {len(past)}") % 2**32,
        )
        is_waiting = bool(self.study.get_trials(states=(self.states.WAITING,)))
        if len(past) < len(first) and not is_waiting:
            self.study.enqueue_trial(first[len(past)])
        trial = self.study.ask()
        try:
            self.record(trial, past, self.run(self.plan.space.suggested(trial), past))
        except NotFiniteError as error:
            trial.set_user_attr("error", str(error))
            self.study.tell(trial, state=self.states.PRUNED)
        except BaseException:
            self.study.tell(trial, state=self.states.FAIL)
            raise

    def record(self, trial: Any, past: list[Any], run: Trial | None) -> None:
        """Write down how a trial went; None is one that was tried before."""
        if run is None:
            known = next(each for each in past if self.is_same(each, trial))
            run = _run(known)
        else:
            trial.set_user_attr("curves", run.curves)
        if run.gave_up:
            if run.curves:
                trial.report(run.value, run.epochs)  # what TPE goes by
            self.study.tell(trial, state=self.states.PRUNED)
        else:
            self.study.tell(trial, run.value)

    def is_same(self, trial: Any, other: Any) -> bool:
        """Whether two trials are of one treatment."""
        treatment = self.plan.space.treatment
        return treatment(trial.params) == treatment(other.params)

    def run(self, treatment: Treatment, past: list[Any]) -> Trial | None:
        """One net per seed, until all are done, it is behind, or there are no epochs left."""
        if treatment in [self.plan.space.treatment(known.params) for known in past]:
            return None  # would come out the same
        left, rivals = self.left(past), [_run(known) for known in past]
        run, bests = Trial(), list[float]()

        def on_epoch(line: dict[str, Any]) -> None:
            bests[-1] = min(bests[-1], self.sign * line["validation"][self.plan.rule])
            run.curves[-1].append(sum(bests) / len(bests))
            if is_behind(run, rivals, self.head_start) or run.epochs >= left:
                raise _GaveUp

        try:
            for seed in self.plan.seeds:
                bests.append(float("inf"))
                run.curves.append([])
                self.train(treatment, seed, on_epoch)
                if len(past) > len(self.plan.space.losses) and is_beaten(run, rivals):
                    raise _GaveUp  # each loss was tried; a further seed is for a new best
        except _GaveUp:
            run.gave_up = True
        return run

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

    def told(self, trial: Any) -> str:
        """A trial in a line."""
        label = self.plan.space.treatment(trial.params).label
        if "error" in trial.user_attrs:
            return f"{label}: {trial.user_attrs['error']}"
        run = _run(trial)
        if not run.curves:
            return f"{label}: tried before"
        value = self.metric.format(self.sign * run.value)
        ended = "given up " if run.gave_up else ""
        return f"{label}: {self.metric.label} {value}, {ended}after {run.epochs} epochs"

    def found(self) -> Found:
        """What all trials together say."""
        space, past = self.plan.space, self.past()
        trained = [trial for trial in past if _run(trial).curves]
        done = [trial for trial in trained if _is_done(trial)]
        others = [trial for trial in trained if trial.params["loss"] != BASELINE]
        if not others or not done:
            raise ValueError(f"the losses cannot be trained here: {self.told(past[0])}.")
        best = min(done, key=_value)
        baseline = next(trial for trial in past if trial.params["loss"] == BASELINE)
        candidate = min([trial for trial in others if _is_done(trial)] or others, key=_value)
        return Found(
            best=space.treatment(best.params),
            value=self.sign * _value(best),
            baseline=self.sign * _value(baseline),
            baseline_gave_up=not _is_done(baseline),
            candidate=space.treatment(candidate.params),
            trials=len(past),
            pruned=len(trained) - len(done),
            epochs=_epochs(*past),
        )


def _check(trial: Any, plan: Plan) -> None:
    """What a file says of a trial is what a search like this one would have written."""
    loss, curves = trial.params["loss"], trial.user_attrs.get("curves", [])
    if loss not in (BASELINE, *plan.space.losses):
        raise ValueError(f"this search has no loss {loss!r:.80}")
    plan.space.treatment(trial.params)
    if not fits(curves, list[list[Finite]]) or not all(curves):
        raise ValueError(f"trial {trial.number} has no curves of numbers")
    if not isinstance(trial.user_attrs.get("error", ""), str):
        raise ValueError(f"trial {trial.number} has an error that is no text")


class _GaveUp(Exception):
    """Not an error: the net need not be trained any further."""


def _run(trial: Any) -> Trial:
    """How a recorded trial went; without curves if it was the same as an earlier one."""
    gave_up = trial.state.name == "PRUNED"
    return Trial(trial.user_attrs.get("curves", []), gave_up)


def _is_done(trial: Any) -> bool:
    run = _run(trial)
    return bool(run.curves) and not run.gave_up


def _value(trial: Any) -> float:
    run = _run(trial)
    return run.value if run.curves else float("nan")


def _epochs(*trials: Any) -> int:
    return sum(_run(trial).epochs for trial in trials)


def _settings(path: Path) -> dict[str, Any]:
    """The settings that an earlier run wrote."""
    try:
        return dict(json.loads(bytes_of(path, _MOST_BYTES)))
    except (ValueError, TypeError, RecursionError) as error:
        raise RunFolderError(
            f"'{path}' must hold the settings of a search, but: {error}."
        ) from None


def _check_same(plan: Plan, path: Path) -> None:
    """Write the settings of the search, or refuse those of another."""
    ours = plan.as_dict()
    if path.exists():
        theirs = _settings(path)
        for name, value in ours.items():
            if theirs.get(name) != value:
                raise RunFolderError(
                    f"'{path.parent}' must hold the same search to be resumed, but its {name!r} "
                    f"was {theirs.get(name)!r:.80} and is now {value!r:.80}; "
                    f"name another folder with --out."
                )
    write_whole(path, json.dumps(ours, indent=1).encode())
