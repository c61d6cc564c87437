import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from simloss.data import DataError, Standardizer, standardize


def reference(inputs, indices):
    """Mean and standard deviation of each column or channel, as plain loops."""
    means, stds = [], []
    for channel in range(inputs.shape[1]):
        values = [v for row in indices.tolist() for v in inputs[row, channel].flatten().tolist()]
        mean = sum(values) / len(values)
        std = (sum((value - mean) ** 2 for value in values) / len(values)) ** 0.5
        means.append(mean)
        stds.append(std if len(set(values)) > 1 else 1.0)
    return torch.tensor(means), torch.tensor(stds)


def images(channels_last):
    pixels = torch.randint(0, 256, (11, 3, 4, 5), dtype=torch.uint8)
    return pixels.contiguous(memory_format=torch.channels_last) if channels_last else pixels


@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32, torch.float64])
def test_images_equal_the_reference(channels_last, dtype):
    pixels = images(channels_last).to(dtype)
    indices = torch.tensor([1, 4, 5, 10])
    fitted = Standardizer.fit(pixels, indices)
    mean, std = reference(pixels, indices)
    assert_close(fitted.mean, mean)
    assert_close(fitted.std, std)
    expected = (pixels - mean.view(3, 1, 1)) / std.view(3, 1, 1)
    assert_close(fitted(pixels), expected.float())
    assert fitted(pixels).dtype == torch.float32
    assert fitted(pixels).stride() == pixels.stride()


@given(
    st.lists(
        st.tuples(st.floats(-1e3, 1e3, width=32), st.floats(-1, 1, width=32)),
        min_size=2,
        max_size=20,
    )
)
def test_tables_equal_the_reference(entries):
    table = torch.tensor(entries)
    indices = torch.arange(len(table) - 1)
    fitted = Standardizer.fit(table, indices)
    mean, std = reference(table.double(), indices)
    assert_close(fitted.mean, mean)
    assert_close(fitted.std, std)
    assert_close(fitted(table), (table - mean) / std)


def test_training_part_alone_counts():
    table = torch.tensor([[1.0], [3.0], [1e6]])
    fitted = Standardizer.fit(table, torch.tensor([0, 1]))
    assert (fitted.mean.item(), fitted.std.item()) == (2.0, 1.0)


def test_training_part_becomes_mean_0_and_std_1():
    pixels, indices = images(True), torch.tensor([0, 2, 3, 9])
    ready = Standardizer.fit(pixels, indices)(pixels)[indices]
    assert_close(ready.mean((0, 2, 3)), torch.zeros(3), atol=1e-6, rtol=0)
    assert_close(ready.std((0, 2, 3), correction=0), torch.ones(3))


@pytest.mark.parametrize("value", [0.1, -1e20, 3.0, 1e-30])
def test_constant_column_becomes_0(value):
    table = torch.full((1000, 2), value)
    table[:, 1] = torch.arange(1000)
    fitted = Standardizer.fit(table, torch.arange(1000))
    assert fitted.std[0] == 1
    assert fitted(table)[:, 0].abs().max() == 0
    assert fitted(table).isfinite().all()


def test_constant_channel_becomes_0():
    pixels = images(False)
    pixels[:, 1] = 200
    ready = Standardizer.fit(pixels, torch.arange(11))(pixels)
    assert ready[:, 1].abs().max() == 0
    assert ready.isfinite().all()


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32])
def test_in_pieces_as_at_once(dtype, monkeypatch):
    pixels = images(True).to(dtype)
    at_once = Standardizer.fit(pixels, torch.arange(11))
    monkeypatch.setattr(standardize, "_CHUNK_ENTRIES", 150)
    in_pieces = Standardizer.fit(pixels, torch.arange(11))
    assert_close(in_pieces.mean, at_once.mean)
    assert_close(in_pieces.std, at_once.std)


@pytest.mark.parametrize("channels_last", [False, True])
def test_out_is_written_to(channels_last):
    pixels = images(channels_last)
    fitted = Standardizer.fit(pixels, torch.arange(11))
    out = torch.empty_like(pixels, dtype=torch.float32)
    assert fitted(pixels, out=out) is out
    assert torch.equal(out, fitted(pixels))


def test_input_is_left_alone():
    table = torch.rand(4, 2)
    before = table.clone()
    Standardizer.fit(table, torch.arange(4))(table)
    assert torch.equal(table, before)


def test_no_examples():
    with pytest.raises(DataError, match="`indices` must name at least one example"):
        Standardizer.fit(torch.rand(4, 2), torch.tensor([], dtype=torch.long))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_column_that_is_not_finite_is_named(value):
    table = torch.zeros(4, 3)
    table[2, 1] = value
    with pytest.raises(DataError, match="`inputs` must be finite, but column 1 holds NaN or inf"):
        Standardizer.fit(table, torch.arange(4))
