"""What is fast, what is small: figures measured here, now."""
