"""A page of results: prose written by hand, tables made from the records it names."""

import re
from collections.abc import Callable
from pathlib import Path

from simloss._disk import bytes_of
from simloss.experiment.grid.store import RunFolder
from simloss.experiment.writing import RunFolderError, write_whole
from simloss.report.judge.run import Run
from simloss.report.judge.wording import listed
from simloss.report.tables.markdown import escaped

from .beside_paper import beside_paper, missing_runs
from .encoder_gains import controls, gains_in, table
from .instead import instead
from .over_sources import over_sources
from .prose_numbers import with_numbers
from .settings import settings
from .shared_seeds import shared_seeds
from .starting_values import starting_values
from .table import results_table

_MOST_BYTES = 2**28


def refresh(page: Path) -> list[str]:
    """Make every marked region of a page anew; returns what the regions are about.

    A region is what stands between ``<!-- KIND: FOLDERS -->``, a kind of `KINDS` and run folders'
    paths from the page, and ``<!-- end -->``. Numbers in the prose are filled in, too, as
    `prose_numbers` says.
    """
    text = bytes_of(page, _MOST_BYTES, follow_links=True).decode("utf-8")
    write_whole(page, refreshed(text, page.parent).encode())
    return [match["folders"] for match in _REGION.finditer(text)]


def refreshed(text: str, beside: Path) -> str:
    """The text with its regions made anew; folders are looked for beside the page."""
    opened, whole = len(re.findall(f"<!-- (?:{'|'.join(KINDS)}):", text)), 0

    def region(match: re.Match[str]) -> str:
        nonlocal whole
        whole += 1
        made = KINDS[match["what"]]([beside / name for name in match["folders"].split()])
        return f"{match['open']}\n{made}\n\n{match['close']}"

    result = with_numbers(_REGION.sub(region, text), beside)
    if whole != opened:
        raise ValueError(
            f"the page must close each region with `<!-- end -->`, but {opened} are "
            f"opened and {whole} closed."
        )
    return result


def _results(folder: Path, *, every: bool) -> str:
    run = Run.read(folder)
    parts = [_about(run), escaped(run.verdict.sentence)]
    if run.results.done:
        parts += [results_table(run.verdict, every=every)]
    parts += [escaped(note) for note in run.verdict.notes]
    return "\n\n".join(parts)


def _about(run: Run) -> str:
    """The data, the net and the runs, in a line."""
    config = run.config
    sizes = [f"{count:,} {part}" for part, count in run.sizes.items()]
    seeds = f"{len(config.seeds)} seeds, " + (
        "a new split each" if config.split.new_for_each_seed else "one split"
    )
    classes = (
        [f"{len(run.classes)} classes"] if len(run.classes) else []
    )  # not known of an empty run
    parts = [*classes, config.model, seeds]
    examples = f"; {listed(sizes)} examples" if sizes else ""
    return f"*{escaped(', '.join(parts))}{examples}.*"


def _runs(folders: list[Path]) -> list[Run]:
    known = [folder for folder in folders if RunFolder(folder).exists()]
    if not known:
        raise RunFolderError("the page must name run folders to learn from, but there are none.")
    return [Run.read(folder) for folder in known]


KINDS: dict[str, Callable[[list[Path]], str]] = {
    # The verdict on a run, and a line for each family at its chosen parameter.
    "results": lambda folders: _results(folders[0], every=False),
    # The same with a line for each treatment.
    "every result": lambda folders: _results(folders[0], every=True),
    # All treatments in raw numbers of the seeds shared with cross entropy.
    "shared seeds": lambda folders: shared_seeds(Run.read(folders[0])),
    "beside the paper": lambda folders: beside_paper(Run.read(folders[0])),
    "missing runs": lambda folders: missing_runs(_runs(folders)),
    # What one setting for all of several runs gains.
    "over sources": lambda folders: over_sources(_runs(folders)),
    # What value of the parameter to start with.
    "starting values": lambda folders: starting_values(_runs(folders)),
    # What similarity gains on pretrained features, from the run folders in this one.
    "encoder gains": lambda folders: table(gains_in(folders[0])),
    # Whether label smoothing or a shuffled similarity would gain the same.
    "encoder controls": lambda folders: controls(folders[0]),
    # What people would use instead of a net.
    "instead": lambda folders: instead(_runs(folders)),
    # What the settings of a task of the paper change.
    "paper settings": lambda paths: settings(paths[0], paths[1].name),
}
_REGION = re.compile(
    rf"(?P<open><!-- (?P<what>{'|'.join(KINDS)}): (?P<folders>[^\n]*?) -->\n)"
    r".*?(?P<close><!-- end -->)",
    re.DOTALL,
)
