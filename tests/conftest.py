"""Settings of every test."""

import os
import random

import numpy as np
import pytest
import torch
from hypothesis import settings

# A shared machine makes single examples slow; how fast something is, the benchmarks say. CI judges
# a change, so it tries the same examples every time; elsewhere new ones are looked for.
settings.register_profile("simloss", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("simloss")


@pytest.fixture(autouse=True)
def seeded():
    """The same random inputs in every run, in whatever order the tests come."""
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
