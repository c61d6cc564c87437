"""Turns texts and images into features, before any net is trained. One file per kind."""
