"""Calibrates outputs on validation data."""

from .residuals import residual_probabilities
from .temperature import fit_temperature, logits, tempered

__all__ = ["fit_temperature", "logits", "residual_probabilities", "tempered"]
