"""Constraints for pip: of each package that pyproject.toml names, the lowest version that it allows.

python tools/lowest.py > lowest.txt && pip install -c lowest.txt '.[test]'
"""

from __future__ import annotations

import pathlib
import re
import tomllib

_PYPROJECT = pathlib.Path(__file__).parents[1] / "pyproject.toml"


def constraints() -> list[str]:
    """``name==version.*`` of each package, extras left out."""
    project = tomllib.loads(_PYPROJECT.read_text())["project"]
    named = [
        *project["dependencies"],
        *(text for extra in ("sparse", "notebook") for text in project["optional-dependencies"][extra]),
    ]
    found = (re.fullmatch(r"([\w-]+)(?:\[[\w,]*\])?>=([\w.]+)", text) for text in named)
    return [f"{m[1]}=={m[2]}.*" for m in found if m]


if __name__ == "__main__":
    print("\n".join(constraints()))
