"""One net: how it is made, trained and measured."""
