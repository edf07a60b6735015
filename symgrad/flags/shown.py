"""The flags that say what is shown of a derivative, and what it is called."""

from __future__ import annotations

from typing import Any

from ..errors import ArgumentError
from ..exporters import FORMATS
from ..testing.contract import check
from ..transforms.derived import DerivedFunction
from .registry import Flag


class Text(str):
    """Text that is shown as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def exported(derived: DerivedFunction, args: tuple, kwargs: dict[str, Any], wanted: str) -> Text:
    r"""The derivative as ``FORMAT`` or ``FORMAT:FILE`` says.

    >>> import symgrad
    >>> exported(symgrad.grad(lambda x: x**2), (1.0,), {}, "latex").splitlines()[-2]
    '\\begin{aligned} \\frac{\\partial f}{\\partial x} &= 2 x \\end{aligned}'
    """
    format_, colon, path = wanted.partition(":")
    if colon and not path.strip():
        raise ArgumentError(f"--export {wanted} names no file; write {format_}:FILE, or {format_} to see the text.")
    return export_text(derived, format_, args, kwargs, path.strip() or None)


def export_text(derived: DerivedFunction, format: str, args: tuple, kwargs: dict[str, Any], path: Any) -> Text:
    """The export as text; where it was written, if there is a ``path``. ``kwargs`` go to ``export``."""
    try:
        made = derived.export(format, *args, path=path, **kwargs)
    except OSError as error:
        raise ArgumentError(f"{path}: the file cannot be written ({error.strerror}).") from None
    if path is not None:
        return Text(f"written to {path}")
    if isinstance(made, bytes):
        raise ArgumentError(f"{format} is no text to show; name a file for it.")
    if not isinstance(made, str):  # live objects, which are a script as a document
        made = derived.export(format, *args, document=True, **kwargs)
    return Text(made)


FLAGS = [
    Flag("name", "what to call the derivative (default: grad_<function>)", type=str, on_command_line=False),
    Flag(
        "annotate",
        "the source, with what each line and its derivative cost",
        short="-a",
        show=lambda derived, args, kwargs, _: derived.annotate(*args, **kwargs),
        reads_lines=True,
    ),
    Flag(
        "steps",
        "the derivation: the chain rule, one step a line",
        show=lambda derived, args, kwargs, _: derived.steps(*args, **kwargs),
        reads_lines=True,
    ),
    Flag(
        "check",
        "whether the function keeps the contract: it is run plainly and traced, and what differs is told",
        show=lambda derived, args, kwargs, _: check(derived.fn, *args),
        on_command_line=False,
    ),
    Flag(
        "export",
        "show the derivative in this format, or write it to the file; may be given several times",
        type=str,
        choices=FORMATS,
        metavar="FORMAT[:FILE]",
        many=True,
        show=exported,
        on_command_line=False,
    ),
    Flag(
        "panel",
        "switches and sliders below the formulas",
        show=lambda derived, args, kwargs, _: derived.panel(*args, **kwargs),
        reads_lines=True,
        of_gradients=True,
        on_command_line=False,
    ),
    Flag("quiet", "bind the derivative and show nothing", short="-q", on_command_line=False),
    Flag("help", "show this help", short="-h", on_command_line=False),
]
