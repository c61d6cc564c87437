"""Lightning: the age of abalones with a similarity that fades, metrics at two decisions, resuming.

pip install 'simloss[lightning]'
python examples/integration_lightning.py                         # 6 epochs
python examples/integration_lightning.py --epochs 3              # 3 of them, then ...
python examples/integration_lightning.py --resume runs/lightning/last.ckpt  # the other 3
python examples/integration_lightning.py --devices 2             # two processes: the same
"""

import argparse
import logging
import os

import torch
from lightning.pytorch import LightningModule, Trainer, seed_everything
from lightning.pytorch.callbacks import ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

import simloss
from simloss.integrations.lightning import DecisionMetrics, SimilaritySchedule
from simloss.similarity import order

BATCH = 64


class AgeNet(LightningModule):
    """Plain Lightning; only the loss is new."""

    def __init__(self, features, num_classes):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(features, 64), nn.ReLU(), nn.Linear(64, num_classes))
        self.loss = simloss.SimLoss(order(num_classes, r=0.8))

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = self.loss(self.net(x), y)
        self.log("train_loss", loss, on_step=False, on_epoch=True, sync_dist=True)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        return {"logits": self.net(x), "target": y}

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=3e-3)


def loaders(devices):
    """Whole batches only, so that two processes can share each of them evenly.

    The sampler draws the same batches for any number of processes; Lightning's own would not.
    """
    dataset = simloss.data.abalone()
    drawn = torch.randperm(len(dataset), generator=torch.Generator().manual_seed(0))
    train, held_out = drawn[: 48 * BATCH], drawn[48 * BATCH : 64 * BATCH]
    x = simloss.data.Standardizer.fit(dataset.inputs, train)(dataset.inputs)
    rank = int(os.environ.get("LOCAL_RANK", 0))

    def loader(part, shuffle):
        data = TensorDataset(x[part], dataset.labels[part])
        sampler = DistributedSampler(data, num_replicas=devices, rank=rank, shuffle=shuffle)
        return DataLoader(data, batch_size=BATCH // devices, sampler=sampler)

    return dataset, loader(train, shuffle=True), loader(held_out, shuffle=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--resume", help="a checkpoint to resume from")
    parser.add_argument("--folder", default="runs/lightning", help="where last.ckpt is written")
    options = parser.parse_args()
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    seed_everything(0, verbose=False)
    dataset, train, held_out = loaders(options.devices)
    model = AgeNet(dataset.inputs.shape[1], dataset.num_classes)
    trainer = Trainer(
        max_epochs=options.epochs,
        accelerator="cpu",
        devices=options.devices,
        strategy="ddp" if options.devices > 1 else "auto",
        use_distributed_sampler=False,
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        callbacks=[
            SimilaritySchedule(
                lambda r: order(dataset.num_classes, r=r), [0.8, 0.8, 0.6, 0.4, 0.2, 0.0]
            ),
            DecisionMetrics(["accuracy", "mae"], dataset.num_classes),
            ModelCheckpoint(dirpath=options.folder, filename="last", enable_version_counter=False),
        ],
    )
    trainer.fit(model, train, held_out, ckpt_path=options.resume)
    if trainer.is_global_zero:
        for name, value in sorted(trainer.callback_metrics.items()):
            print(f"{name} {value:.6f}")


if __name__ == "__main__":
    main()
