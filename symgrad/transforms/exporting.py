"""Derivatives in other formats."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..exporters import checked_format
from ..exporters import export as exported
from .shown import checked_form
from .subjects import subject_of

if TYPE_CHECKING:
    from .derived import DerivedFunction


def export(
    derived: DerivedFunction,
    format: str,
    *args: Any,
    path: str | Path | None = None,
    form: str = "auto",
    document: bool | None = None,
    **kwargs: Any,
) -> Any:
    r"""The derivative in another format, also written to ``path`` where that is given.

    ``format`` is one of ``symgrad.exporters.FORMATS``: source code (``python``, ``c``, ``fortran``, ``julia``,
    ``numba``, ``numexpr``, ``jax``, ``torch``), models and data (``onnx``, ``json``), formulas (``latex``,
    ``markdown``, ``mathml``, ``sympy``), the program (``text``, ``dot``, ``svg``). Every export says what it is of
    and, where the arguments are example arrays, carries a check: code compares itself when it is run. Arguments are
    as those of ``program``; without any the latest ones serve, and inputs for the check are drawn.

    ``form`` is the form of formulas, as in ``closed_form``; ``document`` says whether documents and sources are
    complete files of their own, as they are where there is a ``path``, or fragments. The result is a text;
    ``bytes`` for onnx, live objects for sympy, ``Sources`` where several files are written. Raises ArgumentError
    for another format, UnsupportedOperation for what a format cannot hold.

    >>> import symgrad
    >>> print(symgrad.grad(lambda x: x**3).export("latex", 2.0))
    % the gradient of f, ...
    \[
    \begin{aligned} \frac{\partial f}{\partial x} &= 3 x^{2} \end{aligned}
    \]
    <BLANKLINE>
    """
    checked_form(form)
    checked_format(format)
    whole = path is not None if document is None else document
    return exported(subject_of(derived, args, kwargs, path, form, whole), format, path)
