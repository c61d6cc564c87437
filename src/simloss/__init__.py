"""Losses and similarities for classifiers whose mistakes are not equally bad.

Names are loaded on first use, so that ``import simloss`` costs nothing
and a command's ``--help`` does not wait for torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import calibration as calibration
    from . import data as data
    from . import metrics as metrics
    from . import report as report
    from . import similarity as similarity
    from . import statistics as statistics
    from .decision import decide as decide
    from .decision import decide_interval as decide_interval
    from .decision import decide_node as decide_node
    from .decision import decide_set as decide_set
    from .decision import expected_cost as expected_cost
    from .decision import fit_thresholds as fit_thresholds
    from .decision import promise_threshold as promise_threshold
    from .integrations.cost_aware import CostAwareClassifier as CostAwareClassifier
    from .integrations.sklearn import SimLossClassifier as SimLossClassifier
    from .loss import LinearProperSimLoss as LinearProperSimLoss
    from .loss import LinearSimLoss as LinearSimLoss
    from .loss import LinearSoftTargetLoss as LinearSoftTargetLoss
    from .loss import ProperSimLoss as ProperSimLoss
    from .loss import SimLoss as SimLoss
    from .loss import SoftTargetLoss as SoftTargetLoss
    from .loss import linear_proper_sim_loss as linear_proper_sim_loss
    from .loss import linear_sim_loss as linear_sim_loss
    from .loss import linear_soft_target_loss as linear_soft_target_loss
    from .loss import native_kernel as native_kernel
    from .loss import proper_sim_loss as proper_sim_loss
    from .loss import sim_loss as sim_loss
    from .loss import soft_target_loss as soft_target_loss
    from .similarity import Similarity as Similarity
    from .similarity import Tree as Tree

__version__ = "0.1.0"

# Public name -> the module that holds it; a module maps to itself.
_HOMES = {
    "CostAwareClassifier": ".integrations.cost_aware",
    "LinearProperSimLoss": ".loss",
    "LinearSimLoss": ".loss",
    "LinearSoftTargetLoss": ".loss",
    "ProperSimLoss": ".loss",
    "SimLoss": ".loss",
    "SimLossClassifier": ".integrations.sklearn",
    "Similarity": ".similarity",
    "SoftTargetLoss": ".loss",
    "Tree": ".similarity",
    "calibration": ".calibration",
    "data": ".data",
    "decide": ".decision",
    "decide_interval": ".decision",
    "decide_node": ".decision",
    "decide_set": ".decision",
    "expected_cost": ".decision",
    "fit_thresholds": ".decision",
    "metrics": ".metrics",
    "linear_proper_sim_loss": ".loss",
    "linear_sim_loss": ".loss",
    "linear_soft_target_loss": ".loss",
    "native_kernel": ".loss",
    "promise_threshold": ".decision",
    "proper_sim_loss": ".loss",
    "report": ".report",
    "sim_loss": ".loss",
    "similarity": ".similarity",
    "soft_target_loss": ".loss",
    "statistics": ".statistics",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'simloss' has no attribute {name!r}")
    home = import_module(_HOMES[name], __name__)
    value = home if _HOMES[name] == f".{name}" else getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
