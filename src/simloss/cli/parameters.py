"""How the commands take lists, switches and decision rules, and how --help groups the options."""

from typing import Literal

from cyclopts import Group, Parameter

Several = Parameter(consume_multiple=1, negative="")  # at least one: none given is a slip
Flag = Parameter(negative="", show_default=False)
Name, Names = Parameter(metavar="NAME"), Parameter(metavar="NAME...")
# Those of `decision.rules.RULES`, written out so that --help need not wait for torch.
Decision = Literal["argmax", "median", "mean", "tree", "similarity"]

_DATA, _SIMILARITY = Group("Data", sort_key=1), Group("Similarity and losses", sort_key=2)
_SEARCH, _TRAINING = Group("Search", sort_key=3), Group("Training", sort_key=4)
_OUTPUT = Group("Output", sort_key=5)
Data, Similarity = Parameter(group=_DATA), Parameter(group=_SIMILARITY)
Search, Training = Parameter(group=_SEARCH), Parameter(group=_TRAINING)
Output = Parameter(group=_OUTPUT)
