"""The formulas as plain loops over Python floats: the judge of everything that is fast."""

import math


def softmax(z):
    largest = max(z)
    e = [math.exp(v - largest) for v in z]
    return [v / sum(e) for v in e]


def cross_entropy(z, y, S):
    return -math.log(softmax(z)[y])


def sim_loss(z, y, S):
    p = softmax(z)
    total = 0.0
    for c in range(len(z)):
        total += S[y][c] * p[c]
    return -math.log(total)


def proper_sim_loss(z, y, S):
    p = softmax(z)
    C = len(z)
    a = [sum(S[i][k] * p[k] for k in range(C)) for i in range(C)]
    expected = 0.0
    for i in range(C):
        expected += p[i] * S[i][y] / a[i]
    return -math.log(a[y]) + 1 - expected


def expected_proper_loss(S, p, q):
    """Of the answer q when p is true; where an answer is impossible, so is its row."""
    C = len(p)
    a = [sum(S[i][k] * q[k] for k in range(C)) for i in range(C)]
    total = 0.0
    for y in range(C):
        expected = sum(q[i] * S[i][y] / a[i] for i in range(C) if q[i] > 0)
        if p[y] > 0:
            total += p[y] * (1 - math.log(a[y]) - expected)
    return total


def soft_target_loss(z, y, S):
    p = softmax(z)
    total = 0.0
    for c in range(len(z)):
        total -= S[y][c] / sum(S[y]) * math.log(p[c])
    return total


def roughness(z, edges, groups=()):
    """Of edges (i, j, weight) between classes and groups; a group is a node after the classes."""
    nodes = list(z)
    for group in groups:
        some = [z[c] for c in group if z[c] > -math.inf]
        nodes.append(sum(some) / len(some) if some else -math.inf)
    total = 0.0
    for i, j, weight in edges:
        if nodes[i] > -math.inf and nodes[j] > -math.inf:
            total += weight * (nodes[i] - nodes[j]) ** 2
    return total


def contract(
    one,
    inputs,
    targets,
    S,
    weight=None,
    ignore_index=-100,
    reduction="mean",
    label_smoothing=0.0,
    cross_entropy_share=0.0,
    smoothness=lambda z: 0.0,
):
    """`one(z, y, S)` for a list of examples, with all that `F.cross_entropy` puts around it.

    A target is a class index or a list of class probabilities; `smoothness(z)` is added to each.
    """
    C = len(inputs[0])
    w = weight or [1.0] * C

    def blended(z, y):
        plain = cross_entropy(z, y, S)
        both = (1 - cross_entropy_share) * one(z, y, S) + cross_entropy_share * plain
        return both + smoothness(z)

    losses, divisor = [], 0.0
    for z, target in zip(inputs, targets, strict=True):
        if isinstance(target, list):
            losses.append(
                sum(
                    w[y] * (target[y] * (1 - label_smoothing) + label_smoothing / C) * blended(z, y)
                    for y in range(C)
                )
            )
            divisor += 1
        elif target == ignore_index:
            losses.append(0.0)
        else:
            smooth = sum(w[y] * blended(z, y) for y in range(C)) / C
            losses.append(
                (1 - label_smoothing) * w[target] * blended(z, target) + label_smoothing * smooth
            )
            divisor += w[target]
    if reduction == "none":
        return losses
    return sum(losses) if reduction == "sum" else sum(losses) / divisor
