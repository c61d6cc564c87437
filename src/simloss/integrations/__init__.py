"""Adapters for other libraries. Nothing else in the package imports them."""
