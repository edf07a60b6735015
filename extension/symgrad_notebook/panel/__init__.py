"""The flag panel: every flag of a gradient to play with, and what it does to formula, shapes, values and code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symgrad.transforms.derived import DerivedFunction
from symgrad.transforms.in_notebook import notebook_part

from .opening import opening

if TYPE_CHECKING:
    from .widget import Panel

__all__ = ["panel"]


def panel(derived: DerivedFunction, args: tuple, kwargs: dict[str, Any]) -> Panel:
    """The panel of a gradient, called with these arguments.

    >>> import symgrad
    >>> shown = panel(symgrad.grad(lambda x, y: x * y), (2.0, 3.0), {})
    >>> shown.controls.positions[1].value = True
    >>> print(shown.outcome.tree)
    (∂f/∂x: (), ∂f/∂y: ())
    """
    room = notebook_part("panel.widget")  # which imports ipywidgets
    return room.Panel(opening(derived, args, kwargs), _namespace(), derived)


def _namespace() -> dict[str, Any] | None:
    """The variables of the notebook; None outside of IPython."""
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    return None if shell is None else shell.user_ns
