"""`python -m simloss`."""

from .cli import main

main()
