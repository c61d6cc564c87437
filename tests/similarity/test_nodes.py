"""Rows for inner nodes, against loops over the classes below them."""

import math

import pytest
import torch

import simloss
from reference import softmax
from simloss import Tree
from simloss.similarity import identity, load, matrix, order, tree, with_nodes

TREE = Tree.from_paths(["a/b/1", "a/b/2", "a/3", "c/4", "c/d/e/5", "6"])
NODES = len(TREE.parents)
LOPSIDED = torch.rand(6, 6, generator=torch.Generator().manual_seed(0)).fill_diagonal_(1)
SIMILARITIES = {
    "identity": identity(6),
    "order": order(6, r=0.6),
    "tree": tree(TREE, 0.7),
    "path": tree(TREE, measure="path"),
    "lopsided": matrix(LOPSIDED),
}
every = pytest.mark.parametrize("similarity", SIMILARITIES.values(), ids=SIMILARITIES)


def below(node):
    return [k for k in range(6) if node in (k, *TREE.ancestors(k))]


@every
def test_a_node_has_what_the_most_similar_class_below_it_has(similarity):
    made = with_nodes(similarity, TREE)
    dense = similarity.to_dense().tolist()
    assert made.num_rows == NODES
    for node in range(NODES):
        row = made.rows([node])[0].tolist()
        wanted = [max(dense[k][c] for k in below(node)) for c in range(6)]
        assert row == pytest.approx(wanted)
        assert all(row[c] == 1 for c in below(node))
    assert torch.equal(made.to_dense(), similarity.to_dense())
    assert torch.equal(made.rows(torch.arange(6)), similarity.rows(torch.arange(6)))
    assert torch.equal(made.columns([0, 3]), similarity.to_dense().T[[0, 3]])


def test_the_height_of_a_tree_goes_on_above_the_classes():
    made = with_nodes(tree(TREE, 0.7), TREE)
    for node in range(NODES):
        for c in range(6):
            common = next(a for a in (node, *TREE.ancestors(node)) if a in (c, *TREE.ancestors(c)))
            height = 0 if common == node else TREE.heights[common]
            assert float(made.rows([node])[0, c]) == pytest.approx(math.exp(-height / 0.7))


@every
def test_the_loss_of_a_node_by_the_definition(similarity):
    made = with_nodes(similarity, TREE)
    logits = torch.randn(NODES, 6, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    logits.requires_grad_()
    nodes = torch.arange(NODES)
    loss = simloss.sim_loss(logits, nodes, made, reduction="none")
    for node in range(NODES):
        p = softmax(logits[node].tolist())
        s = made.rows([node], torch.float64)[0].tolist()
        wanted = -math.log(sum(a * b for a, b in zip(s, p, strict=True)))
        assert loss[node].item() == pytest.approx(wanted, abs=1e-6)
    on_classes = simloss.sim_loss(logits[:6], nodes[:6], similarity, reduction="none")
    torch.testing.assert_close(loss[:6], on_classes, atol=1e-6, rtol=1e-6)
    assert torch.allclose(loss[TREE.root], torch.zeros(1, dtype=torch.float64), atol=1e-7)
    (gradient,) = torch.autograd.grad(loss.sum(), logits)
    assert gradient.isfinite().all()


def test_with_the_identity_it_is_the_probability_of_the_node():
    logits = torch.tensor([0.3, 1.0, -0.5, 0.0, 0.2, -1.0])
    made = with_nodes(identity(6), TREE)
    p = logits.softmax(-1)
    for node in range(NODES):
        assert float((made.rows([node])[0] * p).sum()) == pytest.approx(float(p[below(node)].sum()))


@every
def test_normalized_rows_sum_to_one(similarity):
    made = with_nodes(similarity, TREE).normalized()
    rows = made.rows(torch.arange(NODES))
    torch.testing.assert_close(rows.sum(1), torch.ones(NODES, dtype=rows.dtype))
    assert made.kind == "probability"


def test_modules_take_nodes_and_what_knows_of_none_refuses_them_in_a_sentence():
    S = order(6, r=0.6)
    logits, y = (
        torch.randn(4, 6, generator=torch.Generator().manual_seed(0)),
        torch.tensor([0, 5, 2, 2]),
    )
    for loss in (simloss.SimLoss, simloss.ProperSimLoss, simloss.SoftTargetLoss):
        with_rows = loss(with_nodes(S, TREE))
        torch.testing.assert_close(with_rows(logits, y), loss(S)(logits, y))
        with pytest.raises(ValueError, match=rf"`target` must be in \[0, {NODES}\)"):
            with_rows(logits, torch.tensor([0, 5, 2, NODES]))
    nodes = torch.tensor([0, -100, 2, 7])
    with pytest.raises(ValueError, match=r"`target` must be in \[0, 6\)"):
        simloss.proper_sim_loss(logits, nodes, with_nodes(S, TREE))
    for option in ({"weight": torch.ones(6)}, {"cross_entropy_share": 0.1}):
        with pytest.raises(ValueError, match="must not be given with a similarity that has rows"):
            simloss.sim_loss(logits, nodes, with_nodes(S, TREE), **option)


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("loss", [simloss.sim_loss, simloss.soft_target_loss])
def test_node_targets_keep_the_contract(loss, smoothing):
    """Ignored, averaged and smoothed as classes are; gradients by differences."""
    made = with_nodes(LOPSIDED.double(), TREE)
    logits = torch.randn(4, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    nodes = torch.tensor([0, -100, 8, TREE.root])
    t = made.rows(nodes[[0, 2, 3]])
    z = logits[[0, 2, 3]]
    if loss is simloss.sim_loss:
        each = z.logsumexp(-1) - (z + t.log()).logsumexp(-1)
    else:
        each = torch.nn.functional.cross_entropy(z, t / t.sum(-1, keepdim=True), reduction="none")
    whole = torch.stack(
        [loss(z, torch.full((3,), c), made.to_dense(), reduction="none") for c in range(6)]
    )
    wanted = (1 - smoothing) * each + smoothing * whole.mean(0)
    found = loss(logits, nodes, made, label_smoothing=smoothing)
    torch.testing.assert_close(found, wanted.mean())
    logits.requires_grad_()
    assert torch.autograd.gradcheck(
        lambda x: loss(x, nodes, made, label_smoothing=smoothing), logits
    )


@pytest.mark.parametrize("ending", [".npz", ".safetensors"])
def test_it_is_saved_with_its_nodes(tmp_path, ending):
    made = with_nodes(tree(TREE), TREE)
    made.save(tmp_path / f"s{ending}")
    loaded = load(tmp_path / f"s{ending}")
    assert loaded == made
    assert loaded.num_rows == NODES
    assert made != tree(TREE)
    with pytest.raises(ValueError, match=r"one row per class, but .* inner nodes too; save it as"):
        made.save(tmp_path / "s.csv")


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="`tree` must have as many classes as `similarity`"):
        with_nodes(identity(5), TREE)
    with pytest.raises(
        ValueError, match=r"in the same order, but it has '1' where `similarity` has 'x'"
    ):
        with_nodes(order(6, r=0.5, names=list("x23456")), TREE)
    with pytest.raises(TypeError, match="`tree` must be a simloss.Tree, but got list"):
        with_nodes(identity(6), list("aabbcc"))
    with pytest.raises(ValueError, match="kind 'similarity'"):
        with_nodes(identity(6).normalized(), TREE)
    with pytest.raises(ValueError, match=rf"`target` must be in \[0, {NODES}\), but got {NODES}"):
        with_nodes(identity(6), TREE).rows([NODES])
    with pytest.raises(ValueError, match=r"`target` must be in \[0, 6\), but got 6"):
        with_nodes(identity(6), TREE).columns([6])


def test_its_repr_tells_of_the_nodes():
    assert repr(with_nodes(identity(6), TREE)) == "nodes(6 classes and 6 nodes above them)"
