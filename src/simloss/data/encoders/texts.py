"""Texts -> features."""

import hashlib
from collections.abc import Sequence

from torch import Tensor

from ..images import Cache
from .encode import PIECE, Tell, Work, stacked
from .frozen import frozen_encoder
from .kept import Pieces


def encoded_texts(
    texts: Sequence[str], encoder: str, *, cache: Cache = None, tell: Tell | None = None
) -> Tensor:
    """The features of texts, float32 (N, D), computed once and cached.

    Args:
        texts: one per example.
        encoder: `hf:NAME-OR-FOLDER`, or a `module:callable` that you have named yourself
            (`simloss.experiment.UsersName`): from a list of texts to an array (N, D).
        cache: as for :func:`simloss.data.image_folder`.
        tell: called with lines on how long it takes.

    Example:
        >>> encoded_texts(["a word"], "hf:all-MiniLM-L6-v2").shape  # doctest: +SKIP
        torch.Size([1, 384])
    """
    made = frozen_encoder(encoder, "texts")
    pieces, work = Pieces(cache, "texts", _digest(texts), made.version()), Work(made, "texts", tell)
    features = []
    for number, first in enumerate(range(0, len(texts), PIECE)):
        some = list(texts[first : first + PIECE])
        kept = pieces.get(number)
        if kept is None or len(kept[0]) != len(some):
            kept = work(some, first, len(texts)), None
            pieces.keep(number, *kept)
        work.same_width(kept[0])
        features.append(kept[0])
    return stacked(features)


def _digest(texts: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for text in texts:
        content = text.encode("utf-8", "surrogatepass")
        digest.update(len(content).to_bytes(8, "little") + content)
    return digest.hexdigest()
