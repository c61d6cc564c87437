"""Which augmentation brings LeNet close to the paper: `python -m benchmarks.augmentation PATH`.

PATH is CIFAR-100. Cross entropy, the paper's protocol, one seed; each setting trains to the end by
itself (five to ten minutes on two cores). The paper has 39.5 % on test, 46.9 % on validation data.
"""

import argparse
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from simloss.experiment.grid.setup import Setup, derived_seed
from simloss.experiment.plan.presets import reproduction
from simloss.experiment.train import loop as training
from simloss.experiment.train.augment import crop_and_flip

Augment = Callable[..., Tensor]

SETTINGS: dict[str, Augment | None] = {
    "none": None,
    "flip": partial(crop_and_flip, padding=0),
    "crop by 1, flip": partial(crop_and_flip, padding=1),
    "crop by 2, flip": partial(crop_and_flip, padding=2),
    "crop by 4, flip": partial(crop_and_flip, padding=4),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path")
    parser.add_argument("--settings", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    parser.add_argument("--epochs", type=int, default=1000)
    options = parser.parse_args()
    config = reproduction("cifar100", options.path, lower_bound=(0.99,))
    setup = Setup(config)
    parts, judge = setup.parts(0), setup.judge
    for name in options.settings:
        augment = SETTINGS[name]
        training.crop_and_flip = augment or crop_and_flip  # type: ignore[assignment]
        net = setup.net(0)
        outcome = training.train(
            net,
            torch.nn.CrossEntropyLoss(),
            parts["train"],
            parts["validation"],
            judge,
            config.rules,
            replace(config.training, augment=augment is not None, epochs=options.epochs),
            derived_seed(0, "order"),
        )
        net.load_state_dict(outcome.states["argmax"])
        logits = training.logits_of(net, parts["test"])
        found = judge.all_metrics(logits.argmax(-1), parts["test"].labels, logits.softmax(-1))
        best = max(line["validation"]["argmax"] for line in outcome.history)
        tested = ", ".join(f"{each} {found[each]:.3f}" for each in config.metrics)
        print(
            f"{name}: {len(outcome.history)} epochs, validation accuracy {best:.3f}; test {tested}",
            flush=True,
        )


if __name__ == "__main__":
    main()
