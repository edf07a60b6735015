"""All NumPy functions that traced values take, declared by importing their rooms."""

from __future__ import annotations

from . import choosing, describing, joining, products, rearranging, reductions, shaping

ROOMS = (choosing, describing, joining, products, rearranging, reductions, shaping)
