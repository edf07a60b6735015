"""Expressions that people already have, read as computations on arrays: sympy's, and LaTeX."""
