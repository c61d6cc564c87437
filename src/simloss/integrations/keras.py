"""SimLoss for Keras 3, on any of its backends. Needs the extra `keras`."""

from typing import Any

import numpy as np
import torch

from .. import _checks
from ..similarity import as_similarity

keras = _checks.installed("keras", "keras")
ops = keras.ops


@keras.saving.register_keras_serializable(package="simloss")
class SimLoss(keras.losses.Loss):  # type: ignore[misc, name-defined]
    r"""Cross entropy that takes class similarity into account, for ``model.compile(loss=...)``.

    .. math::

        \ell(z, y) = -\log \sum_{c} S_{yc}\, p_c
                   = \log \sum_c e^{z_c} - \log \sum_c S_{yc}\, e^{z_c},
        \qquad p = \mathrm{softmax}(z)

    The same numbers as :func:`simloss.sim_loss`, computed with ``keras.ops``. It replaces
    ``keras.losses.SparseCategoricalCrossentropy`` and is saved with the model.

    Args:
        similarity: a :class:`simloss.Similarity`, or a (C, C) array with values in [0, 1] and
            diagonal 1, row = true class. It is stored as a dense matrix.
        from_logits: whether the model outputs logits. By default, as everywhere in Keras, it
            outputs probabilities; logits are better, because a probability can be 0. If the
            output gives no probability to any class like the true one, the loss is then kept
            finite, at about 87.
        reduction: as in Keras: "sum_over_batch_size", "sum", "mean_with_sample_weight" or None.
        name: the name of the loss.

    Shapes:
        y_true: class indices, (N), (N, 1) or (N, d1, ..., dK). y_pred: (N, C) or
        (N, d1, ..., dK, C), the classes last.

    Example:
        >>> import keras, simloss
        >>> from simloss.integrations.keras import SimLoss
        >>> model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(3)])
        >>> S = simloss.similarity.order(3, r=0.5)
        >>> model.compile(loss=SimLoss(S, from_logits=True), optimizer="sgd")
        >>> logits = keras.ops.array([[0.0, 2.0, 0.0]])  # says class 1
        >>> float(SimLoss(S, from_logits=True)(keras.ops.array([1]), logits))  # right
        0.11...
    """

    def __init__(
        self,
        similarity: Any,
        *,
        from_logits: bool = False,
        reduction: str | None = "sum_over_batch_size",
        name: str = "sim_loss",
    ) -> None:
        # Keras turns class indices into floats, and half precision would lose some of them.
        wide = "float64" if keras.config.floatx() == "float64" else "float32"
        super().__init__(name=name, reduction=reduction, dtype=wide)
        given = as_similarity(similarity).detached()
        _checks.of_kind_similarity("similarity", given.kind)
        every = torch.arange(given.num_classes)
        self.from_logits = from_logits
        self._log_similarity = given.log_rows(every, torch.float64).numpy()  # (C, C)

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """The loss of each example, (N) or (N, d1, ..., dK)."""
        C = len(self._log_similarity)
        if y_pred.shape[-1] != C:
            raise ValueError(
                f"`y_pred` must have the {C} classes of `similarity` as its last dimension, "
                f"but got shape {tuple(y_pred.shape)}."
            )
        y = self._indices(y_true, y_pred)
        log_similarity = ops.convert_to_tensor(self._log_similarity, dtype=self.dtype)
        log_rows = ops.take(log_similarity, y, axis=0)  # (N, ..., C)
        if self.from_logits:
            return ops.logsumexp(y_pred, axis=-1) - ops.logsumexp(y_pred + log_rows, axis=-1)
        mixture = ops.sum(ops.exp(log_rows) * y_pred, axis=-1)
        smallest = float(np.finfo(self.dtype).tiny)
        return ops.log(ops.sum(y_pred, axis=-1)) - ops.log(ops.maximum(mixture, smallest))

    def get_config(self) -> dict[str, Any]:
        """What Keras saves with a model."""
        similarity = np.exp(self._log_similarity).tolist()
        ours = {"similarity": similarity, "from_logits": self.from_logits}
        return {**super().get_config(), **ours}

    def _indices(self, y_true: Any, y_pred: Any) -> Any:
        """Class indices in the shape of the examples; drops a last dimension of 1."""
        if len(y_true.shape) == len(y_pred.shape) and y_true.shape[-1] == 1:
            y_true = ops.squeeze(y_true, axis=-1)
        if len(y_true.shape) != len(y_pred.shape) - 1:
            raise ValueError(
                f"`y_true` must be class indices of shape {tuple(y_pred.shape[:-1])} for `y_pred` "
                f"of shape {tuple(y_pred.shape)}, but got {tuple(y_true.shape)}; for one-hot rows, "
                f"pass `y.argmax(-1)`."
            )
        return ops.cast(y_true, "int32")
