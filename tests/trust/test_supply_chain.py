"""What comes with an installation, and what it does by itself: little, and nothing."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
WATCH = """
import sys
seen = []
def hook(event, arguments):
    if event.startswith(("socket.", "subprocess.", "os.system", "os.exec", "os.posix_spawn",
                         "os.fork", "os.remove", "os.rename", "os.mkdir", "shutil.")):
        seen.append((event, str(arguments)[:80]))
    if event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
        seen.append((event, str(arguments)[:80]))
sys.addaudithook(hook)
{code}
print(seen)
"""


def seen(code):
    """What Python's own audit saw: sockets, processes, files written."""
    result = subprocess.run(
        [sys.executable, "-B", "-c", WATCH.format(code=code)], capture_output=True, text=True
    )
    return result.stdout.splitlines()[-1], result.stderr


def test_import_opens_no_socket_starts_no_process_writes_no_file():
    assert seen("import simloss; dir(simloss)")[0] == "[]"


def test_nor_does_the_help():
    code = "from simloss.cli import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    pass"
    assert seen(code)[0] == "[]"


def test_nor_does_a_loss():
    """Importing torch is another matter; what we add to it is nothing."""
    code = (
        "import torch\nseen.clear()\nimport simloss\n"
        "S = simloss.similarity.order(3, 0.5)\n"
        "z = torch.zeros(1, 3, requires_grad=True)\n"
        "simloss.SimLoss(S)(z, torch.tensor([1])).backward()"
    )
    assert seen(code)[0] == "[]"


def test_the_watch_sees():
    found, _ = seen("import socket, os\nsocket.socket().close()\nopen(os.devnull, 'w').close()")
    assert "socket.__new__" in found
    assert "open" in found


@pytest.mark.skipif(not PROJECT.exists(), reason="needs the project's pyproject.toml")
def test_the_core_depends_on_torch_and_numpy_alone():
    project = tomllib.loads(PROJECT.read_text())["project"]
    names = [each.split(">")[0].split("=")[0] for each in project["dependencies"]]
    assert names == ["torch", "numpy"]
    listed = {
        "cli": {
            *("scipy", "scikit-learn", "pandas", "pillow", "cyclopts", "pyyaml", "jinja2"),
            *("plotly", "safetensors", "lightgbm", "pyarrow"),
        },
    }
    for extra, known in listed.items():
        found = {each.split(">")[0] for each in project["optional-dependencies"][extra]}
        assert found == known
    assert all(">" in each for group in project["optional-dependencies"].values() for each in group)
