"""Settings of every test."""

import os

from hypothesis import settings

# A shared machine makes single examples slow; how fast something is, the benchmarks say. CI judges
# a change, so it tries the same examples every time; elsewhere new ones are looked for.
settings.register_profile("simloss", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("simloss")
