"""Each format as plain values, to be changed one by one, and back: a well-formed file again."""

import csv
import io
import json
import pickle
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Parts = dict[str, bytes]


@dataclass(frozen=True)
class Values:
    """How the parts of a file become lists, mappings, texts, numbers and arrays, and back."""

    opened: Callable[[Parts], Any]
    closed: Callable[[Any], Parts]


def lines_of_cells(separator: str = ",") -> Values:
    """Text in which every cell is a value."""

    def opened(parts: Parts) -> Any:
        return {k: [*map(list, _cells(v, separator))] for k, v in parts.items()}

    def closed(plain: Any) -> Parts:
        return {str(name): _joined(rows, separator) for name, rows in mapping(plain).items()}

    return Values(opened, closed)


def _cells(content: bytes, separator: str) -> Any:
    text = content.decode()
    if separator == " ":
        return [line.split(" ") for line in text.splitlines()]
    return csv.reader(io.StringIO(text), delimiter=separator)


def _joined(rows: Any, separator: str) -> bytes:
    texts = [[_text(cell) for cell in listed(row)] for row in listed(rows)]
    if separator == " ":
        return "\n".join(" ".join(row) for row in texts).encode("utf-8", "replace") + b"\n"
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=separator).writerows(texts)
    return buffer.getvalue().encode("utf-8", "replace")


def listed(plain: Any) -> list[Any]:
    """A list, whatever was put in its place."""
    return plain if isinstance(plain, list) else [plain]


def mapping(plain: Any) -> dict[Any, Any]:
    """A mapping, whatever was put in its place."""
    return plain if isinstance(plain, dict) else {"file": plain}


def _text(cell: Any) -> str:
    if isinstance(cell, str):
        return cell
    return json.dumps(cell, default=str)


def _json(content: bytes) -> Any:
    return json.loads(content)


def _json_lines(content: bytes) -> Any:
    return [json.loads(line) for line in content.splitlines()]


def _yaml(content: bytes) -> Any:
    import yaml

    return yaml.safe_load(content)


def _yaml_text(plain: Any) -> bytes:
    import yaml

    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:
            return True

    return yaml.dump(plain, Dumper=Dumper, sort_keys=False).encode("utf-8", "replace")


def npz_arrays(content: bytes) -> dict[str, Any]:
    """The arrays of an npz file."""
    with np.load(io.BytesIO(content)) as file:
        return dict(file)


def _npz(plain: Any) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, value in mapping(plain).items():
            archive.writestr(f"{name}.npy", _npy(np.array(_saved(value))))
    return buffer.getvalue()


def _saved(value: Any) -> Any:
    """No objects, which would be pickled."""
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, (str, float, bool)) or (isinstance(value, int) and abs(value) < 2**63):
        return value
    return json.dumps(value, default=str)


_OPENERS: dict[str, tuple[Callable[[bytes], Any], Callable[[Any], bytes]]] = {
    ".json": (_json, lambda plain: json.dumps(plain).encode()),
    ".jsonl": (_json_lines, lambda plain: _lines(plain)),
    ".journal": (_json_lines, lambda plain: _lines(plain)),
    ".yaml": (_yaml, _yaml_text),
    ".npz": (npz_arrays, _npz),
}


def _lines(plain: Any) -> bytes:
    return "".join(json.dumps(line) + "\n" for line in listed(plain)).encode()


def by_ending(*, single: str = "") -> Values:
    """The parts as what their names say they are; a part that is the file, as `single` says."""

    def ending(name: str) -> str:
        return single or f".{name.rpartition('.')[2]}"

    def opened(parts: Parts) -> Any:
        return {name: _OPENERS[ending(name)][0](content) for name, content in parts.items()}

    def closed(plain: Any) -> Parts:
        known = {str(name): value for name, value in mapping(plain).items()}
        return {n: _OPENERS[ending(n)][1](v) for n, v in known.items() if ending(n) in _OPENERS}

    return Values(opened, closed)


def tensors(key: str) -> Values:
    """A safetensors file, or an npz one in parts: what stands under `key` is JSON."""
    from safetensors.numpy import load, save

    def opened(parts: Parts) -> Any:
        content = parts["file"]
        head = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
        return {key: json.loads(head["__metadata__"][key]), "arrays": load(content)}

    def closed(plain: Any) -> Parts:
        known = mapping(plain)
        arrays = {
            str(name): np.ascontiguousarray(value)
            for name, value in mapping(known.get("arrays")).items()
            if isinstance(value, np.ndarray) and value.dtype.kind in "iufb"
        }
        return {"file": save(arrays, {key: json.dumps(known.get(key))})}

    return Values(opened, closed)


def npz_parts(key: str) -> Values:
    """The members of an npz file; what stands in the array `key` is JSON."""

    def opened(parts: Parts) -> Any:
        arrays = {k.removesuffix(".npy"): np.load(io.BytesIO(v)) for k, v in parts.items()}
        about = json.loads(str(arrays.pop(key))) if key in arrays else None
        return {key: about, "arrays": arrays} if key else {"arrays": arrays}

    def closed(plain: Any) -> Parts:
        known = mapping(plain)
        arrays = {str(k): np.array(_saved(v)) for k, v in mapping(known.get("arrays")).items()}
        if key:
            arrays[key] = np.array(json.dumps(known.get(key)))
        return {f"{name}.npy": _npy(value) for name, value in arrays.items()}

    return Values(opened, closed)


def _npy(value: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, value, allow_pickle=False)
    return buffer.getvalue()


def members() -> Values:
    """An archive: a list of names and contents."""

    def opened(parts: Parts) -> Any:
        return [[name, content] for name, content in parts.items()]

    def closed(plain: Any) -> Parts:
        made: Parts = {}
        for member in listed(plain):
            name, content = (*listed(member), "", b"")[:2]
            made[_text(name).replace("\0", "0") or "x"] = _bytes(content)
        return made

    return Values(opened, closed)


def _bytes(content: Any) -> bytes:
    return content if isinstance(content, bytes) else _text(content).encode("utf-8", "replace")


def pickles() -> Values:
    """Parts that are pickles, as CIFAR-100's are."""

    def closed(plain: Any) -> Parts:
        return {str(name): pickle.dumps(value) for name, value in mapping(plain).items()}

    return Values(lambda parts: {k: pickle.loads(v) for k, v in parts.items()}, closed)


def state() -> Values:
    """What torch has saved."""
    import torch

    def opened(parts: Parts) -> Any:
        return torch.load(io.BytesIO(parts["file"]), weights_only=True)

    def closed(plain: Any) -> Parts:
        buffer = io.BytesIO()
        torch.save(plain, buffer)
        return {"file": buffer.getvalue()}

    return Values(opened, closed)


def parquet() -> Values:
    """Columns of cells."""
    import pandas

    def opened(parts: Parts) -> Any:
        return pandas.read_parquet(io.BytesIO(parts["file"])).to_dict(orient="list")

    def closed(plain: Any) -> Parts:
        columns = {str(name): listed(cells) for name, cells in mapping(plain).items()}
        longest = max((len(cells) for cells in columns.values()), default=0)
        filled = {k: [*cells, *[None] * (longest - len(cells))] for k, cells in columns.items()}
        try:
            return {"file": pandas.DataFrame(filled).to_parquet(index=False)}
        except Exception:  # cells of several kinds
            texts = {k: [_bytes(cell).decode() for cell in cells] for k, cells in filled.items()}
            return {"file": pandas.DataFrame(texts).to_parquet(index=False)}

    return Values(opened, closed)


def image_cache() -> Values:
    """The index with the checksum that its changed content has, and the pixels as they are."""
    from simloss.data.image_cache import _text_checksum

    def opened(parts: Parts) -> Any:
        return {"index": json.loads(parts["x.json"])["index"], "pixels": parts["x.npy"]}

    def closed(plain: Any) -> Parts:
        known = mapping(plain)
        body = json.loads(json.dumps(known.get("index"), default=str))
        text = json.dumps({"checksum": _text_checksum(body), "index": body})
        return {"x.json": text.encode(), "x.npy": _bytes(known.get("pixels"))}

    return Values(opened, closed)


def word2vec() -> Values:
    """The head of the file, and each word with its numbers."""

    def opened(parts: Parts) -> Any:
        head, _, rest = parts["file"].partition(b"\n")
        count, size = map(int, head.split())
        words = []
        for _ in range(count):
            word, _, rest = rest.partition(b" ")
            numbers, rest = rest[: 4 * size], rest[4 * size :].removeprefix(b"\n")
            words.append([word.decode(), np.frombuffer(numbers, "<f4")])
        return {"head": [count, size], "words": words}

    def closed(plain: Any) -> Parts:
        known = mapping(plain)
        content = " ".join(_text(each) for each in listed(known.get("head"))).encode() + b"\n"
        for entry in listed(known.get("words")):
            word, numbers = (*listed(entry), "", "")[:2]
            isarray = isinstance(numbers, np.ndarray) and numbers.dtype.kind in "iuf"
            content += _bytes(word) + b" "
            content += numbers.astype("<f4").tobytes() if isarray else _bytes(numbers)
        return {"file": content}

    return Values(opened, closed)
