"""`python -m tools.results [PAGES]`: fill in what the pages of results say from the records."""

import sys
from pathlib import Path

from .page import refresh

for name in sys.argv[1:] or ("docs/results.md", "docs/choose.md", "docs/paper.md", "README.md"):
    page = Path(name)
    if not page.is_file():
        sys.exit(f"there is no page at '{page}'.")
    for what in refresh(page):
        print(f"made anew: {what}")
