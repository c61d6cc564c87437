"""`python -m benchmarks`: how fast and how large the losses are; see `benchmarks.speed`."""

from .speed.main import main

if __name__ == "__main__":
    main()
