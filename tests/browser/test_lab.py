"""The first notebook in a real JupyterLab: %%grad typesets its formulas and shows the shapes."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import shutil

import pytest

_spec = importlib.util.spec_from_file_location("symgrad_lab", pathlib.Path(__file__).with_name("lab.py"))
lab = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(lab)

needs_browser = pytest.mark.skipif(
    lab.browser_path() is None and not os.environ.get("CI"), reason="no Chromium is installed (always run in CI)"
)


@needs_browser
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_the_first_notebook_in_jupyterlab(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    shutil.copy(lab.ROOT / "notebooks" / "01_first_gradient.ipynb", folder)
    with (
        lab.server(folder, tmp_path / "state") as address,
        lab.page(address.format("01_first_gradient.ipynb")) as page,
    ):
        lab.run_all(page)
        formulas = page.locator(".jp-OutputArea mjx-container")
        formulas.first.wait_for()
        assert formulas.count() >= 2
        assert page.locator("mjx-merror").count() == 0
        shapes = page.locator(".jp-OutputArea table", has_text="grad_f").first
        assert "((), ())" in shapes.inner_text()
        assert page.locator(".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.error']").count() == 0
