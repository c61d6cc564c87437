"""What an experiment needs in order to train, made when it is first asked for and then kept."""

import hashlib
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from ...data import Dataset
from ...loss.registry import BASELINE
from ..plan import sources
from ..plan.alternatives import Objective, objective_of
from ..plan.config import Config
from ..plan.treatment import Treatment
from ..rivals.learner import untrained
from ..train.loop import Part
from ..train.measure import Judge
from ..train.splits import indices_of, parts_of

_PLAIN = Treatment(BASELINE)


def derived_seed(seed: int, purpose: str) -> int:
    """A seed for one purpose: initialisation, order. Far from those of other seeds."""
    digest = hashlib.sha256(f"{purpose} {seed}".encode()).digest()
    return int.from_bytes(digest[:7], "big")


class Setup:
    """The data, the splits and the judge of a configuration, and fresh losses and nets.

    A worker process gets the configuration alone and makes its own.
    """

    def __init__(self, config: Config, dataset: Dataset | None = None) -> None:
        self.config = config
        if dataset is not None:
            self.dataset = dataset
        self._indices: dict[int, dict[str, Tensor]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Setup, (self.config,)

    @cached_property
    def dataset(self) -> Dataset:
        """The data of the experiment."""
        data = self.config.data
        return sources.dataset(data.source, data.path, data.options)

    @cached_property
    def judge(self) -> Judge:
        """How answers are made and measured."""
        return Judge.of(self.dataset, self.config.metrics, self.config.cost)

    def indices(self, seed: int) -> dict[str, Tensor]:
        """The examples of each part of this seed's split."""
        if seed not in self._indices:
            self._indices[seed] = indices_of(self.dataset, self.config.split, seed)
        return self._indices[seed]

    def parts(self, seed: int) -> dict[str, Part]:
        """The same in memory, encoded by the training part."""
        return parts_of(self.dataset, self.indices(seed))

    def net(self, seed: int, treatment: Treatment = _PLAIN) -> nn.Module:
        """The net as it starts, the same for all treatments with this seed; or what a rival has."""
        shape, classes = self.dataset.input_shape, self.dataset.num_classes
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derived_seed(seed, "initialisation"))
            return untrained(treatment, self.config.model, shape, classes)

    def objective(self, treatment: Treatment, seed: int) -> Objective:
        """A fresh loss: some have parameters that are trained, or change from epoch to epoch."""
        return objective_of(treatment.loss_for(self.dataset, len(self.indices(seed)["train"])))

    def check(self) -> None:
        """Say what is wrong with the data, a split, a loss, a metric or the net before training.

        And before a folder is made: one with other settings could not be resumed.
        """
        for seed in self.config.seeds:
            self.indices(seed)
        for treatment in self.config.treatments:
            self.objective(treatment, self.config.seeds[0])
            self.net(self.config.seeds[0], treatment)
        self.judge.try_out(self.config.rules, self.config.training.stop_on)

    def lacking(self, seeds: tuple[int, ...]) -> Iterator[tuple[str, list[str]]]:
        """Each part that has no example of some class in some split, and those classes."""
        names = self.dataset.class_names
        found: dict[str, set[int]] = {}
        for seed in seeds:
            for part, indices in self.indices(seed).items():
                absent = {*range(len(names))} - {*self.dataset.labels[indices].tolist()}
                found[part] = found.get(part, set()) | absent
        for part, absent in found.items():
            if absent:
                yield part, [names[label] for label in sorted(absent)]
