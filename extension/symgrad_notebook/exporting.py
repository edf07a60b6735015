"""``--export`` and the panel's button: a derivative in another format, shown as text or written to a file."""

from __future__ import annotations

from typing import Any

from symgrad.errors import ArgumentError
from symgrad.transforms.derived import DerivedFunction


class Exported:
    """The text of an export, shown as it is; or where it was written."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def exported(derived: DerivedFunction, wanted: str, args: list[Any], kwargs: dict[str, Any]) -> Exported:
    """The derivative as ``FORMAT`` or ``FORMAT:FILE`` says."""
    format_, colon, path = wanted.partition(":")
    if colon and not path.strip():
        raise ArgumentError(f"--export {wanted} names no file; write {format_}:FILE, or {format_} to see the text.")
    try:
        text = export_text(derived, format_, args, kwargs, path.strip() or None)
    except OSError as error:
        raise ArgumentError(f"--export {wanted}: the file cannot be written ({error.strerror}).") from None
    return Exported(text)


def export_text(
    derived: DerivedFunction, format: str, args: list[Any] | tuple, kwargs: dict[str, Any], path: str | None
) -> str:
    """The export as text; where it was written, if there is a ``path``."""
    made = derived.export(format, *args, path=path, **kwargs)
    if path is not None:
        return f"written to {path}"
    if isinstance(made, bytes):
        raise ArgumentError(f"{format} is no text to show; name a file for it.")
    return str(made)
