"""How Sphinx makes the site: `make docs`."""

from importlib.metadata import version as installed_version

project = "simloss"
copyright = "2026, the simloss maintainers"
version = release = installed_version("simloss")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
# Heavy, and only looked at: the site is made without them.
autodoc_mock_imports = ["keras", "lightning", "torchmetrics"]
napoleon_custom_sections = [("Returns", "params_style")]
html_theme = "furo"
html_title = "simloss"
nitpicky = False
