"""``--export``: a derivative in another format, shown as text or written to a file."""

from __future__ import annotations

from typing import Any

from symgrad.transforms.derived import DerivedFunction


class Exported:
    """The text of an export, shown as it is; or where it was written."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def exported(derived: DerivedFunction, wanted: str | None, args: list[Any], kwargs: dict[str, Any]) -> Exported | None:
    """The derivative as ``FORMAT`` or ``FORMAT:FILE`` says; None where nothing is wanted."""
    if wanted is None:
        return None
    format_, colon, path = wanted.partition(":")
    text = derived.export(format_, *args, path=path if colon else None, **kwargs)
    return Exported(f"written to {path}" if colon else text)
