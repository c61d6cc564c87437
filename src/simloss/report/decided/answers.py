"""Writes the answers for a file of probabilities to another file, a few rows at a time."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import torch

from ... import _checks
from ..._disk import whole_file
from ...calibration import tempered
from ...data.probability_file import Part, ProbabilityFile
from ...decision import decide, expected_cost
from ...decision.answer import UNSURE
from ...similarity.csv_lines import defused
from .mistakes import Mistakes

ENDINGS = (".csv", ".parquet")


@dataclass
class Answered:
    """A summary of the answers.

    Attributes:
        rows: the number of rows.
        unsure: the number of rows without an answer.
        cost: the expected cost of the answers, in total.
        counts: the number of answers by class.
        first: the first rows of the table.
    """

    rows: int = 0
    unsure: int = 0
    cost: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)
    first: Any = None


def answer(
    file: ProbabilityFile,
    mistakes: Mistakes,
    *,
    temperature: float,
    abstain: float | None,
    out: Path | None,
) -> Answered:
    """Answer every row with the lowest expected cost; with `out`, write a complete table or none.

    Args:
        file: the probabilities.
        mistakes: the costs.
        temperature: the temperature to apply to the probabilities first.
        abstain: give no answer if its expected cost is above this.
        out: a .csv or .parquet file.
    """
    found = Answered()
    frames = (_noted(_frame(part, mistakes, temperature, abstain), found) for part in file.parts())
    if out is None:
        for _ in frames:
            pass
    else:
        with whole_file(out) as target:
            write = _write_parquet if out.suffix.lower() == ".parquet" else _write_csv
            write(frames, target)
    return found


def _frame(part: Part, mistakes: Mistakes, temperature: float, abstain: float | None) -> Any:
    """The table of some rows: their names, the answer, its probability, its expected cost."""
    import pandas

    names = mistakes.order.names
    p = torch.from_numpy(tempered(part.probabilities, temperature))
    chosen = decide(p, mistakes.cost, positions=mistakes.positions)
    costs = expected_cost(p, chosen, mistakes.cost, positions=mistakes.positions)
    if abstain is not None:
        with_limit = decide(p, mistakes.cost, positions=mistakes.positions, abstain=abstain)
    final = chosen if abstain is None else with_limit
    codes = final.masked_fill(final == UNSURE, -1).numpy()
    cells: dict[str, Any] = dict(part.cells)
    cells["answer"] = pandas.Categorical.from_codes(codes, list(names))
    cells["probability"] = p.gather(1, chosen.unsqueeze(1)).squeeze(1).numpy()
    cells["expected_cost"] = costs.numpy()
    if abstain is not None:
        cells["abstained"] = codes < 0
    return pandas.DataFrame({name: _plain(cell) for name, cell in cells.items()})


def _plain(cells: Any) -> Any:
    return cells.to_numpy() if hasattr(cells, "to_numpy") and not hasattr(cells, "codes") else cells


def _noted(frame: Any, found: Answered) -> Any:
    is_answered = frame["answer"].notna()
    found.rows += len(frame)
    found.unsure += int((~is_answered).sum())
    found.cost += float(frame["expected_cost"][is_answered].sum())
    found.counts.update(
        {str(name): int(count) for name, count in frame["answer"].value_counts().items() if count}
    )
    if found.first is None:
        found.first = frame.head(_SHOWN)
    return frame


_SHOWN = 10


def _write_csv(frames: Iterator[Any], target: BinaryIO) -> None:
    for number, frame in enumerate(frames):
        safe = frame.rename(columns=defused)
        for name in safe.columns:
            if hasattr(safe[name], "cat"):
                safe[name] = safe[name].cat.rename_categories(defused)
            elif safe[name].dtype.kind not in "biuf":
                safe[name] = [defused(c) if isinstance(c, str) else c for c in safe[name]]
        text = safe.to_csv(index=False, header=number == 0, float_format="%.6g")
        target.write(text.encode())


def _write_parquet(frames: Iterator[Any], target: BinaryIO) -> None:
    arrow = _checks.installed("pyarrow", "cli")
    parquet = _checks.installed("pyarrow.parquet", "cli")
    writer = None
    try:
        for frame in frames:
            frame["answer"] = frame["answer"].astype(object)
            table = arrow.Table.from_pandas(frame, preserve_index=False)
            if writer is None:
                writer = parquet.ParquetWriter(target, table.schema)
            writer.write_table(table.cast(writer.schema))
    finally:
        if writer is not None:
            writer.close()
