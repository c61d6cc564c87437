"""What is known about the classes, made into a similarity S. One file a kind of knowledge."""

from .base import Similarity
from .embedding import embedding
from .matrix import as_similarity, matrix
from .order import identity, order
from .tree import Tree

__all__ = ["Similarity", "Tree", "as_similarity", "embedding", "identity", "matrix", "order"]
