"""Losses fused with their gradients: one pass, one buffer, chosen by the structure of S."""
