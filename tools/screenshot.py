"""Take the README's picture: a real ``%%grad`` cell in JupyterLab.

    .venv/bin/python tools/screenshot.py

Needs an installed Chromium; writes docs/grad_cell.png.
"""

from __future__ import annotations

import pathlib
import sys
import tempfile

import nbformat

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "browser"))

import lab  # noqa: E402

SETUP = """%load_ext symgrad
import numpy as np
X, y, w = np.ones((200, 3)), np.ones(200), np.zeros(3)"""
CELL = """%%grad --wrt w
def loss(w, X, y):
    return np.sum(np.log(1 + np.exp(-y * (X @ w))))"""
AFTER = ("", "")  # the last cell takes the selection, whose frame and buttons are no part of the picture


def main() -> None:
    """Run the notebook and save the picture of its second cell."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "work").mkdir()
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
        cells = [nbformat.v4.new_code_cell(text) for text in (SETUP, CELL, *AFTER)]
        nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), folder / "work" / "grad.ipynb")
        with (
            lab.server(folder / "work", folder / "state") as address,
            lab.page(address.format("grad.ipynb"), width=860, height=900, scale=2) as page,
        ):
            page.locator(".jp-Notebook").wait_for()
            page.evaluate("() => window.jupyterapp.commands.execute('application:toggle-left-area')")
            lab.run_all(page)
            cell = page.locator(".jp-Cell").nth(1)
            cell.locator("mjx-container").first.wait_for()
            # the typeset formula takes its final height once its fonts are there
            page.evaluate("() => document.fonts.ready.then(() => true)")
            page.wait_for_timeout(1000)
            (ROOT / "docs").mkdir(exist_ok=True)
            cell.screenshot(path=str(ROOT / "docs" / "grad_cell.png"))


if __name__ == "__main__":
    main()
