"""Solvers of SciPy on traced values: what they find is differentiated by the equations that it solves."""
