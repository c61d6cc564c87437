"""What is said where a package is missing: one sentence that names the extra."""

import importlib
import sys

import pytest


@pytest.mark.parametrize("package", ["keras", "lightning"])
def test_a_missing_package(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, f"simloss.integrations.{package}", raising=False)
    message = f"This needs {package}, .* `pip install 'simloss.{package}.'` installs it.$"
    with pytest.raises(ModuleNotFoundError, match=message):
        importlib.import_module(f"simloss.integrations.{package}")


def test_a_package_that_misses_something_of_its_own(tmp_path, monkeypatch):
    """Keras without its backend, say, is not a missing Keras."""
    (tmp_path / "keras.py").write_text("import a_backend_that_is_missing")
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.split(".")[0] == "keras"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "simloss.integrations.keras", raising=False)
    with pytest.raises(ModuleNotFoundError, match="No module named 'a_backend_that_is_missing'"):
        importlib.import_module("simloss.integrations.keras")


def test_transformers_need_not_be_there(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    monkeypatch.delitem(sys.modules, "simloss.integrations.transformers", raising=False)
    module = importlib.import_module("simloss.integrations.transformers")
    assert module.trainer_loss([[1, 0.5], [0.5, 1]]).module.similarity.num_classes == 2
