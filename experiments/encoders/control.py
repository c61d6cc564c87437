"""Writes the configurations of the control: whether it is similarity that helps, or smoothing.

    python control.py NPZ    # the folder that encode.py has filled; from the root of the repository

What was chosen there, beside label smoothing, which knows nothing about the classes, and beside
itself with a similarity that is wrong: the same one with its classes shuffled.
"""

import sys
from dataclasses import replace

import torch
from plan import HERE, SETS, config_of

from simloss import similarity
from simloss.experiment import UsersName
from simloss.experiment.plan import sources
from simloss.experiment.plan.locate import data_config
from simloss.experiment.plan.treatment import Treatment

SMOOTH, LABELS = {"smoothness": "rule"}, {"label_smoothing": 0.1}
CONTROLS = {
    "clinc150": (20, "cross-entropy", "tree", None, SMOOTH),
    "sst5": (20, "soft-target", "order", 0.3, {}),
    "utkface": (5, "soft-target", "order", 0.7, {}),
    "cifar100-tree": (20, "soft-target", "tree", 0.5, {}),
}


def shuffled(npz, name, kind, value):
    """The similarity of the data set with its classes shuffled, in a file of its own."""
    above = {"superclass": "superclass"} if kind == "tree" else {}
    data = data_config(UsersName(f"{npz}/{SETS[name][0]}.npz"), **above)
    dataset = sources.dataset(data.source, data.path, data.options)
    order = torch.randperm(dataset.num_classes, generator=torch.Generator().manual_seed(0)).tolist()
    if kind == "tree":
        groups = [dataset.superclasses[i] for i in order]
        tree = similarity.Tree.from_superclasses(dataset.class_names, groups)
        made = similarity.tree(tree, temperature=value or 1.0)
    else:
        made = similarity.restricted(similarity.order(dataset.num_classes, r=value), order)
    path = HERE / f"{name}-shuffled.npz"
    made.save(path)
    return path.as_posix()


def main(npz):
    torch.set_num_threads(1)
    for name, (size, loss, kind, value, options) in CONTROLS.items():
        wrong = shuffled(npz, name, kind, value)
        treatments = (
            Treatment("cross-entropy"),
            Treatment("cross-entropy", options=LABELS),
            Treatment(loss, kind, value, options=options),
            Treatment(loss, wrong, options=options),
        )
        folder = HERE / f"{name}-control-{size}"
        folder.mkdir(exist_ok=True)
        made = replace(config_of(npz, name, size), treatments=treatments)
        replace(made, name=f"{made.name}, control").save(folder / "config.yaml")
        print(folder, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
