"""Segmentation shapes, (N, C, H, W): say how much ink each hidden pixel of a digit has.

A third of the pixels of every image is hidden. Each pixel has one of 17 ordered classes, from no
ink to full ink, so answering 9 for 10 is a small mistake. Visible pixels do not count: their target
is `ignore_index`.
"""

import torch
from sklearn.datasets import load_digits
from torch import nn

import simloss

HIDDEN, LEVELS = 1 / 3, 17
ink = torch.as_tensor(load_digits().images).long()  # (N, H, W), 0 to 16
torch.manual_seed(0)
hidden = torch.rand(ink.shape) < HIDDEN
seen = torch.stack([(ink / 16) * ~hidden, (~hidden).float()], dim=1)  # (N, 2, H, W)
target = ink.masked_fill(~hidden, -100)  # (N, H, W), -100 is ignored as in nn.CrossEntropyLoss
train, test = slice(0, 1200), slice(1200, None)


def probabilities(loss: nn.Module) -> torch.Tensor:
    torch.manual_seed(1)
    net = nn.Sequential(
        nn.Conv2d(2, 32, 5, padding=2),
        nn.ReLU(),
        nn.Conv2d(32, 32, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(32, LEVELS, 1),  # (N, C, H, W)
    )
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    for _ in range(5):
        for batch in torch.randperm(1200).split(64):
            optimizer.zero_grad()
            loss(net(seen[train][batch]), target[train][batch]).backward()
            optimizer.step()
    with torch.no_grad():
        return net(seen[test]).softmax(1).movedim(1, -1)  # (N, H, W, C): classes last


S = simloss.similarity.order(LEVELS, r=0.7)
print("mean error of a hidden pixel, in levels of ink")
for name, loss in {
    "cross entropy": nn.CrossEntropyLoss(),
    "SimLoss": simloss.SimLoss(S),
    "soft targets": simloss.SoftTargetLoss(S),
}.items():
    p = probabilities(loss)
    errors = []
    for rule in ("argmax", "median", "mean"):
        answers = simloss.decide(p, rule)  # (N, H, W)
        errors.append(simloss.metrics.mae(answers[hidden[test]], ink[test][hidden[test]]))
    print(f"{name:14} argmax {errors[0]:.2f}, median {errors[1]:.2f}, mean {errors[2]:.2f}")
print(
    "The median is right for this error. Soft targets ask for blurred answers, and near the ends of"
)
print("the scale the median of a blurred answer is off: use a smaller r, or argmax.")
