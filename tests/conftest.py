"""Settings of every test."""

from hypothesis import settings

# A shared machine makes single examples slow; how fast something is, the benchmarks say.
settings.register_profile("simloss", deadline=None)
settings.load_profile("simloss")
