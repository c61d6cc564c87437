"""Two processes see half the batch each and take the same step as one that sees all of it."""

import os
import socket

import pytest
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


def work(rank, port, loss_type, results):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=2)
    try:
        x, y = batch()
        wrapped = DistributedDataParallel(WithLoss(loss_type(order(5, 0.7))))
        half = slice(4 * rank, 4 * rank + 4)
        wrapped(x[half], y[half]).backward()
        results[rank] = wrapped.module.net.weight.grad.tolist()
    finally:
        dist.destroy_process_group()


@pytest.mark.parametrize("loss_type", [SimLoss, ProperSimLoss, SoftTargetLoss])
def test_two_processes_are_one(loss_type):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    results = mp.get_context("spawn").Manager().dict()
    mp.spawn(work, (port, loss_type, results), nprocs=2)
    whole = WithLoss(loss_type(order(5, 0.7)))
    whole(*batch()).backward()
    for rank in range(2):
        assert torch.allclose(torch.tensor(results[rank]), whole.net.weight.grad, atol=1e-6)
