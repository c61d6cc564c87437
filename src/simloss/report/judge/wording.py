"""What a layman reads in place of a name: of a metric, a decision rule, a number."""

from ...decision.rules import RULES
from ...metrics import Metric
from ...statistics.paired import LEVEL
from .results import Results

_NOUNS = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "mae": "the mean error",
    "macro_mae": "the mean error, averaged over classes,",
    "mse": "the mean squared error",
    "superclass_accuracy": "superclass accuracy",
    "failed_superclass_accuracy": "the superclass accuracy of the errors",
    "mean_height": "the mean distance in the tree",
    "severity": "the severity of the errors",
    "mean_cost": "the mean cost",
    "mean_similarity": "the mean similarity of answer and truth",
    "quadratic_kappa": "the quadratic kappa",
    "kendall_tau": "Kendall's tau",
    "ranked_probability_score": "the ranked probability score",
    "nll": "the negative log likelihood",
    "brier": "the Brier score",
    "calibration_error": "the calibration error",
}

# What is answered from something other than probabilities.
_OTHERS = {"nearest": "the nearest class"}

_UNITS = {
    "abalone": "rings",
    "afad": "years",
    "diamonds": "percentiles of the price",
    "utkface": "years",
}
_IN_UNITS = ("mae", "macro_mae")


def noun(metric: Metric) -> str:
    """The metric in the middle of a sentence.

    Example:
        >>> from simloss import metrics
        >>> noun(metrics.find("mae")), noun(metrics.find("top_3_accuracy"))
        ('the mean error', 'Top-3')
    """
    return _NOUNS.get(metric.name, metric.label)


def answered_by(rule: str) -> str:
    """What is answered: "the median".

    Example:
        >>> answered_by("argmax")
        'the most probable class'
    """
    return RULES[rule].answer if rule in RULES else _OTHERS.get(rule, rule)


def unit(metric: Metric, results: Results) -> str:
    """The unit of the metric on this data, or nothing where none is known."""
    if metric.name not in _IN_UNITS:
        return ""
    return results.unit or _UNITS.get(results.config.data.source, "")


def numbers(metric: Metric, *values: float) -> tuple[str, ...]:
    """The values as a table shows them; with more digits where that makes two of them look alike.

    Example:
        >>> from simloss import metrics
        >>> numbers(metrics.find("mae"), 1.551, 1.549), numbers(metrics.find("mae"), 4.06, 3.33)
        (('1.551', '1.549'), ('4.06', '3.33'))
    """
    scale, sign = (100, " %") if metric.percent else (1, "")
    tried = [
        tuple(metric.format(value) for value in values),
        *(  # the second is for numbers that are all but 0
            tuple(f"{scale * value:{digits}}{sign}" for value in values)
            for digits in (".3f", ".3g", ".4f")
        ),
    ]
    return next((shown for shown in tried if len(set(shown)) == len(set(values))), tried[-1])


def change(metric: Metric, before: float, after: float) -> str:
    """By how much: in points of percent, or in percent of what it was.

    Example:
        >>> from simloss import metrics
        >>> change(metrics.find("mae"), 4.0, 3.0), change(metrics.find("accuracy"), 0.434, 0.449)
        ('−25 %', '+1.5 points')
    """
    if metric.percent:
        return _signed(100 * (after - before), 1) + " points"
    if before == 0:
        return _signed(after - before, 2)
    percent = 100 * (after - before) / abs(before)
    return _signed(percent, 1 if abs(percent) < 2 else 0) + " %"


def between(metric: Metric, before: float, low: float, high: float) -> str:
    """An interval of changes, its unit once.

    Example:
        >>> from simloss import metrics
        >>> between(metrics.find("mae"), 4.0, 3.0, 3.6)
        'between −25 and −10 %'
    """
    first, second = change(metric, before, low), change(metric, before, high)
    words = [text.partition(" ") for text in (first, second)]
    same = words[0][2] == words[1][2]
    return f"between {words[0][0] if same else first} and {second}"


def p_text(p: float) -> str:
    """A p-value with as many digits as mean something.

    Example:
        >>> p_text(0.01367), p_text(0.00001), p_text(0.5)
        ('p = 0.014', 'p < 0.001', 'p = 0.5')
    """
    return "p < 0.001" if p < 0.001 else f"p = {p_number(p)}"


def p_number(p: float) -> str:
    """Two digits, or as many as it takes not to stand on the wrong side of 5 %.

    Example:
        >>> p_number(0.0137), p_number(0.0504), p_number(0.05)
        ('0.014', '0.0504', '0.05')
    """
    digits = (f"{p:.{n}g}" for n in (2, 3, 4, 5))
    return next((text for text in digits if (float(text) <= LEVEL) == (p <= LEVEL)), f"{p:g}")


def runs(count: int) -> str:
    """As in "1 run", "10 runs"."""
    return f"{count:,} run" + "s" * (count != 1)


def listed(items: list[str]) -> str:
    """As in "a, b and c"."""
    return " and ".join([", ".join(items[:-1]), items[-1]]) if len(items) > 1 else "".join(items)


def cut(text: str, length: int = 24) -> str:
    """No longer than `length`; what is cut says so.

    Example:
        >>> cut("a name far too long to be shown", 12)
        'a name far …'
    """
    text = " ".join(text.split())
    return text if len(text) <= length else text[: length - 1] + "…"


def one_line(text: str) -> str:
    r"""Without line ends, after which a name could say what it likes.

    Example:
        >>> one_line("years.\nIt helps")
        'years. It helps'
    """
    return " ".join(text.splitlines())


def _signed(number: float, digits: int) -> str:
    text = f"{abs(number):.{digits}f}"
    sign = "±" if float(text) == 0 else "+" if number > 0 else "−"
    return sign + text
