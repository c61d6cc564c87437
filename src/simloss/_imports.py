"""The only place where a name becomes an import, and the rule for which names may.

Text from a file never decides what is imported: text from a model, a run folder, a record or a
cache is a plain `str`, which `imported` refuses. A `UsersName` is made only where the user
speaks: on the command line, in the configuration file named there, and in Python.
"""

import os
import re
import sys
from importlib import import_module
from typing import Any


class UsersName(str):
    """A name given by the user: a built-in word, a path, or `module:name` to import.

    It survives copies and pickles, so that worker processes have it too, and becomes plain text
    when it goes through JSON or YAML.
    """

    __slots__ = ()


def names_an_attribute(value: str) -> bool:
    """Whether it reads `module:attribute`: a user's own loss, similarity, data or net."""
    return re.fullmatch(r"[^\W\d][\w.]*:[^\W\d]\w*", value) is not None


def users_own(what: str, value: str) -> UsersName:
    """The same name, if it came from the user; else an error."""
    if isinstance(value, UsersName):
        return value
    raise ValueError(
        f"`{what}` {value!r} comes from a file, and a file may not say what is imported; "
        f"name it yourself if you trust it, in Python as simloss.experiment.UsersName({value!r})."
    )


def imported(what: str, name: UsersName) -> Any:
    """What `module:attribute` names; modules in the current folder are found too."""
    module, _, attribute = users_own(what, name).partition(":")
    here = os.getcwd()
    sys.path.append(here)  # last, so that a file never hides an installed module of the same name
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(
            f"`{what}` must name an importable module:name, but got {str(name)!r}: {error}."
        ) from None
    finally:
        sys.path.remove(here)
