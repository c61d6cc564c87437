"""Turns logits, target and similarity into a loss. Each file holds a function and its module."""

from .contract import Formula, loss_by_contract
from .kernel import native_kernel
from .linear import (
    LinearProperSimLoss,
    LinearSimLoss,
    LinearSoftTargetLoss,
    linear_proper_sim_loss,
    linear_sim_loss,
    linear_soft_target_loss,
)
from .module import SimilarityLoss
from .proper import ProperSimLoss, proper_sim_loss
from .sim import SimLoss, sim_loss
from .soft_target import SoftTargetLoss, soft_target_loss

__all__ = [
    "Formula",
    "LinearProperSimLoss",
    "LinearSimLoss",
    "LinearSoftTargetLoss",
    "ProperSimLoss",
    "SimLoss",
    "SimilarityLoss",
    "SoftTargetLoss",
    "linear_proper_sim_loss",
    "linear_sim_loss",
    "linear_soft_target_loss",
    "loss_by_contract",
    "native_kernel",
    "proper_sim_loss",
    "sim_loss",
    "soft_target_loss",
]
