"""Notebooks in a real JupyterLab: %%grad typesets its formulas, shows the shapes, and keeps strings text."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import shutil

import nbformat
import pytest

_spec = importlib.util.spec_from_file_location("symgrad_lab", pathlib.Path(__file__).with_name("lab.py"))
lab = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(lab)

pytestmark = [
    pytest.mark.skipif(
        lab.browser_path() is None and not os.environ.get("CI"), reason="no Chromium is installed (always run in CI)"
    ),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

FIRST = "01_first_gradient.ipynb"
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


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The address of a JupyterLab with the notebooks of this file."""
    folder = tmp_path_factory.mktemp("lab")
    work = folder / "work"
    work.mkdir()
    shutil.copy(lab.ROOT / "notebooks" / FIRST, work)
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    cells = [nbformat.v4.new_code_cell(text) for text in HOSTILE]
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), work / "hostile.ipynb")
    with lab.server(work, folder / "state") as made:
        yield made


def test_the_first_notebook(address):
    with lab.page(address.format(FIRST)) as page:
        lab.run_all(page)
        formulas = page.locator(".jp-OutputArea mjx-container")
        formulas.first.wait_for()
        assert formulas.count() >= 2
        assert page.locator("mjx-merror").count() == 0
        shapes = page.locator(".jp-OutputArea table", has_text="grad_f").first
        assert "(∂f/∂x: (), ∂f/∂y: ())" in shapes.inner_text()
        assert page.locator(ERROR).count() == 0


def test_hostile_strings_are_text(address):
    with lab.page(address.format("hostile.ipynb")) as page:
        dialogs = []
        page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
        lab.run_all(page)
        page.locator(".jp-OutputArea mjx-container").first.wait_for()
        page.locator(ERROR).wait_for()
        outputs = page.locator(".jp-OutputArea-output")
        assert outputs.locator("img, script, a[href^=javascript]").count() == 0
        shown = page.locator(".jp-OutputArea table").inner_text()
        assert "</script><script>alert(3)</script>$x$(x: (2,), option='<img src=y" in shown
        assert "Cell In[3], line 3:" in page.locator(ERROR).inner_text()
        assert dialogs == []
