"""Probabilities in a file, made into answers; with the truth, what each rule costs."""
