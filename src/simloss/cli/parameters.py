"""How the commands take lists, switches and decision rules, and how --help groups the options."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from cyclopts import Group, Parameter, Token


def in_list(text: str) -> list[str]:
    """What a text with commas lists; a name that has a comma itself goes in double quotes.

    Example:
        >>> in_list('low, medium,"high, or so"')
        ['low', 'medium', 'high, or so']
    """
    return [each.strip() for each in next(csv.reader([text], skipinitialspace=True), [])]


def as_list(names: Iterable[str]) -> str:
    """The text that lists these names: the reverse of `in_list`."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(names)
    return text.getvalue()


def joined(arguments: Iterable[str]) -> list[str]:
    """The arguments, with a list that begins with a minus sign joined to its option.

    Example:
        >>> joined(["--class-order", "-1,0,1", "--seeds", "3"])
        ['--class-order=-1,0,1', '--seeds', '3']
    """
    made: list[str] = []
    for each in arguments:
        is_list = each.startswith("-") and not each.startswith("--") and "," in each
        if is_list and made and re.fullmatch("--[\\w-]+", made[-1]):
            made[-1] += f"={each}"
        else:
            made.append(each)
    return made


def _several(type_: Any, tokens: Sequence[Token]) -> list[Any]:
    """With commas, with spaces, or both."""
    (kind,) = get_args(type_)
    made = []
    for each in (each for token in tokens for each in in_list(token.value)):
        try:
            made.append(kind(each))
        except ValueError:
            raise ValueError(f"{each!r} is not a number.") from None
    return made


# At least one: none given is a slip.
Several = Parameter(consume_multiple=1, negative="", converter=_several)
Flag = Parameter(negative="", show_default=False)
Name, Names = Parameter(metavar="NAME"), Parameter(metavar="NAME...")
# Those of `decision.rules.RULES`, written out so that --help need not wait for torch.
Decision = Literal["argmax", "median", "mean", "tree", "similarity"]

_DATA, _SIMILARITY = Group("Data", sort_key=1), Group("Similarity and losses", sort_key=2)
_SEARCH, _TRAINING = Group("Search", sort_key=3), Group("Training", sort_key=4)
_OUTPUT = Group("Output", sort_key=5)
Data, Similarity = Parameter(group=_DATA), Parameter(group=_SIMILARITY)
Search, Training = Parameter(group=_SEARCH), Parameter(group=_TRAINING)
Output = Parameter(group=_OUTPUT)


def _told(group: Group, about: str) -> Parameter:
    return Parameter(group=group, help=about)


# What several commands take, described once.
Device = Annotated[str, _told(_TRAINING, "auto, cpu, cuda or mps.")]
Epochs = Annotated[
    int | None, _told(_TRAINING, "The most epochs a net may train; else until early stopping.")
]
Cluster = Annotated[
    str | None, _told(_TRAINING, "dask://host:port, to train on a Dask cluster instead.")
]
Processes = Annotated[
    int,
    _told(_TRAINING, "Processes with one thread each; 1 trains one net at a time on all cores."),
]
Papers = Annotated[Path | None, _told(_DATA, "The archive or folder of utkface, afad or cifar100.")]
Out = Annotated[
    Path | None,
    _told(_OUTPUT, "The run folder; else runs/NAME-DIGEST, which resumes an earlier run."),
]
Resume = Annotated[bool, Flag, _told(_OUTPUT, "Resume what is in --out.")]
