"""How the commands take lists, switches and decision rules."""

from typing import Literal

from cyclopts import Parameter

Several = Parameter(consume_multiple=1, negative="")  # at least one: none given is a slip
Flag = Parameter(negative="")
# Those of `decision.rules.RULES`, written out so that --help need not wait for torch.
Decision = Literal["argmax", "median", "mean", "tree", "similarity"]
