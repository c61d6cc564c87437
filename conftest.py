"""Which integrations are looked at.

`make test` passes over those whose packages are missing. `make test-integrations` sets
SIMLOSS_INTEGRATIONS=all: there all are looked at, and a skipped test is a failure.
"""

import os
from importlib.util import find_spec

import pytest

ALL = os.environ.get("SIMLOSS_INTEGRATIONS") == "all"
PACKAGES = ("keras", "lightning", "transformers")

# Their doctests: the tests proper skip themselves.
collect_ignore = [
    f"src/simloss/integrations/{package}.py"
    for package in PACKAGES
    if not ALL and find_spec(package) is None
]


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if ALL and reporter is not None and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        reporter.write_line("A test of an integration was skipped: that is a failure.", red=True)
