"""The Jacobian explorer: its ES module with the real answers but no Jupyter, then a few times in a real JupyterLab."""

from __future__ import annotations

import importlib
import pathlib
import re

import lab
import numpy as np
import pytest
from symgrad_notebook.explorer import explore
from symgrad_notebook.explorer.scale import DARK, LIGHT, rgb

import symgrad as sg

MODULE = pathlib.Path(importlib.import_module("symgrad_notebook.explorer").__file__ or "").with_name("explorer.js")
CANVAS = ".sg-canvas"
HOSTILE = "<img src=x onerror=alert(1)></script><script>alert(2)</script>\"'$\\href{javascript:alert(3)}$\u202e"


def _arm(q, lengths):
    angle = q[0] + q[1]
    x = lengths[0] * np.cos(q[0]) + lengths[1] * np.cos(angle)
    y = lengths[0] * np.sin(q[0]) + lengths[1] * np.sin(angle)
    return np.stack([x, y, angle])


ARM = (np.array([0.3, -0.5]), np.array([1.0, 0.8]))


def _banded(x):
    return np.sin(x[:-1]) * x[1:]


def _answers(shown, *kinds):
    """Each time the newest message of a kind is answered, in an explorer that was opened silent."""
    for kind in kinds:
        shown.settle()
        for answer in shown.explorer.answers(shown.kinds(kind)[-1].content):
            shown.send(*answer)
    shown.settle()


def _place(row, column):
    """The middle of a cell of a small block, in pixels of the canvas."""
    return {"x": 40 + 68 * (column + 0.5), "y": 42 + 38 * (row + 0.5)}


def _colors(shown, row, column):
    """The colours in a cell of a small block, away from its edges and the number in it."""
    at = _place(row, column)
    pixels = shown.pixels(CANVAS, at["x"] - 31, at["y"] - 16, 12, 30)
    return {tuple(p[:3]) for line in pixels for p in line}


class TestModule:
    @pytest.fixture
    def open_explorer(self, widget):
        def open_(derivative, *args, silent=False, **options):
            explorer = explore(derivative, args, {})
            answers = lambda message, _: explorer.answers(message)  # noqa: E731
            shown = widget(MODULE, answer=None if silent else answers, **options)
            shown.explorer = explorer
            if not silent:
                shown.page.wait_for_function("() => document.querySelector('.sg-heading').textContent")
                shown.settle()
            return shown

        return open_

    @pytest.mark.parametrize(("theme", "colors"), [("light", LIGHT), ("dark", DARK), (None, LIGHT)])
    def test_values_zeros_and_structure_are_told_apart(self, open_explorer, theme, colors):
        x = np.array([2.0, 0.0, np.inf, np.nan])
        shown = open_explorer(
            sg.jacobian(lambda x: np.stack([x[0] ** 2, x[1] ** 2, -(x[2] ** 2), x[3] ** 2])), x, theme=theme
        )
        paper, hatch, ink, alarm = (rgb(colors[k]) for k in ("paper", "hatch", "ink", "alarm"))
        stops = [rgb(c) for c in colors["stops"]]
        assert stops[-1] in _colors(shown, 0, 0)  # 4, the largest
        assert _colors(shown, 1, 1) == {stops[4]}  # 0 by its value: plain
        assert {paper, hatch} <= _colors(shown, 0, 1)  # 0 by structure: hatched
        assert {ink, stops[0]} <= _colors(shown, 2, 2)  # −∞: bars
        assert {ink, alarm} <= _colors(shown, 3, 3)  # NaN: checks
        assert shown.page.locator(".sg-key").all_inner_texts() == ["zero by structure: 12", "NaN: 1", "−∞: 1"]
        assert shown.failures == []

    def test_a_theme_that_changes_recolours(self, open_explorer):
        shown = open_explorer(sg.jacobian(lambda x: x**2), np.array([1.0, 2.0]))
        assert rgb(LIGHT["paper"]) in _colors(shown, 0, 1)
        assert rgb(DARK["paper"]) not in _colors(shown, 0, 1)
        shown.page.evaluate(
            "() => { document.documentElement.style.setProperty('--jp-ui-font-color1', 'white');"
            "document.body.dataset.jpThemeLight = 'false'; }"
        )
        shown.wait_until(lambda: rgb(DARK["paper"]) in _colors(shown, 0, 1))

    def test_hover_names_the_entry(self, open_explorer):
        shown = open_explorer(sg.jacobian(_arm), *ARM)
        readout = shown.page.locator(".sg-readout")
        shown.page.locator(CANVAS).hover(position=_place(1, 1))
        value = 0.8 * np.cos(-0.2)
        shown.page.wait_for_function("() => document.querySelector('.sg-readout').textContent")
        assert readout.inner_text() == f"out[1] by q[1] = {value:.9g}"
        shown.page.locator(CANVAS).hover(position={"x": 5, "y": 5})
        assert readout.inner_text() == ""
        assert shown.page.locator(".sg-live").inner_text() == ""

    def test_a_click_shows_the_formula_and_the_lines(self, open_explorer):
        shown = open_explorer(sg.jacobian(_arm), *ARM)
        shown.page.locator(CANVAS).click(position=_place(0, 1))
        shown.page.locator(".sg-path").wait_for()
        (pick,) = shown.kinds("pick")
        assert (pick.content["rows"], pick.content["columns"]) == ([0, 1], [1, 2])
        entry = shown.page.locator(".sg-entry")
        assert entry.locator("h4").inner_text() == "out[0] by q[1]"
        assert entry.locator(".sg-formula").inner_text() == "-lengths1*sin(q0 + q1)"
        lit = entry.locator("li.sg-on code").all_inner_texts()
        assert [text.split("=")[0].strip() for text in lit] == ["angle", "x", "return np.stack([x, y, angle])"]
        assert entry.locator("li.sg-on .sg-flow").all_inner_texts() == [f"{0.8 * np.sin(0.2):.4g}"] * 3
        path = entry.locator(".sg-path")
        assert path.inner_text().startswith("q → line ")
        path.click()
        assert path.get_attribute("aria-pressed") == "true"
        assert entry.locator("li.sg-off").count() == 2
        assert "-lengths1*sin(q0 + q1)" in shown.page.locator(".sg-live").inner_text()

    def test_a_formula_is_typeset_where_the_front_end_can(self, open_explorer):
        shown = open_explorer(sg.jacobian(_arm), *ARM)
        shown.page.evaluate(
            "() => { window.model.widget_manager = { rendermime: { latexTypesetter: { typeset(node) {"
            "window.typeset = node.textContent; } } } } }"
        )
        shown.page.locator(CANVAS).click(position=_place(0, 1))
        shown.page.locator("details").wait_for()
        latex = r"$\displaystyle - \mathit{lengths}_{1} \sin{\left(q_{0} + q_{1} \right)}$"
        assert shown.page.evaluate("() => window.typeset") == latex

    def test_keys(self, open_explorer):
        shown = open_explorer(sg.jacobian(_arm), *ARM)
        page, live = shown.page, shown.page.locator(".sg-live")
        page.keyboard.press("Tab")
        for _ in range(10):
            if page.evaluate("() => document.activeElement.tagName") == "CANVAS":
                break
            page.keyboard.press("Tab")
        assert page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle") == "solid"
        for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowDown", "ArrowUp"):
            page.keyboard.press(key)
        page.wait_for_function("() => document.querySelector('.sg-live').textContent.startsWith('out[1] by q[1] = ')")
        page.keyboard.press("Home")
        page.keyboard.press("Control+End")
        page.wait_for_function("() => document.querySelector('.sg-live').textContent == 'out[2] by q[1] = 1'")
        page.keyboard.press("Enter")
        page.wait_for_function("() => document.querySelector('.sg-title')")
        assert live.inner_text() == "out[2] by q[1] = 1. 1"

    def test_what_an_entry_says_is_not_said_over(self, open_explorer):
        shown = open_explorer(sg.jacobian(_arm), *ARM, silent=True)
        _answers(shown, "open", "window", "values")
        shown.page.locator(CANVAS).focus()
        for key in ("ArrowDown", "ArrowDown", "Enter"):
            shown.page.keyboard.press(key)
        _answers(shown, "pick", "look", "look")
        assert shown.page.locator(".sg-readout").inner_text() == "out[2] by q[0] = 1"
        assert shown.page.locator(".sg-live").inner_text() == "out[2] by q[0] = 1. 1"

    def test_plain_keys_are_no_shortcuts_of_the_notebook(self, open_explorer):
        shown = open_explorer(sg.jacobian(_arm), *ARM)
        shown.page.evaluate(
            "() => { window.heard = []; document.addEventListener('keydown', e => window.heard.push(e.key), true); }"
        )
        shown.page.locator(CANVAS).focus()
        for key in ("ArrowDown", "0", "x", "Enter", "Control+s"):
            shown.page.keyboard.press(key)
        assert shown.page.evaluate("() => window.heard") == ["Control", "s"]

    def test_zooming_asks_for_what_is_seen(self, open_explorer):
        shown = open_explorer(sg.jacobian(_banded), np.linspace(1, 2, 5001))
        page = shown.page
        (first,) = [m.content for m in shown.kinds("window")]
        assert (first["rows"], first["columns"]) == ([0, 5000], [0, 5001])
        page.locator(CANVAS).focus()
        for key in ("Control+End", *"+++++++++++"):
            page.keyboard.press(key)
        shown.settle()
        last = shown.kinds("window")[-1].content
        assert last["rows"][1] == 5000
        assert last["rows"][0] > 3900
        assert len(shown.kinds("window")) <= 12
        low, high = shown.kinds("values")[-1].content["rows"]  # cells are large enough to write numbers in
        assert high == 5000
        assert high - low < 60
        count = len(shown.kinds("window"))
        page.keyboard.press("-")  # what was asked for reaches further than what is seen
        shown.settle()
        assert len(shown.kinds("window")) == count
        page.keyboard.press("0")
        shown.settle()
        assert shown.kinds("window")[-1].content["rows"] == [0, 5000]

    def test_two_hundred_steps_ask_twice(self, open_explorer):
        shown = open_explorer(sg.jacobian(_banded), np.linspace(1, 2, 5001), silent=True)
        page = shown.page
        _answers(shown, "open", "window")
        page.locator(CANVAS).focus()
        for _ in range(100):
            page.keyboard.press("+")
            page.keyboard.press("ArrowDown")
        for kind in ("window", "look"):
            count = len(shown.kinds(kind))
            assert count == (2 if kind == "window" else 1)
            _answers(shown, kind)
            assert len(shown.kinds(kind)) == count + 1
            _answers(shown, kind)
        shown.settle()
        newest = shown.kinds("window")[-1].content
        assert newest["rows"][1] - newest["rows"][0] <= 1100
        assert len(shown.kinds("window")) == 3
        assert shown.failures == []

    def test_a_box_and_a_drag(self, open_explorer):
        shown = open_explorer(sg.jacobian(_banded), np.linspace(1, 2, 5001))
        mouse, box = shown.page.mouse, shown.page.locator(CANVAS).bounding_box()
        shown.page.keyboard.down("Shift")
        mouse.move(box["x"] + 200, box["y"] + 200)
        mouse.down()
        mouse.move(box["x"] + 230, box["y"] + 225)
        mouse.move(box["x"] + 250, box["y"] + 250)
        mouse.up()
        shown.page.keyboard.up("Shift")
        shown.settle()
        (low, high) = shown.kinds("window")[-1].content["rows"]
        assert 700 < high - low < 2100
        mouse.move(box["x"] + 200, box["y"] + 200)
        mouse.down()
        for k in range(1, 20):
            mouse.move(box["x"] + 200, box["y"] + 200 - 20 * k)
        mouse.up()
        shown.settle()
        assert shown.kinds("window")[-1].content["rows"][0] > low
        assert shown.kinds("pick") == []

    def test_log_scale_and_pattern(self, open_explorer):
        shown = open_explorer(sg.jacobian(lambda x: x**2), np.array([0.5e-6, 0.5]))
        ticks = shown.page.locator(".sg-ticks")
        faint = _colors(shown, 0, 0)
        assert ticks.inner_text().split() == ["−1", "−0.5", "0", "0.5", "1"]
        shown.page.get_by_role("button", name="Log").click()
        shown.settle()
        assert ticks.inner_text().split() == ["−1", "−0.001", "±1e−06", "0.001", "1"]
        assert _colors(shown, 0, 0) == faint
        shown.page.get_by_role("button", name="Pattern").click()
        shown.settle()
        assert _colors(shown, 0, 0) == _colors(shown, 1, 1)
        assert _colors(shown, 0, 0) != faint

    def test_blocks(self, open_explorer):
        shown = open_explorer(
            sg.jacobian(lambda p, q: {"a": p * q, "b": np.sin(q[:1])}, (0, 1)), np.ones(2), np.ones(2)
        )
        buttons = shown.page.locator(".sg-block")
        assert buttons.count() == 4
        assert shown.page.locator("th").all_inner_texts() == ["by p", "by q", "out['a']", "out['b']"]
        buttons.nth(3).focus()
        shown.page.keyboard.press("Enter")
        shown.settle()
        assert [b.get_attribute("aria-pressed") for b in buttons.all()] == ["false", "false", "false", "true"]
        shown.page.locator(CANVAS).click(position=_place(0, 0))
        shown.page.locator(".sg-title").wait_for()
        assert shown.page.locator(".sg-title").inner_text() == "out['b'][0] by q[0]"
        assert shown.page.locator(".sg-formula").inner_text() == "cos(q0)"

    def test_odd_values_are_found_by_their_key(self, open_explorer):
        x = np.ones(3000)
        x[2345] = 0
        shown = open_explorer(sg.jacobian(lambda x: np.log(x[:2900])), x)
        shown.page.get_by_text("∞: 1").click()
        shown.page.locator(".sg-title").wait_for()
        assert shown.page.locator(".sg-title").inner_text() == "out[2345] by x[2345]"
        assert shown.page.locator(".sg-value").inner_text() == "∞"

    def test_hostile_names_are_text(self, open_explorer):
        shown = open_explorer(sg.jacobian(lambda p: {HOSTILE: p[HOSTILE] * 2, "b": p[HOSTILE]}), {HOSTILE: np.ones(2)})
        shown.page.locator(CANVAS).click(position=_place(0, 0))
        shown.page.locator(".sg-path").wait_for()
        assert shown.page.locator(".sg-explorer").locator("img, script, a").count() == 0
        assert "<img src=x onerror=alert(1)></script>" in shown.page.locator(".sg-title").inner_text()
        assert "\u202e" not in shown.page.locator(".sg-explorer").inner_text()
        assert shown.failures == []

    @pytest.mark.parametrize(
        ("function", "args", "text"),
        [
            (np.sin, (1.0,), "out by x = 0.540302306"),
            (lambda x: x[:0] * 1.0, (np.ones(3),), ""),
            (lambda x: x * 0.0, (np.ones(1),), "out[0] by x[0] = 0"),
        ],
    )
    def test_one_entry_and_none(self, open_explorer, function, args, text):
        shown = open_explorer(sg.jacobian(function), *args)
        shown.page.locator(CANVAS).click(position={"x": 50, "y": 30 if not text else 60}, force=True)
        shown.settle()
        assert shown.page.locator(".sg-readout").inner_text().startswith(text)
        assert shown.failures == []

    def test_an_error_is_shown_and_the_next_click_works(self, open_explorer):
        shown = open_explorer(sg.jacobian(_arm), *ARM)
        shown.explorer._look = shown.explorer._pick = None
        shown.page.locator(CANVAS).click(position=_place(0, 1))
        shown.page.wait_for_function("() => document.querySelector('.sg-live').textContent.includes('TypeError')")
        del shown.explorer._look, shown.explorer._pick
        shown.page.locator(CANVAS).click(position=_place(0, 0))
        shown.page.locator(".sg-title").wait_for()
        assert shown.failures == []

    def test_nothing_is_left_behind_nor_saved(self, open_explorer):
        shown = open_explorer(sg.jacobian(_arm), *ARM)
        assert shown.unmount() == 0
        assert shown.saved() == []
        assert shown.failures == []


SETUP = """\
%load_ext symgrad
import numpy as np, symgrad as sg

def arm(q, lengths):
    angle = q[0] + q[1]
    x = lengths[0] * np.cos(q[0]) + lengths[1] * np.cos(angle)
    y = lengths[0] * np.sin(q[0]) + lengths[1] * np.sin(angle)
    return np.stack([x, y, angle])"""
OPEN = "sg.jacobian(arm).explore(np.array([0.3, -0.5]), np.array([1.0, 0.8]))"
LARGE = """\
weights = np.random.default_rng(0).normal(size=(1000, 1000)) / 30
def layer(x):
    z = weights @ x
    return np.tanh(z)
sg.jacobian(layer).explore(np.linspace(-1, 1, 1000))"""
DRAWN = """() => {
    const canvas = document.querySelector('.sg-canvas');
    if (!canvas?.style.width) return false;
    return canvas.getContext('2d').getImageData(60, 60, 1, 1).data[3] > 0;
}"""
#: runs the second cell again, and notes when its heatmap is on the page
OPENING = f"""async () => {{
    const {{ commands, shell }} = window.jupyterapp;
    shell.currentWidget.content.activeCellIndex = 1;
    const drawn = {DRAWN};
    window.opened = undefined;
    document.querySelector('.sg-explorer').closest('.jp-OutputArea-child').remove();
    window.begun = performance.now();
    commands.execute('notebook:run-cell');
    const look = () => drawn() ? (window.opened = performance.now()) : requestAnimationFrame(look);
    requestAnimationFrame(look);
}}"""
#: the time from the pointer's release to the entry on the page
TIMED = """() => new Promise(done => {
    const entry = document.querySelector('.sg-entry');
    let begun;
    addEventListener('pointerup', () => { begun = performance.now(); }, { once: true, capture: true });
    const seen = new MutationObserver(() => { seen.disconnect(); done(performance.now() - begun); });
    seen.observe(entry, { childList: true });
})"""


@pytest.mark.parametrize("theme", [None, "JupyterLab Dark"])
def test_in_a_notebook(notebook, theme):
    page = notebook([SETUP, OPEN], theme=theme)
    canvas = page.locator(CANVAS)
    page.wait_for_function(DRAWN)
    canvas.click(position=_place(0, 1))
    page.locator(".sg-formula mjx-container").wait_for()
    assert page.locator(".sg-text code").text_content() == "-lengths1*sin(q0 + q1)"
    assert page.locator(".sg-file").first.inner_text() == "Cell In[1]"
    lab.expect(page.locator("li.sg-on .sg-number")).to_have_text([re.compile(rf"(^|\s){n}$") for n in (5, 6, 8)])
    assert not page.locator(".sg-static").is_visible()  # the widget stands in for it
    canvas.focus()
    for key in ("ArrowDown", "0", "0", "x", "Enter"):
        page.keyboard.press(key)
    page.wait_for_function("() => document.querySelector('.sg-title').textContent == 'out[1] by q[1]'")
    assert page.locator(".jp-CodeCell").count() == 2
    page.keyboard.press("Control+s")
    page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
    page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    page.reload()
    picture = page.locator(".sg-static img")
    picture.wait_for()
    assert picture.is_visible()
    assert picture.evaluate("node => node.complete && node.naturalWidth") > 100
    assert picture.get_attribute("alt").startswith("Jacobian of arm\n  out by q: 3 × 2")
    assert page.locator(CANVAS).count() == 0


def test_a_thousand_by_a_thousand(notebook, record_property):
    page = notebook([SETUP, LARGE])
    page.wait_for_function(DRAWN)
    opening = []
    for _ in range(2):
        page.evaluate(OPENING)
        page.wait_for_function("() => window.opened")
        opening.append(round(page.evaluate("() => window.opened - window.begun")))
    times = []
    for k in range(4):
        page.evaluate(f"() => {{ window.timed = ({TIMED})() }}")
        page.locator(CANVAS).click(position={"x": 150 + 60 * k, "y": 300})
        times.append(round(page.evaluate("() => window.timed")))
    record_property("opening_ms", opening)
    record_property("click_ms", times)
    print(f"1000 × 1000: opens and is drawn in {opening} ms, answers a click in {times} ms")
    assert page.locator(".sg-title").inner_text().startswith("out[")
    lab.expect(page.locator("li.sg-on")).to_have_count(2)  # the lines come in a message after the entry's
