"""Time and memory of turning many classes into sparse rows.

    python -m benchmarks.sparse_rows [--classes 100000] [--dimensions 100] [--top-k 50]

All of S would be 40 GB at 100,000 classes; the bound is 4 GB resident.
"""

import argparse
import resource
import time

import numpy as np
import torch

from simloss.similarity import Tree, embedding, function, sparse, tree


def clustered_vectors(classes: int, dimensions: int) -> torch.Tensor:
    """Vectors around a thousand centres, as word vectors cluster around topics, (C, D)."""
    generator = torch.Generator().manual_seed(0)
    centres = torch.randn(1000, dimensions, generator=generator)
    own = torch.randint(1000, (classes,), generator=generator)
    return centres[own] + torch.randn(classes, dimensions, generator=generator)


def taxonomy(classes: int) -> Tree:
    """Ten children per node."""
    return Tree.from_paths([["root", *str(i).zfill(6)[:-1], str(i)] for i in range(classes)])


def measure(what: str, build) -> None:
    """Print seconds on the clock and of processor time, and the largest resident memory so far."""
    start, used = time.perf_counter(), time.process_time()
    made = build()
    seconds, used = time.perf_counter() - start, time.process_time() - used
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    entries = made.tensors["value"].numel()
    print(
        f"{what:30} {seconds:6.0f} s ({used:6.0f} s CPU)  {entries:11,} entries {peak:.2f} GB",
        flush=True,
    )


def main() -> None:
    """Measure embedding, tree and function."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--classes", type=int, default=100_000)
    parser.add_argument("--dimensions", type=int, default=100)
    parser.add_argument("--top-k", type=int, default=50)
    options = parser.parse_args()
    count, k = options.classes, options.top_k
    print(f"{count:,} classes, {torch.get_num_threads()} threads")
    vectors = clustered_vectors(count, options.dimensions)
    measure(f"embedding, top {k}", lambda: sparse(embedding(vectors), top_k=k))
    measure("embedding, above 0.6", lambda: sparse(embedding(vectors, lower_bound=0.6)))
    measure(f"tree, top {k}", lambda: sparse(tree(taxonomy(count)), top_k=k))
    measure(
        f"function on arrays, top {k}",
        lambda: function(
            np.arange(count, dtype=np.float32), lambda a, b: np.exp(-abs(a - b) / 10), top_k=k
        ),
    )


if __name__ == "__main__":
    main()
