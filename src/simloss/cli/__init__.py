"""The command line: one verb is one file, and one call.

`main` turns a user's mistake into one sentence and exit code 2. To add a verb, write its function
in a file of its own and add a line to `_VERBS`; the file is imported when the verb is used, so that
`simloss --help` never waits for torch.
"""

import os
import re
import sys
from typing import TYPE_CHECKING, NoReturn

from .memory import keep_memory
from .stopping import GIVEN
from .streams import spoken, terminal

if TYPE_CHECKING:
    from cyclopts import App

# verb -> what `simloss --help` says of it. Its function, or an App of several, is
# `simloss.cli.VERB:VERB`.
_VERBS = {
    "compare": "Train with and without similarity, and say whether it helps.",
    "reproduce": "Rerun an experiment of the paper.",
    "report": "Say what a run found: a verdict, tables, a page of figures.",
    "similarity": "Say what you know about your classes, and see what it means.",
    "run": "Run the experiment that a config.yaml describes.",
    "train": "Train one net and save it.",
    "decide": "Answer at the lowest cost from any model's probabilities, and say what it is worth.",
    "predict": "Answer for new examples with a saved net.",
    "tune": "Find the best loss and parameter with few epochs, then put it to the test.",
}


def app(asked: str | None = None) -> "App":
    """The command-line application; the verb that is asked for has its whole docstring as help."""
    from cyclopts import App
    from rich.console import Console

    from .. import __version__

    made = App(
        name="simloss",
        help="For classifiers whose mistakes are not equally bad.",
        version=__version__,
        help_format="markdown",
        suppress_keyboard_interrupt=False,  # which would end without a word
        console=Console(file=terminal(sys.stdout)),
    )
    for verb, about in _VERBS.items():
        made.command(f"simloss.cli.{verb}:{verb}", name=verb, help=None if verb == asked else about)
    return made


def main(arguments: list[str] | None = None) -> None:
    """Run a command; a mistake of the user's is one sentence on stderr and exit code 2.

    With the environment variable SIMLOSS_TRACEBACK set, the traceback is shown instead.
    """
    keep_memory()
    GIVEN.set(sys.argv[1:] if arguments is None else arguments)
    with spoken() as (out, _):
        try:
            _run(arguments)
        except KeyboardInterrupt:
            _fail("stopped.", 130)
        out.flush()
        if out.error is not None:  # what was written to files is there
            _fail(f"standard output ends early: {_sentence(out.error)}")


def _run(arguments: list[str] | None) -> None:
    try:
        import cyclopts  # noqa: F401

        from .parameters import joined
    except ImportError:
        _fail("the command line needs its extra packages: pip install 'simloss[cli]'.")
    given = joined(sys.argv[1:] if arguments is None else arguments)
    try:
        app(next(iter(given), None))(
            given, exit_on_error=False, print_error=False, result_action="return_value"
        )
    except Exception as error:
        sentence = _sentence(error)
        if sentence is None or os.environ.get("SIMLOSS_TRACEBACK"):
            raise
        _fail(_as_typed(sentence, given))


def _as_typed(sentence: str, given: list[str]) -> str:
    """With `class_order`, the name in Python, as --class-order where that was typed."""
    typed = {each.partition("=")[0] for each in given}

    def option(name: re.Match[str]) -> str:
        flag = f"--{name[1].replace('_', '-')}"
        return f"`{flag}`" if flag in typed else name[0]

    return re.sub("`([a-z]+_[a-z_]+)`", option, sentence)


def _sentence(error: BaseException) -> str | None:
    """What is said of an error; None of a defect of ours."""
    from cyclopts import CycloptsError, UnusedCliTokensError

    if isinstance(error, UnusedCliTokensError):
        stray = repr((error.unused_tokens or [""])[0])
        return f"{stray} is one word too many; a value follows its option, as in --target NAME."
    said = str(error)
    if isinstance(error, MemoryError) or "tried to allocate" in said.lower():  # torch's words
        if any(name in said for name in ("CUDA", "MPS")):
            return "the GPU has too little memory for this; give --device cpu, or fewer examples."
        return (
            "this needs more memory than there is; give fewer classes or examples, "
            "or use a larger machine."
        )
    if isinstance(error, RecursionError):
        return "this must be nested less deeply, but it is deeper than can be followed."
    if isinstance(error, OSError) and error.strerror is not None:  # without the number
        where = f": {error.filename}" if error.filename is not None else ""
        return f"{error.strerror}{where}."
    ours = (CycloptsError, ValueError, TypeError, OSError, ModuleNotFoundError)
    return said if isinstance(error, ours) else None


def _fail(sentence: str, code: int = 2) -> NoReturn:
    print(f"simloss: {' '.join(sentence.split())}", file=sys.stderr)
    raise SystemExit(code)
