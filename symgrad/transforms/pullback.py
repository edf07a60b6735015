"""Pullback: what ``vjp`` returns beside the value; it runs, and it shows itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sympy

from ..kernels.array_libraries import is_dask
from ..kernels.kernel import Kernel
from ..program.program import Program
from ..tracing.tree import flatten, unflatten
from .derived import DerivedFunction

if TYPE_CHECKING:
    from ..closed_form.agreement import Agreement
    from ..closed_form.derivation.steps import Steps
    from ..closed_form.formulas import Formulas
    from .comparison import Equality


class Pullback:
    """``vᵀ J`` at the inputs that ``vjp`` was called with.

    Its methods are those of ``DerivedFunction``; they take ``v``, of which the shape matters, and their own options.

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

    def program(self, v: Any) -> Program:
        """The derived Program; it takes the inputs, then ``v``."""
        return self._derived.program(self._inputs, v)

    def kernel(self, v: Any) -> Kernel:
        """The kernel that serves ``v``."""
        return self._derived.kernel(self._inputs, v)

    def closed_form(self, v: Any, **options: Any) -> Any:
        """The derivative as sympy."""
        return self._derived.closed_form(self._inputs, v, **options)

    def entry(self, index: int | tuple[int, ...], v: Any, **options: Any) -> sympy.Basic:
        """One entry of it as sympy."""
        return self._derived.entry(index, self._inputs, v, **options)

    def latex(self, v: Any, **options: Any) -> str:
        """It as LaTeX."""
        return self._derived.latex(self._inputs, v, **options)

    def formulas(self, v: Any, **options: Any) -> Formulas:
        """Its arrays as formulas in the form that reads best."""
        return self._derived.formulas(self._inputs, v, **options)

    def steps(self, v: Any, **options: Any) -> Steps:
        """The chain rule in reverse mode, one step a line."""
        return self._derived.steps(self._inputs, v, **options)

    def agreement(self, v: Any) -> Agreement:
        """How closely the closed forms agree with the kernel."""
        return self._derived.agreement(self._inputs, v)

    def equals(self, other: Any, v: Any, **options: Any) -> Equality:
        """Whether it agrees with ``other``: another pullback, or a function of the tuple of inputs and of ``v``."""
        other = other._derived if isinstance(other, Pullback) else other
        return self._derived.equals(other, self._inputs, v, **options)

    def export(self, format: str, v: Any, **options: Any) -> Any:
        """It in another format, as a function of the tuple of inputs and of ``v``."""
        return self._derived.export(format, self._inputs, v, **options)

    def picture(self, v: Any) -> Any:
        """The Program as a picture, in a notebook."""
        return self._derived.picture(self._inputs, v)
