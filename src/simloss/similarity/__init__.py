"""Builders that turn what is known about the classes into a similarity S; one file per kind."""

from .base import METHODS, Similarity
from .circular import circular
from .class_graph import ClassGraph, class_graph
from .combine import blended, bounded, multiplied, restricted, sharpened, symmetrized
from .confusion import confusion, disagreement
from .cost import cost
from .diagnosis import Diagnosis, diagnose
from .embedding import embedding
from .figure import figure
from .function import function
from .geo import geo
from .graph import graph
from .grid import grid
from .matrix import as_similarity, matrix
from .nodes import with_nodes
from .order import identity, order
from .sketch import sketch
from .sparse import sparse
from .storage import load, save
from .taxonomy import tree
from .tokens import tokens
from .tree import Tree
from .values import values
from .wordnet import senses, wordnet
from .words import words

METHODS.update(diagnose=diagnose, figure=figure, sketch=sketch, save=save)

__all__ = [
    "ClassGraph",
    "Diagnosis",
    "Similarity",
    "Tree",
    "as_similarity",
    "blended",
    "bounded",
    "circular",
    "class_graph",
    "confusion",
    "cost",
    "diagnose",
    "disagreement",
    "embedding",
    "figure",
    "function",
    "geo",
    "graph",
    "grid",
    "identity",
    "load",
    "matrix",
    "multiplied",
    "order",
    "restricted",
    "senses",
    "sharpened",
    "sketch",
    "sparse",
    "symmetrized",
    "tokens",
    "tree",
    "values",
    "with_nodes",
    "wordnet",
    "words",
]
