"""What each departure from the paper's text, or doubt about it, changes.

`python -m benchmarks.paper_settings cifar100 PATH` asks which setting gives what the paper reports;
`utkface PATH` what the age network's settings change. Each departs from the preset in what its
name says, and trains by the paper's protocol with one seed, ten to thirty minutes on one core. It
is recorded in benchmarks/results/paper_settings.json; what is recorded is not run again.
"""

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from simloss.data.cifar100 import PAPER_DROPS
from simloss.experiment.grid.setup import Setup, derived_seed
from simloss.experiment.plan.presets import reproduction
from simloss.experiment.plan.treatment import BY_RULE, Treatment
from simloss.experiment.train import loop as training
from simloss.experiment.train.augment import crop_and_flip
from simloss.experiment.train.loop import Part
from simloss.experiment.train.nets import AgeCNN, LeNet
from simloss.loss.registry import BASELINE

RESULTS = Path(__file__).with_name("results") / "paper_settings.json"
Parts = dict[str, Part]
MISPLACED = {"keyboard": "couch"}
PLAIN = Treatment(BASELINE)


def preset(setup: Setup) -> Parts:
    """As the paper's text has them."""
    return setup.parts(0)


def trained_on(setup: Setup) -> Parts:
    """Validation images are trained on too."""
    parts = setup.parts(0)
    both = (parts["train"], parts["validation"])
    whole = replace(
        both[0],
        inputs=torch.cat([each.inputs for each in both]),
        labels=torch.cat([each.labels for each in both]),
    )
    return {**parts, "train": whole}


def copies(setup: Setup) -> Parts:
    """Each image and an augmented copy of it, then split at random: many have a twin across."""
    parts = trained_on(setup)
    whole, generator = parts["train"], torch.Generator().manual_seed(0)
    twins = crop_and_flip(whole.inputs, generator=generator)
    inputs, labels = torch.cat([whole.inputs, twins]), torch.cat([whole.labels] * 2)
    order = torch.randperm(len(labels), generator=generator)
    share = len(parts["validation"]) / len(whole)
    cut = round(share * len(order))
    made = {"validation": order[:cut], "train": order[cut:]}
    return {
        **parts,
        **{name: replace(whole, inputs=inputs[i], labels=labels[i]) for name, i in made.items()},
    }


def misnumbered(setup: Setup) -> Parts:
    """Training and validation leave out the couch instead of the keyboard, test data do not.

    So it would be if "computer keyboard" had been looked up in names sorted by its spelling: the
    14 classes from crab to keyboard are trained as their neighbours before them.
    """
    drop = [MISPLACED.get(name, name) for name in PAPER_DROPS]
    config = replace(setup.config, data=replace(setup.config.data, options={"drop": drop}))
    found, right = Setup(config).parts(0), setup.parts(0)["test"]
    return {**found, "test": replace(right, ready=found["test"].ready)}


def all_channels(setup: Setup) -> Parts:
    """One mean and one deviation for the three channels; the preset has one for each."""
    parts = setup.parts(0)
    images = parts["train"].inputs.float()
    mean, deviation = images.mean(), images.std()

    def ready(batch: Tensor, *, out: Tensor | None = None) -> Tensor:
        made = (batch.float() - mean) / deviation
        return made if out is None else out.copy_(made)

    return {name: replace(part, ready=ready) for name, part in parts.items()}


def padded(classes: int) -> nn.Module:
    """The first convolution keeps the size of the image."""
    layers = list(LeNet(classes).layers)
    layers[0], layers[7] = nn.Conv2d(3, 6, 5, padding=2), nn.Linear(16 * 6 * 6, 120)
    return nn.Sequential(*layers)


def wide(classes: int) -> nn.Module:
    """20 and 50 filters and 500 units, another net that goes by the name."""
    return nn.Sequential(
        *(nn.Conv2d(3, 20, 5), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(20, 50, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()),
        *(nn.Linear(50 * 5 * 5, 500), nn.ReLU(), nn.Linear(500, classes)),
    )


def of_1998(classes: int) -> nn.Module:
    """Hyperbolic tangent and average pooling."""
    made = {nn.ReLU: nn.Tanh, nn.MaxPool2d: partial(nn.AvgPool2d, 2)}
    return nn.Sequential(
        *(made.get(type(each), lambda e=each: e)() for each in LeNet(classes).layers)
    )


class LocalNorm(nn.Module):
    """`nn.LocalResponseNorm(5)`, as a convolution: quicker on a CPU."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        near = torch.ones(channels, channels).tril(2).triu(-2)
        self.register_buffer("share", 1e-4 / 5 * near[:, :, None, None])

    def forward(self, x: Tensor) -> Tensor:
        root = F.conv2d(x * x, self.share).add(1).sqrt()  # type: ignore[arg-type]
        return x / (root * root.sqrt())


def normalised(classes: int) -> nn.Module:
    """The age network with local response normalisation after each convolution's ReLU."""
    layers: list[nn.Module] = []
    for each in AgeCNN(classes).layers:
        before = layers[-1] if layers else None
        layers.append(each)
        if isinstance(before, nn.Conv2d):
            layers.append(LocalNorm(before.out_channels))
    return nn.Sequential(*layers)


@dataclass(frozen=True)
class Setting:
    """How it departs from the preset, and on CIFAR-100 from its augmented images."""

    parts: Callable[[Setup], Parts] = preset
    net: Callable[[int], nn.Module] | None = None  # None: the preset's
    padding: int | None = 4  # of crops, on CIFAR-100; None: no augmentation
    split: int = 0  # the seed of the one split
    treatment: Treatment = PLAIN


SETTINGS = {
    "cifar100": {
        "the preset": Setting(padding=None),
        "augmented": Setting(),
        "validation images trained on": Setting(trained_on),
        "augmented before the split": Setting(copies, padding=None),
        "first convolution padded": Setting(net=padded),
        "20 and 50 filters, 500 units": Setting(net=wide),
        "tanh, average pooling": Setting(net=of_1998),
        "channels standardised together": Setting(all_channels),
        "flips only": Setting(padding=0),
        "validation images trained on, padded": Setting(trained_on, padded),
        "validation images trained on, flips only": Setting(trained_on, padding=0),
        "14 classes misnumbered": Setting(misnumbered),
        "14 classes misnumbered, 20 and 50 filters, 500 units": Setting(misnumbered, wide),
    },
    "utkface": {
        "the preset": Setting(),
        "normalised after ReLU": Setting(net=normalised),
        "a second split": Setting(split=1),
        "our best: SimLoss, r = .9, a tenth of cross entropy, smooth": Setting(
            treatment=Treatment(
                *("simloss", "order", 0.9),
                {"cross_entropy_share": 0.1, "smoothness": BY_RULE},
            )
        ),
    },
}


def measured(setup: Setup, setting: Setting, epochs: int) -> dict[str, Any]:
    """Train to the end, and say what the best epochs on validation data have."""
    config, judge, started = setup.config, setup.judge, time.perf_counter()
    parts = setting.parts(setup)
    net = setup.net(0)
    if setting.net is not None:
        torch.manual_seed(derived_seed(0, "initialisation"))
        net = setting.net(setup.dataset.num_classes)
    training.crop_and_flip = partial(crop_and_flip, padding=setting.padding or 0)
    on_cifar = config.data.source == "cifar100"
    outcome = training.train(
        net,
        setup.objective(setting.treatment, 0),
        parts["train"],
        parts["validation"],
        judge,
        config.rules,
        replace(
            config.training,
            augment=on_cifar and setting.padding is not None,
            keep_best_of="argmax" if on_cifar else "each rule",
            epochs=epochs,
        ),
        derived_seed(0, "order"),
    )
    found: dict[str, Any] = {
        "epochs": len(outcome.history),
        "seconds": round(time.perf_counter() - started),
    }

    def values(kept: str, name: str, rule: str) -> dict[str, float]:
        net.load_state_dict(outcome.states[kept])
        p = training.logits_of(net, parts[name]).softmax(-1)
        every = judge.all_metrics(judge.answers(p, rule), parts[name].labels, p)
        return {metric: round(every[metric], 4) for metric in config.metrics}

    for name in ("validation", "test"):
        found[name] = values("argmax", name, "argmax")
        if not on_cifar:
            found[f"{name} by median"] = values("argmax", name, "median")
            found[f"{name} by median, its own epoch"] = values("median", name, "median")
    return found


def main() -> None:
    """Run what is not recorded yet, and keep each as it ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", choices=SETTINGS)
    parser.add_argument("path")
    parser.add_argument("--settings", nargs="+", metavar="NAME")
    parser.add_argument("--epochs", type=int, default=1000)
    options = parser.parse_args()
    known = SETTINGS[options.task]
    for name in options.settings or known:
        if name not in known:
            parser.error(f"there is no setting {name!r}; there are {', '.join(known)}.")
        if name in recorded().get(options.task, {}):
            continue
        config = reproduction(options.task, options.path)
        config = replace(config, split=replace(config.split, seed=known[name].split))
        found = measured(Setup(config), known[name], options.epochs)
        kept = recorded()
        kept.setdefault(options.task, {})[name] = found
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n")
        print(name, found, flush=True)


def recorded() -> dict[str, Any]:
    """Task, setting, what was found."""
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


if __name__ == "__main__":
    main()
