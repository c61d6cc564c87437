"""The word vectors shipped with the package: GloVe, 100 dimensions, one byte per number.

One npz file (made by ``tools/pack_vectors.py``): "words", all words in one array of bytes;
"scale", one number per word; and the codes in blocks of words, so that a few words can be read
without unpacking the rest. A vector is its codes times its scale.
"""

from collections.abc import Iterable
from importlib.resources import as_file, files
from typing import Any

import numpy as np

Vector = np.ndarray[Any, np.dtype[np.float32]]

BLOCK = 256
_FILE = "glove-100d.npz"


class ShippedVectors:
    """60,002 frequent English words. GloVe by Pennington, Socher and Manning; public domain."""

    name = "the shipped vectors"

    def lookup(self, words: set[str]) -> dict[str, Vector]:
        """The vectors of those words that have one."""
        with as_file(files(__package__).joinpath("vectors", _FILE)) as path, np.load(path) as file:
            at = {word: i for i, word in enumerate(_words(file)) if word in words}
            blocks = {i // BLOCK: file[f"codes{i // BLOCK}"] for i in at.values()}
            scale = file["scale"].astype(np.float32)
        return {word: blocks[i // BLOCK][i % BLOCK] * scale[i] for word, i in at.items()}

    def vocabulary(self) -> Iterable[str]:
        """All words, most frequent first."""
        with as_file(files(__package__).joinpath("vectors", _FILE)) as path, np.load(path) as file:
            return _words(file)


def packed(words: list[str], vectors: Vector, step: float) -> dict[str, Any]:
    """The arrays of the file, from words and their vectors (V, D).

    A code is a whole multiple of `step` times the vector's length, within a signed byte.
    """
    norm = np.linalg.norm(vectors, axis=1)  # (V)
    scale = np.maximum(step * norm, np.abs(vectors).max(1) / 127).astype(np.float16)
    # A scale that was rounded down must not push the largest number past 127.
    codes = np.rint(vectors / scale.astype(np.float32)[:, None]).clip(-127, 127).astype(np.int8)
    text = np.frombuffer("\n".join(words).encode(), dtype=np.uint8)
    blocks = {
        f"codes{i}": codes[i * BLOCK : (i + 1) * BLOCK] for i in range(-(-len(codes) // BLOCK))
    }
    return {"words": text, "scale": scale, **blocks}


def _words(file: Any) -> list[str]:
    return file["words"].tobytes().decode().split("\n")
