"""What the tests use is not searched for doctests: it imports packages that may be missing."""

collect_ignore = ["keras_numbers.py", "tiny_models.py", "trainer_steps.py"]
