"""What shows a derivative in a notebook: parts of ``symgrad_notebook``, imported where they are asked for."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ..errors import MissingPart

if TYPE_CHECKING:
    from .derived import DerivedFunction
    from .jacobian import JacobianFunction


def panel(derived: DerivedFunction, *args: Any, **kwargs: Any) -> Any:
    """Switches and sliders around this derivative, in a notebook (``pip install 'symgrad[notebook]'``)."""
    return notebook_part("panel").panel(derived, args, kwargs)


def picture(derived: DerivedFunction, *args: Any, **kwargs: Any) -> Any:
    """The Program as a picture, what the function computes beside what the derivative adds."""
    return notebook_part("picture").picture(derived, args, kwargs)


def annotate(derived: DerivedFunction, *args: Any, **kwargs: Any) -> Any:
    """The source of the function, with what each line costs and what its derivative adds to that."""
    return notebook_part("annotation").annotate(derived, args, kwargs)


def explore(derived: JacobianFunction, *args: Any, **kwargs: Any) -> Any:
    """A map of the Jacobian to look into, entry by entry, in a notebook (``pip install 'symgrad[notebook]'``)."""
    derived._needs_examples(args, kwargs)
    return notebook_part("explorer").explore(derived, args, kwargs)


def notebook_part(name: str) -> Any:
    """A part of ``symgrad_notebook``, imported where it is asked for and nowhere else."""
    try:
        return importlib.import_module(f"symgrad_notebook.{name}")
    except ModuleNotFoundError as error:
        missing = (error.name or "").split(".")[0]
        if missing in ("symgrad_notebook", "IPython", "ipywidgets", "anywidget", "traitlets"):
            raise MissingPart(f"this needs {missing}: pip install 'symgrad[notebook]'") from None
        raise
