"""Features on disk: a folder of pieces, each complete or absent.

Several processes may fill one folder at once: every process makes the same pieces, and the last to
finish one wins. A crash leaves the complete pieces, and the next start continues from there.
"""

import hashlib
import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from ..._disk import arrays_of, own_folder, whole_file
from ..._schema import fits
from ..image_cache import cache_folder
from ..images import Cache
from .frozen import Features

_FORMAT = 1  # increase it when what is written under the same key changes


# Of pictures: names with their digests, and with why they could not be read.
_Notes = dict[str, list[tuple[str, str]]] | None


class Pieces:
    """The pieces of one encoding, by number."""

    def __init__(self, cache: Cache, *what: str) -> None:
        self.folder: Path | None = None
        if cache is not False:
            key = hashlib.sha256(repr((_FORMAT, *what)).encode("utf-8", "surrogatepass"))
            folder = cache_folder(None if cache is True else cache)
            self.folder = folder / f"features-{key.hexdigest()[:24]}"

    def get(self, number: int) -> tuple[Features, Any] | None:
        """A piece's features and the notes beside them; None if it is missing or damaged."""
        if self.folder is None:
            return None
        try:
            arrays = arrays_of(self._path(number))
            features = arrays["features"].astype(np.float32)
            notes = json.loads(arrays["notes"].tobytes())
            is_sound = features.ndim == 2 and bool(np.isfinite(features).all())
            return (features, notes) if is_sound and fits(notes, _Notes) else None
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def keep(self, number: int, features: Features, notes: Any) -> None:
        """Write a piece; if that fails, the next start makes it again."""
        if self.folder is None:
            return
        content = io.BytesIO()
        told = np.frombuffer(json.dumps(notes).encode(), np.uint8)
        np.savez(content, features=features, notes=told)
        try:
            own_folder(self.folder)
            with whole_file(self._path(number)) as file:
                file.write(content.getvalue())
        except (OSError, ValueError) as error:
            print(f"Features are not kept in '{self.folder}': {error}.", file=sys.stderr)
            self.folder = None

    def _path(self, number: int) -> Path:
        assert self.folder is not None
        return self.folder / f"{number:06d}.npz"
