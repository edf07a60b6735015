"""Notebooks in a real JupyterLab: %%grad typesets its formulas, shows the shapes, and keeps strings text."""

from __future__ import annotations

import html
import pathlib

import lab
import nbformat
import pytest
from nbconvert import HTMLExporter

FIRST = pathlib.Path(__file__).resolve().parents[2] / "notebooks" / "01_first_gradient.ipynb"
ERROR = ".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.stderr']"
HOSTILE = [
    "%load_ext symgrad\nimport numpy as np\nfrom symgrad import Parameter, nn",
    """%%grad --wrt x --at "x=[1, 2], option='<img src=y onerror=alert(2)>'"
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.z = Parameter(np.ones(2), name="<img src=x onerror=alert(1)>")
    def construct(self, x, option):
        return x * self.z
Net.__name__ = "</script><script>alert(3)</script>$x$"
""",
    "%%grad --at x=1\ndef f(x):\n    return x.tobytes()  # <img src=z onerror=alert(4)>",
]


def test_the_first_notebook(notebook):
    page = notebook(FIRST)
    page.locator(".jp-OutputArea mjx-container").nth(1).wait_for()
    assert page.locator("mjx-merror").count() == 0
    shapes = page.locator(".jp-OutputArea table", has_text="grad_f").first
    assert "(∂f/∂x: (), ∂f/∂y: ())" in shapes.text_content()
    assert page.locator(ERROR).count() == 0


def test_hostile_strings_are_text(notebook):
    page = notebook(HOSTILE, run=False)
    dialogs = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.run_all()
    page.locator(".jp-OutputArea mjx-container").first.wait_for()
    page.locator(ERROR).wait_for()
    outputs = page.locator(".jp-OutputArea-output")
    assert outputs.locator("img, script, a[href^=javascript]").count() == 0
    shown = page.locator(".jp-OutputArea table").inner_text()
    assert "</script><script>alert(3)</script>$x$(x: (2,), option='<img src=y" in shown
    assert "Cell In[3], line 3:" in page.locator(ERROR).inner_text()
    assert dialogs == []


SETUP = "%load_ext symgrad\nimport numpy as np\nx = np.array([1.0, 2.0])"
FLAGS = '%%grad --wrt x -a --export latex\ndef f(x):\n    s = np.sin(x)\n    return np.sum(s * x)  # "<b>"'


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_formulas_annotations_and_exports_stay_after_a_reload(notebook, theme):
    page = notebook([SETUP, FLAGS], theme=theme)
    for visit in range(2):
        outputs = page.locator(".jp-OutputArea-output")
        outputs.locator("mjx-container").first.wait_for()
        assert page.locator("mjx-merror").count() == 0
        assert "grad_f(x)" in outputs.locator("table").first.inner_text()
        line = page.locator("summary", has_text="s = np.sin(x)")
        kernel = page.locator("details", has=line).locator("pre")
        assert not kernel.is_visible()
        line.click()
        lab.expect(kernel).to_contain_text("np.cos(v0)")
        assert (
            r"\begin{aligned}" in page.locator(".jp-OutputArea-output pre", has_text="% the gradient of f").inner_text()
        )
        if visit == 0:
            page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
            page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
            page.reload()


def test_an_interrupt_leaves_the_kernel_as_it_was(notebook):
    endless = "%%grad --wrt x\ndef g(x):\n    while True:\n        x = np.sin(x) + 1\n    return x"
    page = notebook([SETUP, endless, "%%grad --wrt x\nnp.sum(x**3)"], run=False)
    page.run_all(wait=False)
    working = page.locator(".jp-OutputArea-output", has_text="tracing, at line")
    working.wait_for()
    page.evaluate("() => window.jupyterapp.commands.execute('notebook:interrupt-kernel')")
    page.locator(ERROR).wait_for()
    assert page.locator(ERROR).inner_text().strip() == (
        "interrupted: no derivative was bound, and what was there before still is."
    )
    page.locator(".jp-Notebook .jp-Cell").nth(2).click()
    page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-cell')")
    page.locator(".jp-OutputArea-output table", has_text="grad_f(x)").wait_for()


def test_a_saved_notebook_shows_every_formula_without_a_kernel(notebook, tmp_path):
    page = notebook([SETUP, FLAGS])
    page.locator(".jp-OutputArea mjx-container").first.wait_for()
    page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
    saved = nbformat.read(page.path, as_version=4)
    outputs = [o for c in saved.cells for o in c.outputs]
    formulas = [o.data["text/latex"] for o in outputs if "text/latex" in o.get("data", {})]
    body, _ = HTMLExporter().from_notebook_node(saved)
    text = html.unescape(body)
    assert formulas
    assert all(formula in text for formula in formulas)
    assert not [o for o in outputs if "application/vnd.jupyter.widget-view+json" in o.get("data", {})]
