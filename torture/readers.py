"""Every reader of files, with small valid files to damage and a call that reads one."""

import gzip
import io
import lzma
import pickle
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from simloss import Tree, data, similarity
from simloss.data import image_cache
from simloss.experiment.checkpoint import Checkpoint
from simloss.experiment.config import Config
from simloss.experiment.saved import SavedModel
from simloss.experiment.store import RunFolder

from .grids import tables_of, tiny_grid, uninterrupted

Parts = dict[str, bytes]
_NAMES = ("rose", "truck", "apple")


@dataclass(frozen=True)
class Reader:
    """One reader.

    Attributes:
        name: what a figure calls it.
        is_text: whether people can write such a file by hand; those are tried more often.
        file: the name of the file it is given.
        seeds: valid content, each as named parts.
        read: what reads the file, or its folder where `in_folder` is set.
        pack: makes the file of the parts; by default there is one part, which is the file.
    """

    name: str
    is_text: bool
    file: str
    seeds: tuple[Parts, ...]
    read: Callable[[Path], Any]
    pack: Callable[[Parts], bytes] = lambda parts: next(iter(parts.values()))
    in_folder: bool = False


# As Pillow calls them, with what it takes to have most of their readers' code run.
_FORMS: dict[str, dict[str, Any]] = {
    "png": {},
    "webp": {},
    "bmp": {},
    "tiff": {"compression": "tiff_lzw"},
}


def readers(folder: Path) -> list[Reader]:
    """All of them; `folder` is for what they need beside the file they read."""
    return [
        *(*_similarities(), *_words(), *_wordnet(), *_trees()),
        *(*_data(), *_experiments(folder)),
    ]


def _one(*contents: bytes) -> tuple[Parts, ...]:
    return tuple({"file": content} for content in contents)


def _similarities() -> list[Reader]:
    table = b",low,mid,high\nlow,1,0.5,0.25\nmid,.5,1,.5\nhigh,.25,.5,1\n"
    plain = b"1,0.5\n0.5,1\n"
    made = (
        similarity.order(4, r=0.5, names=["a", "b", "c", "d"]),
        similarity.matrix(torch.eye(3) * 0.5 + 0.5, names=["x", "y", "z"]),
        similarity.tree(Tree.from_paths(["a/b", "a/c", "d"])),
        similarity.sparse(similarity.order(6, r=0.3), top_k=2),
        similarity.grid(similarity.order(2, r=0.5), similarity.circular(3, r=0.2)),
        similarity.embedding(torch.randn(4, 3)),
        similarity.values([0, 3, 4], 2),
        similarity.geo([(0, 1), (2, 3)], 100),
    )
    return [
        Reader("similarity, CSV", True, "s.csv", _one(table, plain), similarity.load),
        Reader(
            "similarity, npz", False, "s.npz", tuple(map(_npz_parts, made)), similarity.load, zipped
        ),
        Reader(
            "similarity, safetensors",
            False,
            "s.safetensors",
            _one(*(_saved(each, ".safetensors") for each in made)),
            similarity.load,
        ),
    ]


def _words() -> list[Reader]:
    text = b"".join(f"{name} 0.1 -0.2 {at}.5\n".encode() for at, name in enumerate(_NAMES))
    counted = b"3 3\n" + text
    binary = b"3 3\n" + b"".join(
        name.encode() + b" " + np.arange(3, dtype="<f4").tobytes() + b"\n" for name in _NAMES
    )

    def read(path: Path) -> Any:
        return similarity.words(_NAMES, vectors=path)

    return [
        Reader("word vectors, text", True, "v.txt", _one(text, counted), read),
        Reader("word vectors, text.gz", False, "v.txt.gz", _one(text), read, _gzipped),
        Reader("word vectors, bin", False, "v.bin", _one(binary), read),
        Reader("word vectors, bin.gz", False, "v.bin.gz", _one(binary), read, _gzipped),
    ]


def _wordnet() -> list[Reader]:
    head = "  1 This is the head of the file.  \n"
    world = {"entity": [], "plant": ["entity"], "rose": ["plant"], "apple": ["plant", "entity"]}
    world["truck"] = ["entity"]
    lines, offsets, at = [], {}, len(head)
    for name, parents in world.items():
        pointers = "".join(f" @ {offsets[parent]:08d} n 0000" for parent in parents)
        offsets[name] = at
        lines.append(f"{at:08d} 03 n 01 {name} 0 {len(parents):03d}{pointers} | a kind of {name}\n")
        at += len(lines[-1])
    index = head + "".join(f"{n} n 1 1 @ 1 0 {offsets[n]:08d}  \n" for n in sorted(offsets))
    both = {"data.noun": (head + "".join(lines)).encode(), "index.noun": index.encode()}

    def read(folder: Path) -> Any:
        return similarity.wordnet(_NAMES, folder=folder)

    return [
        Reader("WordNet, data.noun", True, "data.noun", (both,), read, in_folder=True),
        Reader("WordNet, index.noun", True, "index.noun", (both,), read, in_folder=True),
    ]


def _trees() -> list[Reader]:
    paths = b"animal/bird/robin\nanimal/bird/crow\nplant/rose\n"
    levels = b"animal,bird,robin\nanimal,bird,crow\nplant,,rose\n"
    parents = b"robin,bird\ncrow,bird\nbird,animal\ncod,animal\nanimal,\n"
    edges = b"rose,flower,1\nviolet,flower,2.5\nflower,thing,1\ntruck,thing,3\n"
    short = b"rose,flower\nviolet,flower\n"
    return [
        Reader("tree, CSV of paths", True, "t.csv", _one(paths, levels), Tree.from_csv),
        Reader("tree, CSV of parents", True, "p.csv", _one(parents), _tree_of_parents),
        Reader("graph, CSV", True, "g.csv", _one(edges, short), similarity.graph),
    ]


def _tree_of_parents(path: Path) -> Any:
    return Tree.from_csv(path, parents=True)


def _data() -> list[Reader]:
    table = b'weight,colour,day,size\n1,red,2024-01-02,S\n2,,2024-02-03,L\n3,"b,c",,M\n4,red,x,S\n'
    semicolons = b"weight;size\n1,5;S\n2,5;L\n3;M\n"
    face = _picture("JPEG")
    faces = {f"UTKFace/{age}_0_0_2017{age}.jpg.chip.jpg": face for age in (1, 26, 90)}
    afad = {f"AFAD-Full/{age}/111/{age}-0.jpg": face for age in (15, 16)}
    pictures = {f"{form}/{i}.{form}": _picture(form) for form in _FORMS for i in range(2)}
    cifar = _cifar()

    def read_table(path: Path) -> Any:
        return data.table(path, target="size")

    def utkface(path: Path) -> Any:
        return data.utkface(path, size=8, cache=False)

    def afad_faces(path: Path) -> Any:
        return data.afad(path, size=8, cache=False)

    def folder(path: Path) -> Any:
        return data.image_folder(path, size=8, cache=False)

    def cifar100(path: Path) -> Any:
        return data.cifar100(path, drop=(), validation=0.4)

    return [
        Reader("user's table, CSV", True, "u.csv", _one(table, semicolons), read_table),
        Reader("user's table, csv.gz", False, "u.csv.gz", _one(table), read_table, _gzipped),
        Reader("user's table, parquet", False, "u.parquet", _one(_parquet()), read_table),
        Reader("UTKFace, tar.gz", False, "faces.tar.gz", (faces,), utkface, _tar_gz),
        Reader("UTKFace, zip", False, "faces.zip", (faces,), utkface, zipped),
        Reader("AFAD, tar.xz", False, "afad.tar.xz", (afad,), afad_faces, _tar_xz),
        Reader("image folder, zip", False, "pictures.zip", (pictures,), folder, zipped),
        Reader("CIFAR-100, binary", False, "c.tar.gz", (cifar[0],), cifar100, _tar_gz),
        Reader("CIFAR-100, python", False, "p.tar.gz", (cifar[1],), cifar100, _tar_gz),
    ]


def _experiments(folder: Path) -> list[Reader]:
    config = tiny_grid(folder, stacked=True, seeds=2, epochs=1)
    whole = RunFolder(uninterrupted(config, folder / "whole"))
    records = whole.records_path.read_bytes()
    sidecar = next(whole.cells_path.iterdir())

    def read_sidecar(path: Path) -> Any:
        return RunFolder(path.parents[1]).sidecar(path.stem)

    folded = {"records.jsonl": records}
    beside = {name: (whole.path / name).read_bytes() for name in ("config.yaml", "classes.json")}
    folded |= beside
    return [
        Reader(
            "configuration, YAML", True, "config.yaml", _one(beside["config.yaml"]), Config.load
        ),
        Reader("records, JSONL", True, "records.jsonl", (folded,), _results, in_folder=True),
        Reader("a report's tables", False, "records.jsonl", (folded,), tables_of, in_folder=True),
        Reader(
            "a cell's arrays, npz",
            False,
            f"cells/{sidecar.name}",
            (_unzipped(sidecar.read_bytes()),),
            read_sidecar,
            zipped,
        ),
        Reader("model, safetensors", False, "m.safetensors", _one(_model(folder)), SavedModel.load),
        Reader(
            "checkpoint", False, "c.pt", _one(_checkpoint()), lambda path: Checkpoint(path).load()
        ),
        Reader("image cache", False, "x.json", (_image_cache(folder),), _cached, in_folder=True),
    ]


def _results(folder: Path) -> Any:
    run = RunFolder(folder)
    return run.records(), run.classes()


def _cached(folder: Path) -> Any:
    return image_cache.load(folder, "x", 2)


def _image_cache(folder: Path) -> Parts:
    index = image_cache.Index()
    image_cache.write(folder, "x", [("a", bytes(12)), ("b", bytes(range(12)))], index, 2)
    return {name: (folder / name).read_bytes() for name in ("x.json", "x.npy")}


def _model(folder: Path) -> bytes:
    from simloss.experiment.single import train_and_save

    config = tiny_grid(folder, stacked=True, seeds=1, epochs=1)
    list(train_and_save(config, folder / "m.safetensors"))
    return (folder / "m.safetensors").read_bytes()


def _checkpoint() -> bytes:
    buffer = io.BytesIO()
    torch.save({"net": {"a": torch.ones(2)}, "best": {"argmax": (1.0, 2)}}, buffer)
    return buffer.getvalue()


def _picture(form: str) -> bytes:
    from PIL import Image

    buffer = io.BytesIO()
    pixels = np.random.default_rng(0).integers(0, 256, (8, 8, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(buffer, form, **_FORMS.get(form, {}))
    return buffer.getvalue()


def _cifar() -> tuple[Parts, Parts]:
    """Ten images of five classes, in the two official forms."""
    fine, coarse = b"apple\nbear\ncan\ndoor\nelk\n", b"x\ny\n"
    pixels = np.random.default_rng(0).integers(0, 256, (10, 3072), dtype=np.uint8)
    record = b"".join(bytes([i % 5 % 2, i % 5]) + row.tobytes() for i, row in enumerate(pixels))
    binary = {"train.bin": record * 3, "test.bin": record}
    binary |= {"fine_label_names.txt": fine, "coarse_label_names.txt": coarse}
    fine_labels = [i % 5 for i in range(10)]
    labels = {b"fine_labels": fine_labels, b"coarse_labels": [i % 2 for i in fine_labels]}
    part = pickle.dumps({b"data": pixels, **labels})
    names = {b"fine_label_names": fine.split(), b"coarse_label_names": coarse.split()}
    return binary, {"train": part, "test": part, "meta": pickle.dumps(names)}


def _parquet() -> bytes:
    import pandas

    frame = pandas.DataFrame({"weight": [1, 2, 3, 4], "size": ["S", "L", "M", "S"]})
    return frame.to_parquet(index=False)


def _saved(made: Any, ending: str) -> bytes:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"s{ending}"
        made.save(path)
        return path.read_bytes()


def _npz_parts(made: Any) -> Parts:
    return _unzipped(_saved(made, ".npz"))


def _unzipped(content: bytes) -> Parts:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(parts: Parts) -> bytes:
    """A zip of the parts, each with the checksum of what it holds now."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def _gzipped(parts: Parts) -> bytes:
    return gzip.compress(next(iter(parts.values())), 1)


def _tar_gz(parts: Parts) -> bytes:
    return gzip.compress(_tar(parts), 1)


def _tar_xz(parts: Parts) -> bytes:
    return lzma.compress(_tar(parts), preset=0)


def _tar(parts: Parts) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, content in parts.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()
