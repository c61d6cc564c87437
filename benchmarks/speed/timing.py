"""Timing of contenders that take turns."""

import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Timing:
    """The seconds per call of one contender, and its ratio to the first one in the same turn."""

    seconds: float
    ratio: float
    low: float
    high: float
    least: float
    turns: int


def in_pairs(
    contenders: dict[str, Callable[[], object]], *, seconds: float, calls: int = 1
) -> dict[str, Timing]:
    """Each takes turns with the first one alone.

    What one leaves behind (memory given back to the system, a cache full of its own) slows down
    the next one. With all of them in one round, the result of a contender would depend on the
    others.
    """
    first, *others = contenders
    each = seconds / max(1, len(others))
    timings = {}
    for name in others:
        pair = {first: contenders[first], name: contenders[name]}
        found = take_turns(pair, seconds=each, calls=calls)
        timings.setdefault(first, found[first])
        timings[name] = found[name]
    return timings


def take_turns(
    contenders: dict[str, Callable[[], object]],
    *,
    seconds: float = 20.0,
    least: int = 5,
    most: int = 400,
    calls: int = 1,
) -> dict[str, Timing]:
    """Call each in turn until the time is up; the first is what they compare to.

    `calls` calls are timed together if one is too short for the clock. Each is first called a
    few times, or once if it is slow.
    """
    for contender in contenders.values():
        for _ in range(min(3, least // 2)):
            contender()
    spent: dict[str, list[float]] = {name: [] for name in contenders}
    stop = time.perf_counter() + seconds
    turns, order = 0, random.Random(0)  # so that none always follows the same one
    while turns < least or (turns < most and time.perf_counter() < stop):
        for name in order.sample(list(contenders), len(contenders)):
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
