"""Deliberate faults: kills, full disks, damaged files, very long grids.

`python -m torture` runs every part, `python -m torture kills disk` some of them. The figures of the
last whole run are in docs/reliability.md; a small share of the same checks runs in `make test`
(tests/trust).
"""
