"""Texts as numbers by their words, without any download."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ... import _checks
from ..errors import DataError

# How many numbers a text becomes.
SIZE = 200
_MOST_TERMS = 30_000


@dataclass(frozen=True)
class Tfidf:
    r"""TF-IDF of words and pairs, and its strongest directions, fitted on the training part only.

    .. math:: x_n = V^\top \frac{w_n}{\lVert w_n \rVert}, \quad
        w_{nt} = (1 + \log f_{nt}) \, \mathrm{idf}_t

    f counts how often a term occurs in a text; V holds the directions of scikit-learn's
    TruncatedSVD. Terms in only one training text are not used. If there are fewer terms or
    texts than `size`, the last numbers are 0.

    Attributes:
        terms: the words and pairs that count.
        idf: one per term, (T).
        directions: V, (T, D).

    Example:
        >>> texts = ["a good book", "a bad book", "a good film", "a bad film"]
        >>> tfidf = Tfidf.fit(texts, torch.arange(4), size=2)
        >>> tfidf(["a good book"]).shape
        torch.Size([1, 2])
    """

    terms: tuple[str, ...]
    idf: Tensor
    directions: Tensor

    @classmethod
    def fit(cls, texts: Sequence[str], indices: Tensor, size: int = SIZE) -> "Tfidf":
        """Fit on `texts[i]` for each i in `indices`."""
        _checks.installed("sklearn", "cli")
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer

        some = [texts[i] for i in indices.tolist()]
        words = TfidfVectorizer(**_OPTIONS, min_df=2, max_features=_MOST_TERMS)
        try:
            weights = words.fit_transform(some)
        except ValueError:  # scikit-learn's message is about its own options
            raise DataError(
                "the texts of the training part must have words in common, but no word stands in "
                "two of them; give more texts."
            ) from None
        terms = words.get_feature_names_out()
        directions = torch.zeros(len(terms), size)
        count = min(size, len(terms), len(some))
        found = TruncatedSVD(count, random_state=0).fit(weights)
        directions[:, :count] = torch.from_numpy(found.components_.T.astype(np.float32))
        return cls(tuple(terms.tolist()), torch.from_numpy(words.idf_).float(), directions)

    def __call__(self, texts: Sequence[str]) -> Tensor:
        """The numbers of texts, float32 (N, D)."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        words = TfidfVectorizer(**_OPTIONS, vocabulary=self.terms)
        words.idf_ = self.idf.double().numpy()
        return torch.from_numpy((words.transform(texts) @ self.directions.numpy()).astype("f4"))

    @classmethod
    def checked(cls, terms: Any, idf: Tensor, directions: Tensor) -> "Tfidf":
        """The same from a file; ValueError if its parts do not fit together."""
        shapes = ((len(terms),), (len(terms), directions.shape[-1]))
        kinds = idf.dtype == directions.dtype == torch.float32
        if (idf.shape, directions.shape) != shapes or len(set(terms)) < len(terms) or not kinds:
            raise ValueError("`tfidf` must have a number and a direction for each term.")
        return cls(tuple(terms), idf, directions)


# Words in any alphabet, also single letters; pairs, because "not good" is not good.
_OPTIONS: dict[str, Any] = {
    "sublinear_tf": True,
    "ngram_range": (1, 2),
    "token_pattern": r"(?u)\b\w+\b",
    "dtype": np.float64,
}
