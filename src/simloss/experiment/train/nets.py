"""The nets by name: the paper's two, one for tables, two for images, and whatever a user names."""

from collections.abc import Callable
from typing import cast

from torch import Tensor, nn

from ... import _checks
from ..._imports import imported, users_own
from .image_nets import ResNet, SmallCNN


class AgeCNN(nn.Module):
    """The age network of Niu et al. 2016, for images of 60 x 60.

    Convolutions 20@5x5, 40@7x7 and 80@11x11 with two poolings, then 80 units, then the classes.

    Example:
        >>> import torch
        >>> AgeCNN(90)(torch.zeros(2, 3, 60, 60)).shape
        torch.Size([2, 90])
    """

    def __init__(self, num_classes: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 20, 5),  # (N, 20, 56, 56)
            nn.ReLU(),
            nn.MaxPool2d(2),  # (N, 20, 28, 28)
            nn.Conv2d(20, 40, 7),  # (N, 40, 22, 22)
            nn.ReLU(),
            nn.MaxPool2d(2),  # (N, 40, 11, 11)
            nn.Conv2d(40, 80, 11),  # (N, 80, 1, 1)
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(80, 80),
            nn.ReLU(),
            nn.Linear(80, num_classes),
        )

    def forward(self, x: Tensor) -> Tensor:
        return cast(Tensor, self.layers(x))


class LeNet(nn.Module):
    """LeNet (LeCun et al. 1998) for colour images of 32 x 32: 6@5x5, 16@5x5, 120, 84.

    Example:
        >>> import torch
        >>> LeNet(96)(torch.zeros(2, 3, 32, 32)).shape
        torch.Size([2, 96])
    """

    def __init__(self, num_classes: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 6, 5),  # (N, 6, 28, 28)
            nn.ReLU(),
            nn.MaxPool2d(2),  # (N, 6, 14, 14)
            nn.Conv2d(6, 16, 5),  # (N, 16, 10, 10)
            nn.ReLU(),
            nn.MaxPool2d(2),  # (N, 16, 5, 5)
            nn.Flatten(),
            nn.Linear(400, 120),
            nn.ReLU(),
            nn.Linear(120, 84),
            nn.ReLU(),
            nn.Linear(84, num_classes),
        )

    def forward(self, x: Tensor) -> Tensor:
        return cast(Tensor, self.layers(x))


class MLP(nn.Module):
    """Two hidden layers, for tables (N, D).

    Example:
        >>> import torch
        >>> MLP(9, 100)(torch.zeros(2, 9)).shape
        torch.Size([2, 100])
    """

    def __init__(self, num_features: int, num_classes: int, hidden: int = 64) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(num_features, hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden),
            nn.ReLU(),
            nn.Linear(hidden, num_classes),
        )

    def forward(self, x: Tensor) -> Tensor:
        return cast(Tensor, self.layers(x))


# name -> (what shape of input it takes, how it is made from that shape and the number of classes)
MODELS: dict[str, tuple[str, Callable[[tuple[int, ...], int], nn.Module]]] = {
    "age-cnn": ("(3, 60, 60)", lambda shape, classes: AgeCNN(classes)),
    "lenet": ("(3, 32, 32)", lambda shape, classes: LeNet(classes)),
    "mlp": ("(D,)", lambda shape, classes: MLP(shape[0], classes)),
    "linear": ("(D,)", lambda shape, classes: nn.Linear(shape[0], classes)),
    "small-cnn": ("(3, H, W)", lambda shape, classes: SmallCNN(classes)),
    "resnet": ("(3, H, W)", lambda shape, classes: ResNet(classes, min(shape[1:]))),
}
_ANY_SIZE = {"(D,)": 1, "(3, H, W)": 3}  # only the number of dimensions counts


def model(name: str, input_shape: tuple[int, ...], num_classes: int) -> nn.Module:
    """A net by name, or by `module:factory`, a callable (input_shape, num_classes) -> nn.Module.

    Example:
        >>> type(model("mlp", (9,), 100)).__name__
        'MLP'
    """
    if ":" in name:
        return _users_model(name, input_shape, num_classes)
    _checks.choice("model", name, (*MODELS, "module:factory"))
    takes, make = MODELS[name]
    shape = f"({', '.join(map(str, input_shape))}{',' if len(input_shape) == 1 else ''})"
    fits = len(input_shape) == _ANY_SIZE[takes] if takes in _ANY_SIZE else shape == takes
    if not fits:
        raise ValueError(f"`model` {name!r} takes inputs of shape {takes}, but they are {shape}.")
    return make(input_shape, num_classes)


def _users_model(name: str, input_shape: tuple[int, ...], num_classes: int) -> nn.Module:
    made = imported("model", users_own("model", name))(input_shape, num_classes)
    if not isinstance(made, nn.Module):
        raise TypeError(f"`model` {name!r} must make an nn.Module, but made {type(made).__name__}.")
    return made
