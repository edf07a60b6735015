"""The picture of a program: its widget without Jupyter, and both in JupyterLab and in the HTML of nbconvert."""

from __future__ import annotations

import base64
import pathlib
import re
import subprocess
import sys

import lab
import numpy as np
import pytest
from symgrad_notebook.picture import picture
from symgrad_notebook.picture.details import details

import symgrad

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODULE = ROOT / "extension" / "symgrad_notebook" / "picture" / "picture.js"
EVIL = "<img src=x onerror=alert(1)>"


def loss(w, X):
    z = X @ w
    return np.sum(np.log(1 + np.exp(z)))


ARGS = (np.array([0.3, -0.2]), np.array([[1.0, 2.0], [0.5, -1.0]]))


def kernel_side(shown):
    """What the kernel answers, without one."""

    def answer(message, buffers):
        if message["kind"] == "box":
            rows = details(shown.shown, message["key"])
            return [({"kind": "details", "key": message["key"], "rows": rows}, [])]
        if message["kind"] == "fold":
            return [({"kind": "picture", "svg": shown.by(message["by"]).svg, "by": message["by"], "folds": FOLDS}, [])]
        return [({"kind": "picture", "svg": shown.svg, "by": "operation", "folds": FOLDS}, [])]

    return answer


FOLDS = ["operation", "line", "loop", "stretch"]


def key_of(shown, row):
    """The key of the box whose first row this is."""
    return next(b.key for b in shown.diagram.boxes if b.rows[0] == row)


class TestWidget:
    @pytest.fixture
    def opened(self, widget):
        shown = picture(symgrad.grad(loss), ARGS, {})

        def open_(**options):
            made = widget(MODULE, answer=kernel_side(shown), **options)
            made.page.locator(".sg-picture svg").wait_for()
            return made

        open_.shown = shown
        return open_

    def test_a_click_shows_formula_and_value(self, opened):
        w = opened()
        box = key_of(opened.shown, "v0 = X @ w")
        w.page.locator(f"[data-key={box}]").click()
        rows = w.page.locator(".sg-picture-rows")
        rows.wait_for()
        text = rows.inner_text()
        assert "v0 = X @ w" in text
        assert "(2,), float64" in text
        assert "z = X @ w" in text
        assert w.page.locator(f"[data-key={box}].sg-chosen").count() == 1
        assert w.kinds("box")[-1].content == {"kind": "box", "key": box}
        assert w.failures == []

    def test_keys_walk_along_arrows(self, opened):
        w = opened()
        w.page.locator(".sg-box[tabindex='0']").focus()
        assert w.page.locator(".sg-box[tabindex='0']").count() == 1
        focused = "() => document.activeElement.dataset.key"
        w.page.locator(f"[data-key={key_of(opened.shown, 'X')}]").focus()
        w.page.keyboard.press("ArrowDown")
        assert w.page.evaluate(focused) == key_of(opened.shown, "v0 = X @ w")
        w.page.keyboard.press("ArrowUp")
        assert w.page.evaluate(focused) in {key_of(opened.shown, "X"), key_of(opened.shown, "w")}
        w.page.keyboard.press("ArrowDown")
        w.page.keyboard.press("Enter")
        w.page.locator(".sg-picture-rows").wait_for()
        assert "v0 = X @ w" in w.page.locator(".sg-picture-rows").inner_text()
        before = w.page.evaluate(focused)
        w.page.keyboard.press("ArrowRight")
        assert w.page.evaluate(focused) != before
        assert w.failures == []

    def test_clicks_do_not_queue(self, widget):
        shown = picture(symgrad.grad(loss), ARGS, {})
        w = widget(MODULE)
        w.send({"kind": "picture", "svg": shown.svg, "by": "operation", "folds": FOLDS})
        keys = [b.key for b in shown.diagram.boxes]
        for k in range(200):
            w.page.evaluate(
                "key => document.querySelector(`[data-key=${key}]`).dispatchEvent("
                "new MouseEvent('click', { bubbles: true }))",
                keys[k % len(keys)],
            )
        asked = w.kinds("box")
        assert len(asked) == 1
        w.send({"kind": "details", "key": asked[0].content["key"], "rows": []})
        w.wait_until(lambda: len(w.kinds("box")) == 2)
        assert w.kinds("box")[-1].content["key"] == keys[199 % len(keys)]

    def test_folding_anew(self, opened):
        w = opened()
        w.page.locator(".sg-picture-folds").select_option("line")
        w.page.locator(".sg-box[data-kind=group]").first.wait_for()
        assert w.kinds("fold")[-1].content == {"kind": "fold", "by": "line"}
        assert w.failures == []

    def test_what_no_picture_holds_is_refused(self, opened):
        w = opened()
        for bad in (
            "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
            "<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
            "<svg xmlns='http://www.w3.org/2000/svg'><foreignObject/></svg>",
            "<svg xmlns='http://www.w3.org/2000/svg'><a href='javascript:alert(1)'><text>x</text></a></svg>",
            "<svg xmlns='http://www.w3.org/2000/svg'><rect fill='url(https://x.invalid/#a)'/></svg>",
            "<svg xmlns='http://www.w3.org/2000/svg'><style>@import 'https://x.invalid/a.css'</style></svg>",
            "<svg xmlns='http://www.w3.org/2000/svg'><g",
            "<html><body/></html>",
        ):
            w.send({"kind": "picture", "svg": bad, "by": "operation", "folds": FOLDS})
            w.page.locator(".sg-picture-error").wait_for()
            assert w.page.locator(".sg-picture-field script, .sg-picture-field a, foreignObject").count() == 0
            w.page.locator(f"[data-key={opened.shown.diagram.boxes[0].key}]").click()
            w.page.locator(".sg-picture-rows").wait_for()
        assert w.failures == []

    def test_hostile_names_are_text(self, widget):
        def f(x):
            return np.sum(x * parameter)

        parameter = symgrad.Parameter(np.ones(2), name=EVIL)
        f.__name__ = '"];evil</title><script>alert(2)</script>'
        shown = picture(symgrad.grad(f, weights=[parameter]), (np.ones(2),), {})
        w = widget(MODULE, answer=kernel_side(shown))
        w.page.locator(".sg-picture svg").wait_for()
        for box in shown.diagram.boxes:
            w.page.locator(f"[data-key={box.key}]").click()
            w.page.locator(".sg-picture-rows").wait_for()
        assert w.page.locator("img, script[src], .sg-picture script").count() == 0
        assert "evil" in w.page.locator(".sg-picture svg").text_content()
        assert w.failures == []

    def test_theme_size_and_end(self, opened):
        assert MODULE.stat().st_size < 30_000
        assert opened(theme="dark").page.locator("svg[data-theme=dark]").count() == 1
        w = opened(theme="light")
        assert w.page.locator("svg[data-theme=light]").count() == 1
        before = w.page.locator(".sg-picture svg").bounding_box()["width"]
        w.page.get_by_label("larger").click()
        assert w.page.locator(".sg-picture svg").bounding_box()["width"] == pytest.approx(1.25 * before, rel=0.02)
        assert w.unmount() == 0


CELLS = [
    "import numpy as np, symgrad",
    "def f(x):\n    y = np.log(x)\n    return np.sum(y * x)",
    "shown = symgrad.value_and_grad(f).picture(np.array([1.0, 0.0]))\nshown",
    "shown.explore()",
]


def test_in_jupyterlab(notebook, tmp_path):
    page = notebook(CELLS)
    page.locator(".jp-RenderedSVG img").wait_for()
    source = page.locator(".jp-RenderedSVG img").get_attribute("src")
    assert source.startswith("data:image/svg+xml")
    page.locator(".sg-picture svg").wait_for()
    page.locator(".sg-picture .sg-box", has_text="log(x)").first.click()
    rows = page.locator(".sg-picture-rows")
    rows.wait_for()
    for text in ("v0 = log(x)", "[0, −inf]", "log of 0 at [1]", "line 2: y = np.log(x)"):
        lab.expect(rows).to_contain_text(text)
    page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
    saved = page.path.read_text()
    assert saved.count("sg-dag") == 1  # in the SVG of the picture, never in the state of the widget
    made = tmp_path / "made.html"
    subprocess.run(
        [sys.executable, "-m", "jupyter", "nbconvert", "--to", "html", "--output", str(made), str(page.path)],
        check=True, capture_output=True,
    )  # fmt: skip
    images = re.findall(r'<img[^>]* src="data:image/svg\+xml;base64,([^"]+)"', made.read_text())
    assert sum("log of 0 at [1]" in base64.b64decode(image).decode() for image in images) == 2
    page.reload()
    page.locator(".jp-RenderedSVG img").wait_for()
    page.locator("details summary").click()  # beside the widget, the picture as it stays
    assert page.locator("details img").bounding_box()["width"] > 300
