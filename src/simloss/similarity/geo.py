"""Classes that are places on Earth."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .. import _checks
from .base import Similarity
from .distance import DistanceSimilarity

# The mean radius of the International Union of Geodesy and Geophysics.
EARTH_RADIUS_KM = 6371.0088


class GeoSimilarity(DistanceSimilarity):
    """Latitude and longitude of each class, in radians, and a scale in km."""

    structure = "geo"

    def _distance(self, target: Tensor) -> Tensor:
        # Haversine: exact for nearby places, where the arc cosine is not.
        latitude, longitude = self.tensors["point"].unbind(1)  # (C) each
        there, east = latitude[target].unsqueeze(-1), longitude[target].unsqueeze(-1)
        half_chord = ((latitude - there) / 2).sin().square()
        half_chord = half_chord + latitude.cos() * there.cos() * (
            ((longitude - east) / 2).sin().square()
        )
        return 2 * EARTH_RADIUS_KM * half_chord.clamp(max=1).sqrt().arcsin()  # (*, C)

    def _description(self) -> str:
        return f", scale={float(self.tensors['scale']):.6g} km"


def geo(points: Any, scale_km: float, *, names: Sequence[str] | None = None) -> Similarity:
    r"""Similarity of places by their great-circle distance.

    .. math:: S_{ij} = \exp(-d_{ij} / \mathrm{scale})

    It stores 2 C numbers. :func:`diagnose` tells whether the proper loss is proper with it.

    Args:
        points: latitude and longitude of each class in degrees, (C, 2); north and east positive.
        scale_km: the distance at which the similarity has fallen to 1/e.
        names: one name per class.

    Example:
        >>> berlin, paris, tokyo = (52.52, 13.40), (48.86, 2.35), (35.68, 139.69)
        >>> geo([berlin, paris, tokyo], scale_km=1000).to_dense()
        tensor([[1.0000e+00, 4.1599e-01, 1.3407e-04],
                [4.1599e-01, 1.0000e+00, 6.0508e-05],
                [1.3407e-04, 6.0508e-05, 1.0000e+00]])
    """
    tensor = _checks.float_tensor("points", points).detach().double()
    if tensor.ndim != 2 or tensor.shape[1] != 2 or tensor.shape[0] == 0:
        raise ValueError(
            f"`points` must have shape (C, 2), latitude and longitude of each class, "
            f"but got shape {tuple(tensor.shape)}."
        )
    _checks.finite("points", tensor)
    outside = (tensor[:, 0].abs() > 90) | (tensor[:, 1].abs() > 360)
    if bool(outside.any()):
        at = int(outside.nonzero()[0])
        raise ValueError(
            f"`points` must be (latitude in [-90, 90], longitude in [-360, 360]), "
            f"but got {tuple(tensor[at].tolist())} for class {at}."
        )
    scale_km = _checks.positive("scale_km", scale_km)
    names = _checks.class_names(names, tensor.shape[0])
    tensors = {"point": tensor.deg2rad(), "scale": torch.tensor(scale_km, dtype=torch.float64)}
    return GeoSimilarity(tensor.shape[0], tensors, names=names)
