"""The public names and their signatures, one per line; `python -m torture.public_api` records them.

A change can be recorded only together with a change of the changelog's first section: the record
begins with its digest.
"""

import hashlib
import inspect
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

RECORD = Path(__file__).parents[1] / "tests" / "trust" / "public_api.txt"
CHANGELOG = Path(__file__).parents[1] / "CHANGELOG.md"
MODULES = ("", "similarity", "loss", "decision", "calibration", "metrics", "statistics", "data")
# Verbs whose options people type.
VERBS = ("compare", "reproduce", "report", "run", "train", "predict", "tune")


def lines() -> list[str]:
    """Every public name with its signature, sorted."""
    found = set()
    for module in (*MODULES, "report", "integrations.sklearn"):
        found |= set(_of_module(f"simloss.{module}".rstrip(".")))
    for verb in VERBS:
        function = getattr(import_module(f"simloss.cli.{verb}"), verb)
        found.add(f"$ simloss {verb}{_signature(function, names_only=True)}")
    return sorted(found)


def _of_module(name: str) -> Iterator[str]:
    module = import_module(name)
    for public in getattr(module, "__all__", None) or _written_here(module):
        value = getattr(module, public)
        if inspect.ismodule(value):
            yield f"{name}.{public}"
        elif inspect.isclass(value):
            yield f"{name}.{public}{_signature(value)}"
            yield from _of_class(f"{name}.{public}", value)
        elif callable(value):
            yield f"{name}.{public}{_signature(value)}"
        else:
            yield f"{name}.{public}: {type(value).__name__}"


def _written_here(module: Any) -> list[str]:
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    ]


def _of_class(name: str, kind: type) -> Iterator[str]:
    for attribute, value in vars(kind).items():
        if attribute.startswith("_") or not (callable(value) or _is_wrapped(value)):
            continue
        inner = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
        mark = ": property" if isinstance(value, property) else _signature(inner)
        yield f"{name}.{attribute}{mark}"


def _is_wrapped(value: Any) -> bool:
    return isinstance(value, (property, classmethod, staticmethod))


def _signature(value: Any, *, names_only: bool = False) -> str:
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return "(...)"
    shown, is_keyword = [], False
    for each in parameters:
        if each.kind is each.KEYWORD_ONLY and not is_keyword:
            shown.append("*")
        is_keyword = is_keyword or each.kind in (each.KEYWORD_ONLY, each.VAR_POSITIONAL)
        stars = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        plain = isinstance(each.default, (str, int, float, bool, type(None), tuple))
        default = f"={each.default!r}" if each.default is not each.empty and plain else ""
        if each.default is not each.empty and not plain:
            default = "=..."
        shown.append(f"{stars}{each.name}{'' if names_only else default}")
    return f"({', '.join(shown)})"


def unreleased() -> str:
    """The changelog's first section."""
    return CHANGELOG.read_text(encoding="utf-8").split("\n## ")[1]


def digest() -> str:
    """Of that section."""
    return hashlib.sha256(unreleased().encode()).hexdigest()[:16]


def recorded() -> tuple[str, list[str]]:
    """The digest and the lines as they were recorded."""
    first, *rest = RECORD.read_text(encoding="utf-8").splitlines()
    return first.removeprefix("# changelog "), rest


def main() -> None:
    """Record what is public now, if the changelog says something new."""
    now = lines()
    if RECORD.exists():
        known_digest, known = recorded()
        for line in sorted({*known} ^ {*now}):
            print(("- " if line in known else "+ ") + line)
        if known == now:
            return print("Nothing has changed.")
        if known_digest == digest():
            sys.exit("Say in CHANGELOG.md what has changed, then record it.")
    RECORD.write_text("\n".join([f"# changelog {digest()}", *now]) + "\n", encoding="utf-8")
    print(f"Recorded: {len(now)} lines in {RECORD.name}")


if __name__ == "__main__":
    main()
