"""How the commands take lists and switches."""

from cyclopts import Parameter

Several = Parameter(consume_multiple=1, negative="")  # at least one: none given is a slip
Flag = Parameter(negative="")
