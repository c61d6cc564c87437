"""Two processes see half the batch each and take the same step as one that sees all of it."""

import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from simloss import ProperSimLoss, SimLoss, SoftTargetLoss
from simloss.similarity import order


def batch():
    generator = torch.Generator().manual_seed(0)
    return torch.randn(8, 3, generator=generator), torch.randint(5, (8,), generator=generator)


def model():
    torch.manual_seed(1)
    return nn.Linear(3, 5)


class WithLoss(nn.Module):
    """The loss inside the wrapped module, so that its buffers are broadcast too."""

    def __init__(self, loss):
        super().__init__()
        self.net, self.loss = model(), loss

    def forward(self, x, y):
        return self.loss(self.net(x), y)


LOSSES = (SimLoss, ProperSimLoss, SoftTargetLoss)


def work(rank, meeting, results):
    torch.set_num_threads(1)
    # They meet by a file, and end at once: gloo's threads can abort a process that tidies up.
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=2)
    for loss_type in LOSSES:
        results[rank, loss_type.__name__] = gradient(loss_type, rank)
    dist.barrier()
    os._exit(0)


def gradient(loss_type, rank):
    """Of the half of this process; what is wrapped is gone when the group of processes ends."""
    x, y = batch()
    half = slice(4 * rank, 4 * rank + 4)
    wrapped = DistributedDataParallel(WithLoss(loss_type(order(5, 0.7))))
    wrapped(x[half], y[half]).backward()
    return wrapped.module.net.weight.grad.tolist()


def test_two_processes_are_one(tmp_path):
    with mp.get_context("spawn").Manager() as manager:
        results = manager.dict()
        mp.spawn(work, (tmp_path / "meeting", results), nprocs=2)
        gradients = dict(results)
    for loss_type in LOSSES:
        whole = WithLoss(loss_type(order(5, 0.7)))
        whole(*batch()).backward()
        for rank in range(2):
            half = torch.tensor(gradients[rank, loss_type.__name__])
            assert torch.allclose(half, whole.net.weight.grad, atol=1e-6)
