"""The flag panel: every flag of a gradient to play with, and what it does to formula, shapes, values and code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symgrad.errors import MissingPart
from symgrad.transforms.derived import DerivedFunction

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
    try:
        from .widget import Panel
    except ModuleNotFoundError as error:
        if error.name not in ("ipywidgets", "anywidget", "traitlets"):
            raise
        raise MissingPart(f"the panel needs {error.name}: pip install 'symgrad[notebook]'") from None
    from .opening import opening

    return Panel(opening(derived, args, kwargs), _namespace(), derived)


def _namespace() -> dict[str, Any] | None:
    """The variables of the notebook; None outside of IPython."""
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    return None if shell is None else shell.user_ns
