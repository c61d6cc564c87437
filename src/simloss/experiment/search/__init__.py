"""The best treatment with few epochs."""
