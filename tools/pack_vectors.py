"""Make the word vectors the package ships from a GloVe text file, and print what they lose.

python tools/pack_vectors.py ../shared/data/word_vectors/glove-100d-60k.txt.gz
"""

import argparse
import gzip
from pathlib import Path

import numpy as np

from simloss.similarity.shipped_vectors import ShippedVectors, packed

TARGET = Path(__file__).parents[1] / "src/simloss/similarity/vectors/glove-100d.npz"
STEP = 0.0035  # of a vector's length; a byte then reaches 0.44 of it, the rest get a larger step


def read(path: Path) -> tuple[list[str], np.ndarray]:
    """All words and their vectors (V, D)."""
    words, rows = [], []
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            word, *numbers = line.rstrip("\n").split(" ")
            words.append(word)
            rows.append(numbers)
    return words, np.array(rows, dtype=np.float32)


def differences(words: list[str], vectors: np.ndarray, pairs: int) -> np.ndarray:
    """|cosine difference| of random pairs among the 20,000 most frequent words."""
    kept = ShippedVectors().lookup(set(words))
    shipped = np.stack([kept[word] for word in words])
    a, b = np.random.default_rng(0).integers(0, min(20_000, len(words)), (2, pairs))
    return np.abs(cosine(vectors[a], vectors[b]) - cosine(shipped[a], shipped[b]))


def cosine(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The cosine of each pair of rows."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    return (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)


def main() -> None:
    """Write the file and print its size and loss."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path)
    words, vectors = read(parser.parse_args().source)
    np.savez_compressed(TARGET, **packed(words, vectors, STEP))
    lost = differences(words, vectors, 200_000)
    print(f"{len(words):,} words, {TARGET.stat().st_size:,} bytes")
    print(f"cosine of 200,000 pairs: off by {lost.mean():.5f} on average, {lost.max():.5f} at most")


if __name__ == "__main__":
    main()
