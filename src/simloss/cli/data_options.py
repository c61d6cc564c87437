"""What `compare`, `train` and `tune` are told about the data; how it is read and planned."""

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

from cyclopts import Parameter

from .._imports import UsersName
from .parameters import Data, Flag, Name, Output, Several, Similarity, Training, in_list

if TYPE_CHECKING:
    from ..data import Dataset
    from ..experiment.grid.setup import Setup
    from ..experiment.plan.config import Config, DataConfig
    from ..experiment.plan.propose import Proposal

SHIPPED = ("diamonds", "abalone")
PAPER = ("utkface", "afad", "cifar100")


class Read(NamedTuple):
    """Data that was read, and the similarity that the user asked for, if any."""

    data: "DataConfig"
    dataset: "Dataset"
    similarity: str | None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class DataOptions:
    """What a user says about the data.

    Parameters
    ----------
    target
        The column of a table to predict.
    image_column
        The column of a table that holds the paths of images.
    class_order
        All classes in order: low,medium,high.
    bins
        How many ordered classes to make from a numeric target.
    superclass
        The column that holds the superclass of each class.
    drop
        Columns not to use.
    encoder
        Features of texts or images: tfidf, hf:NAME-OR-FOLDER (@cls or @mean), or module:callable.
    size
        Height and width of images, in pixels.
    skip_unreadable
        Leave out image files that cannot be read.
    similarity
        order, values, gaussian, words, words-angle, tree, names (by the encoder of the texts),
        hf:NAME-OR-FOLDER, a saved file, or module:factory.
    missing
        Of words: refuse a class whose name has no vector, or make it like no other (alone).
    descriptions
        For names: a CSV file with a class and its description in each line.
    metric
        The metric to optimise.
    model
        mlp for tables, small-cnn or resnet for images, or module:factory.
    augment
        Flip and shift training images; only with resnet if not given.
    """

    target: Annotated[str | None, Data] = None
    image_column: Annotated[str | None, Data] = None
    class_order: Annotated[list[str] | None, Several, Data] = None
    bins: Annotated[int | None, Data] = None
    superclass: Annotated[str | None, Data] = None
    drop: Annotated[list[str] | None, Several, Data] = None
    encoder: Annotated[UsersName | None, Name, Data] = None
    size: Annotated[int | None, Data] = None
    skip_unreadable: Annotated[bool, Flag, Data] = False
    similarity: Annotated[UsersName | None, Name, Similarity] = None
    missing: Annotated[Literal["error", "alone"], Similarity] = "error"
    descriptions: Annotated[Path | None, Similarity] = None
    metric: Annotated[str | None, Output] = None
    model: Annotated[UsersName | None, Name, Training] = None
    augment: Annotated[bool | None, Training] = None

    def read(self, source: UsersName) -> Read:
        """The data; asks how alike the classes are where nothing tells and someone is there."""
        from ..experiment.plan.propose import proposed

        data, dataset = self._data(source, self.class_order)
        kind: str | None = self.similarity
        if self._encoder_of_names(dataset) is not None:
            return Read(data, dataset, kind)
        if self.descriptions is not None:
            raise ValueError("`--descriptions` is for --similarity names or hf:NAME-OR-FOLDER.")
        if kind is None and proposed(dataset, self.missing) is None and sys.stdin.isatty():
            kind, order = _asked(dataset)
            if order:
                data, dataset = self._data(source, order)
        if kind is not None and Path(kind).is_file():
            kind = str(Path(kind).resolve())
        return Read(data, dataset, kind)

    def _data(self, source: UsersName, order: list[str] | None) -> "tuple[DataConfig, Dataset]":
        from ..experiment.plan import sources
        from ..experiment.plan.locate import data_config

        data = data_config(
            source,
            target=self.target,
            image_column=self.image_column,
            class_order=order,
            bins=self.bins,
            superclass=self.superclass,
            drop=self.drop or (),
            size=self.size,
            skip_unreadable=self.skip_unreadable,
            encoder=self.encoder,
        )
        return data, sources.dataset(data.source, data.path, data.options)

    def propose(self, found: Read, decision: str | None) -> "Proposal":
        """What to compare on the data, with what the user has decided."""
        from ..experiment.plan.propose import proposal, with_metric, with_rule

        encoder = self._encoder_of_names(found.dataset)
        if encoder is None:
            made = proposal(found.dataset, found.similarity, self.missing)
        else:
            made = self._by_names(found.dataset, encoder)
        if decision is not None:
            made = with_rule(found.dataset, made, decision)
        return made if self.metric is None else with_metric(found.dataset, made, self.metric)

    def _encoder_of_names(self, dataset: "Dataset") -> UsersName | None:
        """What is to encode the class names: as asked, or where nothing else is known of them."""
        from ..experiment.plan.propose import proposed

        kind, columns = self.similarity, dataset.columns or ()
        if kind is not None and kind.startswith("hf:"):
            return kind
        is_at_hand = any(each.kind == "text" for each in columns) and dataset.texts is None
        if kind == "names" and not is_at_hand:
            raise ValueError(
                "`--similarity names` needs a text encoder: give hf:NAME-OR-FOLDER in its place, "
                "or as the --encoder of a table with texts."
            )
        if kind is None and is_at_hand:
            found = proposed(dataset)
            is_at_hand = self.missing == "error" and (found is None or found[0] == "words-angle")
            return self.encoder if is_at_hand else None
        return self.encoder if kind == "names" else None

    def _by_names(self, dataset: "Dataset", encoder: UsersName) -> "Proposal":
        """The similarity of the class names by an encoder, kept in a file."""
        from ..data.encoders.names import descriptions_in, kept_similarity, similarity_of_names
        from ..experiment.plan.propose import proposal

        what, descriptions = "names", None
        if self.descriptions is not None:
            what = "descriptions"
            descriptions = descriptions_in(self.descriptions, dataset.class_names)
        made = similarity_of_names(dataset.class_names, encoder, descriptions)
        found = proposal(dataset, str(kept_similarity(made).resolve()))
        return replace(found, reason=f"{encoder} says how alike the {what} of the classes are")

    def preset(
        self,
        source: UsersName,
        path: Path | None,
        *,
        decision: str | None,
        epochs: int | None,
        device: str,
        used: tuple[str, ...],
    ) -> "Setup":
        """The experiment on this data, of which `train` and `tune` take what they need.

        For the data of the paper that is the paper's; `used` names the options it takes.
        """
        from ..experiment.grid.setup import Setup
        from ..experiment.plan.comparison import comparison_on
        from .described import described

        if source in PAPER:
            return Setup(self._papers(source, path, epochs, device, used))
        if path is not None:
            raise ValueError(f"`--data` must go with {', '.join(PAPER)}, but got {source!r}.")
        found = self.read(source)
        proposal = self.propose(found, decision)
        config = comparison_on(
            found.data,
            found.dataset,
            proposal,
            epochs=epochs,
            model=self.model,
            augment=self.augment,
            device=device,
        )
        for line in described(found.data, found.dataset, proposal):
            print(line, flush=True)
        return Setup(config, found.dataset)

    def _papers(
        self,
        source: str,
        path: Path | None,
        epochs: int | None,
        device: str,
        used: tuple[str, ...],
    ) -> "Config":
        from .._disk import expanded
        from ..experiment.plan.presets import reproduction

        for name, value in vars(self).items():
            if name not in used and value not in (None, False, "error"):
                flag = name.replace("_", "-")
                raise ValueError(f"`--{flag}` is for your own files; {source} needs none.")
        where = str(expanded(path).resolve()) if path else None
        config = reproduction(
            *(source, where),
            epochs=epochs,
            device=device,
            similarity=self.similarity,
            augment=bool(self.augment),
        )
        return replace(config, model=self.model or config.model)


def _asked(dataset: "Dataset") -> tuple[UsersName | None, list[str] | None]:
    """The similarity, and the class order where it needs one, as the user types them."""
    from ..experiment.plan.propose import why_not_words

    print(f"The classes: {', '.join(dataset.class_names)}")
    print("Their names do not tell how alike they are. Are they\n")
    print("  order   in an order, like low < medium < high")
    print("  words   words whose meanings are alike or not")
    print(f"          (not proposed, because {why_not_words(dataset.class_names)})")
    print("  a path  of a similarity you have saved (simloss similarity makes one)\n")
    try:
        kind = UsersName(input("order, words, or a path: ").strip())
        is_order = kind == "order"
        return kind, in_list(input("All classes in order, with commas: ")) if is_order else None
    except EOFError:  # Ctrl-D: no answer
        print()
        return None, None
