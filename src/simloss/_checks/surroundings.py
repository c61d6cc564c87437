"""What must be there already: a package, a folder."""

from importlib import import_module
from pathlib import Path
from typing import Any


def in_existing_folder(name: str, path: Path, *sources: str | Path) -> None:
    """A file to write, in a folder that exists, which does not overwrite one of `sources`."""
    if not path.parent.is_dir():
        raise ValueError(
            f"`{name}` must be in an existing folder, but '{path.parent}' does not exist."
        )
    if path.resolve() in [Path(source).resolve() for source in sources]:
        raise ValueError(f"`{name}` must not overwrite '{path}', which is read.")


def installed(module: str, extra: str) -> Any:
    """The module of an optional dependency, or an error that says how to install it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or module).split(".")[0] != module.split(".")[0]:
            raise  # it is installed, but one of its own dependencies is missing
        package = {"sklearn": "scikit-learn"}.get(module.split(".")[0], module.split(".")[0])
        raise ModuleNotFoundError(
            f"This needs {package}, which is not installed; `pip install 'simloss[{extra}]'` "
            f"installs it.",
            name=error.name,
        ) from None
