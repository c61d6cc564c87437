"""The sentence that each run folder gets, before and after: a region of docs/verdict.md.

`python tools/verdicts.py RUN ... --before SRC` reads the runs with this version and with the one
whose source lies at SRC (`git worktree add /tmp/before 9ff7fb1`, then /tmp/before/src), and writes
both sentences between the marks of the page, where those of other runs stay. RUN:5 stands for its
first five runs. Both see the same nets; rivals, which the earlier version has no word for, are left
out there.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from simloss.experiment.grid.store import RunFolder
from simloss.report.judge.run import Run
from simloss.report.tables.markdown import escaped

PAGE = Path(__file__).parents[1] / "docs" / "verdict.md"
BEGIN, END = "<!-- sentences: begin -->", "<!-- sentences: end -->"
_EARLIER = """
import json, sys
from pathlib import Path
from simloss.experiment.plan.config import Config
from simloss.report import verdict
config, records, unit = json.loads(Path(sys.argv[1]).read_text())
print(verdict(records, Config.from_dict(config), unit=unit).sentence)
"""


def before(run: Run, source: Path) -> str:
    """What the earlier version says of the nets of this run."""
    config = run.config.as_dict()
    config["treatments"] = [each for each in config["treatments"] if _was_known(each)]
    records = run.folder.records(without=("history", "constant"))
    records = [record for record in records if _was_known(record["treatment"])]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.json"
        path.write_text(json.dumps([config, records, run.classes.unit]))
        environment = {**os.environ, "PYTHONPATH": str(source)}
        command = [sys.executable, "-c", _EARLIER, str(path)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout.strip()


def _was_known(treatment: dict[str, Any]) -> bool:
    """Whether `compare` had it then: without smoothness, rivals and alternatives."""
    known = ("cross-entropy", "simloss", "proper", "soft-target", "blended")
    return treatment["loss"] in known and not treatment.get("options")


@contextmanager
def opened(name: str) -> Iterator[Run]:
    """The run folder, or its first runs where the name ends with their number."""
    path, _, count = name.partition(":")
    if not count:
        yield Run.read(Path(path))
        return
    with tempfile.TemporaryDirectory() as folder:
        config, few = Path(folder) / "config.yaml", Path(folder) / "records.jsonl"
        plain = yaml.safe_load((Path(path) / "config.yaml").read_text())
        seeds = plain["seeds"] = plain["seeds"][: int(count)]
        config.write_text(yaml.safe_dump(plain, sort_keys=False))
        kept = [each for each in RunFolder(Path(path)).records() if each["seed"] in seeds]
        few.write_text("".join(f"{json.dumps({**each, 'together': 1})}\n" for each in kept))
        shutil.copy(Path(path) / "classes.json", folder)
        yield Run.read(Path(folder))


def _paragraph(name: str, run: Run, source: Path) -> tuple[str, str]:
    best = run.verdict.recommendation
    advice = f" *We would use: {escaped(str(best))}.*" if best else ""
    return (
        f"**{escaped(name)}** ({sum(run.sizes.values()):,} examples, "
        f"{len(run.classes)} classes, {len(run.config.seeds)} runs)",
        f"- before: {escaped(before(run, source))}\n"
        f"- after: {escaped(run.verdict.sentence)}{advice}",
    )


def main() -> None:
    """Rewrite the region of the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="+")
    parser.add_argument("--before", type=Path, required=True)
    options = parser.parse_args()
    head, _, rest = PAGE.read_text().partition(BEGIN)
    known, _, tail = rest.partition(END)
    texts = known.strip().split("\n\n")
    parts = dict(zip(texts[::2], texts[1::2], strict=True))
    for name in options.runs:
        with opened(name) as run:
            heading, text = _paragraph(Path(name.partition(":")[0]).name, run, options.before)
            parts[heading] = text
    shown = "\n\n".join(f"{heading}\n\n{text}" for heading, text in parts.items())
    PAGE.write_text(f"{head}{BEGIN}\n\n{shown}\n\n{END}{tail}")


if __name__ == "__main__":
    main()
