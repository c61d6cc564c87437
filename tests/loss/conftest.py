import pytest

import simloss

FUNCTIONS = {
    "sim": simloss.sim_loss,
    "proper": simloss.proper_sim_loss,
    "soft": simloss.soft_target_loss,
}
MODULES = {
    "sim": simloss.SimLoss,
    "proper": simloss.ProperSimLoss,
    "soft": simloss.SoftTargetLoss,
}


@pytest.fixture(params=FUNCTIONS)
def loss_name(request):
    return request.param


@pytest.fixture
def loss_function(loss_name):
    return FUNCTIONS[loss_name]


@pytest.fixture
def loss_module(loss_name):
    return MODULES[loss_name]
