"""Damaged files for every reader: it reads them, or says in one sentence what is wrong.

Or well-formed files with hostile values. Anything else is a finding: another exception, more than
ten seconds of one core, a minute of waiting, more than a gigabyte of memory, a message that is not
a sentence; and any trace of what a hostile value requests: a module imported, a process started,
a file written elsewhere. The input is kept, to make a test from it.
"""

import os
import random
import resource
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from simloss.data import DataError
from simloss.data.errors import MissingDataError
from simloss.experiment.grid.store import RunFolderError

from .mutations import at, mutated, places, with_hostile_values, with_value
from .readers import Reader

SECONDS = 10.0
WAITING_SECONDS = 60.0
EXTRA_MEMORY = 2**30
_DOCUMENTED = (ValueError, DataError, MissingDataError, RunFolderError, FileNotFoundError)


class Slow(BaseException):
    """A reader that takes too long; no `except Exception` catches it."""


def fuzz(
    reader: Reader,
    folder: Path,
    inputs: int,
    seed: int = 0,
    most: int = 20,
    *,
    hostile: bool = False,
) -> tuple[int, dict[str, tuple[str, bytes]]]:
    """How many inputs were refused, and the findings: what went wrong, and the input.

    With `hostile`, the inputs are well-formed but some of their values are malicious; without,
    their bytes are damaged.
    """
    chance = random.Random(f"{reader.name} {seed}")
    refused, findings = 0, {}
    folder.mkdir(parents=True, exist_ok=True)
    write = _hostile if hostile else _damaged
    with limits(), warnings.catch_warnings(), trap(folder):
        warnings.simplefilter("ignore")
        for _ in range(inputs):
            path = write(reader, folder, chance)
            kept = folder / reader.file
            content = kept.read_bytes() if kept.exists() else b""
            problem = tried(reader, path)
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
        with time_limit(), traces() as left:
            reader.read(path)
        return "\n".join(left) or None
    except _DOCUMENTED as error:
        return "\n".join(left) or ("" if is_sentence(error) else traceback.format_exc())
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        if (
            isinstance(error, OSError) and error.filename and error.strerror
        ):  # of a path: a sentence
            return "\n".join(left)
        return traceback.format_exc()


def is_sentence(error: BaseException) -> bool:
    """Whether the message is ours: a whole sentence on one line, from one of our own errors."""
    text = str(error)
    return type(error) in _DOCUMENTED and text.endswith(".") and "\n" not in text


def _damaged(reader: Reader, folder: Path, chance: random.Random) -> Path:
    """A valid file with damage inside one of its parts, or to the file as packed."""
    parts = dict(chance.choice(reader.seeds))
    if reader.in_folder:
        parts[reader.file] = mutated(parts[reader.file], chance)
        return reader.write(folder, parts)
    is_packed = len(parts) > 1 or reader.pack(parts) != next(iter(parts.values()))
    if is_packed and chance.random() < 0.5:
        name = chance.choice(list(parts))
        return reader.write(folder, parts | {name: mutated(parts[name], chance)})
    path = reader.write(folder, parts)
    path.write_bytes(mutated(path.read_bytes(), chance))
    return path


def _hostile(reader: Reader, folder: Path, chance: random.Random) -> Path:
    """A well-formed file with some values replaced."""
    assert reader.values is not None
    plain = reader.values.opened(chance.choice(reader.seeds))
    return reader.write(folder, reader.values.closed(with_hostile_values(plain, chance)))


# A name to import, a path outside, a link, a huge number, a wrong type.
WALKED = ("hostile:make", "../../../outside", "outside.link", 10**18, ["text"])


def walk(reader: Reader, folder: Path) -> tuple[int, int, list[str]]:
    """Every text of every seed, one after the other, as each of `WALKED`.

    Returns how many fields there are, how many inputs were tried, and what went wrong. Of entries
    of a list that are alike, the first two stand for all.
    """
    assert reader.values is not None
    folder.mkdir(parents=True, exist_ok=True)
    fields, inputs, problems = set(), 0, []
    with limits(), warnings.catch_warnings(), trap(folder):
        warnings.simplefilter("ignore")
        for number, parts in enumerate(reader.seeds):
            plain = reader.values.opened(parts)
            for place in places(plain):
                field = (number, *(min(key, 1) if type(key) is int else key for key in place))
                if field in fields or not isinstance(at(plain, place), (str, bytes)):
                    continue
                fields.add(field)
                for value in WALKED:
                    changed = reader.values.closed(with_value(plain, place, value))
                    problem = tried(reader, reader.write(folder, changed))
                    inputs += 1
                    problems += [f"{place} as {value!r}: {problem}"] if problem else []
    return len(fields), inputs, problems


@contextmanager
def trap(folder: Path) -> Iterator[None]:
    """Makes the current folder one with what hostile values name: a module, a link, a pipe."""
    before, outside = Path.cwd(), folder.parent / "outside"
    outside.write_text("what is outside")
    (folder / "hostile.py").write_text("def make(*a, **k): ...\nalike = make\n")
    for name in ("outside.link", "waiting.pipe"):
        (folder / name).unlink(missing_ok=True)
    (folder / "outside.link").symlink_to(outside)
    os.mkfifo(folder / "waiting.pipe")
    os.chdir(folder)
    try:
        with mock.patch.dict(os.environ, SIMLOSS_CACHE=str(folder / "cache")):
            yield
    finally:
        os.chdir(before)
    assert outside.read_text() == "what is outside"


_left: list[str] | None = None


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    """Python's own hook: it sees every import, process, connection and file."""
    if _left is None:
        return
    if event == "import" and str(arguments[0]).partition(".")[0] in ("hostile", "subprocess"):
        if arguments[0] not in sys.modules:
            _left.append(f"it imports {arguments[0]}")
    elif event in ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "socket.connect"):
        _left.append(f"it calls {event} {arguments[:2]}")
    elif event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        path = os.path.realpath(str(arguments[0]))
        places = (os.getcwd(), tempfile.gettempdir(), "/dev/null", "/dev/shm")
        if isinstance(arguments[0], (str, bytes)) and not path.startswith(places):
            _left.append(f"it writes to {path}")


@contextmanager
def traces() -> Iterator[list[str]]:
    """Everything done in the meantime that no reader should do."""
    global _left
    if not getattr(sys, "_torture_audits", False):
        sys.addaudithook(_audit)
        sys._torture_audits = True  # type: ignore[attr-defined]
    _left = found = []
    try:
        yield found
    finally:
        _left = None


@contextmanager
def time_limit() -> Iterator[None]:
    """A limit on the time of one core, so that a busy machine does not count; at most a minute."""

    def stop(number: int, _: Any) -> None:
        is_slow = number == signal.SIGVTALRM
        raise Slow(
            f"more than {SECONDS:g} seconds of one core" if is_slow else "it waits for something"
        )

    clocks = {
        signal.SIGVTALRM: (signal.ITIMER_VIRTUAL, SECONDS),
        signal.SIGALRM: (signal.ITIMER_REAL, WAITING_SECONDS),
    }
    before = {number: signal.signal(number, stop) for number in clocks}
    for clock, seconds in clocks.values():
        signal.setitimer(clock, seconds)
    try:
        yield
    finally:
        for number, (clock, _) in clocks.items():
            signal.setitimer(clock, 0)
            signal.signal(number, before[number])


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
