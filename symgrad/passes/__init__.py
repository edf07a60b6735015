"""Rewrites of a Program into an equal one that runs faster or reads better."""
