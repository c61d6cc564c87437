"""A run folder, read: the verdict on its records, and what else the page has to know."""

import shlex
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ...experiment.grid.store import RunFolder
from ...experiment.plan.config import Config
from ...experiment.writing import RunFolderError
from .classes import Classes, classes_of, numbered
from .judgement import WORTHWHILE
from .mistake_costs import MistakeCosts, mistake_costs
from .relabelled import relabelling
from .results import Record, Results
from .verdict import Verdict, verdict_of

# A record's history is most of its size, and the figures need a few of them only.
_LEFT_OUT = ("history",)


@dataclass(frozen=True)
class Run:
    """One experiment.

    Attributes:
        folder: where it lies.
        config: what it is.
        verdict: what it says.
        classes: what it is about.
        versions: "torch 2.13.0" and so on, the most frequent first.
        seconds: all cells together.
        sizes: examples a part.
    """

    folder: RunFolder
    config: Config
    verdict: Verdict
    classes: Classes
    versions: list[str]
    seconds: float
    sizes: dict[str, int]

    @classmethod
    def read(
        cls, path: Path, users: Config | None = None, *, worthwhile: float = WORTHWHILE
    ) -> "Run":
        """Read a run folder; of its arrays only cross entropy's confusions.

        `users` is what has just been run: of the names in the folder, those the user gave.
        `worthwhile` is the smallest gain that is worth having, as a share.
        """
        folder = RunFolder(Path(path))
        config = folder.config()
        config = config if users is None else users.vouching_for(config)
        records = folder.records(without=_LEFT_OUT)
        classes = classes_of(folder, config) or numbered(_class_count(folder, records), config)
        sizes: dict[str, int] = next(
            (record["sizes"] for record in records if "sizes" in record), {}
        )
        results = Results.of(records, config, classes.unit)
        found = verdict_of(
            results,
            worthwhile=worthwhile,
            relabelling=relabelling(folder, classes, results),
            is_ordered=classes.is_ordered,
            command=f"simloss train --from {shlex.quote(str(path))}",
        )
        return cls(
            folder,
            config,
            found,
            classes,
            _versions(records),
            sum(record.get("seconds", {}).get("total", 0.0) for record in records),
            sizes,
        )

    @property
    def results(self) -> Results:
        return self.verdict.results

    @property
    def is_one_net(self) -> bool:
        """Whether there is nothing to compare: a saved model judged on data."""
        return self.results.is_one_net

    @cached_property
    def costs(self) -> MistakeCosts:
        """What each confusion costs."""
        return mistake_costs(self.classes, self.config)


def _class_count(folder: RunFolder, records: list[Record]) -> int:
    """From the first arrays that can be read; 0 where there are none."""
    for record in records:
        if record["status"] == "done":
            try:
                return len(folder.sidecar(record["cell"])["test_counts"])
            except (RunFolderError, KeyError):
                continue
    return 0


def _versions(records: list[Record]) -> list[str]:
    counted = Counter(
        f"{name} {version}"
        for record in records
        for name, version in record.get("versions", {}).items()
    )
    return [text for text, _ in counted.most_common()]
