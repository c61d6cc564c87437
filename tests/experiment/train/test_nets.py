import sys
import types

import pytest
import torch
from torch import nn

from simloss.experiment import UsersName
from simloss.experiment.train.nets import model


def test_layer_sizes_are_the_papers():
    age = model("age-cnn", (3, 60, 60), 90)
    convolutions = [
        (layer.out_channels, *layer.kernel_size)
        for layer in age.modules()
        if isinstance(layer, nn.Conv2d)
    ]
    assert convolutions == [(20, 5, 5), (40, 7, 7), (80, 11, 11)]
    lenet = model("lenet", (3, 32, 32), 96)
    assert [layer.out_features for layer in lenet.modules() if isinstance(layer, nn.Linear)] == [
        120,
        84,
        96,
    ]


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("age-cnn", (3, 60, 60)),
        ("lenet", (3, 32, 32)),
        ("mlp", (7,)),
        ("small-cnn", (3, 1, 1)),
        ("small-cnn", (3, 30, 50)),
        ("resnet", (3, 9, 9)),
        ("resnet", (3, 64, 64)),
    ],
)
def test_gives_one_logit_a_class(name, shape):
    assert model(name, shape, 11)(torch.zeros(2, *shape)).shape == (2, 11)


def test_a_users_factory(monkeypatch):
    module = types.ModuleType("their_nets")
    module.tiny = lambda shape, classes: nn.Linear(shape[0], classes)
    module.wrong = lambda shape, classes: "a net"
    monkeypatch.setitem(sys.modules, "their_nets", module)
    assert model(UsersName("their_nets:tiny"), (4,), 3)(torch.zeros(1, 4)).shape == (1, 3)
    with pytest.raises(TypeError, match="'their_nets:wrong' must make an nn.Module, but made str"):
        model(UsersName("their_nets:wrong"), (4,), 3)
    with pytest.raises(ValueError, match="must name an importable module:name, .*absent"):
        model(UsersName("their_nets:absent"), (4,), 3)


def test_bad_names_and_shapes():
    with pytest.raises(ValueError, match="`model` must be one of 'age-cnn', 'lenet', 'mlp'"):
        model("vgg", (3, 32, 32), 3)
    with pytest.raises(
        ValueError, match=r"'lenet' takes inputs of shape \(3, 32, 32\), but they a"
    ):
        model("lenet", (3, 60, 60), 3)
    with pytest.raises(ValueError, match=r"'mlp' takes inputs of shape \(D,\), but they are"):
        model("mlp", (3, 60, 60), 3)
