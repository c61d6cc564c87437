"""Ages from shell measurements: swap the loss in a plain training loop, then swap the decision.

The 4,177 abalones shipped with simloss; the class is the age in rings, 1 to 29.
"""

import torch
from torch import nn

import simloss

data = simloss.data.abalone()
parts = simloss.data.split(data)  # indices of train, validation, test: 60, 20, 20 %
standardize = simloss.data.Standardizer.fit(data.inputs, parts["train"])
x = {name: standardize(data.inputs[some]) for name, some in parts.items()}
y = {name: data.labels[some] for name, some in parts.items()}


def probabilities(loss: nn.Module, epochs: int = 12) -> torch.Tensor:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(x["train"].shape[1], 64), nn.ReLU(), nn.Linear(64, 29))
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    for _ in range(epochs):
        for batch in torch.randperm(len(y["train"])).split(128):
            optimizer.zero_grad()
            loss(net(x["train"][batch]), y["train"][batch]).backward()
            optimizer.step()
    with torch.no_grad():
        return net(x["test"]).softmax(-1)


S = simloss.similarity.order(29, r=0.5, names=data.class_names)
losses = {
    "cross entropy": nn.CrossEntropyLoss(),
    "SimLoss": simloss.SimLoss(S),  # the one line that changes
    "proper SimLoss": simloss.ProperSimLoss(S),
    "soft targets": simloss.SoftTargetLoss(S),
}
print("mean error in rings on test data, one run; NLL says whether probabilities can be trusted")
print(f"{'':16}{'argmax':>8}{'median':>8}{'NLL':>8}")
for name, loss in losses.items():
    p = probabilities(loss)
    argmax, median = simloss.decide(p), simloss.decide(p, "median")
    mae = [simloss.metrics.mae(answer, y["test"]) for answer in (argmax, median)]
    print(f"{name:16}{mae[0]:8.2f}{mae[1]:8.2f}{simloss.metrics.nll(p, y['test']):8.2f}")
print("The median lowers the error of the same trained net: try the decision before the loss.")
