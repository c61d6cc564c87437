import pytest
import torch

from simloss.data import rows
from simloss.data.rows import is_channels_last


@pytest.mark.parametrize("shape", [(9, 3), (9, 3, 4, 5), (9, 1, 4, 5)])
@pytest.mark.parametrize("channels_last", [False, True])
def test_equals_indexing_and_keeps_the_format(shape, channels_last):
    inputs = torch.arange(9 * 60).view(9, -1)[:, : torch.tensor(shape[1:]).prod()].reshape(shape)
    if channels_last and inputs.ndim == 4:
        inputs = inputs.contiguous(memory_format=torch.channels_last)
    indices = torch.tensor([8, 0, 3, 3])
    picked = rows(inputs, indices)
    assert torch.equal(picked, inputs[indices])
    assert is_channels_last(picked) == is_channels_last(inputs)
    out = torch.empty_like(picked)
    assert rows(inputs, indices, out=out).data_ptr() == out.data_ptr()
    assert torch.equal(out, inputs[indices])


def test_any_other_strides_will_do():
    inputs = torch.arange(9 * 3 * 4 * 5).view(9, 3, 4, 5).transpose(2, 3)[:, :, ::2]
    indices = torch.tensor([1, 7])
    assert torch.equal(rows(inputs, indices), inputs[indices])
