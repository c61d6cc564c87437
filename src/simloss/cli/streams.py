"""What commands say, whatever is at the other end: a pipe that closes, a full disk, old encodings.

Names out of files are shown as text: what a terminal would take for a command is spelled out.
"""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

_LONGEST_LINE = 4000
# Control characters but tabs and "\n", and the marks that turn the direction of writing.
_COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
# A word beyond any name; of a path or a list each part counts.
_LONG_WORD = re.compile(r"([^\s,/]{60})[^\s,/]{140,}")
# For terminals that know fewer characters than we use.
_PLAIN = str.maketrans(
    {"−": "-", "–": "-", "→": ">", "…": "...", "≤": "<=", "≥": ">=", "κ": "kappa"}
)


def as_shown(text: str) -> str:
    r"""Without what a terminal would obey, no name without end and no line without end.

    Example:
        >>> as_shown("\x1b[31mred")
        '\\x1b[31mred'
    """
    visible = _COMMANDS.sub(lambda found: ascii(found[0])[1:-1], text)
    visible = _LONG_WORD.sub(r"\1…", visible)
    if len(visible) <= _LONGEST_LINE:
        return visible
    return "".join(_cut(line) for line in visible.splitlines(keepends=True))


def _cut(line: str) -> str:
    if len(line) <= _LONGEST_LINE:
        return line
    end = "\n" if line.endswith("\n") else ""
    return f"{line[:_LONGEST_LINE]} … ({len(line) - _LONGEST_LINE:,} more characters){end}"


class Stream:
    """A stream that ends no run: where it cannot be written to, nothing more is said there.

    Attributes:
        stream: what it writes to; None where it was closed before we began.
        error: why nothing more is said; None where all went well, or nobody listens any more.
    """

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.error: OSError | None = None

    def write(self, text: str) -> int:
        shown = as_shown(text)
        encoding = getattr(self.stream, "encoding", None) or "utf-8"
        try:
            shown.encode(encoding)
        except UnicodeEncodeError:
            shown = shown.translate(_PLAIN).encode(encoding, "backslashreplace").decode(encoding)
        self._tried("write", shown)
        return len(text)

    def flush(self) -> None:
        self._tried("flush")

    def isatty(self) -> bool:
        return self.stream is not None and bool(self.stream.isatty())

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def _tried(self, method: str, *arguments: str) -> None:
        if self.stream is None:
            return
        try:
            getattr(self.stream, method)(*arguments)
        except OSError as error:
            if not isinstance(error, BrokenPipeError):  # the reader, `head` say, has seen enough
                self.error = error
            # What it still holds would be tried again when Python ends.
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), self.stream.fileno())
            self.stream = None


@contextmanager
def spoken() -> Iterator[tuple[Stream, Stream]]:
    """Standard output and standard error as such streams."""
    before = sys.stdout, sys.stderr
    out, err = Stream(sys.stdout), Stream(sys.stderr)
    sys.stdout, sys.stderr = out, err
    try:
        yield out, err
    finally:
        out.flush()
        err.flush()
        sys.stdout, sys.stderr = before


def terminal(stream: Any) -> Any:
    """The stream itself, for what draws on a terminal."""
    return stream.stream if isinstance(stream, Stream) else stream
