"""The tables of a run, as Markdown, LaTeX, CSV and for the page."""
