"""Small files like those of the data sets, made here."""

import io
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from PIL import Image

Files = Mapping[str, bytes]


def jpeg(seed: int, size: tuple[int, int] = (12, 12), mode: str = "RGB") -> bytes:
    """A picture with little noise, so that pictures of different seeds differ."""
    noise = np.random.default_rng(seed).integers(0, 256, (*size, 3), dtype=np.uint8)
    file = io.BytesIO()
    Image.fromarray(noise).convert(mode).save(file, "JPEG", quality=90)
    return file.getvalue()


def write_folder(path: Path, files: Files) -> Path:
    for name, data in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(data)
    return path


def write_tar(path: Path, files: Files, mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return path


def write_zip(path: Path, files: Files) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("empty/", b"")
        for name, data in files.items():
            archive.writestr(name, data)
    return path


WRITERS: dict[str, Callable[[Path, Files], Path]] = {
    "folder": write_folder,
    "tar": lambda path, files: write_tar(path, files, "w:"),
    "tar.gz": write_tar,
    "tar.bz2": lambda path, files: write_tar(path, files, "w:bz2"),
    "tar.xz": lambda path, files: write_tar(path, files, "w:xz"),
    "zip": write_zip,
}
