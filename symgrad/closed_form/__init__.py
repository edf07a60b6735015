"""Closed forms: a Program as sympy expressions, entry by entry or in index notation, and as LaTeX."""
