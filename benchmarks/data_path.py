"""An epoch of UTKFace batches: the cached pixels against files that are decoded each time.

    python -m benchmarks.data_path --data UTKFace.tar.gz

Both give the same standardised float32 batches in the same shuffled order, and take turns. The
`DataLoader` gets the number of worker processes that suits it best.
"""

import argparse
import io
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import torch
from PIL import Image
from torch import Tensor
from torch.utils.data import DataLoader
from torch.utils.data import Dataset as FileDataset

from simloss.data import Standardizer, rows, utkface
from simloss.data.archive import source

BATCH = 1024
SIZE = 60


class Files(FileDataset[Tensor]):
    """The usual way: one file per item, opened, decoded, scaled and standardised each time."""

    def __init__(self, paths: list[Path], standardizer: Standardizer) -> None:
        self.paths = paths
        self.mean = standardizer.mean.view(3, 1, 1)
        self.std = standardizer.std.view(3, 1, 1)

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, at: int) -> Tensor:
        with Image.open(io.BytesIO(self.paths[at].read_bytes())) as image:
            scaled = image.convert("RGB").resize((SIZE, SIZE), Image.Resampling.BILINEAR)
        pixels = torch.frombuffer(bytearray(scaled.tobytes()), dtype=torch.uint8)
        return (pixels.view(SIZE, SIZE, 3).permute(2, 0, 1) - self.mean) / self.std


def decoding(files: Files, batches: list[Tensor], workers: int) -> Iterable[Tensor]:
    """Batches of a `DataLoader` over files."""
    order = [batch.tolist() for batch in batches]
    return DataLoader(files, batch_sampler=order, num_workers=workers)


def kept(inputs: Tensor, batches: list[Tensor], standardizer: Standardizer) -> Iterator[Tensor]:
    """Batches of the memory-mapped pixels; the two buffers are reused."""
    picked = torch.empty_like(inputs[:BATCH])
    ready = torch.empty_like(picked, dtype=torch.float32)
    for batch in batches:
        count = len(batch)
        yield standardizer(rows(inputs, batch, out=picked[:count]), out=ready[:count])


def seconds(path: Callable[[], Iterable[Tensor]]) -> float:
    """How long it takes to load an epoch."""
    start = time.perf_counter()
    for batch in path():
        batch[0, 0, 0, 0].item()
    return time.perf_counter() - start


def unpacked(path: Path, folder: Path, names: list[str]) -> list[Path]:
    """The files as a `DataLoader` wants them, in the order of `names`."""
    wanted = set(names)
    for member in source(path).members():
        name = Path(member.name).name
        if name in wanted:
            (folder / name).write_bytes(member.read())
    return [folder / name for name in names]


def names_of(path: Path) -> list[str]:
    """The names of the images that `utkface` keeps, in its order."""
    names = {Path(member.name).name for member in source(path).members()}
    return sorted(n for n in names if n[:1].isdigit() and 1 <= int(n.partition("_")[0]) <= 90)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True, help="UTKFace: archive or folder")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()

    faces = utkface(arguments.data, size=SIZE)
    names = names_of(arguments.data)
    standardizer = Standardizer.fit(faces.inputs, torch.arange(len(faces)))
    generator = torch.Generator().manual_seed(0)
    batches = list(torch.randperm(len(faces), generator=generator).split(BATCH))
    with tempfile.TemporaryDirectory() as folder:
        files = Files(unpacked(arguments.data, Path(folder), names), standardizer)
        first = next(iter(decoding(files, batches[:1], 0)))
        difference = (first - next(kept(faces.inputs, batches[:1], standardizer))).abs().max()
        print(f"{faces}, batches of {BATCH}; largest difference of a value: {difference:.1e}")
        ratios = []
        for turn in range(arguments.rounds):
            ours = seconds(lambda: kept(faces.inputs, batches, standardizer))
            theirs = {n: seconds(lambda n=n: decoding(files, batches, n)) for n in (0, 2)}
            ratios.append(min(theirs.values()) / ours)
            print(
                f"round {turn + 1}: kept pixels {ours:.3f} s; DataLoader {theirs[0]:.2f} s alone, "
                f"{theirs[2]:.2f} s with 2 workers; {ratios[-1]:.1f} times faster"
            )
    print(f"median: {statistics.median(ratios):.1f} times faster than the faster DataLoader")


if __name__ == "__main__":
    main()
