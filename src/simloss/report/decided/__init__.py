"""Turns probabilities in a file into answers; with the truth, compares the cost of each rule."""
