"""All NumPy functions that traced values take, declared by importing their rooms."""

from __future__ import annotations

from . import (
    choosing,
    decompositions,
    describing,
    fourier,
    grids,
    interpolation,
    joining,
    linear_algebra,
    norms,
    products,
    rearranging,
    reductions,
    shaping,
    statistics,
    ufunc_methods,
    vector_products,
)

ROOMS = (
    choosing,
    decompositions,
    describing,
    fourier,
    grids,
    interpolation,
    joining,
    linear_algebra,
    norms,
    products,
    rearranging,
    reductions,
    shaping,
    statistics,
    ufunc_methods,
    vector_products,
)
