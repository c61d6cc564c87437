"""Handwritten digits in a tree of shapes: a mistake inside a branch is milder than one across.

The 1,797 digits of scikit-learn, with noise, so that there are mistakes to see.
"""

import torch
from sklearn.datasets import load_digits
from torch import nn

import simloss

SHAPES = {"loops": ["0", "6", "8", "9"], "strokes": ["1", "4", "7"], "curves": ["2", "3", "5"]}
tree = simloss.Tree.from_dict(SHAPES, classes=list("0123456789"))
S = simloss.similarity.tree(tree, temperature=0.7)

pixels, y = (torch.as_tensor(each) for each in load_digits(return_X_y=True))
torch.manual_seed(0)
x = pixels.float() / 16 + 0.45 * torch.randn(pixels.shape)
train, test = torch.randperm(len(x)).split([900, 897])


def probabilities(loss: nn.Module) -> torch.Tensor:
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2, weight_decay=1e-3)
    for _ in range(40):
        optimizer.zero_grad()
        loss(net(x[train]), y[train]).backward()
        optimizer.step()
    with torch.no_grad():
        return net(x[test]).softmax(-1)


print("mean height: 0 if right, 1 if wrong in the right branch, 2 if in another; over all examples")
for name, loss in {
    "soft targets": simloss.SoftTargetLoss(S),
    "cross entropy": nn.CrossEntropyLoss(),
}.items():
    p = probabilities(loss)
    for rule, cost in (("argmax", "argmax"), ("lowest expected height", tree)):
        answers = simloss.decide(p, cost)
        accuracy = simloss.metrics.accuracy(answers, y[test])
        height = simloss.metrics.mean_height(answers, y[test], tree)
        print(f"{name}, {rule}: accuracy {100 * accuracy:.1f} %, mean height {height:.3f}")

nodes = simloss.decide_node(p, tree, price=0.4)
branch = tree.superclass(1)  # the branch of each class, as a node
is_digit, is_branch = nodes < 10, (nodes >= 10) & (nodes < tree.root)
right_digit = (nodes == y[test])[is_digit].float().mean()
right_branch = (nodes == branch[y[test]])[is_branch].float().mean()
print("Cross entropy, stopping at the branch when unsure:")
print(f"a digit for {is_digit.float().mean():.1%} of the images, right for {right_digit:.1%}")
print(f"only a branch for {is_branch.float().mean():.1%}, right for {right_branch:.1%}")
