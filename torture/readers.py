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
from simloss.experiment.grid.setup import Setup
from simloss.experiment.grid.store import RunFolder
from simloss.experiment.plan.config import Config, cell_id
from simloss.experiment.saved.model import SavedModel
from simloss.experiment.train.checkpoint import Checkpoint

from . import values
from .grids import tables_of, tiny_grid, uninterrupted
from .values import Parts, Values

# In the order of `readers`, to be known before files are made.
NAMES = (
    *("similarity, CSV", "similarity, npz", "similarity, safetensors"),
    *("word vectors, text", "word vectors, text.gz", "word vectors, bin", "word vectors, bin.gz"),
    *("WordNet, data.noun", "WordNet, index.noun"),
    *("tree, CSV of paths", "tree, CSV of parents", "graph, CSV"),
    *("user's table, CSV", "user's table, csv.gz", "user's table, parquet"),
    *("UTKFace, tar.gz", "UTKFace, zip", "AFAD, tar.xz", "image folder, zip"),
    *("CIFAR-100, binary", "CIFAR-100, python"),
    "features, npz",
    *("probabilities, CSV", "probabilities, npz", "probabilities, parquet", "costs, CSV"),
    *("configuration, YAML", "records, JSONL", "a report's tables", "a report's page"),
    *("a cell's arrays, npz", "model, safetensors", "model, judged by a report"),
    *("checkpoint", "image cache", "search"),
)

_NAMES = ("rose", "truck", "apple")
_CELLS = values.lines_of_cells()


@dataclass(frozen=True)
class Reader:
    """One reader.

    Attributes:
        name: its name in the figures.
        is_text: whether people can write such a file by hand; those are tried more often.
        file: the name of the file it is given.
        seeds: valid content, each as named parts.
        read: what reads the file, or its folder where `in_folder` is set.
        pack: makes the file from the parts; by default there is one part, which is the file.
        values: how the parts become plain values, to be changed one by one.
        only_values: whether its bytes are damaged elsewhere, for another reader of the format.
    """

    name: str
    is_text: bool
    file: str
    seeds: tuple[Parts, ...]
    read: Callable[[Path], Any]
    pack: Callable[[Parts], bytes] = lambda parts: next(iter(parts.values()), b"")
    in_folder: bool = False
    values: Values | None = None
    only_values: bool = False

    def write(self, folder: Path, parts: Parts) -> Path:
        """The parts as a file or as a folder of files; returns what is to be read."""
        for name in self.seeds[0] if self.in_folder else ():  # not where a hostile name would lead
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).unlink(missing_ok=True)
            if name in parts:
                (folder / name).write_bytes(parts[name])
        if self.in_folder:
            return folder
        (folder / self.file).parent.mkdir(parents=True, exist_ok=True)
        (folder / self.file).write_bytes(self.pack(parts))
        return folder / self.file


# Pillow's names, with the options that run most of their readers' code.
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
        *(*_data(), _features(), *_probabilities(folder), *_experiments(folder)),
    ]


def _one(*contents: bytes) -> tuple[Parts, ...]:
    return tuple({"file": content} for content in contents)


def _similarities() -> list[Reader]:
    cells = values.lines_of_cells()
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
        Reader("similarity, CSV", True, "s.csv", _one(table, plain), similarity.load, values=cells),
        Reader(
            "similarity, npz",
            False,
            "s.npz",
            tuple(map(_npz_parts, made)),
            _used_similarity,
            zipped,
            values=values.npz_parts("about"),
        ),
        Reader(
            "similarity, safetensors",
            False,
            "s.safetensors",
            _one(*(_saved(each, ".safetensors") for each in made)),
            _used_similarity,
            values=values.tensors("about"),
        ),
    ]


def _used_similarity(path: Path) -> Any:
    """Read, and looked at as `simloss similarity load` does."""
    made = similarity.load(path)
    return str(made), made.rows([0]), made.names


def _words() -> list[Reader]:
    cells, words = values.lines_of_cells(" "), values.word2vec()
    text = b"".join(f"{name} 0.1 -0.2 {at}.5\n".encode() for at, name in enumerate(_NAMES))
    counted = b"3 3\n" + text
    binary = b"3 3\n" + b"".join(
        name.encode() + b" " + np.arange(3, dtype="<f4").tobytes() + b"\n" for name in _NAMES
    )

    def read(path: Path) -> Any:
        return similarity.words(_NAMES, vectors=path)

    return [
        Reader("word vectors, text", True, "v.txt", _one(text, counted), read, values=cells),
        Reader(
            "word vectors, text.gz", False, "v.txt.gz", _one(text), read, _gzipped, values=cells
        ),
        Reader("word vectors, bin", False, "v.bin", _one(binary), read, values=words),
        Reader(
            "word vectors, bin.gz", False, "v.bin.gz", _one(binary), read, _gzipped, values=words
        ),
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
        Reader(name, True, file, (both,), read, in_folder=True, values=values.lines_of_cells(" "))
        for name, file in (
            ("WordNet, data.noun", "data.noun"),
            ("WordNet, index.noun", "index.noun"),
        )
    ]


def _trees() -> list[Reader]:
    cells = values.lines_of_cells()
    paths = b"animal/bird/robin\nanimal/bird/crow\nplant/rose\n"
    levels = b"animal,bird,robin\nanimal,bird,crow\nplant,,rose\n"
    parents = b"robin,bird\ncrow,bird\nbird,animal\ncod,animal\nanimal,\n"
    edges = b"rose,flower,1\nviolet,flower,2.5\nflower,thing,1\ntruck,thing,3\n"
    short = b"rose,flower\nviolet,flower\n"
    return [
        Reader(
            "tree, CSV of paths", True, "t.csv", _one(paths, levels), Tree.from_csv, values=cells
        ),
        Reader(
            "tree, CSV of parents", True, "p.csv", _one(parents), _tree_of_parents, values=cells
        ),
        Reader("graph, CSV", True, "g.csv", _one(edges, short), similarity.graph, values=cells),
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
    cells, files = values.lines_of_cells(), values.members()

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
        Reader(
            "user's table, CSV", True, "u.csv", _one(table, semicolons), read_table, values=cells
        ),
        Reader(
            "user's table, csv.gz",
            False,
            "u.csv.gz",
            _one(table),
            read_table,
            _gzipped,
            values=cells,
        ),
        Reader(
            "user's table, parquet",
            False,
            "u.parquet",
            _one(_parquet()),
            read_table,
            values=values.parquet(),
        ),
        *(
            Reader(name, False, file, (parts,), read, pack, values=inside)
            for name, file, parts, read, pack, inside in (
                ("UTKFace, tar.gz", "faces.tar.gz", faces, utkface, _tar_gz, files),
                ("UTKFace, zip", "faces.zip", faces, utkface, zipped, files),
                ("AFAD, tar.xz", "afad.tar.xz", afad, afad_faces, _tar_xz, files),
                ("image folder, zip", "pictures.zip", pictures, folder, zipped, files),
                ("CIFAR-100, binary", "c.tar.gz", cifar[0], cifar100, _tar_gz, files),
                ("CIFAR-100, python", "p.tar.gz", cifar[1], cifar100, _tar_gz, values.pickles()),
            )
        ),
    ]


def _features() -> Reader:
    """What other programs leave as embeddings."""
    packed = io.BytesIO()
    labels = np.array([_SIZES[place % 3] for place in range(12)])
    np.savez(packed, X=np.random.default_rng(0).normal(size=(12, 4)), y=labels)
    parts = (_unzipped(packed.getvalue()),)
    inside = values.npz_parts("")
    return Reader("features, npz", False, "e.npz", parts, data.arrays, zipped, values=inside)


def _probabilities(folder: Path) -> list[Reader]:
    """What `simloss decide` reads: probabilities with their truth, and costs of mistakes."""
    frame = _probability_table()
    text = frame.to_csv(index=False).encode()
    arrays = {n: frame[n].to_numpy(str) for n in ("truth", "kind")}
    arrays |= {"probabilities": frame[[*_SIZES]].to_numpy(), "classes": np.array(_SIZES)}
    packed = io.BytesIO()
    np.savez(packed, **arrays)
    known = folder / "probabilities.csv"
    known.write_bytes(text)
    costs = b"cost,S,M,L\nS,0,1,2\nM,1,0,1\nL,5,1,0\n"
    parquet = _one(frame.to_parquet(index=False))
    return [
        Reader("probabilities, CSV", True, "p.csv", _one(text), _decided, values=_CELLS),
        Reader(
            "probabilities, npz",
            False,
            "p.npz",
            (_unzipped(packed.getvalue()),),
            _decided,
            zipped,
            values=values.npz_parts(""),
        ),
        Reader(
            "probabilities, parquet",
            False,
            "p.parquet",
            parquet,
            _decided,
            values=values.parquet(),
        ),
        Reader(
            "costs, CSV",
            True,
            "costs.csv",
            _one(costs),
            lambda path: _decided(known, cost=str(path)),
            values=_CELLS,
        ),
    ]


_SIZES = ("S", "M", "L")


def _probability_table() -> Any:
    import pandas

    random = np.random.default_rng(0)
    p = random.dirichlet([1.0] * 3, 24).round(4)
    frame = pandas.DataFrame(p, columns=list(_SIZES))
    frame["kind"] = "thing"
    frame["truth"] = [_SIZES[place] for place in p.argmax(1)]
    return frame


def _decided(path: Path, cost: str | None = None) -> Any:
    """As `simloss decide PROBABILITIES --truth truth --class-order S,M,L`, page and all."""
    from simloss.data.probability_file import ProbabilityFile
    from simloss.report.decided.answers import answer
    from simloss.report.decided.judged import judged
    from simloss.report.decided.mistakes import Mistakes, Told
    from simloss.report.decided.page import page
    from simloss.report.decided.verdict import verdict

    told = Told.of(cost, None, None)
    file = ProbabilityFile.open(path, classes=told.names, order=_SIZES, others=["truth"])
    mistakes = Mistakes.of(told, file.order, by_value=False)
    found = judged(file, mistakes, truth="truth")
    answer(file, mistakes, temperature=1.0, abstain=0.3, out=None)
    return page(found, verdict(found), path, "simloss decide")


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
            "configuration, YAML",
            True,
            "config.yaml",
            _one(beside["config.yaml"]),
            _prepared,
            values=values.by_ending(single=".yaml"),
        ),
        Reader(
            "records, JSONL",
            True,
            "records.jsonl",
            (folded,),
            _results,
            in_folder=True,
            values=values.by_ending(),
        ),
        Reader(
            "a report's tables",
            False,
            "records.jsonl",
            (folded,),
            tables_of,
            in_folder=True,
            values=values.by_ending(),
        ),
        Reader(
            "a report's page",
            False,
            "records.jsonl",
            (folded | {f"cells/{p.name}": p.read_bytes() for p in whole.cells_path.iterdir()},),
            _page,
            in_folder=True,
            values=values.by_ending(),
            only_values=True,
        ),
        Reader(
            "a cell's arrays, npz",
            False,
            f"cells/{sidecar.name}",
            (_unzipped(sidecar.read_bytes()),),
            read_sidecar,
            zipped,
            values=values.npz_parts(""),
        ),
        Reader(
            "model, safetensors",
            False,
            "m.safetensors",
            _one(_model(folder)),
            lambda path: _answered(path, folder / "sizes.csv"),
            values=values.tensors("simloss"),
        ),
        Reader(
            "model, judged by a report",
            False,
            "m.safetensors",
            _one(_model(folder), _model_of_images(folder)),
            lambda path: _judged(path, folder),
            values=values.tensors("simloss"),
            only_values=True,
        ),
        Reader(
            "checkpoint",
            False,
            f"unfinished/{cell_id(config, config.treatments[0], 0)}.pt",
            _one(_checkpoint(config)),
            lambda path: _trained(config, path),
            values=values.state(),
        ),
        Reader(
            "image cache",
            False,
            "x.json",
            (_image_cache(folder),),
            _cached,
            in_folder=True,
            values=values.image_cache(),
        ),
        Reader(
            "search",
            False,
            "search.json",
            (_search(config, folder),),
            lambda path: _searched(config, path),
            in_folder=True,
            values=values.by_ending(),
            only_values=True,
        ),
    ]


def _prepared(path: Path) -> Any:
    """Read and looked at as a run does before it trains; it is not the user's own."""
    config = Config.load(path)
    Setup(config).check()
    return config


def _page(folder: Path) -> Any:
    from simloss.report.judge.run import Run
    from simloss.report.page.page import page

    return page(Run.read(folder))


def _answered(path: Path, table: Path) -> Any:
    from simloss.experiment.saved.answers import answers
    from simloss.experiment.saved.new_data import new_data

    saved = SavedModel.load(path)
    return answers(saved, new_data(saved, str(table)))


def _judged(path: Path, folder: Path) -> Any:
    """As `simloss report MODEL --data`, first with what the file says it was trained on."""
    from simloss.experiment.saved.remeasure import labelled, results_folder
    from simloss.report.judge.run import Run

    saved = SavedModel.load(path)
    is_table = len(saved.input_shape) == 1
    data = str(folder / "sizes.csv") if is_table else str(folder / "pictures")
    with results_folder(saved, "m", labelled(saved, data)) as made:
        return str(Run.read(made).verdict)


def _model_of_images(folder: Path) -> bytes:
    from dataclasses import replace

    from simloss.experiment.plan.config import DataConfig
    from simloss.experiment.saved.train_one import train_and_save

    for size in "SML":
        for place in range(5):
            path = folder / "pictures" / size / f"{place}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(_picture("PNG", seed=place))
    options = {"size": 8, "class_order": ["S", "M", "L"]}
    config = replace(
        tiny_grid(folder, stacked=True, seeds=1, epochs=1),
        data=DataConfig("images", str(folder / "pictures"), options),
        model="small-cnn",
    )
    list(train_and_save(Setup(config), folder / "i.safetensors"))
    return (folder / "i.safetensors").read_bytes()


def _trained(config: Config, path: Path) -> Any:
    """One net, from the state in the file on, if it can be used; it makes no other difference."""
    from simloss.experiment.grid.cell import run_cell

    return run_cell(Setup(config), config.treatments[0], 0, unfinished=path.parent)


def _plan(config: Config) -> Any:
    from simloss.experiment.search.search_space import SearchSpace
    from simloss.experiment.search.trials import plan

    return plan(config, SearchSpace(("simloss",), "order"), seeds=1, trials=3)


def _search(config: Config, folder: Path) -> Parts:
    from simloss.experiment.search.search import search

    search(_plan(config), folder / "search")
    return {n: (folder / "search" / n).read_bytes() for n in ("search.json",)}


def _searched(config: Config, folder: Path) -> Any:
    from simloss.experiment.search.search import search

    return search(_plan(config), folder)


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
    from simloss.experiment.saved.train_one import train_and_save

    config = tiny_grid(folder, stacked=True, seeds=1, epochs=1)
    list(train_and_save(Setup(config), folder / "m.safetensors"))
    return (folder / "m.safetensors").read_bytes()


def _checkpoint(config: Config) -> bytes:
    """The state after the first epoch of a cell of two."""
    from unittest import mock

    from simloss.experiment.grid.cell import run_cell

    states: list[bytes] = []

    def keep(self: Checkpoint, state: Callable[[], Any]) -> None:
        buffer = io.BytesIO()
        torch.save(state(), buffer)
        states.append(buffer.getvalue())

    with mock.patch.object(Checkpoint, "save_if_due", keep):
        run_cell(Setup(config), config.treatments[0], 0)
    return states[0]


def _picture(form: str, seed: int = 0) -> bytes:
    from PIL import Image

    buffer = io.BytesIO()
    pixels = np.random.default_rng(seed).integers(0, 256, (8, 8, 3), dtype=np.uint8)
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
    return gzip.compress(next(iter(parts.values()), b""), 1)


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
