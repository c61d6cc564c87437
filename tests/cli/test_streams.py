"""Commands go on, and write their report, whatever becomes of what they say."""

import io
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from simloss.cli import main
from simloss.cli.streams import Stream, as_shown

RUN = ("compare", "t.csv", "--target", "y", "--seeds", "1", "--epochs", "1", "--r", "0.5")
ONE = ("--loss", "simloss", "--workers", "1", "--out", "run")


def table(names=("low", "mid", "high"), column="a"):
    random = np.random.default_rng(0)
    x = random.normal(size=(60, 2))
    label = np.digitize(x[:, 0] + 0.5 * random.normal(size=60), [-0.5, 0.5])
    return pd.DataFrame({column: x[:, 0], "b": x[:, 1], "y": np.array(names)[label]})


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table().to_csv("t.csv", index=False)
    return tmp_path


def shell(redirected, **environment):
    """The command with what a shell does to its streams; its exit code and what it says."""
    command = " ".join([sys.executable, "-m", "simloss", *RUN, *ONE])
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command} {redirected}"],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    return done.returncode, done.stdout, done.stderr


def test_a_reader_that_has_seen_enough_stops_nothing(folder):
    code, said, _ = shell("| head -1")
    assert code == 0
    assert said.startswith("t: 60 examples")
    assert (folder / "run" / "report.html").exists()


def test_a_terminal_of_fewer_characters(folder):
    code, said, _ = shell("", PYTHONIOENCODING="ascii")
    assert code == 0
    assert said.isascii()
    assert "Report: run/report.html" in said
    assert (folder / "run" / "report.html").exists()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such device here")
@pytest.mark.parametrize("error", ["2>/dev/full", "2>&-"])
def test_what_cannot_be_said_about_progress_stops_nothing(folder, error):
    code, said, _ = shell(error)
    assert code == 0
    assert "Report: run/report.html" in said


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such device here")
def test_a_verdict_that_cannot_be_written_is_said_and_the_report_is_there(folder):
    code, _, said = shell(">/dev/full")
    assert code == 2
    assert said.endswith("simloss: standard output ends early: No space left on device.\n")
    assert (folder / "run" / "report.html").exists()


def test_a_mistake_with_standard_error_closed_has_its_exit_code():
    command = [sys.executable, "-m", "simloss", "decide", "nothing.csv"]
    done = subprocess.run(["bash", "-c", f"{' '.join(command)} 2>&-"], capture_output=True)
    assert done.returncode == 2
    assert done.stdout == b""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("low\tmid\nhigh", "low\tmid\nhigh"),
        ("nothing helps\rit helps", "nothing helps\\rit helps"),
        ("\x1b[2J\x1b]0;title\x07", "\\x1b[2J\\x1b]0;title\\x07"),
        ("\x9b31m", "\\x9b31m"),
        ("gpj.\u202eexe", "gpj.\\u202eexe"),
        ("−0.5 → é", "−0.5 → é"),
        ("a " + "x" * 10_000 + " b", "a " + "x" * 60 + "… b"),
        ("x," * 5000, "x," * 2000 + " … (6,000 more characters)"),
        ("a\n" + "x/" * 2500 + "\nb", "a\n" + "x/" * 2000 + " … (1,001 more characters)\nb"),
    ],
)
def test_what_is_shown(text, shown):
    assert as_shown(text) == shown


def test_other_encodings():
    into = io.BytesIO()
    stream = Stream(io.TextIOWrapper(into, "ascii"))
    print("−0.5 → κ é", file=stream, flush=True)
    assert into.getvalue() == b"-0.5 > kappa \\xe9\n"


def test_names_out_of_files_command_no_terminal_and_are_shown_in_part(capsys):
    names = ("\x1b[31mlow", "mid", "h" * 10_000)
    table(names, "\x1b]0;owned\x07" + "c" * 10_000).to_csv("t.csv", index=False)
    main([*RUN, *ONE, "--class-order", ",".join(names)])
    said = capsys.readouterr()
    assert "\\x1b[31mlow < mid < hhh" in said.out
    for text in (said.out, said.err):
        assert "\x1b" not in text
        assert "h" * 200 not in text
        assert "c" * 200 not in text


def test_so_in_errors(capsys):
    table(column="\x1b[31m" + "c" * 10_000).to_csv("t.csv", index=False)
    with pytest.raises(SystemExit):
        main(["compare", "t.csv", "--target", "z"])
    said = capsys.readouterr().err
    assert "\x1b" not in said
    assert "c" * 200 not in said
