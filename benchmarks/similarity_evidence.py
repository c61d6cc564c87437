"""The similarities of real classes: CIFAR-100's names, UTKFace's ages, an unequal cost.

    python -m benchmarks.similarity_evidence [../shared/data]

Prints the evidence. Without the shared data it says so and stops.
"""

import json
import re
import sys
import tarfile
import time
from pathlib import Path

import torch
from scipy.stats import spearmanr

from simloss.similarity import Similarity, cost, order, words

# Names in the paper's experiment of which we do not have the paper's vectors.
LACKING = (
    *("beaver", "flatfish", "hamster", "lawnmower", "otter"),
    *("porcupine", "possum", "skunk", "snail", "willow"),
)
TEN = (
    "apple",
    "bicycle",
    "bowl",
    "dolphin",
    "maple_tree",
    "motorcycle",
    "otter",
    "rose",
    "sea",
    "woman",
)


def cosines(similarity: Similarity) -> torch.Tensor:
    """Of all pairs of classes, not clipped, (C, C)."""
    vectors = similarity.tensors["vectors"].double()
    return vectors @ vectors.T


def nearest(names: list[str]) -> None:
    """The five nearest names of ten classes."""
    print("\n## The five nearest of CIFAR-100's 100 names, shipped vectors, cosine")
    similarity = words(names)
    dense = similarity.to_dense().fill_diagonal_(-1)
    for name in TEN:
        value, place = dense[names.index(name)].topk(5)
        near = ", ".join(f"{names[i]} {v:.2f}" for v, i in zip(value, place, strict=True))
        print(f"{name:12} {near}")


def against_full_precision(names: list[str], source: Path) -> None:
    """What the shipped vectors lose."""
    full, shipped = cosines(words(names, vectors=source)), cosines(words(names))
    upper = torch.triu(torch.ones_like(full), diagonal=1) > 0
    lost = (full - shipped).abs()[upper]
    print("\n## Shipped vectors against full precision, 4,950 pairs of CIFAR-100 names")
    print(f"cosine differs by {lost.mean():.5f} on average, {lost.max():.5f} at most")


def against_google_news(source: Path) -> None:
    """Rank correlation with the paper's vectors on the names, as it spells them."""
    names = [line.split(" ", 1)[0] for line in source.read_text().splitlines()[1:]]
    ours, theirs = cosines(words(names)), cosines(words(names, vectors=source))
    upper = torch.triu(torch.ones_like(ours), diagonal=1) > 0
    rank = spearmanr(ours[upper].numpy(), theirs[upper].numpy())
    print(f"\n## GloVe (shipped) against GoogleNews word2vec, {len(names)} names")
    print(f"Spearman's rank correlation of the {int(upper.sum()):,} cosines: {rank.statistic:.3f}")
    same = ours.fill_diagonal_(-1).argmax(1) == theirs.fill_diagonal_(-1).argmax(1)
    print(f"the same nearest class for {int(same.sum())} of {len(names)} names")
    cosine = theirs[upper]
    print("l of GoogleNews, pairs above it, the l of GloVe at which the classes are as similar:")
    candidates = [step / 100 for step in range(100)]
    strengths = [_strength(ours[upper], each, len(names)) for each in candidates]
    for bound in (step / 10 for step in range(10)):
        wanted, pairs = _strength(cosine, bound, len(names)), int((cosine > bound).sum())
        best = min(candidates, key=lambda each: abs(strengths[candidates.index(each)] - wanted))
        others = f"the others sum up to {wanted:.3f} per class"
        print(f"{bound:.1f} {pairs:5,} {best if pairs else '-':>5} ({others})")
    print(f"the highest cosine is {cosine.max():.3f}")
    with_lacking = cosines(words([*names, *LACKING])).fill_diagonal_(-1)[len(names) :]
    print(f"GloVe's highest of the {len(LACKING)} names we lack is {with_lacking.max():.3f}")


def _strength(cosine: torch.Tensor, lower_bound: float, count: int) -> float:
    """The sum of a row of S without its diagonal, on average over the classes."""
    return float(((cosine - lower_bound) / (1 - lower_bound)).clamp(min=0).sum() * 2 / count)


def ages(archive: Path) -> list[int]:
    """How many of UTKFace's images show each age from 1 to 90."""
    counts = [0] * 90
    with tarfile.open(archive) as file:
        for member in file:
            age = re.match(r"(\d+)_", Path(member.name).name)
            if age and 1 <= int(age[1]) <= 90:
                counts[int(age[1]) - 1] += 1
    return counts


def diagnosed(title: str, similarity: Similarity, **options: object) -> None:
    """Print a diagnosis and the time it took."""
    start = time.process_time()
    found = similarity.diagnose(**options)
    print(f"\n## {title} ({time.process_time() - start:.1f} s CPU)\n{found}")


def main() -> None:
    """Print everything."""
    data = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2] / "shared/data")
    if not data.is_dir():
        print(f"Nothing to show: the shared data is not in {data}.")
        return
    names = json.loads((data / "cifar100/names.json").read_text())["fine"]
    nearest(names)
    against_full_precision(names, data / "word_vectors/glove-100d-60k.txt.gz")
    against_google_news(data / "word_vectors/googlenews-300d-cifar100.txt")
    counts = ages(data / "UTKFace.tar.gz")
    by_age = order(90, r=0.8, names=[str(age) for age in range(1, 91)])
    for width in (1.0, 4.0, 8.0):
        title = f"Order r = .8, 90 ages, UTKFace's {sum(counts):,} ages as prior, {width:g} wide"
        diagnosed(title, by_age, prior=counts, uncertainty=width)
    for kernel in ("cosine", "angle"):
        for bound in (0.0, 0.3, 0.6, 0.9):
            title = f"CIFAR-100 words, {kernel} kernel, l = {bound}"
            diagnosed(title, words(names, bound, kernel))
    unequal = cost([[0, 10, 4], [1, 0, 1], [2, 3, 0]], 5, names=["ill", "healthy", "unclear"])
    diagnosed("An asymmetric cost", unequal)


if __name__ == "__main__":
    main()
