"""Notebooks in a real JupyterLab: %%grad typesets its formulas, shows the shapes, and keeps strings text."""

from __future__ import annotations

import pathlib

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
    "%%grad --at x=1\ndef f(x):\n    return float(x)  # <img src=z onerror=alert(4)>",
]


def test_the_first_notebook(notebook):
    page = notebook(FIRST)
    formulas = page.locator(".jp-OutputArea mjx-container")
    formulas.first.wait_for()
    assert formulas.count() >= 2
    assert page.locator("mjx-merror").count() == 0
    shapes = page.locator(".jp-OutputArea table", has_text="grad_f").first
    assert "(∂f/∂x: (), ∂f/∂y: ())" in shapes.inner_text()
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
