"""LaTeX by those that set it: pdflatex, which documents are compiled with, and KaTeX, which notebooks and pages use."""

from __future__ import annotations

import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence

import pytest

KATEX = "katex@0.16.22"
#: kept between runs, as npm's own cache is
_FOLDER = pathlib.Path(tempfile.gettempdir()) / f"symgrad-tests-{KATEX.replace('@', '-')}"
_CHECK = """
const katex = require("katex"), read = require("fs").readFileSync;
const wrong = [];
JSON.parse(read(0, "utf8")).forEach((latex, k) => {
  try { katex.renderToString(latex, { throwOnError: true, strict: "error", displayMode: true, maxExpand: 100000 }); }
  catch (error) { wrong.push([k, error.message.slice(0, 300)]); }
});
console.log(JSON.stringify(wrong));
"""


def _missing(what: str) -> None:
    """Skip, but for CI, where everything is."""
    if os.environ.get("CI"):
        pytest.fail(f"{what}, which CI must have")
    pytest.skip(what)


def pdflatex(document: str, folder: pathlib.Path, name: str = "document") -> str:
    """Compile a document; the log, or a failure with the error in it."""
    (folder / f"{name}.tex").write_text(document, encoding="utf-8")
    call = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", f"{name}.tex"]
    environment = {**os.environ, "openout_any": "p", "openin_any": "p"}
    done = subprocess.run(
        call, cwd=folder, capture_output=True, text=True, errors="replace", timeout=300, env=environment, check=False
    )
    log = done.stdout
    if done.returncode:
        at = log.find("\n!")
        line = re.search(r"^l\.(\d+)", log[at:], re.MULTILINE)
        near = document.splitlines()[max(int(line[1]) - 4, 0) : int(line[1])] if line else []
        pytest.fail(f"pdflatex: {log[at : at + 600]}\n" + "\n".join(n[:2000] for n in near))
    return log


def overfull(log: str, most: float = 3.0) -> list[str]:
    """The warnings of boxes that are wider than their line by more than ``most`` points."""
    return [m[0] for m in re.finditer(r"Overfull \\hbox \(([\d.]+)pt[^\n]*", log) if float(m[1]) > most]


@functools.cache
def _katex() -> pathlib.Path | str:
    """The folder with KaTeX in it; why there is none, in words."""
    if not (_FOLDER / "node_modules" / "katex").is_dir():
        made = pathlib.Path(tempfile.mkdtemp(prefix="symgrad-katex-"))
        call = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(made), KATEX]
        try:
            done = subprocess.run(call, capture_output=True, text=True, timeout=180, check=False)
        except subprocess.TimeoutExpired:
            return "npm took too long to install KaTeX"
        if done.returncode:
            return f"npm could not install KaTeX: {done.stderr[-200:]}"
        try:
            made.rename(_FOLDER)
        except OSError:  # another process was first
            shutil.rmtree(made)
    return _FOLDER


def katex(formulas: Sequence[str]) -> list[tuple[str, str]]:
    """The formulas that KaTeX, at its strictest, does not set, each with what it says."""
    folder = _katex()
    if isinstance(folder, str):
        _missing(folder)
    done = subprocess.run(
        ["node", "-e", _CHECK], cwd=folder, input=json.dumps(list(formulas)), capture_output=True, text=True, check=True
    )
    return [(formulas[k], message) for k, message in json.loads(done.stdout)]
