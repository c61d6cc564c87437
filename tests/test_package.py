"""The face of the package, and which way its imports point."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import simloss

SOURCE = Path(simloss.__file__).parent

# Each part may import what stands before it, and nothing that stands after.
DOWNHILL = (
    "_checks",
    "_threads",
    "_disk",
    "_imports",
    "_schema",
    "similarity",
    "loss",
    "decision",
    "calibration",
    "metrics",
    "statistics",
    "data",
    "experiment",
    "report",
    "integrations",
    "cli",
)


def imported_parts(path):
    """The parts of simloss that a file imports, also inside functions."""
    package = path.relative_to(SOURCE).with_suffix("").parts
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level]
            full = (*base, *(node.module.split(".") if node.module else ()))
            yield from [full[0]] if full else [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("simloss."):
            yield node.module.split(".")[1]


def test_imports_point_downhill():
    for path in SOURCE.rglob("*.py"):
        part = path.relative_to(SOURCE).with_suffix("").parts[0]
        if part in ("__init__", "__main__"):
            continue
        for other in imported_parts(path):
            if other != "__version__":
                assert DOWNHILL.index(other) <= DOWNHILL.index(part), f"{path} imports {other}"


def test_no_folder_for_odds_and_ends():
    names = {path.stem for path in SOURCE.rglob("*")}
    assert not names & {"utils", "util", "core", "common", "helpers", "misc"}


@pytest.mark.parametrize("name", simloss.__all__)
def test_every_public_name_is_there_and_documented(name):
    assert getattr(simloss, name).__doc__


def test_dir_and_unknown_names():
    assert set(simloss.__all__) < set(dir(simloss))
    with pytest.raises(AttributeError, match="module 'simloss' has no attribute 'SimLos'"):
        _ = simloss.SimLos


def test_import_loads_nothing_heavy_and_does_nothing():
    code = (
        "import sys, socket, subprocess\n"
        "def refuse(*a, **k): raise AssertionError('import must do nothing')\n"
        "socket.socket = subprocess.Popen = refuse\n"
        "import simloss\n"
        "heavy = {'torch', 'numpy', 'scipy', 'pandas', 'sklearn', 'plotly', 'PIL'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.strip() == "[]", result.stderr


def test_the_losses_need_only_torch_and_numpy():
    code = (
        "import sys, simloss, torch\n"
        "simloss.SimLoss(simloss.similarity.order(3, 0.5))(torch.zeros(1, 3), torch.tensor([1]))\n"
        "simloss.data.diamonds()\n"
        "extra = {'scipy', 'pandas', 'sklearn', 'plotly', 'PIL', 'yaml', 'jinja2', 'cyclopts'}\n"
        "print(sorted(extra & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.strip() == "[]", result.stderr
