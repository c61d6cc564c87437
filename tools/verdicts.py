"""The sentence that each run folder gets, before and after: a region of docs/verdict.md.

`python tools/verdicts.py RUN ... --before SRC` reads the runs with this version and with the one
whose source lies at SRC (`git worktree add /tmp/before 9ff7fb1`, then /tmp/before/src), and writes
both sentences between the marks of the page. Both see the same nets; rivals, which the earlier
version has no word for, are left out there.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

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
    known = ("cross-entropy", "simloss", "proper", "soft-target", "blended")
    config = run.config.as_dict()
    config["treatments"] = [each for each in config["treatments"] if each["loss"] in known]
    records = [
        record
        for record in run.folder.records(without=("history", "constant"))
        if record["treatment"]["loss"] in known
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.json"
        path.write_text(json.dumps([config, records, run.classes.unit]))
        environment = {**os.environ, "PYTHONPATH": str(source)}
        command = [sys.executable, "-c", _EARLIER, str(path)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def main() -> None:
    """Rewrite the region of the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--before", type=Path, required=True)
    options = parser.parse_args()
    parts = []
    for path in options.runs:
        run = Run.read(path)
        best = run.verdict.recommendation
        parts += [
            f"**{escaped(path.name)}** ({sum(run.sizes.values()):,} examples, "
            f"{len(run.classes)} classes, {len(run.config.seeds)} runs)",
            f"- before: {escaped(before(run, options.before))}",
            f"- after: {escaped(run.verdict.sentence)}"
            + (f" *We would use: {escaped(str(best))}.*" if best else ""),
        ]
    head, _, rest = PAGE.read_text().partition(BEGIN)
    shown = "\n\n".join(parts).replace("\n\n- after", "\n- after")
    PAGE.write_text(f"{head}{BEGIN}\n\n{shown}\n\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
