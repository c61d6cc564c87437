"""Writes tests/fixtures/formats-1: small files of every format, as this version writes them.

Run once per format, never to fix a test: old files must keep loading.
"""

import json
import os
import shutil
from pathlib import Path

import torch

from simloss import Tree, similarity
from simloss.experiment.grid.run import run
from simloss.experiment.grid.setup import Setup
from simloss.experiment.grid.store import RunFolder
from simloss.experiment.saved.model import SavedModel
from simloss.experiment.saved.train_one import train_and_save
from simloss.experiment.train.checkpoint import Checkpoint

from .grids import tables_of, tiny_grid, with_data_at
from .kills import run_with_states

FOLDER = Path(__file__).parents[1] / "tests" / "fixtures" / "formats-1"


def similarities() -> dict[str, similarity.Similarity]:
    """One of each structure."""
    generator = torch.Generator().manual_seed(0)
    return {
        "circular": similarity.circular(5, r=0.7),
        "embedding": similarity.embedding(torch.randn(4, 3, generator=generator)),
        "geo": similarity.geo([(0, 1), (2, 3)], 100, names=["here, there", 'a "b"']),
        "grid": similarity.grid(similarity.order(2, r=0.5), similarity.circular(3, r=0.2)),
        "matrix": similarity.matrix([[1, 0.25], [0.5, 1]], names=["ä", "=1+1"]),
        "order": similarity.order(4, r=0.1, names=["1", "2", "3", "4"]),
        "probability": similarity.order(4, r=0.1).normalized(),
        "sparse": similarity.sparse(similarity.order(6, r=0.3), top_k=2),
        "tree": similarity.tree(Tree.from_paths(["a/b", "a/c", "d"]), measure="path"),
        "values": similarity.values([0, 3, 4], 2),
    }


def main() -> None:
    """Write all of them."""
    torch.set_num_threads(1)
    if FOLDER.exists():
        raise SystemExit(f"{FOLDER} is there; formats of the past are not written again.")
    FOLDER.mkdir(parents=True)
    os.chdir(FOLDER)
    expected: dict[str, object] = {"similarities": _similarities()}
    config = with_data_at(tiny_grid(Path(), stacked=True, seeds=2, epochs=2), Path("sizes.csv"))
    run(Setup(config), RunFolder(Path("run")))
    shutil.rmtree("run/running", ignore_errors=True)
    Path("run/lock").unlink()
    expected["table"] = tables_of(Path("run"))["csv"].splitlines()
    list(train_and_save(Setup(config), Path("model.safetensors")))
    inputs = torch.tensor([[0.1, 0.2], [2.0, -2.0], [1.0, -1.0]], dtype=torch.float64)
    outputs = SavedModel.load(Path("model.safetensors")).probabilities(inputs)
    expected["model"] = {"inputs": inputs.tolist(), "outputs": outputs.tolist()}
    _state()
    Path("expected.json").write_text(json.dumps(expected, indent=1) + "\n")


def _similarities() -> dict[str, object]:
    expected = {}
    for name, made in similarities().items():
        for ending in (".csv", ".npz", ".safetensors"):
            made.save(f"{name}{ending}")
            expected[f"{name}{ending}"] = {
                "values": similarity.load(f"{name}{ending}").to_dense(torch.float64).tolist(),
                "names": list(made.names) if made.names else None,
                "kind": made.kind,
            }
    return expected


def _state() -> None:
    """The state that an interrupted cell leaves."""

    def keep(self: Checkpoint) -> None:
        assert self.path is not None
        shutil.copy(self.path, "state.pt")

    remove, Checkpoint.remove = Checkpoint.remove, keep  # type: ignore[method-assign]
    try:
        alone = with_data_at(tiny_grid(Path(), stacked=False, seeds=1), Path("sizes.csv"))
        run_with_states(alone, RunFolder(Path("scratch")), 0.0)
    finally:
        Checkpoint.remove = remove  # type: ignore[method-assign]
    shutil.rmtree("scratch")


if __name__ == "__main__":
    main()
