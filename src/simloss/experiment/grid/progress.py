"""How far a grid is: a live display on a terminal, plain lines elsewhere."""

import json
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ..._disk import bytes_of, own_folder

_MOST_BYTES = 2**20  # of what a worker says


class Progress:
    """Shows nothing. The base class of those that show something."""

    @contextmanager
    def run(self, name: str, total: int, already: int, beats: Path) -> Iterator[None]:
        """For the time of a run of `total` cells; `beats` is where workers say how far they are."""
        shutil.rmtree(beats, ignore_errors=True)
        with suppress(OSError):  # what workers say is only a hint
            own_folder(beats)
        self.name, self.total, self.done, self.already = name, total, already, already
        self.failed, self.started, self.beats = 0, time.monotonic(), beats
        try:
            with self.showing():
                yield
        finally:
            shutil.rmtree(beats, ignore_errors=True)

    @contextmanager
    def showing(self) -> Iterator[None]:
        """Whatever must be open while the run goes on."""
        yield

    def finished(self, records: list[dict[str, Any]]) -> None:
        """Cells that finished together have been recorded."""
        self.done += len(records)
        self.failed += sum(record["status"] == "failed" for record in records)
        self.show(records)

    def show(self, records: list[dict[str, Any]]) -> None:
        """Tell of recorded cells."""

    def time_left(self) -> str:
        """A guess, once there is something to guess from."""
        fresh = self.done - self.already
        if not fresh:
            return "time left unknown"
        seconds = (time.monotonic() - self.started) / fresh * (self.total - self.done)
        if seconds < 90:
            return f"about {seconds:.0f} s left"
        if seconds < 5400:
            return f"about {seconds / 60:.0f} min left"
        return f"about {seconds / 3600:.1f} h left"

    def running(self) -> list[str]:
        """What the workers last reported, one line each."""
        lines = []
        for path in sorted(self.beats.glob("*.json")):
            try:
                beat = json.loads(bytes_of(path, _MOST_BYTES))
            except (OSError, ValueError):  # just gone, or just being written
                continue
            lines.append(_beat(beat))
        return lines


def _beat(beat: dict[str, Any]) -> str:
    text = f"{beat['label']}: epoch {beat['epoch']}"
    if "training" in beat:
        text += f", {beat['training']} still learning"
    for rule, value in beat.get("validation", {}).items():
        text += f", {rule} {value:.4g}"
    return text


class PlainProgress(Progress):
    """A line when cells are recorded, at most one per second; for logs and pipes."""

    def __init__(self) -> None:
        self._last = 0.0

    @contextmanager
    def showing(self) -> Iterator[None]:
        already = f", {self.already} of them recorded already" if self.already else ""
        what = f"{self.total} cells, each a treatment with a seed{already}"
        print(f"{self.name}: {what}", file=sys.stderr, flush=True)
        yield

    def show(self, records: list[dict[str, Any]]) -> None:
        now = time.monotonic()
        for record in records:
            if record["status"] == "failed":
                print(f"{record['cell']} failed: {record['error']}", file=sys.stderr, flush=True)
        if now - self._last >= 1 or self.done == self.total:
            self._last = now
            line = f"{self.name}: {self.done} of {self.total} cells, {self.time_left()}"
            print(line, file=sys.stderr, flush=True)


class LiveProgress(Progress):
    """A bar, the time left, and what each worker is doing, on the terminal `stream`."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    @contextmanager
    def showing(self) -> Iterator[None]:
        from rich.console import Console
        from rich.live import Live

        with Live(self, console=Console(file=self._stream), refresh_per_second=4, transient=True):
            yield

    def __rich__(self) -> Any:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        row = Table.grid(padding=(0, 1))
        failures = f", {self.failed} failed" if self.failed else ""
        row.add_row(
            Text(_printable(self.name), style="bold"),
            ProgressBar(total=self.total, completed=self.done, width=30),
            f"{self.done} of {self.total} cells{failures}, {self.time_left()}",
        )
        return Group(
            row, *(Text(f"  {_printable(line)}", style="dim") for line in self.running()[:8])
        )


def _printable(text: str) -> str:
    """Without what a terminal would obey: what draws on it is not looked at again."""
    return "".join(character for character in text if character.isprintable())[:200]


def progress_for(stream: Any = None) -> Progress:
    """The live display where somebody looks, plain lines where nobody does."""
    stream = sys.stderr if stream is None else stream
    return LiveProgress(stream) if stream.isatty() else PlainProgress()
