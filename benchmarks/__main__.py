"""`python -m benchmarks`: how fast and how large the losses are; see `benchmarks.speed`.

`python -m benchmarks verdict`: how often the verdict is right; see `benchmarks.verdict`.
"""

import sys

if __name__ == "__main__":
    if sys.argv[1:2] == ["verdict"]:
        from .verdict import main as judge

        judge(sys.argv[2:])
    else:
        from .speed.main import main

        main()
