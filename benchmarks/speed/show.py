"""Records as tables of text, which are Markdown as well."""

from typing import Any

Record = dict[str, Any]


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table whose columns line up."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]

    def line(cells: list[str]) -> str:
        first = cells[0].ljust(widths[0])
        rest = [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)]
        return "| " + " | ".join([first, *rest]) + " |"

    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([line(head), rule, *map(line, rows)])


def shape_name(shape: list[int]) -> str:
    """A shape as it is written, such as (1,024, 96)."""
    return "(" + ", ".join(f"{size:,}" for size in shape) + ")"


def by_shape(records: list[Record], of: str) -> str:
    """One row per contender, one column per shape: its time, ratio or memory."""
    shapes, names = _distinct(records, "shape"), _distinct(records, "name")
    cells = {(record["name"], shape_name(record["shape"])): _cell(record, of) for record in records}
    first = {shape: records_of(records, shape)[0] for shape in map(shape_name, shapes)}
    if of == "memory":
        for record in records:
            reference = first[shape_name(record["shape"])]
            key = record["name"], shape_name(record["shape"])
            cells[key] = _memory_cell(record, reference)
    head = ["", *map(shape_name, shapes)]
    rows = [[name, *(cells.get((name, s), "-") for s in map(shape_name, shapes))] for name in names]
    return table(head, rows)


def records_of(records: list[Record], shape: str) -> list[Record]:
    """Those of one shape."""
    return [record for record in records if shape_name(record["shape"]) == shape]


def _cell(record: Record, of: str) -> str:
    if of == "time":
        return milliseconds(record["seconds"])
    return f"{record['ratio']:.2f} ({record['low']:.2f}-{record['high']:.2f})"


def _memory_cell(record: Record, reference: Record) -> str:
    mine, theirs = record.get("memory"), reference.get("memory")
    if mine is None or theirs is None:
        return "-"
    return f"{mine['growth']:,.0f} MB ({mine['growth'] / theirs['growth']:.2f})"


def milliseconds(seconds: float) -> str:
    """Three digits are enough."""
    return f"{seconds * 1e3:.3g} ms"


def size(bytes: float) -> str:
    """4 kB, 4 MB, 4 GB, 4 TB."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if bytes < 1000:
            return f"{bytes:.3g} {unit}"
        bytes /= 1000
    return f"{bytes:.3g} PB"


def _distinct(records: list[Record], key: str) -> list[Any]:
    found: list[Any] = []
    for record in records:
        if record[key] not in found:
            found.append(record[key])
    return found


def shown(name: str, records: list[Record]) -> str:
    """A table of results by its name, with what its figures mean."""
    if name == "similarity":
        head = ["similarity", "classes", "stored", "on the fly", "normalised"]
        kinds = head[2:]
        rows = [
            [r["name"], f"{r['classes']:,}", *(size(r[kind]) for kind in kinds)] for r in records
        ]
        return "What S takes (float32; the embedding has 100 numbers per class)\n\n" + table(
            head, rows
        )
    if name == "million":
        head = ["a step of training", "shape", "time", "peak of the process"]
        rows = [
            [
                r["name"],
                shape_name(r["shape"]),
                milliseconds(r["seconds"]),
                "-" if r["memory"] is None else f"{r['memory']['process']:,.0f} MB",
            ]
            for r in records
        ]
        return "Many classes (32 features)\n\n" + table(head, rows)
    if name == "operations":
        head = ["forward and backward", "operations", "passes", "kernels when compiled"]
        rows = [
            [r["name"], f"{r['eager']:,}", f"{r['passes']:,.0f}", f"{r['compiled']:,}"]
            for r in records
        ]
        return f"Logits of shape {shape_name(records[0]['shape'])}\n\n{table(head, rows)}"
    first = records[0]["name"]
    parts = [
        f"Ratio to {first} in the same turn: median (quartiles)\n\n" + by_shape(records, "ratio"),
        "Time, median\n\n" + by_shape(records, "time"),
    ]
    if any(record.get("memory") for record in records):
        title = f"Peak memory over the inputs (ratio to {first})"
        parts.append(title + "\n\n" + by_shape(records, "memory"))
    return "\n\n".join(parts)
