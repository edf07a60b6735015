"""Golden files: an export is what it was, but for the last digits of its numbers.

``SYMGRAD_GOLDEN=write pytest tests/exporters`` writes them anew.
"""

from __future__ import annotations

import math
import os
import re
from pathlib import Path

FOLDER = Path(__file__).parent / "golden"
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:0x[0-9a-f.]+p[-+]?\d+|\d+\.\d*(?:e[-+]?\d+)?|\d+e[-+]?\d+)", re.IGNORECASE)
#: what differs from machine to machine, or with the test's own text
_RESIDUAL = re.compile(r"(off by )\S+|(its source )[0-9a-f]+|(derived by symgrad )[\w.]+")


def check(format: str, name: str, text: str, suffix: str = ".txt") -> None:
    """Compare ``text`` with the golden file of this format and case, numbers to nine digits."""
    path = FOLDER / format / f"{name}{suffix}"
    if os.environ.get("SYMGRAD_GOLDEN") == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return
    golden = path.read_text(encoding="utf-8")
    mine, theirs = _parts(text), _parts(golden)
    assert mine[0] == theirs[0], f"{path.name} differs; SYMGRAD_GOLDEN=write writes the golden files anew"
    assert len(mine[1]) == len(theirs[1])
    for a, b in zip(mine[1], theirs[1], strict=True):
        assert math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12) or (a != a and b != b), f"{path.name}: {a} for {b}"


def _parts(text: str) -> tuple[str, list[float]]:
    """The text without its numbers, and these."""
    text = _RESIDUAL.sub(lambda m: next(g for g in m.groups() if g), text)
    numbers = [float.fromhex(n) if "0x" in n.lower() else float(n) for n in _NUMBER.findall(text)]
    return _NUMBER.sub("#", text), numbers
