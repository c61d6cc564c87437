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


def module(path):
    """A file by its place in the package: ("loss", "sim"); a folder's __init__ is the folder."""
    place = path.relative_to(SOURCE).with_suffix("").parts
    return place[:-1] if place[-1] == "__init__" else place


FILES = {module(path): path for path in SOURCE.rglob("*.py")}


def imports(path):
    """The files of simloss that a file imports, also inside functions, but not for types alone."""
    folder = path.relative_to(SOURCE).parent.parts
    tree = ast.parse(path.read_text())
    for_types = {
        node
        for test in ast.walk(tree)
        if isinstance(test, ast.If) and getattr(test.test, "id", "") == "TYPE_CHECKING"
        for node in ast.walk(test)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or node in for_types:
            continue
        if node.level:
            base = (*folder[: len(folder) - node.level + 1], *(node.module or "").split("."))
        elif (node.module or "").startswith("simloss"):
            base = tuple(node.module.split(".")[1:])
        else:
            continue
        base = tuple(part for part in base if part)
        for alias in node.names:
            found = (*base, alias.name) if (*base, alias.name) in FILES else base
            if found and found in FILES:
                yield found


IMPORTS = {name: {*imports(path)} - {name} for name, path in FILES.items()}


def test_imports_point_downhill():
    for name, others in IMPORTS.items():
        if name and name != ("__main__",):
            for other in others:
                up = DOWNHILL.index(other[0]) > DOWNHILL.index(name[0])
                assert not up, f"{name} imports {other}"


# The same inside the two large folders.
ROOMS = {
    "experiment": ("writing", "plan", "train", "rivals", "grid", "search", "saved"),
    "report": ("judge", "tables", "figures", "page", "decided", "write"),
}


@pytest.mark.parametrize("folder", ROOMS)
def test_rooms_point_downhill(folder):
    place = {name: at for at, name in enumerate(ROOMS[folder])}
    inside = {name: others for name, others in IMPORTS.items() if name[:1] == (folder,) != name}
    for name, others in inside.items():
        for other in others:
            if other[:1] == (folder,) and len(other) > 1:
                assert place[other[1]] <= place[name[1]], f"{name} imports {other}"


def test_no_two_files_import_each_other_by_whatever_detour():
    remaining = {name: {*others} for name, others in IMPORTS.items()}
    while done := [name for name, others in remaining.items() if not others]:
        for name in done:
            del remaining[name]
        for others in remaining.values():
            others.difference_update(done)
    assert not remaining, "\n".join(f"{name} -> {sorted(o)}" for name, o in remaining.items())


def room(name):
    """Where a file belongs on the page of the house: its folder; in the large ones, its room."""
    return "/".join(name[: 2 if name[0] in ROOMS else 1])


def test_the_page_shows_which_folder_imports_which():
    """A failure prints the table that docs/house.md should hold."""
    page = SOURCE.parents[1] / "docs" / "house.md"
    if not page.exists():
        pytest.skip("not in a clone")
    found = {}
    for name, others in IMPORTS.items():
        if name and name != ("__main__",):
            found.setdefault(room(name), set()).update(map(room, filter(None, others)))
    rooms = {part: [f"{part}/{each}" for each in ROOMS.get(part, ())] for part in DOWNHILL}
    order = [each for part, inside in rooms.items() for each in (*inside, part)]
    for part, others in found.items():
        assert all(order.index(other) <= order.index(part) for other in others), part
    rows = [
        f"| `{part}` | {', '.join(other for other in order if other in found[part] - {part})} |"
        for part in order
        if found[part] - {part}
    ]
    table = "\n".join(["| part | imports |", "|---|---|", *rows])
    print(table)
    assert table in page.read_text()


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
