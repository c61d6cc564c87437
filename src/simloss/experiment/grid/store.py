"""The run folder: what is recorded is never lost, and nothing is half-written.

A cell's sidecar is written whole before its line is appended to `records.jsonl`, so a line implies
a sidecar. Cells that trained as one stack are appended together and count together: each of their
lines says how many there are, and none counts before all are there and the last ends in a newline.
What a crash or a full disk left of an incomplete batch is cut off before the next is written.
"""

import fcntl
import io
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import numpy as np

from ..._disk import arrays_of, bytes_of, file_to_change, own_folder, regular_file
from ..._schema import fits
from ...data import Dataset
from ..plan.config import Config
from ..writing import RunFolderError, cannot_write, write_whole
from .record import record_misfit

FORMAT = 1
_MOST_BYTES = 2**28  # of classes.json; a line of records has less

Arrays = dict[str, np.ndarray[Any, Any]]


class RunFolder:
    """A folder of records: configuration, classes, one line and one sidecar per cell."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.records_path = path / "records.jsonl"
        self.config_path = path / "config.yaml"
        self.classes_path = path / "classes.json"
        self.cells_path = path / "cells"

    def exists(self) -> bool:
        """Whether an experiment has been written here."""
        return self.config_path.exists()

    def config(self) -> Config:
        """The experiment this folder holds."""
        if not self.exists():
            raise RunFolderError(
                f"'{self.path}' must be a run folder with a config.yaml, but it has none."
            )
        return Config.load(self.config_path, whole=True)

    @contextmanager
    def open_for_writing(self, config: Config, *, resume: bool) -> Iterator[None]:
        """Make the folder, hold its lock, write the configuration, mend what a crash left.

        Treatments and seeds of an earlier run stay in the configuration: their records count.
        """
        try:
            self._refuse_strangers()
            own_folder(self.cells_path)
        except OSError as error:
            cannot_write(self.path, error)
        with self.lock():
            if self.exists():
                self._check_same(config, resume)
                config = config.joined_to(self.config())
            elif next(self.each_record(), None):
                raise RunFolderError(
                    f"'{self.path}' must have a config.yaml beside its records, but it has none: "
                    f"put it back, or name another folder with --out."
                )
            config.save(self.config_path)
            self._cut_incomplete()
            yield

    def append(self, finished: Sequence[tuple[dict[str, Any], Arrays | None]]) -> None:
        """Record cells that finished together: sidecars first, then the lines, all on disk."""
        for record, sidecar in finished:
            if sidecar is not None:
                buffer = io.BytesIO()
                np.savez_compressed(buffer, **sidecar)  # type: ignore[arg-type]
                write_whole(self.sidecar_path(record["cell"]), buffer.getvalue())
        lines = [
            json.dumps({"format": FORMAT, "together": len(finished), **record}, allow_nan=False)
            for record, _ in finished
        ]
        try:
            with file_to_change(self.records_path) as file:
                _append_all(file, "".join(f"{line}\n" for line in lines).encode())
        except OSError as error:
            cannot_write(self.records_path, error)

    def each_record(self) -> Iterator[dict[str, Any]]:
        """Every complete record as it was written, read when it is asked for."""
        for record, _ in self._complete():
            yield record

    def records(self, *, without: tuple[str, ...] = ()) -> list[dict[str, Any]]:
        """Every complete record, one per cell: the first that was done, else the last that failed.

        `without` names keys to leave out: of many records, "history" is most of the memory.
        """
        found: dict[str, dict[str, Any]] = {}
        for record in self.each_record():
            known = found.get(record["cell"])
            if known is None or known["status"] != "done":
                found[record["cell"]] = {k: v for k, v in record.items() if k not in without}
        return list(found.values())

    def describe(self, dataset: Dataset) -> None:
        """Write what the report has to know of the data: its classes, in order, and the unit."""
        about = {
            "format": FORMAT,
            "names": dataset.class_names,
            "superclasses": dataset.superclasses,
            "unit": dataset.notes.get("unit"),
        }
        write_whole(self.classes_path, json.dumps(about, ensure_ascii=False).encode())

    def classes(self) -> dict[str, Any] | None:
        """What `describe` wrote; None in a folder made before it was."""
        if not os.path.lexists(self.classes_path):
            return None
        try:
            about = json.loads(bytes_of(self.classes_path, _MOST_BYTES))
            if fits(about, _Classes) and _one_each(about["names"], about.get("superclasses")):
                return dict(about)
        except (ValueError, RecursionError):
            pass
        raise RunFolderError(
            f"'{self.classes_path}' must name the classes, but it does not; "
            f"remove it, and the next run writes it again."
        )

    def sidecar_path(self, cell: str) -> Path:
        """Where a cell's arrays are."""
        return self.cells_path / f"{cell}.npz"

    def sidecar(self, cell: str) -> Arrays:
        """A cell's arrays; never unpickles."""
        path = self.sidecar_path(cell)
        try:
            return arrays_of(path)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise RunFolderError(f"'{path}' must be a whole npz file, but: {reason}.") from None

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Held by the kernel for a living process only, so that a dead one never blocks."""
        try:
            file = file_to_change(self.path / "lock")
        except OSError as error:
            cannot_write(self.path, error)
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                writer = file.read(20).decode("ascii", "replace").strip()
                raise RunFolderError(
                    f"'{self.path}' must have one writer at a time, but process "
                    f"{writer or 'unknown'} is writing to it."
                ) from None
            with suppress(OSError):  # only for a second process
                os.ftruncate(file.fileno(), 0)
                file.write(f"{os.getpid()}\n".encode())
            yield

    def _refuse_strangers(self) -> None:
        """A folder of something else is left alone; what a crash left of a run is ours."""
        ours = (self.config_path, self.records_path, self.cells_path)
        if not self.path.is_dir() or any(map(os.path.lexists, ours)):
            return
        for name in sorted(os.listdir(self.path)):
            if not name.startswith("."):
                raise RunFolderError(
                    f"'{self.path}' must be a new or empty folder, or a run, but it holds "
                    f"{name!r}; name another with --out."
                )

    def _check_same(self, config: Config, resume: bool) -> None:
        if not resume:
            raise RunFolderError(
                f"'{self.path}' must be a new folder, but it holds a run already; "
                f"add --resume to resume it, or name another with --out."
            )
        ours, theirs = _portable(config), _portable(self.config())
        for part, now in ours.items():
            then = theirs.get(part)
            if then != now and isinstance(then, dict) and isinstance(now, dict):  # one is enough
                part = next(name for name in {**then, **now} if then.get(name) != now.get(name))
                then, now = then.get(part), now.get(part)
            if then != now:
                raise RunFolderError(
                    f"'{self.path}' must hold the same experiment to be resumed, but its {part!r} "
                    f"was {then} and is now {now}; name another folder with --out."
                )

    def _complete(self) -> Iterator[tuple[dict[str, Any], int]]:
        """The records that count, each with the place in the file where it ends."""
        if not os.path.lexists(self.records_path):
            return
        end = 0
        waiting: list[tuple[dict[str, Any], int]] = []
        with regular_file(self.records_path) as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    return
                end += len(line)
                record = _parsed(line, self.records_path, number)
                if waiting and waiting[0][0]["together"] != record["together"]:
                    # Not the end of a crash but damage: nothing after it may be cut off.
                    raise _no_record(self.records_path, number)
                waiting.append((record, end))
                if len(waiting) == record["together"]:
                    yield from waiting
                    waiting = []

    def _cut_incomplete(self) -> None:
        complete = max((end for _, end in self._complete()), default=0)
        if self.records_path.exists() and self.records_path.stat().st_size > complete:
            with file_to_change(self.records_path) as file:
                os.ftruncate(file.fileno(), complete)


class _Classes(TypedDict):
    """What `classes.json` holds."""

    names: list[str]
    superclasses: NotRequired[list[str] | None]
    unit: NotRequired[str | None]


def _one_each(names: list[str], superclasses: list[str] | None) -> bool:
    return len(set(names)) == len(names) and len(superclasses or names) == len(names)


def _portable(config: Config) -> dict[str, Any]:
    """What must not change when a run is resumed: not the path, not the device."""
    settings = config.shared()
    settings["data"].pop("path")
    settings["training"].pop("device")
    return settings


def _parsed(line: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise _no_record(path, number) from None
    wrong = record_misfit(record)
    if wrong is None:
        return dict(record)
    raise _no_record(path, number, f": its {wrong!r:.80} is not as it should be" if wrong else "")


def _no_record(path: Path, number: int, reason: str = "") -> RunFolderError:
    return RunFolderError(
        f"'{path}' must hold one record per line, but line {number} is not{reason}; "
        f"remove that line and resume, and its cell is run again."
    )


def _append_all(file: io.FileIO, lines: bytes) -> None:
    """All of it on the disk, or none: an unbuffered write takes a part where the disk is full."""
    size, view = os.fstat(file.fileno()).st_size, memoryview(lines)
    try:
        while view:
            view = view[file.write(view) :]
        os.fsync(file.fileno())
    except OSError:
        with suppress(OSError):
            os.ftruncate(file.fileno(), size)
        raise
