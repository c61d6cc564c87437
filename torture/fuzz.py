"""Damaged files into every reader: it answers, or it says in one sentence what is wrong.

Anything else is a finding: another exception, more than ten seconds of one core, more than a
gigabyte of memory, a message that is no sentence. The input is kept, to make a test of.
"""

import random
import resource
import signal
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from simloss.data import DataError
from simloss.data.errors import MissingDataError
from simloss.experiment.store import RunFolderError

from .mutations import mutated
from .readers import Reader

SECONDS = 10.0
EXTRA_MEMORY = 2**30
_DOCUMENTED = (ValueError, DataError, MissingDataError, RunFolderError)


class Slow(BaseException):
    """A reader that takes too long; no `except Exception` catches it."""


def fuzz(
    reader: Reader, folder: Path, inputs: int, seed: int = 0, most: int = 20
) -> tuple[int, dict[str, tuple[str, bytes]]]:
    """How many inputs were refused, and the findings: what went wrong, and the input."""
    chance = random.Random(f"{reader.name} {seed}")
    refused, findings = 0, {}
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / reader.file
    path.parent.mkdir(parents=True, exist_ok=True)
    with limits(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(inputs):
            content = _damaged(reader, folder, chance)
            path.write_bytes(content)
            problem = tried(reader, folder if reader.in_folder else path)
            if problem is None:
                continue
            refused += problem == ""
            if problem:
                findings.setdefault(_place(problem), (problem, content))
            if len(findings) >= most:
                break
    return refused, findings


def _place(problem: str) -> str:
    """What tells one finding from another: the kind of error, and our last line before it."""
    lines = problem.splitlines()
    ours = [line.strip() for line in lines if line.startswith("  File") and "simloss" in line]
    return f"{lines[-1].partition(':')[0][:60]} {ours[-1] if ours else ''}"


def tried(reader: Reader, path: Path) -> str | None:
    """None if the file was read, "" if it was refused as documented, else what went wrong."""
    try:
        with time_limit():
            reader.read(path)
        return None
    except _DOCUMENTED as error:
        return "" if is_sentence(error) else traceback.format_exc()
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return traceback.format_exc()


def is_sentence(error: BaseException) -> bool:
    """Whether the words are ours: a whole sentence on one line, from one of our own errors."""
    text = str(error)
    return type(error) in _DOCUMENTED and text.endswith(".") and "\n" not in text


def _damaged(reader: Reader, folder: Path, chance: random.Random) -> bytes:
    """A valid file with damage inside one of its parts, or to the file as packed."""
    parts = dict(chance.choice(reader.seeds))
    if reader.in_folder:
        for name, content in parts.items():
            (folder / name).write_bytes(content)
        return mutated(parts[reader.file], chance)
    if len(parts) == 1 and reader.pack(parts) == next(iter(parts.values())):
        return mutated(reader.pack(parts), chance)
    if chance.random() < 0.5:
        return mutated(reader.pack(parts), chance)
    name = chance.choice(list(parts))
    parts[name] = mutated(parts[name], chance)
    return reader.pack(parts)


@contextmanager
def time_limit() -> Iterator[None]:
    """Of one core: a machine that is busy with something else does not count."""

    def stop(*_: Any) -> None:
        raise Slow(f"more than {SECONDS:g} seconds of one core")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@contextmanager
def limits() -> Iterator[None]:
    """At most `EXTRA_MEMORY` more than is in use now."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + EXTRA_MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
