"""`python -m tools.results [PAGE]`: make the marked regions of docs/results.md anew."""

import sys
from pathlib import Path

from .page import refresh

page = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/results.md")
if not page.is_file():
    sys.exit(f"there is no page at '{page}'.")
for what in refresh(page):
    print(f"made anew: {what}")
