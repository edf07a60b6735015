"""The flag panel in a real JupyterLab: flags, sliders and sens change what it shows; marks, code, and what is kept."""

from __future__ import annotations

import re

import lab

SETUP = """
import numpy as np
import symgrad as sg
from symgrad import nn, ops


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.matmul = ops.MatMul()
        self.z = sg.Parameter(sg.Tensor(np.array([1.0], np.float32)), name="z")

    def construct(self, x, y):
        return self.matmul(x * self.z, y)


net = Net()
x = sg.Tensor([[0.5, 0.6, 0.4], [1.2, 1.3, 1.1]], dtype=sg.float32)
y = sg.Tensor([[0.01, 0.3, 1.1], [0.1, 0.2, 1.3], [2.1, 1.2, 3.3]], dtype=sg.float32)


def f(a, b):
    h = np.sin(a)
    return a * h * b


a, b = 0.5, 2.0
"""
HOSTILE = """
class Evil(nn.Cell):
    def __init__(self):
        super().__init__()
        self.z = sg.Parameter(np.ones(2), name=r"<img src=x onerror=alert(1)>$\\href{javascript:alert(2)}{x}$")

    def construct(self, x, option):
        h = x * self.z * np.exp(len("</script><script>alert(3)</script>"))
        return h


evil = Evil()
sg.grad(evil, 0, evil.trainable_params()).panel(np.ones(2), "<img src=y onerror=alert(4)>$x$")
"""
ERROR = ".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.stderr']"
# the colours that are drawn: of the text of an element, and of the first background below it
COLOURS = """element => {
    const background = e => {
        for (; e; e = e.parentElement) {
            const colour = getComputedStyle(e).backgroundColor;
            if (colour !== 'rgba(0, 0, 0, 0)') return colour;
        }
        return 'rgb(255, 255, 255)';
    };
    return [getComputedStyle(element).color, background(element)];
}"""


def test_flags_inputs_and_sens_change_what_is_shown(notebook):
    page = notebook([SETUP, "sg.grad(net).panel(x, y)"])
    shown = page.locator(".sg-panel")
    result, code = shown.locator(".sg-tree"), shown.locator(".sg-code pre").first
    shown.locator(".sg-formula mjx-container").wait_for()
    lab.expect(result).to_contain_text("∂f/∂x: (2, 3)")
    lab.expect(code).to_have_text("sg.grad(net)(x, y)")

    shown.get_by_label("get_all").check()
    shown.locator(".sg-appeared mjx-container").wait_for()
    lab.expect(shown.locator(".sg-chip")).to_have_text(["appeared"])
    lab.expect(result).to_contain_text("(∂f/∂x: (2, 3), ∂f/∂y: (3, 3))")
    lab.expect(code).to_have_text("sg.GradOperation(get_all=True)(net)(x, y)")

    shown.get_by_label("get_all").uncheck()
    shown.locator(".sg-vanished mjx-container").wait_for()
    lab.expect(result).not_to_contain_text("∂f/∂y")
    assert "∂f/∂x: (2, 3)" in result.inner_text()

    shown.get_by_label("sens_param").check()
    cell = shown.get_by_label("sens0")
    cell.fill("0.5")
    cell.press("Enter")
    page.wait_for_function("() => document.querySelector('.sg-code pre').textContent.includes('np.array([[0.5, 1.0')")
    page.wait_for_function("() => document.querySelector('.sg-values').textContent.includes('1.405')")

    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    shown.get_by_role("button", name="Copy: the code that gives this").click()
    page.wait_for_function("() => document.querySelector('.sg-said').textContent === 'copied'")
    assert page.evaluate("() => navigator.clipboard.readText()") == code.text_content()
    assert page.locator(ERROR).count() == 0
    assert page.locator("mjx-merror").count() == 0


def test_a_stopped_intermediate_crosses_out_its_terms_and_the_result_is_kept(notebook):
    page = notebook([SETUP, "sg.grad(f).panel(a, b)"])
    shown = page.locator(".sg-panel")
    shown.locator(".sg-formula mjx-container").wait_for()
    shown.get_by_label("h = np.sin(a)").check()
    shown.locator(".sg-note", has_text="vanished: 1 term").wait_for()
    shown.locator(".sg-changed mjx-menclose").wait_for()
    lab.expect(shown.locator(".sg-code pre").first).to_contain_text("sg.grad(sg.stopping(f, ['h']))(a, b)")
    lab.expect(shown.locator(".sg-values pre")).to_have_text("0.95885")
    slider = shown.get_by_role("slider").first
    slider.focus()
    for _ in range(5):
        slider.press("ArrowRight")
    page.wait_for_function("() => document.querySelector('.sg-values pre').textContent !== '0.95885'")
    page.wait_for_function("() => document.querySelector('.sg-code pre').textContent.includes('(0.55, b)')")
    lab.expect(shown.locator(".sg-changed mjx-menclose")).to_have_count(1)  # the marks stay

    shown.get_by_role("button", name="Keep as output").click()
    kept = page.locator(".jp-OutputArea-output[data-mime-type='text/latex'] mjx-container")
    kept.wait_for()
    said = page.locator(".jp-RenderedHTML", has_text="returns")
    lab.expect(said).to_contain_text("sg.grad(sg.stopping(f, ['h']))(0.55, b)")

    shown.get_by_role("button", name="Export").click()
    shown.locator(".sg-code", has_text="as latex").wait_for()

    shown.get_by_label("a", exact=True).uncheck()
    alert = shown.get_by_role("alert")
    lab.expect(alert).to_contain_text("ArgumentError: `grad_position` and `weight` can not be None")
    assert page.locator(ERROR).count() == 0


def test_marks_are_legible_in_the_dark_and_strings_are_text(notebook):
    page = notebook([SETUP, "sg.grad(f).panel(a, b)", HOSTILE], theme="JupyterLab Dark", run=False)
    dialogs = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.run_all()
    shown = page.locator(".sg-panel").first
    shown.locator(".sg-formula mjx-container").wait_for()
    shown.get_by_label("h = np.sin(a)").check()
    mark = shown.locator(".sg-changed mjx-menclose")
    mark.wait_for()
    for part in (mark, shown.locator(".sg-formula mjx-container").first, shown.locator(".sg-tree code")):
        assert _contrast(*part.evaluate(COLOURS)) >= 4.5
    assert _contrast(*shown.locator(".sg-gloss").last.evaluate(COLOURS)) >= 3

    evil = page.locator(".sg-panel").last
    evil.scroll_into_view_if_needed()
    evil.locator(".sg-formula mjx-container").first.wait_for()
    assert evil.locator("img, script, a[href]").count() == 0
    assert evil.locator(".sg-flags mjx-container").count() == 0
    name = r"<img src=x onerror=alert(1)>$\href{javascript:alert(2)}{x}$"
    evil.locator(".sg-flags", has_text=name).wait_for()
    assert dialogs == []
    assert page.locator(ERROR).count() == 0


def _contrast(text: str, ground: str) -> float:
    """The contrast of two colours as WCAG counts it."""
    lighter, darker = sorted((_luminance(text), _luminance(ground)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(p) / 255 for p in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
