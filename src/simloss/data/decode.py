"""Bytes of image files -> pixels, on every core.

Threads, not processes: Pillow lets go of the interpreter while it decodes and resizes. Measured
on two cores: at the 200 pixels of the official UTKFace, 1.8 times one thread's speed with either;
at 64 pixels 1.1 against 1.9 times, which the start of the processes eats up.
"""

import io
import os
import warnings
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from .errors import DataError

# Of untrusted files, only the formats that photographs come in are tried.
_FORMATS = ("JPEG", "PNG", "WEBP", "BMP", "TIFF")
_SIXTEEN_BITS = 257  # 65535 / 255
_MAX_PIXELS = 64 * 10**6
_MOST_WORKERS = 8  # beyond, they wait for the interpreter
_CHUNK_FILES = 128
_CHUNK_BYTES = 8 * 2**20

Pixels = bytes
"""RGB, row by row, three bytes a pixel."""


class Unreadable(Exception):
    """One file that is no image; the others may be."""


def decoded(
    files: Iterable[tuple[str, bytes]], size: int, *, workers: int | None = None
) -> Iterator[tuple[str, Pixels | Unreadable]]:
    """The pixels of each file, in order, scaled to `size` x `size`; a few files are held at once.

    Example:
        >>> [(name, problem)] = decoded([("note.jpg", b"no picture")], 60)
        >>> name, problem
        ('note.jpg', Unreadable('not an image'))
    """
    image_module = pillow()
    waiting: deque[Future[list[tuple[str, Pixels | Unreadable]]]] = deque()
    workers = workers or min(_MOST_WORKERS, os.cpu_count() or 1)
    with (
        ThreadPoolExecutor(workers) as pool,
        warnings.catch_warnings(),  # not safe in threads, so once, around all of them
    ):
        warnings.simplefilter("error", image_module.DecompressionBombWarning)
        try:
            for chunk in _chunks(files):
                waiting.append(pool.submit(_decode_chunk, chunk, size))
                if len(waiting) > 2 * workers:
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)


def pillow() -> Any:
    """Pillow's `Image` module, or one sentence that says how to get it."""
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


def _decode_chunk(
    chunk: list[tuple[str, bytes]], size: int
) -> list[tuple[str, Pixels | Unreadable]]:
    return [(name, _decode(name, data, size)) for name, data in chunk]


def _upright(image: Any) -> Any:
    """Turned as its camera says it was held: what every viewer shows."""
    from PIL import ImageOps

    return ImageOps.exif_transpose(image) if "exif" in image.info else image


def _on_white(image: Any) -> Any:
    """Without transparency: what lies under it is a colour that no viewer shows."""
    from PIL import Image

    seen = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", seen.size, "white"), seen)


def _rgb(image: Any) -> Any:
    """Three channels of eight bits; Pillow itself would cut sixteen bits off at white."""
    from PIL import Image

    if image.mode == "F":
        raise Unreadable("its pixels are fractions, whose white is not known; save it as 8-bit")
    if image.mode.startswith("I"):
        numbers = np.asarray(image).clip(0, _SIXTEEN_BITS * 255)
        image = Image.fromarray((numbers // _SIXTEEN_BITS).astype(np.uint8))
    elif image.mode in ("RGBA", "LA", "PA", "RGBa") or "transparency" in image.info:
        image = _on_white(image)
    return image if image.mode == "RGB" else image.convert("RGB")


def _decode(name: str, data: bytes, size: int) -> Pixels | Unreadable:
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
            if image.width * image.height > _MAX_PIXELS:
                raise Image.DecompressionBombError
            picture = _rgb(_upright(image))
            if picture.size != (size, size):
                # Pillow's bilinear filter widens with the reduction: it does not alias.
                picture = picture.resize((size, size), Image.Resampling.BILINEAR)
            return picture.tobytes()
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise DataError(
            f"{name!r} claims to have more than {_MAX_PIXELS:,} pixels, as files do that are made "
            f"to fill the memory; take it out."
        ) from None
    except Unreadable as reason:
        return reason
    except UnidentifiedImageError:
        return Unreadable("not an image")
    except Exception as error:  # any of Pillow's readers, any damage
        return Unreadable(str(error).split("\n")[0] or type(error).__name__)
