"""Settings of the tests of data."""

from collections.abc import Callable
from pathlib import Path

import pytest

from data.files import WRITERS, Files


@pytest.fixture(params=WRITERS)
def written(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Files], Path]:
    """Writes files as a folder or as one of the kinds of archive."""
    return lambda files: WRITERS[request.param](tmp_path / f"data.{request.param}", files)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test touches the user's cache."""
    monkeypatch.setenv("SIMLOSS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"
