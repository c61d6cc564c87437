"""What somebody may have sent cannot run code, leave its place or fill the machine.

Each test is one attack. `ALARM` is what an attack would set off: a module in the current folder
that leaves a file behind when it is imported.
"""

import gzip
import io
import json
import os
import pickle
import struct
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torture.grids import tiny_grid, uninterrupted

from simloss import data, similarity
from simloss._disk import tensors_of
from simloss.cli import main
from simloss.data import DataError
from simloss.data import source as source_module
from simloss.data.archive import source
from simloss.experiment import UsersName
from simloss.experiment.grid.run import run
from simloss.experiment.grid.setup import Setup
from simloss.experiment.grid.store import RunFolder, RunFolderError
from simloss.experiment.plan.config import Config
from simloss.experiment.saved.model import SavedModel
from simloss.experiment.saved.train_one import train_and_save
from simloss.experiment.train.checkpoint import Checkpoint
from simloss.report import report

ALARM = """
from pathlib import Path
Path("alarm").write_text("code was run")
def make(*arguments):
    from torture.grids import lone_net
    return lone_net(*arguments)
def alike(names):
    import torch
    return torch.eye(len(names))
"""


SHELL = {
    "source": "subprocess:run",
    "path": "sizes.csv",
    "options": {"executable": "/bin/sh", "input": "echo shell > alarm", "text": True},
}


class Bomb:
    """Unpickled, it runs code."""

    def __reduce__(self):
        return (exec, ("from pathlib import Path; Path('alarm').write_text('unpickled')",))


@pytest.fixture(autouse=True)
def alarm(tmp_path, monkeypatch):
    """Nothing that a test does sets it off."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hostile.py").write_text(ALARM)
    yield tmp_path / "alarm"
    assert not (tmp_path / "alarm").exists()


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run folder, to be copied."""
    place = tmp_path_factory.mktemp("finished")
    return uninterrupted(tiny_grid(place, stacked=True, seeds=2, epochs=1), place / "run")


@pytest.fixture
def received(finished, tmp_path):
    """A run folder as it may have been sent."""
    import shutil

    return RunFolder(Path(shutil.copytree(finished, tmp_path / "received")))


class TestPickle:
    def test_npz_similarity(self, tmp_path):
        np.savez(tmp_path / "s.npz", about=np.array([Bomb()], dtype=object))
        with pytest.raises(ValueError, match="saved by simloss"):
            similarity.load(tmp_path / "s.npz")

    @pytest.mark.parametrize("ending", [".npz", ".safetensors", ".csv"])
    def test_a_bare_pickle_under_any_name(self, tmp_path, ending):
        path = tmp_path / f"s{ending}"
        path.write_bytes(pickle.dumps(Bomb()))
        with pytest.raises(ValueError, match="must be"):
            similarity.load(path)

    def test_arrays_of_a_cell(self, received):
        cell = received.records()[0]["cell"]
        np.savez(received.sidecar_path(cell), test_counts=np.array([Bomb()], dtype=object))
        with pytest.raises(RunFolderError, match="must be a whole npz file"):
            received.sidecar(cell)
        report(received.path)

    def test_state_of_a_cell(self, tmp_path):
        torch.save({"net": Bomb()}, tmp_path / "cell.pt")
        assert Checkpoint(tmp_path / "cell.pt").load() is None

    def test_model(self, tmp_path):
        torch.save({"net": Bomb()}, tmp_path / "m.safetensors")
        with pytest.raises(ValueError, match="must be a model saved by simloss"):
            SavedModel.load(tmp_path / "m.safetensors")

    def test_cifar(self, tmp_path):
        files = {name: pickle.dumps(Bomb()) for name in ("train", "test", "meta")}
        with pytest.raises(DataError, match="it asks for builtins.exec"):
            data.cifar100(written_tar(tmp_path / "c.tar.gz", files))

    def test_image_cache(self, tmp_path):
        folder = tmp_path / "faces"
        folder.mkdir()
        for age in (3, 4):
            (folder / f"{age}_0_0_1.jpg").write_bytes(jpeg())
        first = data.utkface(folder, size=8, cache=tmp_path / "cache").inputs.clone()
        (kept,) = (tmp_path / "cache").glob("*.npy")
        np.save(kept, np.array([Bomb()], dtype=object), allow_pickle=True)
        again = data.utkface(folder, size=8, cache=tmp_path / "cache").inputs
        assert torch.equal(again, first)

    def test_parquet_and_tables(self, tmp_path):
        for name in ("u.parquet", "u.csv", "u.csv.gz"):
            (tmp_path / name).write_bytes(pickle.dumps(Bomb()))
            with pytest.raises(DataError):
                data.table(tmp_path / name, target="size")


class TestYaml:
    @pytest.mark.parametrize(
        "tag",
        [
            "!!python/object/apply:os.system ['touch alarm']",
            "!!python/object/new:hostile.make []",
            "!!python/name:hostile.make ''",
            "!!python/module:hostile ''",
            "!!python/object:hostile.Thing {}",
        ],
    )
    def test_tags_that_make_objects(self, tmp_path, tag):
        (tmp_path / "config.yaml").write_text(f"name: {tag}\n")
        with pytest.raises(ValueError, match="must be a YAML file, but it is not"):
            Config.load(tmp_path / "config.yaml")

    def test_aliases_of_aliases(self, tmp_path):
        lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
        lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
        (tmp_path / "config.yaml").write_text("\n".join(lines))
        with pytest.raises(ValueError, match=r"uses an alias \(\*\), which is not read"):
            Config.load(tmp_path / "config.yaml")

    def test_great_depth_and_length(self, tmp_path):
        (tmp_path / "config.yaml").write_text("[" * 1500)
        with pytest.raises(ValueError, match="must be a YAML file"):
            Config.load(tmp_path / "config.yaml")
        (tmp_path / "config.yaml").write_text("x: " + "y" * 2**21)
        with pytest.raises(ValueError, match="must have at most 1,048,576 bytes, but it has more"):
            Config.load(tmp_path / "config.yaml")

    @pytest.mark.parametrize("number", ["1:1:1", "1" + "0" * 400, "0x" + "f" * 10_000])
    def test_numbers_that_take_minutes_or_cannot_be_shown(self, tmp_path, number):
        (tmp_path / "config.yaml").write_text(f"name: {number}\n")
        with pytest.raises(ValueError, match=r"config.yaml must .* is not read as a whole number"):
            Config.load(tmp_path / "config.yaml")


class TestImports:
    """`module:factory` is imported where the user has named it, never because a file does."""

    def test_a_report_on_a_run_folder_imports_nothing(self, received, capsys):
        lines = [json.loads(line) for line in received.records_path.read_text().splitlines()]
        for line in lines:
            if line["treatment"]["loss"] != "cross-entropy":
                line["treatment"]["similarity"] = "hostile:alike"
        received.records_path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        config = received.config_path.read_text()
        config = config.replace("similarity: order", "similarity: hostile:alike")
        config = config.replace("model: mlp", "model: hostile:make")
        received.config_path.write_text(config)
        page = report(received.path).read_text()
        main(["report", str(received.path)])
        assert "a file may not say what is imported" in page

    def test_a_saved_model_imports_nothing(self, tmp_path):
        hostile_model(tmp_path, "model", "hostile:make")
        with pytest.raises(ValueError, match="imported only if you name it: --net hostile:make"):
            SavedModel.load(tmp_path / "m.safetensors")
        with pytest.raises(ValueError, match="imported only if you name it"):
            SavedModel.load(tmp_path / "m.safetensors", net=UsersName("other:make"))

    def test_nor_does_its_cost(self, tmp_path):
        hostile_model(tmp_path, "cost", "hostile:alike")
        saved = SavedModel.load(tmp_path / "m.safetensors")
        with pytest.raises(ValueError, match="a file may not say what is imported"):
            saved.predict(torch.zeros(1, 2))

    @pytest.mark.parametrize(
        "data",
        [
            SHELL,
            {"source": "hostile:make", "path": "sizes.csv", "options": {}},
            {"source": "hostile:make", "path": None, "options": {}},
        ],
    )
    def test_nor_does_its_data_in_a_report(self, tmp_path, capsys, data):
        hostile_model(tmp_path, "data", data)
        (tmp_path / "sizes.csv").write_text("a,b,size\n1,2,S\n")
        named = data["path"] or "sizes.csv"
        with pytest.raises(SystemExit) as exit:
            main(["report", "m.safetensors", "--data", named])
        assert exit.value.code == 2

    @pytest.mark.parametrize("source", ["subprocess:run", "hostile:make"])
    def test_nor_does_that_of_a_model_of_images(self, tmp_path, capsys, source):
        hostile_images(tmp_path, {**SHELL, "source": source})
        with pytest.raises(SystemExit) as exit:
            main(["report", "m.safetensors", "--data", str(tmp_path / "images")])
        assert exit.value.code == 2  # its images are read as new ones, by our own reader
        assert "must say the class of its examples" in capsys.readouterr().err

    @pytest.mark.parametrize("name", ["cache", "progress", "download", "path"])
    def test_a_file_does_not_say_where_a_reader_writes(self, tmp_path, capsys, name):
        options = {name: str(tmp_path / "alarm")}
        hostile_images(tmp_path, {"source": "images", "path": None, "options": options})
        with pytest.raises(SystemExit) as exit:
            main(["report", "m.safetensors", "--data", str(tmp_path / "images")])
        assert exit.value.code == 2
        assert f"takes no '{name}' from a configuration" in capsys.readouterr().err

    def test_your_own_reader_gets_no_options_from_a_file(self, tmp_path, capsys):
        options = {"executable": "/bin/sh"}
        data_ = {"source": "hostile:make", "path": None, "options": options}
        hostile_model(tmp_path, "data", data_)
        with pytest.raises(SystemExit) as exit:
            main(["report", "m.safetensors", "--data", "hostile:make"])
        assert exit.value.code == 2
        assert "may not say with what your own code is called" in capsys.readouterr().err

    def test_predict_on_the_command_line(self, tmp_path, capsys):
        hostile_model(tmp_path, "model", "hostile:make")
        with pytest.raises(SystemExit):
            main(["predict", "m.safetensors", "sizes.csv"])
        assert "--net hostile:make" in capsys.readouterr().err

    def test_your_own_net_if_you_name_it(self, tmp_path):
        config = tiny_grid(tmp_path, stacked=False, seeds=1, epochs=1)
        list(train_and_save(Setup(config), tmp_path / "m.safetensors"))
        saved = SavedModel.load(tmp_path / "m.safetensors", net=UsersName("torture.grids:lone_net"))
        assert saved.predict(torch.zeros(2, 2)).shape == (2,)

    def test_no_eval_nor_pickle_in_the_source(self):
        """Nothing in the package evaluates text or unpickles, but for the one guarded reader."""
        import ast

        import simloss

        root = Path(simloss.__file__).parent
        found = []
        for path in root.rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call):
                    name = ast.unparse(node.func)
                    if name in (
                        "eval",
                        "exec",
                        "compile",
                        "os.system",
                        "pickle.load",
                        "__import__",
                    ):
                        found.append((path.name, name))
                    keywords = {k.arg: ast.unparse(k.value) for k in node.keywords}
                    if name == "torch.load" and keywords.get("weights_only") != "True":
                        found.append((path.name, name))
                    if name == "np.load" and keywords.get("allow_pickle", "False") != "False":
                        found.append((path.name, name))
                    if keywords.get("shell") == "True" or name in (
                        "yaml.unsafe_load",
                        "pickle.loads",
                    ):
                        found.append((path.name, name))
        assert found == []


class TestArchives:
    NAMES = ("../../alarm", "/tmp/../alarm", "..\\alarm", "faces/../../alarm")

    @pytest.mark.parametrize("kind", ["tar", "zip"])
    def test_names_that_lead_out(self, tmp_path, kind):
        inner = tmp_path / "inner"
        inner.mkdir()
        files = {f"{name}/3_0_0_{i}.jpg": jpeg() for i, name in enumerate(self.NAMES)}
        write = written_tar if kind == "tar" else written_zip
        path = write(inner / f"a.{kind}", files)
        before = sorted(tmp_path.rglob("*"))
        assert len(data.utkface(path, size=8, cache=False).labels) == 4
        assert sorted(tmp_path.rglob("*")) == before

    @pytest.mark.parametrize(
        "kind",
        [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE],
    )
    def test_links_and_devices(self, tmp_path, kind):
        with tarfile.open(tmp_path / "a.tar", "w") as tar:
            info = tarfile.TarInfo("3_0_0_1.jpg")
            info.type, info.linkname, info.devmajor, info.devminor = kind, "/etc/passwd", 1, 5
            tar.addfile(info)
        with pytest.raises(DataError, match="must hold images named"):
            data.utkface(tmp_path / "a.tar", cache=False)

    def test_a_file_that_claims_any_size(self, tmp_path):
        info = tarfile.TarInfo("3_0_0_1.jpg")
        info.size = 200 * 2**20
        (tmp_path / "a.tar").write_bytes(info.tobuf() + bytes(10240))
        with pytest.raises(DataError, match="more than the limit of 33,554,432"):
            data.utkface(tmp_path / "a.tar", cache=False)

    @pytest.mark.parametrize("kind", ["tar", "zip"])
    def test_a_bomb_that_grows(self, tmp_path, kind, monkeypatch):
        monkeypatch.setattr(source_module, "MAX_GROWN_BYTES", 2**20)
        files = {f"{i}.bin": bytes(2**20) for i in range(20)}
        path = (written_tar if kind == "tar" else written_zip)(tmp_path / "bomb", files)
        assert path.stat().st_size < 100_000
        with pytest.raises(DataError, match="like archives made to fill a disk"):
            list(source(path).members())

    def test_a_zip_whose_files_share_their_bytes(self, tmp_path, monkeypatch):
        """Its list names the same compressed bytes again and again."""
        path = written_zip(tmp_path / "a.zip", {"1_0_0_1.jpg": bytes(2**20)})
        content = path.read_bytes()
        start = content.index(b"PK\x01\x02")
        end = content.index(b"PK\x05\x06")
        entry = content[start:end]
        many = entry * 500
        tail = bytearray(content[end:])
        tail[8:16] = struct.pack("<HHI", 500, 500, len(many))
        path.write_bytes(content[:start] + many + tail)
        monkeypatch.setattr(source_module, "MAX_GROWN_BYTES", 2**20)
        with pytest.raises(DataError, match="damaged|made to fill a disk"):
            [member.read() for member in source(path).members()]

    def test_too_many_files(self, tmp_path, monkeypatch):
        monkeypatch.setattr(source_module, "MAX_MEMBERS", 3)
        path = written_zip(tmp_path / "a.zip", {f"{i}.txt": b"" for i in range(9)})
        with pytest.raises(DataError, match="holds more than 3 files"):
            list(source(path).members())

    def test_an_image_that_claims_any_size(self, tmp_path):
        """A PNG of a few bytes whose header says 60,000 x 60,000."""
        buffer = io.BytesIO()
        Image.new("RGB", (1, 1)).save(buffer, "PNG")
        content = bytearray(buffer.getvalue())
        content[16:24] = struct.pack(">II", 60000, 60000)
        import zlib

        content[29:33] = struct.pack(">I", zlib.crc32(content[12:29]))
        path = written_tar(tmp_path / "a.tar.gz", {"3_0_0_1.jpg": bytes(content)})
        with pytest.raises(DataError, match="claims to have more than 64,000,000 pixels"):
            data.utkface(path, cache=False)

    def test_a_device_in_a_table_of_images(self, tmp_path):
        (tmp_path / "t.csv").write_text("image,size\n/dev/zero,S\n/dev/zero,L\n")
        with pytest.raises(DataError, match="names '/dev/zero', which is not a file"):
            data.image_table(tmp_path / "t.csv", target="size", image_column="image", size=8)


class TestMemory:
    """A few bytes cannot ask for gigabytes."""

    def test_npz_that_grows(self, tmp_path, monkeypatch):
        monkeypatch.setattr("simloss._disk._MOST_BYTES", 2**20)
        np.savez_compressed(tmp_path / "s.npz", about=np.array("{}"), matrix=np.zeros(10**7))
        with pytest.raises(ValueError, match="saved by simloss, but it is not"):
            similarity.load(tmp_path / "s.npz")

    @pytest.mark.parametrize("count", [10**12, 10**9, 5 * 10**7, -1, 0, 1.5, "9", None])
    def test_a_claimed_number_of_classes(self, tmp_path, count):
        similarity.order(3, r=0.5).save(tmp_path / "s.npz")
        with np.load(tmp_path / "s.npz") as file:
            about = {**json.loads(str(file["about"])), "num_classes": count}
            r = file["r"]
        np.savez(tmp_path / "s.npz", about=np.array(json.dumps(about)), r=r)
        with pytest.raises(ValueError, match="saved by simloss, but it is not"):
            similarity.load(tmp_path / "s.npz")

    @pytest.mark.parametrize("size", [10**9, 10**18, 0])
    def test_a_claimed_number_of_dimensions(self, tmp_path, size):
        (tmp_path / "v.bin").write_bytes(f"3 {size}\nrose ".encode() + bytes(12))
        with pytest.raises(ValueError, match="must have 1 to 100,000 dimensions"):
            similarity.words(["rose", "truck"], vectors=tmp_path / "v.bin")

    def test_a_line_without_end(self, tmp_path):
        with gzip.open(tmp_path / "v.txt.gz", "wb", 1) as file:
            file.write(b"rose " + b"0" * 2**23)
        with pytest.raises(ValueError, match="must have shorter lines, but line 1 has more than"):
            similarity.words(["rose", "truck"], vectors=tmp_path / "v.txt.gz")

    def test_a_model_that_claims_any_input(self, tmp_path):
        hostile_model(tmp_path, "model", "mlp", input_shape=[10**11])
        with pytest.raises(ValueError, match="its 'input_shape' is not as it should be"):
            SavedModel.load(tmp_path / "m.safetensors")
        hostile_model(tmp_path, "model", "mlp", input_shape=[2**30])
        with pytest.raises(ValueError, match="holds weights that do not fit its net"):
            SavedModel.load(tmp_path / "m.safetensors")

    @pytest.mark.parametrize("name", ["similarity", "another"])
    def test_a_model_with_numbers_that_torch_cannot_judge(self, tmp_path, name):
        from safetensors.torch import save_file

        hostile_model(tmp_path, "model", "mlp")
        tensors, texts = tensors_of(tmp_path / "m.safetensors")
        tensors[name] = torch.eye(3).to(torch.float8_e4m3fn)
        save_file(tensors, tmp_path / "m.safetensors", texts)
        with pytest.raises(ValueError, match="holds weights that do not fit its net"):
            SavedModel.load(tmp_path / "m.safetensors")

    def test_a_table_that_grows(self, tmp_path, monkeypatch):
        with gzip.open(tmp_path / "u.csv.gz", "wb", 1) as file:
            file.write(b"a,size\n" + b"1,S\n" * 10**6)
        monkeypatch.setattr("simloss.data.memory.available_memory", lambda: 10**6)
        with pytest.raises(DataError, match="needs about .* of memory"):
            data.table(tmp_path / "u.csv.gz", target="size")

    def test_a_parquet_that_grows(self, tmp_path, monkeypatch):
        pandas = pytest.importorskip("pandas")
        pytest.importorskip("pyarrow")
        pandas.DataFrame({"a": [1] * 10**6, "size": ["S"] * 10**6}).to_parquet(
            tmp_path / "u.parquet"
        )
        assert (tmp_path / "u.parquet").stat().st_size < 10**5
        monkeypatch.setattr("simloss.data.memory.available_memory", lambda: 10**7)
        with pytest.raises(DataError, match="needs about .* of memory"):
            data.table(tmp_path / "u.parquet", target="size")


class TestText:
    """Names are text wherever they are shown: in a page, a figure, a spreadsheet."""

    EVIL = "</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "\" onload='x'"

    def test_the_page(self, tmp_path):
        config = tiny_grid(tmp_path, stacked=True, seeds=2, epochs=1)
        table = Path(config.data.path)
        names = dict(zip("SML", self.EVIL, strict=True))
        text = table.read_text()
        for short, evil in names.items():
            text = text.replace(f",{short}\n", ',"' + evil.replace('"', '""') + '"\n')
        table.write_text(text)
        config = Config.from_dict(
            {
                **config.as_dict(),
                "name": self.EVIL[0],
                "data": {
                    "source": "table",
                    "path": str(table),
                    "options": {"target": "size", "class_order": list(self.EVIL)},
                },
            }
        )
        run(Setup(config), RunFolder(tmp_path / "run"))
        page = report(tmp_path / "run").read_text()
        assert "<script>alert" not in page
        assert "<img src=x" not in page
        assert page.count("<script") == page.count("</script>")
        for name in ("table.md", "table.tex"):
            assert "<script>" not in (tmp_path / "run" / name).read_text()

    def test_the_figure_of_a_similarity(self, tmp_path):
        S = similarity.matrix(torch.eye(3), names=list(self.EVIL))
        S.save(tmp_path / "s.npz")
        main(["similarity", "load", "s.npz", "--figure", "f.html"])
        page = (tmp_path / "f.html").read_text()
        assert "<script>alert" not in page
        assert "<img src=x" not in page

    def test_svg_is_never_written_with_names_as_tags(self):
        S = similarity.matrix(torch.eye(3), names=list(self.EVIL))
        assert "<script>alert" not in S.figure().to_html(include_plotlyjs=False)

    FORMULAS = "=HYPERLINK(1)", "+cmd|x", "-2+3", "@SUM(1)", "'=quoted", "''@twice", "-5", "plain"

    def test_formulas_in_a_similarity_csv(self, tmp_path):
        S = similarity.order(len(self.FORMULAS), r=0.5, names=list(self.FORMULAS))
        S.save(tmp_path / "s.csv")
        import csv

        with (tmp_path / "s.csv").open(newline="") as file:
            cells = [cell for line in csv.reader(file) for cell in line]
        assert [c for c in cells if c.startswith(("=", "+", "-", "@"))] == ["-5", "-5"]
        assert similarity.load(tmp_path / "s.csv") == S

    def test_formulas_in_the_report_and_in_answers(self):
        from simloss.cli.predict import _safe as answer
        from simloss.report.tables.csv_table import _safe as cell

        for text in ("=1+1", "+cmd|x", "-2+3", "@SUM(1)", "\tx", "\rx"):
            assert answer(text) == cell(text) == f"'{text}"
        assert answer("-5") == "-5"


def hostile_images(folder, data_config):
    """A model of images in whose file the data was changed."""
    for name in ("S", "M", "L"):
        for place in range(6):
            path = folder / "images" / name / f"{place}.jpg"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(jpeg())
    main(
        [
            *("train", str(folder / "images"), "--class-order", "S,M,L", "--size", "8"),
            *("--epochs", "1", "--out", str(folder / "m.safetensors")),
        ]
    )
    changed(folder / "m.safetensors", "data", data_config)


def hostile_model(folder, setting, value, **about):
    """A model file in which one setting was changed."""
    config = tiny_grid(folder, stacked=True, seeds=1, epochs=1)
    list(train_and_save(Setup(config), folder / "m.safetensors"))
    changed(folder / "m.safetensors", setting, value, **about)


def changed(path, setting, value, **about):
    """Change one setting of a model's configuration, in its file."""
    from safetensors import safe_open
    from safetensors.torch import save_file

    with safe_open(path, "pt") as file:
        known = json.loads(file.metadata()["simloss"])
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    known["config"][setting] = value
    if setting == "cost":
        known["config"]["rules"] = ["argmax", "similarity"]
        known["rule"] = "similarity"
    save_file(tensors, path, {"simloss": json.dumps({**known, **about})})


def jpeg():
    buffer = io.BytesIO()
    noise = np.frombuffer(os.urandom(192), np.uint8).reshape(8, 8, 3)
    Image.fromarray(noise).save(buffer, "JPEG")
    return buffer.getvalue()


def written_tar(path, files):
    with tarfile.open(path, "w:gz") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return path


def written_zip(path, files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path
