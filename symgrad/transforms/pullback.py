"""Pullback: what ``vjp`` returns beside the value; it runs, and it shows itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import ArgumentTypeError
from ..kernels.array_libraries import is_dask
from ..tracebacks import briefly
from ..tracing.tree import flatten, unflatten
from .derived import DerivedFunction


class Pullback:
    """``vᵀ J`` at the inputs that ``vjp`` was called with.

    Its methods are those of ``DerivedFunction`` that show it; in place of the arguments they take ``v``, of which the
    shape matters, and their own options. What it exports, and what ``equals`` compares it with, is a function of the
    tuple of inputs and of ``v``.

    >>> from symgrad import vjp
    >>> _, pullback = vjp(lambda x: x**2, 3.0)
    >>> pullback.closed_form(1.0)
    (2*v*x_0,)
    """

    def __init__(self, derived: DerivedFunction, inputs: tuple, output: Any) -> None:
        self._derived = derived
        self._inputs = inputs
        leaves, _ = flatten(output)
        self._in_blocks = leaves if any(map(is_dask, leaves)) else []

    def __call__(self, v: Any) -> tuple:
        if self._in_blocks:
            from ..chunked.dask_arrays import in_same_blocks

            leaves, structure = flatten(v)
            if 0 < len(leaves) <= len(self._in_blocks):
                v = unflatten(structure, map(in_same_blocks, leaves, self._in_blocks))
        return self._derived(self._inputs, v)


#: the methods of a derivative that a pullback has, with what they take before the arguments
_METHODS = {
    **dict.fromkeys(("agreement", "closed_form", "conditions", "formulas", "kernel", "latex", "latex_rows"), ()),
    **dict.fromkeys(("picture", "plot", "program", "provenance", "steps"), ()),
    "entry": ("index",),
    "equals": ("other",),
    "export": ("format",),
}


def _of_v(name: str, first: tuple[str, ...]) -> Callable:
    def method(pullback: Pullback, *given: Any, **options: Any) -> Any:
        names = (*first, "v")
        missing = [n for n in names if n not in options]
        if len(given) != len(missing):
            raise ArgumentTypeError(f"{name} of a pullback takes {' and '.join(names)}, and options by their names.")
        known = {n: options.pop(n) for n in names if n in options} | dict(zip(missing, given, strict=True))
        *before, v = [known[n]._derived if isinstance(known[n], Pullback) else known[n] for n in names]
        return getattr(pullback._derived, name)(*before, pullback._inputs, v, **options)

    method.__name__ = name
    method.__doc__ = f"``{name}`` of the derivative, of ``v`` in place of the arguments."
    return briefly(method)


for _name, _first in _METHODS.items():
    setattr(Pullback, _name, _of_v(_name, _first))
