"""Contenders that take turns."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Timing:
    """Of one contender: seconds a call, and its ratio to the first contender in the same turn."""

    seconds: float
    ratio: float
    low: float
    high: float
    least: float
    turns: int


def take_turns(
    contenders: dict[str, Callable[[], object]],
    *,
    seconds: float = 20.0,
    most: int = 400,
    calls: int = 1,
) -> dict[str, Timing]:
    """Call each in turn until the time is up, at least 5 turns; the first is what they compare to.

    `calls` calls are timed together where one is too short for the clock.
    """
    for contender in contenders.values():
        for _ in range(3):
            contender()
    spent: dict[str, list[float]] = {name: [] for name in contenders}
    stop = time.perf_counter() + seconds
    turns = 0
    while turns < 5 or (turns < most and time.perf_counter() < stop):
        for name in _rotated(list(contenders), turns):
            spent[name].append(_seconds(contenders[name], calls))
        turns += 1
    first = spent[next(iter(contenders))]
    return {name: _timing(times, first) for name, times in spent.items()}


def _seconds(contender: Callable[[], object], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        contender()
    return (time.perf_counter() - start) / calls


def _timing(times: list[float], first: list[float]) -> Timing:
    ratios = [mine / theirs for mine, theirs in zip(times, first, strict=True)]
    low, middle, high = statistics.quantiles(ratios, n=4)
    return Timing(statistics.median(times), middle, low, high, min(times) / min(first), len(times))


def _rotated(names: list[str], by: int) -> list[str]:
    """Another one begins each turn, so that none always follows the same."""
    by %= len(names)
    return names[by:] + names[:by]
