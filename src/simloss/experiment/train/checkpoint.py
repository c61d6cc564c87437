"""Where an interrupted run goes on: the state of its training, written now and then."""

import copy
import io
import pickletools
import re
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, TypedDict

import torch
from torch import Tensor, nn

from ..._disk import own_folder, regular_file
from ..._schema import fits
from ..writing import write_whole

# A state is worth writing when losing what came after the last one would hurt.
EVERY_SECONDS = 60.0


class Checkpoint:
    """A file that holds an unfinished run; without a path, nothing is kept.

    It holds tensors and plain values only and is read as such, so it cannot run code. One that
    cannot be read counts as none: the run starts again.
    """

    def __init__(self, path: Path | None = None, every: float = EVERY_SECONDS) -> None:
        self.path, self.every = path, every
        self._last = time.monotonic()

    def load(
        self, fitting: dict[str, Any] | None = None, rules: tuple[str, ...] = ()
    ) -> dict[str, Any] | None:
        """The state written last, if there is one.

        `fitting` are the modules, optimizers and generators, by name, that take their share of
        it, with the best net for each of `rules`; they are as they were before if it does not fit
        them.
        """
        if self.path is None or not self.path.exists():
            return None
        before = {name: copy.deepcopy(_state(each)) for name, each in (fitting or {}).items()}
        try:
            with regular_file(self.path) as file:
                found = dict(torch.load(_checked(file), weights_only=True))
            if fitting is not None and not _suits(found, fitting["net"], rules):
                return None
            for name, each in (fitting or {}).items():
                if name in found or name != "loss":  # no loss in those of version 0.1
                    _restore(each, found[name])
            return found
        except Exception:  # a damaged file raises almost anything
            for name, state in before.items():
                _restore((fitting or {})[name], state)
            return None

    def save_if_due(self, state: Callable[[], dict[str, Any]]) -> None:
        """Write the state, whole or not at all, if the last one is old enough."""
        if self.path is None or time.monotonic() - self._last < self.every:
            return
        buffer = io.BytesIO()
        torch.save(state(), buffer)
        own_folder(self.path.parent)
        write_whole(self.path, buffer.getvalue())
        self._last = time.monotonic()

    def remove(self) -> None:
        """The run is over."""
        if self.path is not None:
            with suppress(OSError):  # what it has found must not be lost over this
                self.path.unlink(missing_ok=True)


# All that a state of ours asks for; torch itself would also make `bytearray(10**10)`.
_OURS = re.compile(r"collections OrderedDict|torch\._utils _rebuild_tensor_v2|torch \w+Storage")


def _checked(file: BinaryIO) -> BinaryIO:
    """The archive written anew: torch compares no checksums, and may read a zip in its own way."""
    clean = io.BytesIO()
    with zipfile.ZipFile(file) as archive, zipfile.ZipFile(clean, "w") as new:
        if sum(each.file_size for each in archive.infolist()) > file.seek(0, io.SEEK_END):
            raise ValueError("it would grow")
        for each in archive.infolist():
            content = archive.read(each)
            if each.filename.lower().endswith(".pkl"):
                _refuse_others(content)
            new.writestr(each.filename, content)
    clean.seek(0)
    return clean


def _refuse_others(content: bytes) -> None:
    for code, named, _ in pickletools.genops(content):
        if code.name in ("GLOBAL", "INST", "STACK_GLOBAL") and not _OURS.fullmatch(str(named)):
            raise ValueError(f"it asks for {named}")


class _Outcome(TypedDict):
    states: dict[str, dict[str, Tensor]]
    best_epoch: dict[str, int]
    history: list[dict[str, Any]]
    seconds: dict[str, float]


class _Found(TypedDict):
    """What is not handed on to torch."""

    best: dict[str, tuple[float, int]]
    outcome: _Outcome


def _suits(found: Any, net: nn.Module, rules: tuple[str, ...]) -> bool:
    """Whether what was read is the state of a run with such a net and these rules."""
    if not fits(found, _Found):
        return False
    outcome, shapes = found["outcome"], _shapes(net.state_dict())
    by_rule = (found["best"], outcome["best_epoch"], outcome["states"])
    return (
        set(outcome) == set(_Outcome.__annotations__)
        and all(set(each) == set(rules) for each in by_rule)
        and all(_shapes(state) == shapes for state in outcome["states"].values())
        and "train" in outcome["seconds"]
    )


def _shapes(state: dict[str, Tensor]) -> dict[str, Any]:
    return {name: (each.shape, each.dtype) for name, each in state.items()}


def _state(each: Any) -> Any:
    return each.get_state() if isinstance(each, torch.Generator) else each.state_dict()


def _restore(each: Any, state: Any) -> None:
    if isinstance(each, torch.Generator):
        each.set_state(state)
    elif isinstance(each, torch.optim.Optimizer):
        _restore_optimizer(each, state)
    else:
        each.load_state_dict(state)


_OF_ADAM = {"step", "exp_avg", "exp_avg_sq"}  # by parameter


def _restore_optimizer(optimizer: torch.optim.Optimizer, state: Any) -> None:
    """What it remembers of each parameter, in its shape; its settings are the configuration's."""
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    for at, remembered in state["state"].items():
        if set(remembered) != _OF_ADAM:
            raise ValueError("another optimizer's")
        for tensor in remembered.values():
            if tensor.shape not in (torch.Size(), parameters[at].shape):
                raise ValueError("another net's")
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": state["state"], "param_groups": groups})
