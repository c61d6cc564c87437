"""The protocol: choose the parameter on validation data, judge it on test data."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from .family import corrected
from .paired import Comparison, comparison_of, values
from .signed_rank import chosen, p_value, p_value_of_best, rank_biserial, steps


class Runs(NamedTuple):
    """One setting, run with every seed: its values on validation and on test data."""

    validation: Any
    test: Any


@dataclass(frozen=True)
class Choice:
    """The result of :func:`choose_on_validation` for one treatment.

    Attributes:
        parameter: the one chosen on validation data.
        validation: the mean on validation data of every parameter tried.
        comparison: the chosen one against the baseline **on test data**; p covers the choice.
    """

    parameter: Any
    validation: dict[Any, float]
    comparison: Comparison


def choose_on_validation(
    baseline: Runs | tuple[Any, Any],
    treatments: Mapping[str, Mapping[Any, Runs | tuple[Any, Any]]],
    *,
    higher_is_better: bool,
    chosen_by_higher: bool | None = None,
) -> dict[str, Choice]:
    """The best parameter of each treatment by validation data, tested once on test data.

    For each treatment (a loss, a loss with a decision) it takes the parameter with the best mean
    validation value, the first of equals, and compares only that one with the baseline on test
    data. The test values of the others have no influence. Holm's correction covers all treatments.

    **The p-value covers the choice.** A lucky run is lucky on validation and on test data alike,
    so the best of nine parameters looks good on test data too, even if all nine equal the baseline.
    Wilcoxon's test on the chosen one alone then calls up to 11 % of pure noise significant
    (simulated, 10 runs) instead of the promised 5 %. So p is that of the whole procedure: the signs
    of whole runs are flipped in all ways, and the choice is repeated each time. Flipping makes bad
    parameters look good, and beside them up to 14 % of what equals the baseline would be called
    worse; so if the chosen one is worse, p is at least Wilcoxon's. With a single parameter it is
    Wilcoxon's p. The mean difference and its interval are those of the chosen parameter, and still
    slightly too good.

    Args:
        baseline: the validation values and the test values, one per run.
        treatments: name -> parameter -> the same for each parameter, **the same runs in the same
            order**.
        higher_is_better: for the metric on test data.
        chosen_by_higher: for the metric on validation data, if it is a different one.

    Example:
        >>> from simloss import statistics
        >>> baseline = [7.4, 7.3, 7.5, 7.6, 7.2, 7.4], [7.5, 7.4, 7.5, 7.7, 7.2, 7.5]
        >>> simloss = {
        ...     0.5: ([7.3, 7.2, 7.3, 7.5, 7.1, 7.3], [7.4, 7.3, 7.3, 7.5, 7.1, 7.4]),
        ...     0.8: ([7.0, 7.0, 7.1, 7.2, 7.0, 7.1], [7.1, 7.0, 7.1, 7.3, 7.0, 7.1]),
        ... }
        >>> found = statistics.choose_on_validation(
        ...     baseline, {"SimLoss": simloss}, higher_is_better=False
        ... )["SimLoss"]
        >>> found.parameter, found.comparison.p_value, found.comparison.mark
        (0.8, 0.03125, '+')
    """
    _refuse_other_than_dict("treatments", treatments)
    by_higher = higher_is_better if chosen_by_higher is None else chosen_by_higher
    known = _checked("baseline", baseline, None)
    choices = {
        name: _choice(name, known, parameters, higher_is_better, by_higher)
        for name, parameters in treatments.items()
    }
    comparisons = corrected({name: each.comparison for name, each in choices.items()})
    return {name: replace(each, comparison=comparisons[name]) for name, each in choices.items()}


def _choice(
    name: str, baseline: Runs, parameters: Mapping[Any, Any], higher: bool, by_higher: bool
) -> Choice:
    _refuse_other_than_dict(f"treatments[{name!r}]", parameters)
    if not parameters:
        raise ValueError(f"`treatments` must each have a parameter, but {name!r} has none.")
    tried = {
        parameter: _checked(f"treatments[{name!r}][{parameter!r}]", runs, len(baseline.test))
        for parameter, runs in parameters.items()
    }
    validation = np.stack([runs.validation for runs in tried.values()], -1)  # (n, R)
    test = np.stack([runs.test for runs in tried.values()], -1)  # (n, R)
    chosen_by = steps(baseline.validation[:, None], validation, by_higher)
    best = int(chosen(chosen_by.sum(0), len(test)))
    better = steps(baseline.test[:, None], test, higher)
    p = p_value_of_best(chosen_by, better)
    if rank_biserial(better[:, best]) <= 0:  # bad parameters beside it must not make it look worse
        p = max(p, p_value(better[:, best]))
    return Choice(
        parameter=list(tried)[best],
        validation={parameter: float(runs.validation.mean()) for parameter, runs in tried.items()},
        comparison=comparison_of(baseline.test, test[:, best], higher, p),
    )


def _refuse_other_than_dict(name: str, given: Any) -> None:
    if not isinstance(given, Mapping):
        raise TypeError(f"`{name}` must be a dict, but got {type(given).__name__}.")


def _checked(name: str, runs: Any, count: int | None) -> Runs:
    if not hasattr(runs, "__len__") or len(runs) != 2:
        raise TypeError(f"`{name}` must be (validation values, test values), but got {runs!r}.")
    validation, test = (values(name, part) for part in runs)
    if len(validation) != len(test) or count not in (None, len(test)):
        raise ValueError(
            f"`{name}` must have one validation and one test value for each run of the baseline, "
            f"but got {len(validation)} and {len(test)}; leave out runs that lack either."
        )
    return Runs(validation, test)
