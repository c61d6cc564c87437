"""A trained net in one file that cannot run code: weights, classes, statistics of its inputs."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, NotRequired, TypedDict

import torch
from torch import Tensor, nn

from ... import _checks
from ..._disk import tensors_of
from ..._imports import UsersName, names_an_attribute
from ..._schema import Finite, Positive, misfit
from ...data import Dataset, Encoder, MissingDataError, Tfidf
from ...data.standardize import Standardizer
from ...data.text_columns import TFIDF
from ...decision.rules import RULES
from ...similarity import as_similarity
from ..plan.alternatives import RIVALS, Objective, Regression, objective_of
from ..plan.config import Config
from ..plan.treatment import Treatment
from ..rivals.learner import untrained
from ..rivals.trees import BoostedTrees
from ..train.loop import Part, logits_of
from ..train.measure import Judge
from ..train.splits import Ready
from ..writing import write_whole

FORMAT = 1
_STATISTICS = ("standardize.mean", "standardize.std")


@dataclass
class SavedModel:
    """A net with all that is needed to answer for new inputs.

    Attributes:
        net: in evaluation mode, on the CPU.
        standardize: the statistics of its training part.
        class_names: in class order.
        superclasses: one per class, or None.
        temperature: fitted on validation; 1 where the answers there were worse by it.
        config: what trained it; `rule` is the decision it was kept for.
        input_shape: of one example as the net sees it.
        encoder: makes inputs of a table's cells, or None.
        tfidf: makes cells of its texts, where that was fitted, or None.
        similarity: S as (C, C), where 1 - S is the cost of a mistake, or None.
        edges: of the bins, where the classes were made of numbers, or None.
        positions: the number that stands for each of these bins, or None.
        objective: what knows how the net's outputs become probabilities; None for logits.
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
    positions: tuple[float, ...] | None = None
    tfidf: Tfidf | None = None
    objective: Objective | None = None

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
            "positions": self.positions,
            "terms": self.tfidf.terms if self.tfidf else None,
        }
        tensors = {f"net.{k}": v.contiguous() for k, v in self.net.state_dict().items()}
        tensors |= {
            "standardize.mean": self.standardize.mean,
            "standardize.std": self.standardize.std,
        }
        if self.similarity is not None:
            tensors["similarity"] = self.similarity.contiguous()
        if self.tfidf is not None:
            tensors |= {"tfidf.idf": self.tfidf.idf, "tfidf.directions": self.tfidf.directions}
        if isinstance(self.objective, Regression):
            tensors |= {f"errors.{k}": v for k, v in self.objective.state_dict().items()}
        write_whole(path, save(tensors, metadata={"simloss": json.dumps(about)}))

    @classmethod
    def load(
        cls, path: Path, *, net: UsersName | None = None, encoder: UsersName | None = None
    ) -> "SavedModel":
        """Read it back.

        Args:
            path: the file.
            net: the `module:factory` of a net of your own. A file may not say what is imported, so
                a model with such a net is refused unless you name it here.
            encoder: the same for a `module:callable` that made its features; or where the
                `hf:FOLDER` is now.
        """
        tensors, about = _read(path)
        wrong = misfit(about, _About)
        wrong = _lacking(tensors) if wrong is None else wrong
        if wrong is not None:
            raise ValueError(_not_ours(path, f": its {wrong!r} is not as it should be"))
        about["config"] = _with_encoder(path, Config.from_dict(about["config"]), encoder)
        return cls._rebuilt(path, tensors, about, net)

    @classmethod
    def _rebuilt(
        cls, path: Path, tensors: dict[str, Tensor], about: dict[str, Any], net: UsersName | None
    ) -> "SavedModel":
        shape = tuple(about["input_shape"])
        config = about["config"]
        is_own = ":" in config.model
        if is_own and config.model != net:
            raise ValueError(
                f"'{path}' has a net that {config.model!r} makes, which is imported only if you "
                f"name it: --net {config.model}."
            )
        # A file that claims a net of any size must not have memory set aside for it.
        with torch.device("cpu" if is_own else "meta"):
            named = (is_own and net) or config.model
            made = untrained(config.treatments[-1], named, shape, len(about["class_names"]))
        weights = {k.removeprefix("net."): v for k, v in tensors.items() if k.startswith("net.")}
        mean, std = tensors["standardize.mean"], tensors["standardize.std"]
        encoder = Encoder.from_dict(about["encoder"]) if about.get("encoder") else None
        statistics = dict.fromkeys(_STATISTICS, ((shape[0],), torch.float32))
        if (
            not _fits(made, weights)
            or not (_kinds(tensors).items() >= statistics.items())
            or not all(_is_finite(each) for each in tensors.values())
            or (encoder is not None and encoder.width != shape[0])
        ):
            raise ValueError(f"'{path}' holds weights that do not fit its net.")
        made.load_state_dict(weights, assign=True)
        if isinstance(made, BoostedTrees):
            try:
                made.check()
            except ValueError as error:
                raise ValueError(f"'{path}' holds trees that are damaged: {error}.") from None
        names, edges = tuple(about["class_names"]), about.get("edges")
        matrix = tensors.get("similarity")
        return cls(
            made.eval(),
            Standardizer(mean, std),
            names,
            _one_per_class("superclasses", about["superclasses"], len(names)),
            float(about["temperature"]),
            about["rule"],
            config,
            shape,
            encoder,
            None if matrix is None else _similarity(matrix, len(names)),
            _one_per_class("edges", edges, len(names) + 1),
            (places := _one_per_class("positions", about.get("positions"), len(names))),
            _tfidf(about.get("terms"), tensors),
            _objective(path, config.treatments[-1], _classes(names, None, places), tensors),
        )

    def probabilities(self, inputs: Tensor) -> Tensor:
        """Class probabilities of inputs as a `Dataset` holds them, at the temperature, (N, C)."""
        if self.encoder is not None:
            inputs = self.encoder(inputs)
        if tuple(inputs.shape[1:]) != self.input_shape:
            raise ValueError(
                f"`inputs` must have shape (N, {', '.join(map(str, self.input_shape))}), "
                f"but got {tuple(inputs.shape)}."
            )
        ready = Ready(self.standardize, inputs.ndim == 4)
        logits = logits_of(self.net, Part(inputs, torch.zeros(len(inputs)), ready))
        if self.objective is not None:
            logits = self.objective.logits(logits)
        return (logits / self.temperature).softmax(-1)

    def predict(self, inputs: Tensor) -> Tensor:
        """The classes answered, by the decision rule the net was kept for, (N)."""
        return self.judge().answers(self.probabilities(inputs), self.rule)

    @property
    def is_of_images(self) -> bool:
        """Whether it answers for images, by their pixels or by features of them."""
        return len(self.input_shape) == 3 or self.config.data.source in ("images", "image-table")

    def judge(self) -> Judge:
        """How its answers are made and measured."""
        classes = _classes(self.class_names, self.superclasses, self.positions)
        if self.similarity is None:
            return Judge.of(classes, self.config.metrics, self.config.cost)
        # Kept in the model, because the file it came from may be gone.
        plain = Judge.of(classes, self.config.metrics)
        return replace(plain, similarity=as_similarity(self.similarity))


_Size = Annotated[int, lambda size: 1 <= size < 2**31]


class _About(TypedDict):
    """What a model's file says beside its weights."""

    class_names: Annotated[list[str], lambda names: 0 < len(set(names)) == len(names)]
    superclasses: list[str] | None
    temperature: Positive
    rule: Annotated[str, RULES.__contains__]
    input_shape: Annotated[list[_Size], lambda shape: 1 <= len(shape) <= 4]
    config: dict[str, Any]
    encoder: NotRequired[dict[str, Any] | None]
    edges: NotRequired[list[float] | None]
    positions: NotRequired[list[Finite] | None]
    terms: NotRequired[list[str] | None]


def _with_encoder(path: Path, config: Config, encoder: UsersName | None) -> Config:
    """The configuration with the encoder in the user's words, if it is the user's own."""
    known = config.data.options.get("encoder")
    if encoder is not None and known in (None, TFIDF):
        raise ValueError(f"`--encoder` is for features of an encoder, but '{path}' has none.")
    if isinstance(known, str) and names_an_attribute(known) and known != encoder:
        raise ValueError(
            f"'{path}' answers from features that {known!r} makes, which is imported only if you "
            f"name it: --encoder {known}."
        )
    if encoder is None:
        return config
    options = {**config.data.options, "encoder": encoder}
    return replace(config, data=replace(config.data, options=options))


def _tfidf(terms: list[str] | None, tensors: dict[str, Tensor]) -> Tfidf | None:
    if terms is None:
        return None
    nothing = torch.empty(0)
    idf, directions = (tensors.get(f"tfidf.{each}", nothing) for each in ("idf", "directions"))
    return Tfidf.checked(terms, idf, directions)


def _classes(
    names: tuple[str, ...],
    superclasses: tuple[str, ...] | None,
    positions: tuple[float, ...] | None,
) -> Dataset:
    """All that a model knows of its data."""
    nothing = torch.empty(0, 1), torch.empty(0, dtype=torch.long)
    notes = {"positions": positions}
    return Dataset("the model", *nothing, names, superclasses=superclasses, notes=notes)


def _fits(made: nn.Module, weights: dict[str, Tensor]) -> bool:
    """Whether these are the weights of such a net; trees are text of any length."""
    ours, theirs = _kinds(made.state_dict()), _kinds(weights)
    if isinstance(made, BoostedTrees) and theirs.keys() == ours.keys():
        (shape, kind), *_ = theirs.values()
        return len(shape) == 1 and kind == torch.uint8
    return theirs == ours


def _is_finite(tensor: Tensor) -> bool:
    try:
        return bool(tensor.isfinite().all())
    except NotImplementedError:  # of numbers of 8 bits; no model of ours has any
        return False


def _objective(
    path: Path, treatment: Treatment, classes: Dataset, tensors: dict[str, Tensor]
) -> Objective | None:
    """How a rival's outputs become probabilities; no loss of a user's own is imported for it."""
    if treatment.loss not in RIVALS:
        return None
    made = objective_of(treatment.loss_for(classes))
    if isinstance(made, Regression):
        found = {k.removeprefix("errors."): v for k, v in tensors.items() if k.startswith("errors")}
        if not made.recall(found):
            raise ValueError(f"'{path}' holds no errors of its regression that fit its classes.")
    return made


def _lacking(tensors: dict[str, Tensor]) -> str | None:
    """Which of the tensors that every model has is not there."""
    return next((name for name in _STATISTICS if name not in tensors), None)


def _kinds(tensors: dict[str, Tensor]) -> dict[str, Any]:
    return {name: (tuple(each.shape), each.dtype) for name, each in tensors.items()}


def _similarity(matrix: Tensor, count: int) -> Tensor:
    known = as_similarity(matrix)
    _checks.class_counts_agree("similarity", known.num_classes, "class_names", count)
    return known.to_dense()


def _one_per_class(name: str, values: list[Any] | None, count: int) -> tuple[Any, ...] | None:
    if values is not None and len(values) != count:
        raise ValueError(f"`{name}` of a model must have {count} entries, but got {len(values)}.")
    return None if values is None else tuple(values)


def _read(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    if not Path(path).exists():
        raise MissingDataError(f"Nothing was found at '{path}'.")
    try:
        tensors, texts = tensors_of(path)
        return tensors, json.loads(texts["simloss"])
    except (OSError, KeyError, ValueError, RecursionError):
        raise ValueError(_not_ours(path)) from None


def _not_ours(path: Path, reason: str = "") -> str:
    return f"'{path}' must be a model saved by simloss, but it is not{reason}."


def fits(saved: SavedModel, dataset: Dataset) -> None:
    """The data speaks of the classes and inputs the model knows."""
    if dataset.class_names != saved.class_names:
        raise ValueError(
            f"the data must have the model's {len(saved.class_names)} classes in its order, "
            f"but {dataset.name} has {dataset.num_classes} classes that differ."
        )
