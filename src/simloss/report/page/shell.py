"""What every page consists of: a template, its figures, and the code to draw them, in one file."""

import html
import json
import re
from importlib.resources import files
from typing import Any

from ... import __version__, _checks
from ..figures.style import axis, layout
from ..judge.wording import cut

_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


def rendered(
    template: str, context: dict[str, Any], plots: dict[str, Any], outputs: Any = None
) -> str:
    """A page as HTML that works offline and loads nothing.

    Args:
        template: the name of a file beside this one.
        context: the values for the template; `plot(place, label)` is an empty place for a figure.
        plots: place -> variant -> figure, in plotly's format.
        outputs: the data of the output distributions in the report of a run.
    """
    jinja2 = _checks.installed("jinja2", "cli")
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters |= {"cut": cut, "tidy": _tidy}
    safe = jinja2.filters.do_mark_safe
    everything = {
        **context,
        "version": __version__,
        "plot": lambda place, label: safe(_plot(place, label)),
        "css": safe(_template("style.css")),
        "script": safe(_template("script.js")),
        "plotly": safe(_plotly()),
        "figures_json": safe(_json(plots, outputs)),
    }
    return str(environment.from_string(_template(template)).render(everything))


def _tidy(text: str) -> str:
    """Prevent line breaks inside "r = 0.8", "5 %" and "--abstain"; returns HTML."""
    markup = _checks.installed("markupsafe", "cli")
    joined = text.replace(" = ", "\u00a0=\u00a0").replace(" %", "\u00a0%")
    escaped = str(markup.escape(joined))
    return markup.Markup(_OPTION.sub(r'<span class="option">\g<0></span>', escaped))


def _template(name: str) -> str:
    return files("simloss.report.page").joinpath("templates", name).read_text(encoding="utf-8")


def _plotly() -> str:
    offline: Any = _checks.installed("plotly.offline", "cli")
    return str(offline.get_plotlyjs()).replace("</script", "<\\/script")


def _plot(place: str, label: str) -> str:
    """An empty place for a figure; `label` is for screen readers."""
    group = place.partition("-")[0]
    return (
        f'<div class="plot" data-figure="{place}" data-group="{group}" role="img" '
        f'aria-label="{html.escape(label)}"></div>'
    )


def _json(plots: dict[str, Any], outputs: Any) -> str:
    """The figures inside a script element: no tag can begin or end in it."""
    everything = {
        "plots": plots,
        "outputs": outputs,
        "layout": layout({}, {}, height=380),
        "axis": axis(""),
    }
    text = json.dumps(everything, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
