"""Decodes image files into pixels, on every core.

Threads, not processes: Pillow releases the interpreter lock while it decodes and resizes.
Measured on two cores: at the 200 pixels of the official UTKFace, 1.8 times the speed of one thread
with either; at 64 pixels 1.1 against 1.9 times, which starting the processes uses up.
"""

import io
import os
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from threading import Condition
from typing import Any

import numpy as np

from .errors import DataError
from .memory import available_memory

# For untrusted files, only the formats of photographs are tried.
_FORMATS = ("JPEG", "PNG", "WEBP", "BMP", "TIFF")
_SIXTEEN_BITS = 257  # 65535 / 255
_MAX_PIXELS = 64 * 10**6  # of one image
_PIXEL_BYTES = 64  # of the free memory, for each pixel that is decoded at the same time
_STRIP_PIXELS = 2**22  # above, an image is converted in strips, without copies of the whole
_MOST_WORKERS = 8  # more would wait for the interpreter
_CHUNK_FILES = 128
_CHUNK_BYTES = 8 * 2**20

Pixels = bytes
"""RGB, row by row, three bytes per pixel."""


class Unreadable(Exception):
    """A file that is not an image; the others may be."""


def decoded(
    files: Iterable[tuple[str, bytes]], size: int, *, workers: int | None = None
) -> Iterator[tuple[str, Pixels | Unreadable]]:
    """The pixels of each file, in order, scaled to `size` x `size`; holds a few files at a time.

    Example:
        >>> [(name, problem)] = decoded([("note.jpg", b"no picture")], 60)
        >>> name, problem
        ('note.jpg', Unreadable('not an image'))
    """
    return _each(files, partial(_pixels, size=size), workers)


def pictures(files: Iterable[tuple[str, bytes]], most: int) -> Iterator[tuple[str, Any]]:
    """The same as Pillow's RGB images, reduced if a side has more than `most` pixels."""
    return _each(files, partial(_at_most, most=most), None)


def native_size(content: bytes) -> int:
    """The longer side of an image in pixels; 0 if it is not an image."""
    image_module = pillow()
    try:
        with image_module.open(io.BytesIO(content), formats=_FORMATS) as image:
            return max(image.size)
    except Exception:  # any of Pillow's readers, any damage
        return 0


Finish = Callable[[Any], Any]
"""What an RGB image is turned into."""


def _each(
    files: Iterable[tuple[str, bytes]], finish: Finish, workers: int | None
) -> Iterator[tuple[str, Any]]:
    image_module = pillow()
    waiting: deque[Future[list[tuple[str, Any]]]] = deque()
    workers = workers or min(_MOST_WORKERS, os.cpu_count() or 1)
    room = _Room(max(_MAX_PIXELS, (available_memory() or 0) // _PIXEL_BYTES))
    with (
        ThreadPoolExecutor(workers) as pool,
        warnings.catch_warnings(),  # not thread-safe, so once, around all of them
    ):
        warnings.simplefilter("error", image_module.DecompressionBombWarning)
        try:
            for chunk in _chunks(files):
                waiting.append(pool.submit(_decode_chunk, chunk, finish, room))
                if len(waiting) > 2 * workers:
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)


def pillow() -> Any:
    """Pillow's `Image` module, or an error that says how to install it."""
    try:
        from PIL import Image
    except ImportError:
        raise ImportError(
            "Reading images needs Pillow, which is not installed: pip install 'simloss[cli]'."
        ) from None
    return Image


def _chunks(files: Iterable[tuple[str, bytes]]) -> Iterator[list[tuple[str, bytes]]]:
    chunk: list[tuple[str, bytes]] = []
    held = 0
    for name, data in files:
        chunk.append((name, data))
        held += len(data)
        if len(chunk) == _CHUNK_FILES or held > _CHUNK_BYTES:
            yield chunk
            chunk, held = [], 0
    if chunk:
        yield chunk


class _Room:
    """So many pixels are decoded at once: one image of the largest, or hundreds of small ones."""

    def __init__(self, pixels: int) -> None:
        self._left = pixels
        self._changed = Condition()

    @contextmanager
    def taken(self, pixels: int) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: pixels <= self._left)
            self._left -= pixels
        try:
            yield
        finally:
            with self._changed:
                self._left += pixels
                self._changed.notify_all()


def _decode_chunk(
    chunk: list[tuple[str, bytes]], finish: Finish, room: _Room
) -> list[tuple[str, Any]]:
    return [(name, _decode(name, data, finish, room)) for name, data in chunk]


def _pixels(picture: Any, size: int) -> Pixels:
    from PIL import Image

    if picture.size != (size, size):
        # Pillow's bilinear filter widens with the reduction: it does not alias.
        picture = picture.resize((size, size), Image.Resampling.BILINEAR)
    return bytes(picture.tobytes())


def _at_most(picture: Any, most: int) -> Any:
    from PIL import Image

    whole = picture.copy()  # of a file that is about to be closed
    whole.thumbnail((most, most), Image.Resampling.BICUBIC)
    return whole


def _upright(image: Any) -> Any:
    """Rotated as its camera was held, as every viewer shows it."""
    from PIL import ImageOps

    return ImageOps.exif_transpose(image) if "exif" in image.info else image


def _on_white(image: Any) -> Any:
    """Without transparency: the colour below it is one that no viewer shows."""
    from PIL import Image

    seen = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", seen.size, "white"), seen)


def _is_rgb(image: Any) -> bool:
    return image.mode == "RGB" and "transparency" not in image.info


def _rgb_in_strips(image: Any) -> Any:
    from PIL import Image

    whole = Image.new("RGB", image.size)
    rows = max(1, _STRIP_PIXELS // image.width)
    for top in range(0, image.height, rows):
        box = (0, top, image.width, min(top + rows, image.height))
        whole.paste(_rgb(image.crop(box)), box)
    return whole


def _rgb(image: Any) -> Any:
    """Three channels of eight bits; Pillow itself would clip sixteen bits at white."""
    from PIL import Image

    if image.mode == "F":
        raise Unreadable("its pixels are fractions without a known white; save it as 8-bit")
    if image.mode.startswith("I"):
        numbers = np.asarray(image).clip(0, _SIXTEEN_BITS * 255)
        image = Image.fromarray((numbers // _SIXTEEN_BITS).astype(np.uint8))
    elif image.mode in ("RGBA", "LA", "PA", "RGBa") or "transparency" in image.info:
        image = _on_white(image)
    return image if image.mode == "RGB" else image.convert("RGB")


def _decode(name: str, data: bytes, finish: Finish, room: _Room) -> Any:
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
            pixels = image.width * image.height
            if pixels > _MAX_PIXELS:
                raise Image.DecompressionBombError
            with room.taken(pixels):
                upright = _upright(image)
                in_strips = pixels > _STRIP_PIXELS and not _is_rgb(upright)
                return finish(_rgb_in_strips(upright) if in_strips else _rgb(upright))
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise DataError(
            f"{name!r} claims to have more than {_MAX_PIXELS:,} pixels, like files made "
            f"to fill the memory; remove it."
        ) from None
    except Unreadable as reason:
        return reason
    except UnidentifiedImageError:
        return Unreadable("not an image")
    except Exception as error:  # any of Pillow's readers, any damage
        return Unreadable(str(error).split("\n")[0] or type(error).__name__)
