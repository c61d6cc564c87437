"""Your own cost matrix: taking a severe case for a mild one is the worst mistake.

442 diabetes patients from scikit-learn; the class is how far the disease had progressed a year
later. The costs are used to decide on the answer, and "not sure" is an answer too.
"""

import torch
from sklearn.datasets import load_diabetes
from torch import nn

import simloss

CLASSES = ["mild", "medium", "severe"]
COST = torch.tensor([[0.0, 1, 2], [2, 0, 1], [10, 5, 0]])  # row = truth, column = answer
EXAMINATION = 0.8  # the cost of "not sure", a further examination

x, progress = (torch.as_tensor(each).float() for each in load_diabetes(return_X_y=True))
x = x / x.std(0)
y = torch.bucketize(progress, progress.quantile(torch.tensor([1 / 3, 2 / 3])))
torch.manual_seed(0)
train, validation, test = torch.randperm(len(x)).split([162, 80, 200])

net = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(100):
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(x[train]), y[train]).backward()
    optimizer.step()
with torch.no_grad():
    logits = net(x)

# Expected costs need calibrated probabilities.
temperature = simloss.calibration.fit_temperature(logits[validation], y[validation])
p = (logits[test] / temperature).softmax(-1)
print(f"temperature {temperature:.2f}: above 1, the net was too sure of itself")

for name, answers in {
    "most probable class": simloss.decide(p),
    "lowest expected cost": simloss.decide(p, COST),
    "the same, or unsure": simloss.decide(p, COST, abstain=EXAMINATION),
}.items():
    sure = answers >= 0  # -1 is "unsure"
    total = float(COST[y[test][sure], answers[sure]].sum()) + EXAMINATION * int((~sure).sum())
    missed = int(((y[test] == 2) & (answers < 2) & sure).sum())
    right = float((answers == y[test])[sure].float().mean())
    print(
        f"{name:21} cost {total / len(test):.2f} per patient: {missed:2d} severe cases missed, "
        f"{int((~sure).sum())} unsure, {right:.0%} of the others right"
    )
print("Fewer answers are right, but the mistakes are cheaper, as the costs demand.")
