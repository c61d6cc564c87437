"""The decision rules by name: how an experiment, a saved net and a command answer.

Configurations, commands, reports and docs read this table.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """One way to answer from probabilities.

    Attributes:
        answer: what is answered, in the middle of a sentence.
        cost: what its answers keep lowest, as :func:`simloss.decide` and the reports call it.
        needs: what must be known about the classes: "order", "tree", "similarity" or "words".
        code: the expression that makes the answers; None where it takes more than one.
    """

    answer: str
    cost: str | None
    needs: str | None = None
    code: str | None = None


RULES = {
    "argmax": Rule("the most probable class", "zero-one", None, "simloss.decide(p)"),
    "median": Rule("the median", "absolute", "order", 'simloss.decide(p, "median")'),
    "mean": Rule("the mean", "squared", "order", 'simloss.decide(p, "mean")'),
    "tree": Rule("the lowest expected tree cost", "tree", "tree", "simloss.decide(p, tree)"),
    "similarity": Rule("the highest expected similarity", "similarity", "similarity"),
    "conse": Rule("the word nearest the expected one", None, "words"),
}


def suiting(known: set[str]) -> list[str]:
    """The rules for classes about which this is known, argmax first.

    Example:
        >>> suiting({"order"}), suiting({"tree"})
        (['argmax', 'median', 'mean'], ['argmax', 'tree'])
    """
    return [name for name, rule in RULES.items() if rule.needs is None or rule.needs in known]
