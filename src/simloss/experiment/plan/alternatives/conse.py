"""ConSE (Norouzi et al. 2014): answer with the class whose vector is nearest the expected one."""

from functools import lru_cache

from torch import Tensor
from torch.nn import functional as F

from ....similarity import words

# As many classes as its authors mix.
_TOP = 10


def conse(probabilities: Tensor, vectors: Tensor, *, top: int = _TOP) -> Tensor:
    r"""The class nearest by angle to the mean vector of the most probable classes.

    .. math::

        \hat c = \operatorname*{argmax}_c \cos\Big(v_c, \sum_{k \in \text{top } T} p_k v_k\Big)

    A decision, not a loss: it answers from any classifier's probabilities. With vectors of length
    1 and all classes mixed it is the decision of highest expected cosine,
    ``decide(p, similarity)``.

    Args:
        probabilities: (..., C).
        vectors: one per class, (C, D).
        top: how many classes are mixed.

    Example:
        >>> import torch
        >>> vectors = torch.tensor([[1.0, 0.0], [0.7, 0.7], [0.0, 1.0]])
        >>> conse(torch.tensor([0.4, 0.2, 0.4]), vectors)
        tensor(1)
    """
    best = probabilities.topk(min(top, probabilities.shape[-1]), dim=-1)
    mean = (best.values.unsqueeze(-1) * vectors[best.indices]).sum(-2)  # (..., D)
    return (F.normalize(mean, dim=-1) @ F.normalize(vectors, dim=-1).T).argmax(-1)


@lru_cache(maxsize=4)
def word_vectors(names: tuple[str, ...]) -> Tensor:
    """The shipped vectors of class names, (C, D) in float32."""
    return words(names).tensors["vectors"].float()
