"""Treatments x seeds: every cell once, recorded in a folder."""
