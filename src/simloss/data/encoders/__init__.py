"""Texts and images made into features, before any net is trained. One file per kind."""
