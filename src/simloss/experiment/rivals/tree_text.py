"""The text of a LightGBM model out of a file, checked before LightGBM is given it.

LightGBM trusts what it reads: a node that is its own child has it search without end, a feature
that is not there has it read beyond its inputs. So a text is taken apart here, and what is handed
on is written again from the numbers found: nothing else of a file reaches LightGBM.
"""

import re
from typing import Any

import numpy as np

# One block per tree, up to an empty line.
_BLOCK = re.compile(r"^Tree=\d+\n(.*?)\n\n", re.DOTALL | re.MULTILINE)
_END = "\nend of trees\n"
# What is kept of a tree; the rest tells how it was trained.
_OF_NODES = {
    "split_feature": int,
    "threshold": float,
    "decision_type": int,
    "left_child": int,
    "right_child": int,
}
# How a number is missing and where it then goes; 1 would be a category, of which we write none.
_DECISIONS = {0, 2, 4, 6, 8, 10}


def checked_text(content: bytes, num_features: int, num_outputs: int) -> str:
    """The same trees as a text that leads every input to a leaf, or ValueError.

    Args:
        content: what :meth:`lightgbm.Booster.model_to_string` has made, or what became of it.
        num_features: how many inputs there are to split by.
        num_outputs: how many trees make one round.
    """
    text = content.decode("ascii")
    head, _, rest = text.partition("\nTree=")
    blocks = _BLOCK.findall("\nTree=" + rest.partition(_END)[0] + "\n\n")
    if f"\nnum_tree_per_iteration={num_outputs}\n" not in head or _END not in rest:
        raise ValueError("it is not the text of such a model")
    if not blocks or len(blocks) % num_outputs:
        raise ValueError("some of its trees are missing")
    trees = [_tree(number, block, num_features) for number, block in enumerate(blocks)]
    return f"{_head(num_features, num_outputs)}{''.join(trees)}end of trees\n"


def _head(num_features: int, num_outputs: int) -> str:
    names = " ".join(f"x{i}" for i in range(num_features))
    ranges = " ".join(["[-1:1]"] * num_features)
    return (
        f"tree\nversion=v4\nnum_class={num_outputs}\nnum_tree_per_iteration={num_outputs}\n"
        f"label_index=0\nmax_feature_idx={num_features - 1}\n"
        f"feature_names={names}\nfeature_infos={ranges}\n\n"
    )


def _tree(number: int, block: str, num_features: int) -> str:
    """One tree, written again."""
    try:
        found = dict(line.split("=", 1) for line in block.splitlines())
        parts = {name: [*map(kind, found[name].split())] for name, kind in _OF_NODES.items()}
        leaves = [*map(float, found["leaf_value"].split())]
    except (KeyError, ValueError):
        raise ValueError(f"its tree {number} cannot be read") from None
    if not _is_tree(parts, leaves, num_features):
        raise ValueError(f"its tree {number} leads nowhere")
    lines = [f"{name}={' '.join(map(repr, values))}" for name, values in parts.items()]
    return (
        f"Tree={number}\nnum_leaves={len(leaves)}\nnum_cat=0\n"
        + "\n".join(lines)
        + f"\nleaf_value={' '.join(map(repr, leaves))}\nis_linear=0\nshrinkage=1\n\n\n"
    )


def _is_tree(parts: dict[str, list[Any]], leaves: list[float], num_features: int) -> bool:
    """Whether every input comes to a leaf: from each node down to a later one, or to a leaf."""
    nodes = len(leaves) - 1
    if any(len(values) != nodes for values in parts.values()):
        return False
    children = zip(range(nodes), parts["left_child"], parts["right_child"], strict=True)
    return (
        all(0 <= feature < num_features for feature in parts["split_feature"])
        and all(
            node < child < nodes if child >= 0 else ~child < len(leaves)
            for node, *both in children
            for child in both
        )
        and set(parts["decision_type"]) <= _DECISIONS
        and bool(np.isfinite([*parts["threshold"], *leaves]).all())
    )
