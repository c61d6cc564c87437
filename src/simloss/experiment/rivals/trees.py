"""LightGBM's trees as a net: inputs to outputs, with the model's own text as its weights."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ... import _checks
from .tree_text import checked_text


class BoostedTrees(nn.Module):
    """Inputs (N, D) to K outputs (N, K): the logits of K classes, or the one of a regression.

    Its only weight is the text that LightGBM writes, as bytes. So it is kept, saved and measured as
    a net is; it is not trained as one, but by :func:`simloss.experiment.rivals.boost.boost`.

    Args:
        num_features: D.
        num_outputs: K.
    """

    text: Tensor

    def __init__(self, num_features: int, num_outputs: int) -> None:
        super().__init__()
        _checks.installed("lightgbm", "cli")
        self.num_features, self.num_outputs = num_features, num_outputs
        self.register_buffer("text", torch.empty(0, dtype=torch.uint8))
        self._booster: Any = None

    def load_state_dict(self, state_dict: Any, strict: bool = True, assign: bool = False) -> Any:
        """Take another model's text, of any length."""
        self.text, self._booster = state_dict["text"], None

    def check(self) -> None:
        """ValueError where the text, out of a file, is not the model of so many inputs, outputs."""
        plain = checked_text(self.text.numpy().tobytes(), self.num_features, self.num_outputs)
        self.load_state_dict(as_state(plain))

    def forward(self, x: Tensor) -> Tensor:
        import lightgbm

        if self._booster is None:
            text = self.text.numpy().tobytes().decode("ascii")
            self._booster = lightgbm.Booster(model_str=text)
        found = self._booster.predict(x.double().numpy(), raw_score=True, num_threads=1)
        outputs = np.asarray(found).reshape(len(x), self.num_outputs)
        return torch.from_numpy(outputs).float()


def as_state(text: str) -> dict[str, Tensor]:
    """A model's text as the weights of :class:`BoostedTrees`."""
    return {"text": torch.frombuffer(bytearray(text.encode("ascii")), dtype=torch.uint8)}
