"""Any Hugging Face model of texts or images as an encoder; no code of the model's own is run."""

import json
import logging
import re
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

import torch
from torch import Tensor

from ... import _checks
from ..._disk import bytes_of, expanded
from ..._imports import UsersName
from ..errors import DataError
from ..source import Folder

PREFIX = "hf:"
_POOLINGS = ("mean", "cls")
_BATCH = 32
_MOST_TOKENS = 512  # for a model without a limit
_MOST_BYTES = 2**24


def with_whole_path(encoder: UsersName) -> UsersName:
    """The same name from any current folder: a folder by its absolute path."""
    if not encoder.startswith(PREFIX):
        return encoder
    model = Model.named(encoder.removeprefix(PREFIX), may_download=True)
    return UsersName(f"{PREFIX}{model.name}" + (f"@{model.pooling}" if model.pooling else ""))


@dataclass(frozen=True)
class Model:
    """A model in a folder, or on the hub by name.

    Attributes:
        name: a path or a name.
        pooling: "mean" or "cls", or None for the model's own.
        is_folder: whether it is a path.
        may_download: whether the network may be used.
    """

    name: str
    pooling: str | None
    is_folder: bool
    may_download: bool

    @classmethod
    def named(cls, text: str, *, may_download: bool) -> "Model":
        """From `NAME`, `FOLDER`, or either followed by `@mean` or `@cls`."""
        name, at, pooling = text.rpartition("@")
        if not at or expanded(text).is_dir():
            name, pooling = text, ""
        elif pooling not in _POOLINGS:
            raise ValueError(f"`encoder` must end in @mean or @cls, if in any @, but got {text!r}.")
        is_folder = expanded(name).is_dir()
        if not is_folder and not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", name):
            raise DataError(f"`encoder` must name a folder or a model, but there is no '{name}'.")
        path = str(expanded(name).resolve()) if is_folder else name
        return cls(path, pooling or None, is_folder, may_download)

    def version(self) -> str:
        """The files of a folder, or the commit of what was downloaded, and the pooling."""
        if self.is_folder:
            which = Folder(Path(self.name)).fingerprint()
        else:
            which = self._commit() or ""
            if not which:
                self._loaded("AutoConfig")
                which = self._commit() or ""
        return f"{self.name} {which} {self.pooling}"

    def encoder(self, kind: str) -> Callable[[list[Any]], Tensor]:
        """The function from a list of texts or images to features (N, D)."""
        net = self._loaded("AutoModel", use_safetensors=True).eval().to(_device())
        if kind == "texts":
            return _Texts(net, self._loaded("AutoTokenizer"), self.pooling or self._made_for())
        return _Images(net, self._loaded("AutoImageProcessor"), self.pooling or "cls")

    def _loaded(self, auto: str, **options: Any) -> Any:
        transformers = _checks.installed("transformers", "transformers")
        quiet = transformers.utils.logging
        quiet.set_verbosity_error()
        quiet.disable_progress_bar()
        logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
        offline = self.is_folder or not self.may_download or not _hub_has_an_address()
        try:
            return getattr(transformers, auto).from_pretrained(
                self.name, local_files_only=offline, trust_remote_code=False, **options
            )
        except Exception as error:  # the hub, the network, a damaged file: almost anything
            raise DataError(self._why_not(error)) from None

    def _why_not(self, error: Exception) -> str:
        reason = " ".join(str(error).split()).partition(". ")[0] or type(error).__name__
        if self.is_folder:
            return f"`encoder` '{self.name}' cannot be loaded: {reason:.200}."
        if not self.may_download:
            return (
                f"`encoder` {self.name!r} is not on this machine, and a file may not have it "
                f"downloaded; name it yourself with --encoder hf:{self.name}."
            )
        return (
            f"`encoder` {self.name!r} is not on this machine and cannot be downloaded; without a "
            f"network, give the path of its folder, hf:FOLDER ({reason:.200})."
        )

    def _commit(self) -> str | None:
        hub = _checks.installed("huggingface_hub", "transformers")
        found = hub.try_to_load_from_cache(self.name, "config.json")
        return Path(found).parent.name if isinstance(found, str) else None

    def _made_for(self) -> str:
        """The pooling that a sentence-transformers folder specifies, else the mean."""
        if self.is_folder:
            with suppress(OSError, ValueError, AttributeError):
                about = json.loads(bytes_of(Path(self.name, "1_Pooling/config.json"), _MOST_BYTES))
                return "cls" if about.get("pooling_mode_cls_token") is True else "mean"
        return "mean"


def _hub_has_an_address() -> bool:
    """Whether its name can be looked up; if not, the hub's own code would try for half a minute."""
    if getproxies():
        return True  # they look it up
    hub = _checks.installed("huggingface_hub", "transformers")
    try:
        return bool(socket.getaddrinfo(urlsplit(hub.constants.ENDPOINT).hostname, None))
    except OSError:
        return False


def _device() -> torch.device:
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")


class _Texts:
    """Groups texts of about equal length, so that there is little padding."""

    def __init__(self, net: Any, tokenizer: Any, pooling: str) -> None:
        self.net, self.tokenizer, self.pooling = net, tokenizer, pooling
        if tokenizer.pad_token is None:
            tokenizer.pad_token = tokenizer.eos_token
        limit = getattr(net.config, "max_position_embeddings", None) or _MOST_TOKENS
        self.most = min(tokenizer.model_max_length, limit, _MOST_TOKENS)

    @torch.inference_mode()
    def __call__(self, texts: list[str]) -> Tensor:
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        rows: list[Any] = [None] * len(texts)
        for first in range(0, len(order), _BATCH):
            some = order[first : first + _BATCH]
            for place, row in zip(some, self._batch([texts[i] for i in some]), strict=True):
                rows[place] = row
        return torch.stack(rows)

    def _batch(self, texts: list[str]) -> Tensor:
        tokens = self.tokenizer(
            texts, padding=True, truncation=True, max_length=self.most, return_tensors="pt"
        ).to(self.net.device)
        if hasattr(self.net, "get_text_features"):
            return _plain(self.net.get_text_features(**tokens)).float().cpu()
        hidden = self.net(**tokens).last_hidden_state.float()  # (B, L, D)
        if self.pooling == "cls":
            return hidden[:, 0].cpu()
        mask = tokens["attention_mask"].unsqueeze(-1).float()
        return ((hidden * mask).sum(1) / mask.sum(1).clamp(min=1)).cpu()


class _Images:
    """Images prepared by the model's own processor."""

    def __init__(self, net: Any, processor: Any, pooling: str) -> None:
        self.net, self.processor, self.pooling = net, processor, pooling

    @torch.inference_mode()
    def __call__(self, images: list[Any]) -> Tensor:
        batches = [images[first : first + _BATCH] for first in range(0, len(images), _BATCH)]
        return torch.cat([self._batch(batch) for batch in batches])

    def _batch(self, images: list[Any]) -> Tensor:
        pixels = self.processor(images, return_tensors="pt")["pixel_values"].to(self.net.device)
        if hasattr(self.net, "get_image_features"):
            return _plain(self.net.get_image_features(pixel_values=pixels)).float().cpu()
        hidden = self.net(pixel_values=pixels).last_hidden_state.float()
        if hidden.ndim == 4:  # a convolutional net's (B, D, H, W)
            return hidden.mean((2, 3)).cpu()
        return (hidden[:, 0] if self.pooling == "cls" else hidden.mean(1)).cpu()


def _plain(output: Any) -> Tensor:
    """The features of two-sided models, which some versions wrap."""
    return output if isinstance(output, Tensor) else output.pooler_output
