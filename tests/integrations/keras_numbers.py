"""What Keras computes on the backend of $KERAS_BACKEND: PROBLEMS.npz ANSWERS.npz."""

import sys
from pathlib import Path

import keras
import numpy as np

from simloss.integrations.keras import SimLoss
from simloss.similarity import order


def learned(x, y, S, folder):
    """Losses of the epochs of a model that is fitted, saved, loaded and asked again."""
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.layers.Input((x.shape[1],)), keras.layers.Dense(len(S))])
    model.compile(optimizer=keras.optimizers.SGD(0.5), loss=SimLoss(S, from_logits=True))
    kernel_before = keras.ops.convert_to_numpy(model.layers[0].kernel).copy()
    history = model.fit(x, y, batch_size=8, epochs=5, shuffle=False, verbose=0)
    before = model.evaluate(x, y, sample_weight=np.arange(len(y)), verbose=0)
    model.save(folder / "model.keras")
    again = keras.models.load_model(folder / "model.keras")
    after = again.evaluate(x, y, sample_weight=np.arange(len(y)), verbose=0)
    return {
        "epochs": np.array(history.history["loss"]),
        "evaluated": np.array([before, after]),
        "kernel_before": kernel_before,
        "kernel": keras.ops.convert_to_numpy(model.layers[0].kernel),
    }


def main(problems, answers):
    given = np.load(problems)
    z, y, S, weight = (given[name] for name in ("logits", "target", "similarity", "weight"))
    p = keras.ops.softmax(z)
    found = {"backend": np.array(keras.backend.backend())}
    for reduction in ("sum_over_batch_size", "sum", "mean_with_sample_weight", "none"):
        loss = SimLoss(S, from_logits=True, reduction=reduction)
        found[f"{reduction}/plain"] = loss(y, z)
        found[f"{reduction}/weighted"] = loss(y, z, sample_weight=weight)
        found[f"{reduction}/column"] = loss(y[:, None], z)
        found[f"{reduction}/probabilities"] = SimLoss(S, reduction=reduction)(y, p)
    grid = SimLoss(S, from_logits=True, reduction=None)
    found["grid"] = grid(y.reshape(4, -1), z.reshape(4, -1, z.shape[1]))
    certain = np.eye(3, dtype="float32")[:1]
    found["certain"] = SimLoss(order(3, r=0.0))(np.array([2]), certain)
    found["far"] = SimLoss(order(300, r=0.5), from_logits=True)(
        np.array([0]), 1e3 * np.eye(300, dtype="float32")[-1:]
    )
    result = {name: keras.ops.convert_to_numpy(value) for name, value in found.items()}
    np.savez(answers, **result, **learned(given["x"], y, S, Path(answers).parent))


if __name__ == "__main__":
    main(*sys.argv[1:])
