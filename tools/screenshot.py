"""Take the README's pictures: cells and widgets in a real JupyterLab, light and dark.

    .venv/bin/python tools/screenshot.py

Needs an installed Chromium; writes docs/*.png.
"""

from __future__ import annotations

import pathlib
import sys
import tempfile
from collections.abc import Callable
from typing import NamedTuple

import nbformat

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "browser"))

import lab  # noqa: E402

SETUP = """%load_ext symgrad
import numpy as np
import symgrad as sg
X, y, w = np.ones((200, 3)), np.ones(200), np.zeros(3)"""
AFTER = ("", "")  # the last cell takes the selection, whose frame and buttons are no part of a picture


class Shot(NamedTuple):
    """A picture of the cell ``source``; ``ready`` is what it waits for, ``act`` what is done before it is taken."""

    name: str
    source: str
    ready: str
    act: Callable = lambda cell: None
    theme: str = "JupyterLab Light"
    width: int = 860


def _hold_constant(cell) -> None:
    cell.get_by_label("s = np.sin(x)").check()
    cell.locator("text=vanished").first.wait_for()


def _pick(cell) -> None:
    cell.locator("canvas").first.click(position={"x": 210, "y": 96})
    cell.locator("text=Paths").wait_for()


GRAD = """%%grad --wrt w
def loss(w, X, y):
    return np.sum(np.log(1 + np.exp(-y * (X @ w))))"""
PANEL = """def f(x, y):
    s = np.sin(x)
    return x * y * s + y**2

sg.grad(f, (0, 1)).panel(1.0, 2.0)"""
EXPLORER = """def hand(q):
    angle = np.cumsum(q)
    across = np.sum(np.cos(angle))
    up = np.sum(np.sin(angle))
    return np.stack([across, up])

sg.jacobian(hand).explore(np.linspace(0.1, 0.6, 6))"""
PICTURE = GRAD.replace("%%grad --wrt w\n", "") + "\n\nsg.grad(loss).picture(w, X, y)"
ANNOTATION = """%%grad -a --wrt w --quiet
def loss(w, X, y):
    z = X @ w
    losses = np.log(1 + np.exp(-y * z))
    return np.sum(losses)"""
SHOTS = [
    Shot("grad_cell", GRAD, "mjx-container"),
    Shot("panel", PANEL, ".sg-panel mjx-container", _hold_constant),
    Shot("explorer", EXPLORER, "canvas", _pick, width=1000),
    Shot("explorer_dark", EXPLORER, "canvas", _pick, "JupyterLab Dark", 1000),
    Shot("picture", PICTURE, ".jp-RenderedSVG", width=1000),
    Shot("annotation", ANNOTATION, "details", lambda cell: cell.locator("summary").nth(1).click()),
]


def main() -> None:
    """Take the pictures that are named on the command line, or all."""
    wanted = sys.argv[1:] or [shot.name for shot in SHOTS]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "work").mkdir()
        with lab.server(folder / "work", folder / "state") as address:
            for shot in SHOTS:
                if shot.name in wanted:
                    _take(shot, folder / "work", address)


def _take(shot: Shot, folder: pathlib.Path, address: str) -> None:
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    cells = [nbformat.v4.new_code_cell(text) for text in (SETUP, shot.source, *AFTER)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), folder / f"{shot.name}.ipynb")
    with lab.page(address.format(f"{shot.name}.ipynb"), width=shot.width, height=1100, scale=2) as page:
        page.locator(".jp-Notebook").wait_for()
        page.evaluate("() => window.jupyterapp.commands.execute('application:toggle-left-area')")
        lab.change_theme(page, shot.theme)
        lab.run_all(page)
        cell = page.locator(".jp-Cell").nth(1)
        cell.locator(shot.ready).first.wait_for()
        shot.act(cell)
        # the typeset formula takes its final height once its fonts are there
        page.evaluate("() => document.fonts.ready.then(() => true)")
        page.mouse.move(0, 0)
        page.wait_for_timeout(1500)
        (ROOT / "docs").mkdir(exist_ok=True)
        cell.screenshot(path=str(ROOT / "docs" / f"{shot.name}.png"))


if __name__ == "__main__":
    main()
