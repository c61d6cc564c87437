"""A trained net in one file that cannot run code: weights, classes, statistics of its inputs."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from .. import _checks
from ..data import Dataset, Encoder, MissingDataError
from ..data.standardize import Standardizer
from ..similarity import as_similarity
from .config import Config
from .measure import Judge
from .models import model
from .parts import Ready
from .store import write_whole
from .training import Part, logits_of

FORMAT = 1


@dataclass
class SavedModel:
    """A net with all that is needed to answer for new inputs.

    Attributes:
        net: in evaluation mode, on the CPU.
        standardize: the statistics of its training part.
        class_names: in class order.
        superclasses: one a class, or None.
        temperature: fitted on validation.
        config: what trained it; `rule` is the decision it was kept for.
        input_shape: of one example as the net sees it.
        encoder: makes inputs of a table's cells, or None.
        similarity: S as (C, C), where 1 - S is the cost of a mistake, or None.
        edges: of the bins, where the classes were made of numbers, or None.
    """

    net: nn.Module
    standardize: Standardizer
    class_names: tuple[str, ...]
    superclasses: tuple[str, ...] | None
    temperature: float
    rule: str
    config: Config
    input_shape: tuple[int, ...]
    encoder: Encoder | None = None
    similarity: Tensor | None = None
    edges: tuple[float, ...] | None = None

    def save(self, path: Path) -> None:
        """Write one safetensors file, whole or not at all."""
        from safetensors.torch import save

        about = {
            "format": FORMAT,
            "class_names": self.class_names,
            "superclasses": self.superclasses,
            "temperature": self.temperature,
            "rule": self.rule,
            "input_shape": self.input_shape,
            "config": self.config.as_dict(),
            "encoder": self.encoder.as_dict() if self.encoder else None,
            "edges": self.edges,
        }
        tensors = {f"net.{k}": v.contiguous() for k, v in self.net.state_dict().items()}
        tensors |= {
            "standardize.mean": self.standardize.mean,
            "standardize.std": self.standardize.std,
        }
        if self.similarity is not None:
            tensors["similarity"] = self.similarity.contiguous()
        write_whole(path, save(tensors, metadata={"simloss": json.dumps(about)}))

    @classmethod
    def load(cls, path: Path, *, net: str | None = None) -> "SavedModel":
        """Read it back.

        Args:
            path: the file.
            net: the `module:factory` of a net of your own. A file may not say what is imported, so
                a model with such a net is refused unless you name it here.
        """
        tensors, about = _read(path)
        try:
            return cls._rebuilt(path, tensors, about, net)
        except (KeyError, TypeError, IndexError, AttributeError, OverflowError):
            raise ValueError(_not_ours(path)) from None

    @classmethod
    def _rebuilt(
        cls, path: Path, tensors: dict[str, Tensor], about: dict[str, Any], net: str | None
    ) -> "SavedModel":
        shape = tuple(about["input_shape"])
        config = Config.from_dict(about["config"])
        if ":" in config.model and config.model != net:
            raise ValueError(
                f"'{path}' has a net that {config.model!r} makes, which is imported only if you "
                f"name it: --net {config.model}."
            )
        # A file that claims a net of any size must not have memory set aside for it.
        with torch.device("cpu" if net else "meta"):
            made = model(config.model, shape, len(about["class_names"]))
        weights = {k.removeprefix("net."): v for k, v in tensors.items() if k.startswith("net.")}
        mean, std = tensors["standardize.mean"], tensors["standardize.std"]
        try:
            made.load_state_dict(weights, assign=True)
            mean.expand(shape[0]), std.expand(shape[0])
        except RuntimeError:
            raise ValueError(f"'{path}' holds weights that do not fit its net.") from None
        superclasses = about["superclasses"]
        return cls(
            made.eval(),
            Standardizer(mean, std),
            tuple(about["class_names"]),
            tuple(superclasses) if superclasses else None,
            float(about["temperature"]),
            about["rule"],
            config,
            shape,
            _encoder(about, path),
            tensors.get("similarity"),
            _edges(about),
        )

    def probabilities(self, inputs: Tensor, *, calibrated: bool = True) -> Tensor:
        """Class probabilities of inputs as a `Dataset` holds them, (N, C)."""
        if self.encoder is not None:
            inputs = self.encoder(inputs)
        if tuple(inputs.shape[1:]) != self.input_shape:
            raise ValueError(
                f"`inputs` must have shape (N, {', '.join(map(str, self.input_shape))}), "
                f"but got {tuple(inputs.shape)}."
            )
        ready = Ready(self.standardize, inputs.ndim == 4)
        logits = logits_of(self.net, Part(inputs, torch.zeros(len(inputs)), ready))
        return (logits / (self.temperature if calibrated else 1.0)).softmax(-1)

    def predict(self, inputs: Tensor) -> Tensor:
        """The classes answered, by the decision rule the net was kept for, (N)."""
        return self.judge().answers(self.probabilities(inputs, calibrated=False), self.rule)

    def judge(self) -> Judge:
        """How its answers are made and measured."""
        classes = Dataset(
            "the model",
            torch.empty(0, 1),
            torch.empty(0, dtype=torch.long),
            self.class_names,
            superclasses=self.superclasses,
        )
        if self.similarity is None:
            with _checks.nothing_imported():
                return Judge.of(classes, self.config.metrics, self.config.cost)
        # Kept in the model, because the file it came from may be gone.
        plain = Judge.of(classes, self.config.metrics)
        return replace(plain, similarity=as_similarity(self.similarity))


def _edges(about: dict[str, Any]) -> tuple[float, ...] | None:
    found = about.get("edges")
    if found is None:
        return None
    if len(found) != len(about["class_names"]) + 1:
        raise KeyError("edges")
    return tuple(float(edge) for edge in found)


def _encoder(about: dict[str, Any], path: Path) -> Encoder | None:
    try:
        return Encoder.from_dict(about["encoder"]) if about.get("encoder") else None
    except (KeyError, TypeError, AttributeError):
        raise ValueError(f"'{path}' holds columns that cannot be read.") from None


def _read(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    from safetensors import SafetensorError, safe_open

    if not Path(path).exists():
        raise MissingDataError(f"Nothing was found at '{path}'.")
    try:
        with safe_open(path, framework="pt") as file:
            about = json.loads((file.metadata() or {})["simloss"])
            return {name: file.get_tensor(name) for name in file.keys()}, about  # noqa: SIM118
    except (SafetensorError, OSError, KeyError, ValueError, TypeError, RecursionError):
        raise ValueError(_not_ours(path)) from None


def _not_ours(path: Path) -> str:
    return f"'{path}' must be a model saved by simloss, but it is not."


def fits(saved: SavedModel, dataset: Dataset) -> None:
    """The data speaks of the classes and inputs the model knows."""
    if dataset.class_names != saved.class_names:
        raise ValueError(
            f"the data must have the model's {len(saved.class_names)} classes in its order, "
            f"but {dataset.name} has {dataset.num_classes} classes that differ."
        )
