"""Random arguments to the command line: an answer, or one sentence and exit code 2."""

import contextlib
import io
import os
import random
from pathlib import Path

from simloss.cli import main

from .fuzz import time_limit

_VERBS = ("compare", "reproduce", "report", "similarity", "run", "train", "predict", "tune", "")
_KINDS = ("order", "words", "tree", "values", "load", "grid", "geo", "cost", "graph")
_OPTIONS = (
    *("--r", "--loss", "--seeds", "--epochs", "--out", "--resume", "--workers", "--data", "--help"),
    *("--target", "--decision", "--classes", "--names", "--similarity", "--value", "--figure"),
    *(
        "--abstain",
        "--all",
        "--bins",
        "--class-order",
        "--cluster",
        "--device",
        "--net",
        "--version",
    ),
)
_VALUES = (
    *("0.5", "-1", "nan", "1e999", "0", "", " ", "x", "=1+1", "../../x", "\0", "é", "a" * 5000),
    *("simloss", "argmax", "table.csv", "config.yaml", "missing.csv", "folder", "s.npz", "[", "{}"),
    *("99999999999999999999", "--", "-", "*", "%s", "{0}", "order", "S,M,L", "\udcff", "\n"),
)
# Commands that would train for minutes, listen or ask are left out.
_TOO_LONG = {"compare", "reproduce", "tune", "train", "run"}


def arguments(folder: Path, count: int, seed: int = 4) -> tuple[int, list[str]]:
    """The number of command lines tried, and the findings: what was typed, and the result."""
    (folder / "folder").mkdir(parents=True, exist_ok=True)
    (folder / "table.csv").write_text("a,size\n1,S\n2,M\n3,L\n")
    (folder / "config.yaml").write_text("name: x\n")
    (folder / "s.npz").write_bytes(b"PK")
    chance, findings, before = random.Random(seed), [], os.getcwd()
    os.chdir(folder)
    try:
        for _ in range(count):
            typed = _typed(chance)
            problem = _problem(typed)
            if problem:
                findings.append(f"{typed!r}: {problem}")
    finally:
        os.chdir(before)
    return count, findings


def _typed(chance: random.Random) -> list[str]:
    words = [chance.choice(_VERBS)]
    if words[0] == "similarity":
        words.append(chance.choice(_KINDS))
    kinds = (_OPTIONS, _VALUES, _VALUES)
    words += [chance.choice(chance.choice(kinds)) for _ in range(chance.randint(0, 5))]
    if words[0] in _TOO_LONG:
        # With a mistake somewhere, so that nothing trains: this tests how it is refused.
        words += ["--no-such-option", chance.choice(_VALUES)]
    return [word for word in words if word]


def _problem(typed: list[str]) -> str | None:
    out, error = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error), time_limit():
            main(typed)
    except SystemExit as ending:
        said = error.getvalue()
        if ending.code in (0, None):
            return None
        if ending.code != 2 or not said.startswith("simloss: ") or said.count("\n") != 1:
            return f"exit code {ending.code}: {said[-300:]!r}"
    except BaseException as escaped:
        return f"{type(escaped).__name__}: {escaped}"
    return None
