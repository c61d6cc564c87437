import io
import struct
import threading
import time
import warnings
import zlib

import numpy as np
import pytest
from PIL import Image

from data.files import jpeg
from simloss.data import DataError, decode
from simloss.data.decode import Unreadable, decoded


def png(pixels):
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def pixels_of(data, size):
    [(_, pixels)] = decoded([("x", data)], size)
    assert isinstance(pixels, bytes), pixels
    return np.frombuffer(pixels, np.uint8).reshape(size, size, 3)


def triangle_weights(before, after):
    """The bilinear filter of one line, as wide as the reduction: a plain loop."""
    scale = before / after
    width = max(scale, 1.0)
    weights = np.zeros((after, before))
    for i in range(after):
        center = (i + 0.5) * scale
        for j in range(before):
            weights[i, j] = max(0.0, 1.0 - abs((j + 0.5 - center) / width))
        weights[i] /= weights[i].sum()
    return weights


@pytest.mark.parametrize("before", [(40, 40), (25, 64), (7, 9), (10, 10)])
def test_scaling_is_bilinear_and_does_not_alias(before):
    pixels = np.random.default_rng(0).integers(0, 256, (*before, 3), dtype=np.uint8)
    expected = np.einsum(
        "ih,hwc,jw->ijc",
        triangle_weights(before[0], 10),
        pixels.astype(float),
        triangle_weights(before[1], 10),
    )
    assert np.abs(pixels_of(png(pixels), 10) - expected).max() <= 1.01  # rounded twice


def test_size_that_fits_is_left_alone():
    pixels = np.random.default_rng(0).integers(0, 256, (6, 6, 3), dtype=np.uint8)
    assert np.array_equal(pixels_of(png(pixels), 6), pixels)


@pytest.mark.parametrize("mode", ["L", "CMYK"])
def test_other_colours_become_rgb(mode):
    data = jpeg(0, (8, 8), mode)
    expected = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
    assert np.array_equal(pixels_of(data, 8), expected)


def saved(image, form, **options):
    file = io.BytesIO()
    image.save(file, form, **options)
    return file.getvalue()


@pytest.mark.parametrize("form", ["PNG", "TIFF"])
def test_sixteen_bits_keep_their_shades(form):
    numbers = np.arange(0, 256, dtype=np.uint16).reshape(16, 16) * 257
    found = pixels_of(saved(Image.fromarray(numbers), form), 16)
    assert np.array_equal(found, np.stack([numbers // 257] * 3, -1))


def test_tiff_is_read():
    pixels = np.random.default_rng(0).integers(0, 256, (6, 6, 3), dtype=np.uint8)
    assert np.array_equal(pixels_of(saved(Image.fromarray(pixels), "TIFF"), 6), pixels)


def test_photos_are_turned_as_the_camera_was_held():
    pixels = np.zeros((8, 8, 3), dtype=np.uint8)
    pixels[:4] = 200  # the sky
    turned = Image.fromarray(np.rot90(pixels).copy())  # as a camera on its side stores it
    exif = turned.getexif()
    exif[274] = 6
    found = pixels_of(saved(turned, "JPEG", exif=exif, quality=95), 8)
    assert np.abs(found.astype(int) - pixels).max() < 10


@pytest.mark.parametrize("form", ["PNG", "WEBP", "TIFF"])
@pytest.mark.parametrize("mode", ["RGBA", "LA"])
def test_transparency_is_white(form, mode):
    pixels = np.zeros((4, 4, len(mode)), dtype=np.uint8)  # black where nobody sees it
    pixels[0, :, -1] = 255
    pixels[1, :, -1] = 51
    found = pixels_of(saved(Image.fromarray(pixels, mode), form, lossless=True), 4)
    assert found[:, 0, 0].tolist() == [0, 204, 255, 255]


@pytest.mark.parametrize("mode", ["P", "RGB", "L"])
def test_a_transparent_colour_is_white(mode):
    image = Image.new(mode, (4, 4), 0)
    clear = (0, 0, 0) if mode == "RGB" else 0
    assert pixels_of(saved(image, "PNG", transparency=clear), 4).min() == 255
    assert pixels_of(saved(image, "PNG"), 4).max() == 0


def test_fractions_are_refused():
    image = Image.fromarray(np.ones((4, 4), np.float32))
    [(_, problem)] = decoded([("x.tif", saved(image, "TIFF"))], 4)
    assert "its pixels are fractions" in str(problem)


@pytest.mark.parametrize("workers", [1, 3])
def test_order_is_kept(workers, monkeypatch):
    monkeypatch.setattr(decode, "_CHUNK_FILES", 2)
    files = [(str(seed), jpeg(seed)) for seed in range(30)]
    assert list(decoded(files, 5, workers=workers)) == [
        (name, pixels_of(data, 5).tobytes()) for name, data in files
    ]


def test_few_files_are_held_at_once(monkeypatch):
    monkeypatch.setattr(decode, "_CHUNK_FILES", 2)
    taken = []

    def files():
        for seed in range(100):
            taken.append(seed)
            yield str(seed), jpeg(0)

    next(decoded(files(), 5, workers=2))
    assert len(taken) < 20


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"this is text", "not an image"),
        (b"", "not an image"),
        (jpeg(0, (40, 40))[:-300], "truncated"),
        (jpeg(0)[:20], ""),
        (b"GIF89a\x01\x00\x01\x00\x00\x00\x00;", "not an image"),
    ],
)
def test_files_that_are_no_images_are_told_apart(data, reason):
    files = [("good", jpeg(1)), ("bad", data), ("good too", jpeg(2))]
    good, bad, good_too = (pixels for _, pixels in decoded(files, 5))
    assert isinstance(good, bytes)
    assert isinstance(good_too, bytes)
    assert isinstance(bad, Unreadable)
    assert reason in str(bad)


def claimed_png(width, height):
    def chunk(kind, body):
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b"") + chunk(b"IEND", b"")


@pytest.mark.parametrize("side", [9_000, 10_000, 60_000])  # ours; Pillow's warning; its error
def test_decompression_bomb_is_a_clear_error(side):
    assert side**2 > decode._MAX_PIXELS
    with warnings.catch_warnings():
        warnings.simplefilter("default")  # in an application, warnings are not errors
        with pytest.raises(DataError, match="'bomb.jpg' claims to have more than 64,000,000 pix"):
            list(decoded([("bomb.jpg", claimed_png(side, side))], 5))


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P", "RGB", "L", "CMYK", "I;16"])
def test_large_images_are_converted_in_strips(monkeypatch, mode):
    noise = np.random.default_rng(0).integers(0, 256, (23, 17, 4), dtype=np.uint8)
    if mode == "I;16":
        image = Image.fromarray(noise[..., :2].copy().view(np.uint16)[..., 0])
    elif mode in ("RGBA", "CMYK"):
        image = Image.fromarray(noise, mode)
    else:
        image = Image.fromarray(noise, "RGBA").convert(mode)
    clear = {"transparency": (1, 2, 3)} if mode == "RGB" else {}
    data = saved(image, "TIFF" if mode == "CMYK" else "PNG", **clear)
    expected = pixels_of(data, 9)
    monkeypatch.setattr(decode, "_STRIP_PIXELS", 17 * 5)
    whole, seen = decode._on_white, []
    monkeypatch.setattr(decode, "_on_white", lambda each: seen.append(each.size) or whole(each))
    assert np.array_equal(pixels_of(data, 9), expected)
    assert set(seen) <= {(17, 5), (17, 3)}
    assert len(seen) == (5 if mode in ("RGBA", "LA", "P", "RGB") else 0)


@pytest.mark.parametrize(("free", "room"), [(None, 250), (64 * 400, 400)])
def test_so_many_pixels_are_decoded_at_once(monkeypatch, free, room):
    monkeypatch.setattr(decode, "_MAX_PIXELS", 250)
    monkeypatch.setattr(decode, "available_memory", lambda: free)
    monkeypatch.setattr(decode, "_CHUNK_FILES", 1)
    now, most, lock = [0], [0], threading.Lock()

    def slowly(image):
        with lock:
            now[0] += image.width * image.height
            most[0] = max(*most, *now)
        time.sleep(0.005)
        with lock:
            now[0] -= image.width * image.height
        return image

    monkeypatch.setattr(decode, "_rgb", slowly)
    files = [(str(seed), jpeg(seed, (10, 10 + 15 * (seed % 2)))) for seed in range(20)]
    assert len(list(decoded([*files, ("bad", files[0][1][:300])], 5, workers=6))) == 21
    assert room - 150 < most[0] <= room


def test_error_in_the_source_comes_through():
    def files():
        yield "a", jpeg(0)
        raise DataError("the archive ends here")

    with pytest.raises(DataError, match="the archive ends here"):
        list(decoded(files(), 5))
