"""The description of an experiment, as plain values that a YAML file holds and that rerun it."""

import hashlib
import json
from dataclasses import MISSING, asdict, dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from ... import _checks
from ..._disk import bytes_of
from ..._imports import UsersName
from ..._schema import fits
from ...decision.rules import RULES
from ...loss.registry import BASELINE
from ..writing import write_whole
from .treatment import Treatment

_MOST_BYTES = 2**20  # of a file; those of the largest grids have a few thousand
_MOST_DIGITS = 400  # of a whole number; to the base of 60, with colons, reading takes minutes


@dataclass(frozen=True)
class DataConfig:
    """Where data comes from: a name in `sources.SOURCES` or `module:reader`, a path, options."""

    source: str
    path: str | None = None
    options: dict[str, Any] = field(default_factory=dict)

    def in_the_users_words(self) -> "DataConfig":
        """The same, with the reader and the encoder as names that the user gave."""
        options = dict(self.options)
        if isinstance(encoder := options.get("encoder"), str):
            options["encoder"] = UsersName(encoder)
        return replace(self, source=UsersName(self.source), options=options)


@dataclass(frozen=True)
class SplitConfig:
    """How the data is divided.

    `new_for_each_seed` draws a new split for every seed: seeds on one split measure the noise of
    training only. `keep_duplicates_together` needs a source that knows its duplicates.
    `keep_test` keeps the test part of the one split and draws only the others again, so that seeds
    with which something was chosen have never seen it. `train_share` keeps only that share of the
    training part, drawn by the split's seed, to see what few examples do; `per_class` at most so
    many examples of each class, in the training part and in the validation part.
    """

    shares: tuple[float, float, float] = (0.6, 0.2, 0.2)
    seed: int = 0
    new_for_each_seed: bool = False
    stratify: bool = False
    keep_duplicates_together: bool = False
    keep_test: bool = False
    train_share: float = 1.0
    per_class: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "shares", tuple(self.shares))  # a list when it comes from YAML
        if _checks.share("train_share", self.train_share) == 0:
            raise ValueError("`train_share` must be above 0, but got 0.")
        if self.per_class is not None:
            _checks.class_count("per_class", self.per_class)


@dataclass(frozen=True)
class TrainingConfig:
    """One run: Adam, early stopping, the best weights kept.

    `stop_on` is the validation metric. With `keep_best_of` "argmax" one set of weights is kept,
    the best when answered by argmax; with "each rule", one set per decision rule, and training
    goes on until the last of them stops improving.
    """

    epochs: int = 1000
    patience: int = 10
    batch_size: int = 1024
    learning_rate: float = 1e-3
    stop_on: str = "mae"
    keep_best_of: str = "argmax"
    augment: bool = False
    device: str = "auto"
    precision: str = "float32"

    def __post_init__(self) -> None:
        for name in ("epochs", "patience", "batch_size"):
            _checks.class_count(name, getattr(self, name))
        _checks.positive("learning_rate", self.learning_rate)
        _checks.choice("keep_best_of", self.keep_best_of, ("argmax", "each rule"))
        _checks.choice("precision", self.precision, ("float32", "bfloat16"))
        _checks.choice("device", self.device.partition(":")[0], ("auto", "cpu", "cuda", "mps"))


@dataclass(frozen=True)
class Config:
    """An experiment: treatments x seeds on one data set.

    Attributes:
        name: what the report is called.
        metrics: what is measured, the one that counts first.
        rules: how probabilities are answered, by names in `simloss.decision.rules.RULES`.
        cost: what a mistake costs, where it is not the number of classes or the tree between:
            "values", the distance between the numbers the classes stand for; or a similarity, by
            name or path, with 1 - S.
    """

    name: str
    data: DataConfig
    model: str
    treatments: tuple[Treatment, ...]
    seeds: tuple[int, ...]
    metrics: tuple[str, ...]
    rules: tuple[str, ...] = ("argmax",)
    split: SplitConfig = SplitConfig()
    training: TrainingConfig = TrainingConfig()
    cost: str | None = None

    def check_baseline(self) -> None:
        """Refuse a comparison without cross entropy."""
        if not any(each.loss == BASELINE and not each.options for each in self.treatments):
            raise ValueError(
                "`treatments` must include cross entropy without options, which everything is "
                "compared with."
            )

    def __post_init__(self) -> None:
        if len(self.treatments) != 1:  # one alone is a saved net's, and not compared
            self.check_baseline()
        _check_labels(self.treatments)
        for name in ("seeds", "metrics", "rules"):  # twice the same would be counted twice
            _checks.distinct(name, getattr(self, name))
        for rule in self.rules:
            _checks.choice("rules", rule, tuple(RULES))
        if self.rules[:1] != ("argmax",):
            raise ValueError(f"`rules` must begin with 'argmax', but got {list(self.rules)}.")
        if "similarity" in self.rules and self.cost in (None, "values"):
            raise ValueError("`rules` with 'similarity' need the `cost` of a similarity.")

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as YAML and JSON hold them."""
        plain = asdict(self)
        plain["treatments"] = [treatment.as_dict() for treatment in self.treatments]
        if self.cost is None:
            del plain["cost"]  # as it was before there was one: folders are named by this
        for name in ("keep_test", "train_share", "per_class"):
            if getattr(self.split, name) == getattr(SplitConfig, name):
                del plain["split"][name]
        return json.loads(json.dumps(plain))  # tuples become lists

    @classmethod
    def from_dict(cls, plain: Any) -> "Config":
        """The reverse of `as_dict`, with one sentence for what is missing or unknown."""
        parts = _keywords(cls, plain, "the configuration")
        parts["data"] = DataConfig(**_keywords(DataConfig, parts.get("data"), "`data`"))
        for name, kind in (("split", SplitConfig), ("training", TrainingConfig)):
            if name in parts:
                parts[name] = kind(**_keywords(kind, parts[name], f"`{name}`"))
        if not isinstance(parts["treatments"], list):
            raise ValueError(f"`treatments` must be a list, but got {parts['treatments']!r:.80}.")
        listed = [_keywords(Treatment, t, "a treatment") for t in parts["treatments"]]
        parts["treatments"] = tuple(Treatment(**keywords) for keywords in listed)
        for name in ("seeds", "metrics", "rules"):
            if name in parts:
                parts[name] = tuple(parts[name])
        return cls(**parts)

    def save(self, path: Path) -> None:
        """Write it as YAML."""
        import yaml

        write_whole(path, yaml.safe_dump(self.as_dict(), sort_keys=False).encode())

    @classmethod
    def load(cls, path: Path, *, whole: bool = False, named_by_user: bool = False) -> "Config":
        """Read it from YAML; nothing in it can run code.

        With `whole`, as a run folder has it: every setting is there, or the file was cut off.
        With `named_by_user`, each `module:name` in it counts as the user's own word, as that of a
        configuration given on the command line does, and is imported when it is needed.
        """
        plain = _plain_yaml(path, follow_links=not whole)
        config = cls.from_dict(plain)
        if whole and config.as_dict() != plain:
            raise ValueError(f"{path} must hold every setting of the run, but it is not complete.")
        return config._in_the_users_words() if named_by_user else config

    def _in_the_users_words(self) -> "Config":
        """The same, with every name that may be a user's own as a name that the user gave."""
        return replace(
            self,
            data=self.data.in_the_users_words(),
            model=UsersName(self.model),
            cost=None if self.cost is None else UsersName(self.cost),
            treatments=tuple(
                replace(
                    each,
                    loss=UsersName(each.loss),
                    similarity=None if each.similarity is None else UsersName(each.similarity),
                )
                for each in self.treatments
            ),
        )

    def vouching_for(self, recorded: "Config") -> "Config":
        """What a run folder holds, in this one's words where they are the same.

        So a report right after a run knows which of the names in the folder the user gave.
        """
        ours = self.treatments
        return replace(
            recorded,
            cost=self.cost if self.cost == recorded.cost else recorded.cost,
            treatments=tuple(
                next((own for own in ours if own == each), each) for each in recorded.treatments
            ),
        )

    def joined_to(self, earlier: "Config") -> "Config":
        """The earlier experiment with this one's treatments and seeds added."""
        treatments, seeds = list(earlier.treatments), list(earlier.seeds)
        treatments += [each for each in self.treatments if each not in treatments]
        seeds += [each for each in self.seeds if each not in seeds]
        return replace(self, treatments=tuple(treatments), seeds=tuple(seeds))

    @property
    def similarity(self) -> str:
        """The kind of similarity that the treatments use; the first of several."""
        return next(each.similarity for each in self.treatments if each.similarity is not None)

    def shared(self) -> dict[str, Any]:
        """All but the treatments and the seeds: what every cell has in common."""
        plain = self.as_dict()
        return {k: v for k, v in plain.items() if k not in ("name", "treatments", "seeds")}


def argmax_and(rule: str) -> tuple[str, ...]:
    """The decision rules of a comparison: argmax, which is always among them, and one more.

    Example:
        >>> argmax_and("median"), argmax_and("argmax")
        (('argmax', 'median'), ('argmax',))
    """
    return tuple(dict.fromkeys(("argmax", rule)))


def cell_id(config: Config, treatment: Treatment, seed: int) -> str:
    """A name for one cell that holds for equal settings only, and sorts well.

    Where the data is and which device it trains on do not make another cell; nor does a setting
    at its default, so that a setting a later version adds leaves old names as they are.
    """
    settings = {
        "data": _chosen(config.data, without="path"),
        "model": config.model,
        "metrics": config.metrics,
        "rules": config.rules,
        "split": _chosen(config.split),
        "training": _chosen(config.training, without="device"),
    }
    if config.cost is not None:
        settings["cost"] = config.cost
    text = json.dumps([settings, treatment.as_dict(), seed], sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()[:10]
    words = "-".join(str(v) for v in treatment.as_dict().values() if not isinstance(v, dict))
    readable = "".join(c if c.isalnum() or c in "-." else "_" for c in words)[:60]
    return f"{readable}-seed{seed}-{digest}"


def _check_labels(treatments: tuple[Treatment, ...]) -> None:
    """A report tells treatments apart by their labels, in which files go without their folders."""
    known: dict[str, Treatment] = {}
    for treatment in treatments:
        other = known.setdefault(treatment.label, treatment)
        if other is not treatment and other == treatment:
            raise ValueError(f"`treatments` must be distinct, but {other.label!r} is there twice.")
        if other != treatment:
            raise ValueError(
                f"`treatments` must have different labels, but {treatment.label!r} is both "
                f"{other.similarity!r} and {treatment.similarity!r}; rename one of them."
            )


def _chosen(part: Any, without: str = "") -> dict[str, Any]:
    """The settings of a dataclass that are not at their defaults."""
    return {
        each.name: getattr(part, each.name)
        for each in fields(part)
        if each.name != without and getattr(part, each.name) != each.default
    }


def _keywords(kind: Any, plain: Any, what: str) -> dict[str, Any]:
    """`plain` as keywords of the dataclass `kind`, each of the kind it is annotated with."""
    if not isinstance(plain, dict):
        raise ValueError(f"{what} must be a mapping, but got {type(plain).__name__}.")
    hints = get_type_hints(kind)
    for name, value in plain.items():
        if name not in hints:
            raise ValueError(f"{what} has no setting {name!r}; it has {', '.join(sorted(hints))}.")
        if not _suits(value, hints[name]):
            wanted = str(getattr(hints[name], "__name__", hints[name])).replace("typing.", "")
            raise ValueError(f"{what} must have {wanted} as its {name!r}, but got {value!r:.80}.")
    for each in fields(kind):
        if each.default is MISSING and each.default_factory is MISSING and each.name not in plain:
            raise ValueError(f"{what} must have a {each.name!r}, but it has none.")
    return dict(plain)


def _suits(value: Any, hint: Any) -> bool:
    """Whether a value out of a file is of the kind that is asked for."""
    if any(is_dataclass(each) for each in (hint, *get_args(hint))):
        return True  # looked at by itself
    if get_origin(hint) is dict:
        return isinstance(value, dict) and _is_plain(value)
    return fits(value, hint)


def _is_plain(value: Any) -> bool:
    """Whether JSON can hold it; YAML knows dates and keys that are no text."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(each) for key, each in value.items())
    if isinstance(value, (list, tuple)):
        return all(_is_plain(each) for each in value)
    return value is None or isinstance(value, (str, int, float, bool))


def _plain_yaml(path: Path, follow_links: bool) -> Any:
    """What a YAML file holds, read so that it can neither run code nor fill the memory."""
    import yaml

    class Loader(yaml.SafeLoader):
        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):  # of aliases of aliases a few lines make billions
                raise yaml.YAMLError("it uses an alias (*), which is not read")
            node = super().compose_node(parent, index)
            assert node is not None
            if node.tag.endswith(":int") and (len(node.value) > _MOST_DIGITS or ":" in node.value):
                raise yaml.YAMLError(
                    f"{node.value[:20]!r} is not read as a whole number; put a text in quotes"
                )
            return node

    text = bytes_of(path, _MOST_BYTES, follow_links=follow_links)
    try:
        return yaml.load(text.decode("utf-8"), Loader)
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise ValueError(f"{path} must be a YAML file, but it is not: {reason}.") from None
