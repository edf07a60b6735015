"""scipy.optimize with every derivative filled in: ``minimize``, ``least_squares``, ``root`` and ``curve_fit``."""

from .minimizing import minimize
from .residuals import curve_fit, least_squares, root

__all__ = ["curve_fit", "least_squares", "minimize", "root"]
