import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from simloss import Tree
from simloss.similarity import (
    circular,
    class_graph,
    embedding,
    identity,
    matrix,
    order,
    sparse,
    tree,
    values,
    words,
)


def logits(C, seed=0):
    return np.random.default_rng(seed).normal(size=C).tolist()


def penalty(similarity, z, **options):
    return float(class_graph(similarity, **options).penalty(torch.tensor(z, dtype=torch.float64)))


@given(st.integers(2, 9), st.floats(0.1, 0.9), st.integers(0, 99))
def test_of_an_order_it_is_the_mean_of_the_squared_steps(C, r, seed):
    z = logits(C, seed)
    wanted = sum((z[c + 1] - z[c]) ** 2 for c in range(C - 1)) / (C - 1)
    assert penalty(order(C, r), z) == pytest.approx(wanted)
    assert class_graph(order(C, r)).total_weight == pytest.approx(C * C / 3)


@given(st.integers(3, 9), st.integers(0, 99))
def test_of_a_circle_the_last_is_next_to_the_first(C, seed):
    z = logits(C, seed)
    wanted = sum((z[(c + 1) % C] - z[c]) ** 2 for c in range(C)) / C
    assert penalty(circular(C, 0.5), z) == pytest.approx(wanted)


def test_two_classes_in_a_circle_have_one_edge():
    assert penalty(circular(2, 0.5), [1.0, 3.0]) == penalty(order(2, 0.5), [1.0, 3.0]) == 4


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=9, unique=True), st.integers(0, 99))
def test_of_values_a_step_counts_by_its_slope(positions, seed):
    z = logits(len(positions), seed)
    place = sorted(range(len(positions)), key=positions.__getitem__)
    gaps = [positions[b] - positions[a] for a, b in pairwise(place)]
    mean = sum(gaps) / len(gaps)
    wanted = sum(
        (z[b] - z[a]) ** 2 * mean / gap for (a, b), gap in zip(pairwise(place), gaps, strict=True)
    )
    assert penalty(values(positions, 3), z) == pytest.approx(wanted / len(gaps))


def test_of_even_values_it_is_that_of_an_order():
    z = logits(5)
    assert penalty(values([10, 20, 30, 40, 50], 7), z) == pytest.approx(penalty(order(5, 0.5), z))


def test_equal_positions_count_as_the_smallest_gap():
    z = [0.0, 1.0, 4.0]
    gaps = [1.0, 1.0]  # 0 and 1, of which the first counts as 1
    assert penalty(values([3, 3, 4], 1), z) == pytest.approx((1 / gaps[0] + 9 / gaps[1]) / 2)
    assert penalty(values([3, 3, 3], 1), z) == pytest.approx((1 + 9) / 2)


@given(st.lists(st.integers(0, 3), min_size=2, max_size=12), st.integers(0, 99))
def test_of_superclasses_it_is_the_mean_squared_distance_to_the_siblings_mean(above, seed):
    C, z = len(above), logits(len(above), seed)
    names = [f"class {c}" for c in range(C)]
    S = tree(Tree.from_superclasses(names, [f"super {g}" for g in above]))
    wanted = 0.0
    if len(set(above)) > 1:
        for c in range(C):
            siblings = [z[d] for d in range(C) if above[d] == above[c]]
            wanted += (z[c] - sum(siblings) / len(siblings)) ** 2 / C
    assert penalty(S, z) == pytest.approx(wanted)
    assert class_graph(S).total_weight == pytest.approx(0.3 * C)


def test_that_is_the_sum_over_pairs_by_the_size_of_their_group():
    z = logits(6)
    groups = [[0, 1, 4], [2, 5], [3]]
    above = [next(str(g) for g, some in enumerate(groups) if c in some) for c in range(6)]
    S = tree(Tree.from_superclasses([f"class {c}" for c in range(6)], above))
    pairs = 0.0
    for some in groups:
        pairs += sum((z[a] - z[b]) ** 2 for a in some for b in some if a < b) / len(some)
    assert penalty(S, z) == pytest.approx(pairs / 6)
    assert len(class_graph(S).weight) == 5


def by_loops(taxonomy, z):
    """Each class, and each node, to the mean logit below its parent; the root is free."""
    below = [[c] for c in range(taxonomy.num_classes)]
    for children in taxonomy.children[taxonomy.num_classes :]:
        below.append([c for child in children for c in below[child]])
    mean = [sum(z[c] for c in some) / len(some) for some in below]
    total, done = 0.0, set()
    for node, parent in enumerate(taxonomy.parents):
        while parent >= 0 and len(below[parent]) == len(below[node]):
            parent = taxonomy.parents[parent]  # a node with one child is that child
        if parent < 0 or len(below[parent]) == taxonomy.num_classes:
            continue
        if tuple(sorted(below[node])) not in done:
            done.add(tuple(sorted(below[node])))
            total += (mean[node] - mean[parent]) ** 2
    return total / taxonomy.num_classes


@settings(max_examples=60)
@given(
    st.lists(st.lists(st.integers(0, 1), min_size=0, max_size=4), min_size=2, max_size=12),
    st.sampled_from(["height", "path", "wu-palmer"]),
    st.integers(0, 99),
)
def test_of_deeper_trees_superclasses_are_drawn_together_too(lines, measure, seed):
    paths = [("top", *map(str, line), f"class {i}") for i, line in enumerate(lines)]
    taxonomy = Tree.from_paths(paths)
    z = logits(len(lines), seed)
    assert penalty(tree(taxonomy, measure=measure), z) == pytest.approx(by_loops(taxonomy, z))


def nearest_by_loops(S, z, k):
    C = len(z)
    weight = {}
    for i in range(C):
        others = sorted((j for j in range(C) if j != i), key=lambda j: -S[i][j])[:k]
        for j in others:
            if S[i][j] > 0:
                pair = (min(i, j), max(i, j))
                weight[pair] = max(S[i][j], weight.get(pair, 0))
    total = sum(weight.values())
    return sum(w * (z[a] - z[b]) ** 2 for (a, b), w in weight.items()) / total


@given(st.integers(2, 9), st.integers(1, 4), st.integers(0, 99))
def test_else_the_nearest_classes_count_by_their_similarity(C, k, seed):
    random = np.random.default_rng(seed)
    S = random.uniform(0.01, 1, (C, C))
    np.fill_diagonal(S, 1)
    z = logits(C, seed)
    assert penalty(matrix(S), z, nearest=k) == pytest.approx(nearest_by_loops(S.tolist(), z, k))


def test_vectors_words_and_sparse_rows_have_nearest_classes_too():
    vectors = torch.randn(9, 4, generator=torch.Generator().manual_seed(0))
    names = ["rose", "tulip", "truck", "car"]
    for S in (embedding(vectors), sparse(embedding(vectors), top_k=3), words(names)):
        z = logits(S.num_classes)
        wanted = nearest_by_loops(S.to_dense(torch.float64).tolist(), z, 2)
        assert penalty(S, z, nearest=2) == pytest.approx(wanted, rel=1e-5)


def test_what_is_like_nothing_has_no_edges():
    assert penalty(identity(4), logits(4)) == 0
    assert penalty(matrix(np.eye(3)), logits(3)) == 0
    assert penalty(order(1, 0.5), [3.0]) == 0


def test_many_classes_take_as_much_as_their_edges():
    graph = class_graph(order(100_000, 0.9))
    assert len(graph.first) == 99_999
    assert float(graph.penalty(torch.arange(100_000).double())) == pytest.approx(1)
    paths = [f"{i // 1000}/{i // 10}/{i}" for i in range(20_000)]
    assert len(class_graph(tree(Tree.from_paths(paths))).first) == 22_000


def test_logits_of_any_shape_and_their_gradient():
    graph = class_graph(tree(Tree.from_paths(["a/1", "a/2", "b/3", "b/4"])))
    z = torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True)
    assert graph.penalty(z).shape == (2, 3)
    assert torch.autograd.gradcheck(graph.penalty, z)
    assert graph.penalty(z.float()).dtype == torch.float32


def test_where_it_moves_the_optimum_of_cross_entropy():
    """p = posterior - 2 lambda / (C - 1) L z, with L the Laplacian of the line."""
    C, weight = 7, 0.3
    posterior = torch.tensor([0.02, 0.08, 0.3, 0.3, 0.05, 0.05, 0.2], dtype=torch.float64)
    graph = class_graph(order(C, 0.5))
    z = posterior.log().requires_grad_()
    search = torch.optim.LBFGS([z], max_iter=500, tolerance_grad=1e-12, tolerance_change=1e-16)

    def value():
        search.zero_grad()
        loss = -(posterior * z.log_softmax(0)).sum() + weight * graph.penalty(z)
        loss.backward()
        return loss

    search.step(value)
    z = z.detach()
    p = z.softmax(0)
    for c in range(C):
        bend = sum(float(z[d] - z[c]) for d in (c - 1, c + 1) if 0 <= d < C)
        wanted = float(posterior[c]) + 2 * weight / (C - 1) * bend
        assert float(p[c]) == pytest.approx(wanted, abs=1e-6)
    assert math.isclose(float(p.sum()), 1)


def test_bad_input():
    with pytest.raises(ValueError, match="`nearest` must be"):
        class_graph(order(3, 0.5), nearest=0)
