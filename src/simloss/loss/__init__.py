"""Logits, target and similarity made into a loss. A function and its module a file."""

from .proper import ProperSimLoss, proper_sim_loss
from .sim import SimLoss, sim_loss
from .soft_target import SoftTargetLoss, soft_target_loss

__all__ = [
    "ProperSimLoss",
    "SimLoss",
    "SoftTargetLoss",
    "proper_sim_loss",
    "sim_loss",
    "soft_target_loss",
]
