"""The probabilities that docs/decide.md is about: boosted trees on wine, a net on CIFAR-100.

`python -m benchmarks.decide_examples WINE.csv CIFAR FOLDER` writes wine.csv, cifar.parquet and
cifar-tree.csv there, from the table of white wines and from CIFAR-100 as `simloss.data.cifar100`
takes it.
"""

import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

from simloss.data import Components, cifar100_components

EPOCHS, BATCH, TRAINING = 12, 256, 45_000


def wine(table: Path, target: Path) -> None:
    """Half of the wines train boosted trees, the others are answered."""
    import pandas
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.model_selection import train_test_split

    wines = pandas.read_csv(table)
    X, y = wines.drop(columns="quality"), wines["quality"]
    X, X_new, y, y_new = train_test_split(X, y, test_size=0.5, random_state=0)
    trees = HistGradientBoostingClassifier(random_state=0).fit(X, y)
    p = pandas.DataFrame(trees.predict_proba(X_new), columns=trees.classes_)
    p.assign(quality=y_new.to_numpy()).to_csv(target, index=False)


def cifar(source: str, folder: Path) -> None:
    """One hidden layer on 120 components; a fifth of the images is answered."""
    import pandas

    data = cifar100_components(source)
    shuffled = torch.randperm(len(data), generator=torch.Generator().manual_seed(0))
    train, new = shuffled[:TRAINING], shuffled[TRAINING:]
    x = Components.fit(data.inputs, train, 120)(data.inputs)
    x = (x - x[train].mean(0)) / x[train].std(0)
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Linear(120, 512), nn.ReLU(), nn.Dropout(0.3), nn.Linear(512, data.num_classes)
    )
    optimizer = torch.optim.AdamW(net.parameters(), 1e-3, weight_decay=0.05)
    for _ in range(EPOCHS):
        for some in torch.randperm(TRAINING).split(BATCH):
            loss = F.cross_entropy(net(x[train[some]]), data.labels[train[some]])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    with torch.no_grad():
        p = net.eval()(x[new]).softmax(-1)
    names = list(data.class_names)
    truth = [names[label] for label in data.labels[new]]
    pandas.DataFrame(p.numpy(), columns=names).assign(truth=truth).to_parquet(
        folder / "cifar.parquet", index=False
    )
    levels = pandas.DataFrame({"superclass": data.superclasses, "class": names})
    levels.to_csv(folder / "cifar-tree.csv", index=False, header=False)


if __name__ == "__main__":
    table, source, folder = sys.argv[1:]
    wine(Path(table), Path(folder) / "wine.csv")
    cifar(source, Path(folder))
