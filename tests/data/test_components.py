import numpy as np
import pytest
import torch

from data.files import jpeg, write_folder, write_tar
from data.test_cifar100 import files as cifar_files
from simloss.data import (
    Components,
    DataError,
    cifar100,
    cifar100_components,
    utkface,
    utkface_components,
)

X = torch.randn(50, 6, generator=torch.Generator().manual_seed(1)) * torch.arange(1, 7)
FACES = {f"{age}_0_0_{age}.jpg.chip.jpg": jpeg(age) for age in range(1, 31)}


def test_against_numpy():
    some = torch.arange(0, 50, 2)
    found = Components.fit(X, some, 3)
    part = X[some].double().numpy()
    _, _, rows = np.linalg.svd(part - part.mean(0), full_matrices=False)
    for own, theirs in zip(found.directions.T, rows, strict=False):
        assert abs(float(own.double() @ torch.from_numpy(theirs))) == pytest.approx(1, abs=1e-5)
    expected = (X.double().numpy() - part.mean(0)) @ found.directions.double().numpy()
    assert np.allclose(found(X).numpy(), expected, atol=1e-5)


def test_the_sign_is_fixed_and_other_rows_have_no_say():
    some = torch.arange(20)
    found = Components.fit(X, some, 2)
    assert (found.directions.gather(0, found.directions.abs().argmax(0, keepdim=True)) > 0).all()
    moved = X.clone()
    moved[20:] = 1e6
    assert torch.equal(Components.fit(moved, some, 2).directions, found.directions)


def test_too_many_components():
    with pytest.raises(DataError, match="`count` must be at most .* but got 7 for .*50, 6"):
        Components.fit(X, torch.arange(20), 7)
    with pytest.raises(DataError, match="2 training examples"):
        Components.fit(X, torch.arange(2), 2)


def test_faces_are_averaged_and_keep_their_ages(tmp_path):
    folder = write_folder(tmp_path / "UTKFace", FACES)
    small, whole = utkface_components(folder, components=5), utkface(folder)
    assert small.inputs.shape == (30, 3 * 20 * 20)
    assert (small.components, small.input_shape) == (5, (5,))
    assert torch.equal(small.labels, whole.labels)
    first = whole.inputs[0, 0, :3, :3].float().mean()
    assert small.inputs[0, 0].item() == pytest.approx(first.item())
    with pytest.raises(ValueError, match="`size` must divide 60, but got 7"):
        utkface_components(folder, size=7)


def test_objects_are_one_pool_with_their_superclasses(tmp_path):
    archive = write_tar(tmp_path / "cifar-100-binary.tar.gz", cifar_files())
    small, whole = cifar100_components(archive, components=4), cifar100(archive)
    assert small.inputs.shape == (len(whole), 3 * 16 * 16)
    assert small.parts is None
    assert small.superclasses == whole.superclasses
    assert small.inputs[0, 0].item() == whole.inputs[0, 0, :2, :2].float().mean().item()
