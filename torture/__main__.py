"""`python -m torture [PART ...]`: run the parts, and keep their figures in torture/last_run.json.

Each part is its own process, two at a time, because they import different modules before they
fork. A part that fails shows its traceback, and the exit code is 1.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .readers import Reader

FIGURES = Path(__file__).with_name("last_run.json")
TEXT_INPUTS = 100_000
ARCHIVE_INPUTS = 10_000
VALUES_INPUTS = 10_000


def kills(folder: Path) -> dict[str, object]:
    from . import kills

    random_ones = kills.at_random(folder, 220)
    return {**random_ones, **kills.at_every_step(folder / "steps")}


def commands(folder: Path) -> dict[str, object]:
    from . import kills

    return dict(kills.command_lines(folder, 30))


def stops(folder: Path) -> dict[str, object]:
    from . import stops

    return dict(stops.stops(folder, 40, 12))


def dask(folder: Path) -> dict[str, object]:
    from . import cluster

    return dict(cluster.dask(folder, 20))


def disk(folder: Path) -> dict[str, object]:
    from . import disk

    def place(name: str) -> Path:
        (folder / name).mkdir()
        return folder / name

    return {
        "bytes of a record at which its write failed": disk.records_full_at_every_byte(place("a")),
        "full disks while a file was written": disk.whole_files_full(place("b")),
        "lengths a file was cut at": {
            **disk.truncations(place("c")),
            "records.jsonl": disk.truncated_records(place("d")),
        },
        **disk.failing_steps(place("e")),
    }


def long(folder: Path) -> dict[str, object]:
    from . import long

    return dict(long.long(folder))


def arguments(folder: Path) -> dict[str, object]:
    from .arguments import arguments

    count, findings = arguments(folder, 2_000)
    assert not findings, "\n".join(findings)
    return {"random command lines": count}


# Readers by how their names begin, so that two processes share the work.
_GROUPS = {
    "tables": ("user's table", "features", "probabilities", "costs"),
    "names": ("similarity", "word vectors", "WordNet", "tree", "graph"),
    "runs": ("configuration", "records", "a ", "model", "checkpoint", "search"),
    "images": ("UTKFace", "AFAD", "CIFAR", "image "),
}


def fuzz(group: str, folder: Path) -> dict[str, object]:
    """Damaged bytes: many for what people write by hand, fewer for the rest."""
    return _fuzzed(_readers(group, folder), folder, TEXT_INPUTS, hostile=False)


def values(group: str, folder: Path) -> dict[str, object]:
    """Well-formed files with hostile values, as many for every reader; and the walk."""
    from .fuzz import walk

    known = _readers(group, folder)
    figures = _fuzzed(known, folder, VALUES_INPUTS, hostile=True)
    fields, inputs = 0, 0
    for number, reader in enumerate(known):
        found = walk(reader, folder / f"walked{number}")
        assert not found[2], "\n".join(found[2])
        fields, inputs = fields + found[0], inputs + found[1]
    return {**figures, "fields walked": fields, "inputs of the walk": inputs}


def _readers(group: str, folder: Path) -> list["Reader"]:
    from .readers import readers

    (folder / "readers").mkdir()
    return [each for each in readers(folder / "readers") if each.name.startswith(_GROUPS[group])]


def _fuzzed(
    known: list["Reader"], folder: Path, text_inputs: int, *, hostile: bool
) -> dict[str, object]:
    from .fuzz import fuzz

    share = float(os.environ.get("TORTURE_SHARE", 1))
    tried: dict[str, object] = {}
    problems = []
    for reader in known:
        if reader.only_values and not hostile:
            continue
        inputs = int(share * (text_inputs if reader.is_text else ARCHIVE_INPUTS))
        place = folder / f"reader{len(tried)}"
        refused, findings = fuzz(reader, place, inputs, hostile=hostile)
        tried[reader.name] = {"inputs": inputs, "refused": refused, "findings": len(findings)}
        print(f"{reader.name}: {inputs} inputs, {refused} refused", flush=True)
        for number, (problem, content) in enumerate(findings.values()):
            kept = Path(tempfile.gettempdir()) / f"{Path(reader.file).name}.finding{number}"
            kept.write_bytes(content)
            problems.append(f"{reader.name}, input kept in {kept}:\n{problem}")
    assert not problems, "\n".join(problems)
    return {"hostile values" if hostile else "inputs fuzzed": tried}


PARTS: dict[str, Callable[[Path], dict[str, object]]] = {
    **{
        f"{part.__name__}-{name}": partial(part, name)
        for part in (fuzz, values)
        for name in _GROUPS
    },
    **{part.__name__: part for part in (arguments, kills, dask, stops, commands, long, disk)},
}


def main() -> int:
    """All parts, those named, or, inside, a single one."""
    asked = sys.argv[1:] or list(PARTS)
    if asked in (["fuzz"], ["values"]):
        asked = [name for name in PARTS if name.startswith(asked[0])]
    unknown = [name for name in asked if name not in (*PARTS, "--one")]
    if asked[0] == "--one":
        return _one(asked[1], Path(asked[2]))
    if unknown:
        print(f"Parts are {', '.join(PARTS)}, fuzz, values; not {unknown[0]}.", file=sys.stderr)
        return 2
    started = time.monotonic()
    failed = _two_at_a_time(asked)
    print(f"{len(asked)} parts in {(time.monotonic() - started) / 60:.0f} min, {failed} failed")
    return 1 if failed else 0


def _two_at_a_time(asked: list[str]) -> int:
    waiting, running, failed = list(asked), {}, 0
    with tempfile.TemporaryDirectory(dir=_fast_folder()) as base:
        while waiting or running:
            while waiting and len(running) < 2:
                name = waiting.pop(0)
                command = [sys.executable, "-m", "torture", "--one", name, str(Path(base) / name)]
                running[name] = subprocess.Popen(
                    command, env={**os.environ, "OMP_NUM_THREADS": "1"}
                )
            for name, process in list(running.items()):
                if process.poll() is not None:
                    del running[name]
                    failed += process.returncode != 0
                    print(f"{name}: {'done' if process.returncode == 0 else 'FAILED'}", flush=True)
            time.sleep(0.2)
    return failed


def _one(name: str, folder: Path) -> int:
    import torch

    torch.set_num_threads(1)
    folder.mkdir(parents=True)
    started = time.monotonic()
    figures = PARTS[name](folder)
    figures["minutes"] = round((time.monotonic() - started) / 60, 1)
    _keep(name, figures)
    print(f"{name}: {json.dumps(figures)}", flush=True)
    return 0


def _keep(name: str, figures: dict[str, object]) -> None:
    import fcntl

    with FIGURES.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
        known[name] = {"date": time.strftime("%Y-%m-%d"), **figures}
        FIGURES.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")


def _fast_folder() -> str | None:
    """In memory if possible: the steps matter, not the disk's speed."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


if __name__ == "__main__":
    sys.exit(main())
