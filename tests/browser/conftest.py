"""One JupyterLab for all browser tests of a process, and pages on notebooks made of a test's own cells."""

from __future__ import annotations

import contextlib
import functools
import itertools
import pathlib
import shutil

import esm
import lab
import nbformat
import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    here = pathlib.Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))
            item.add_marker(pytest.mark.needs("chromium"))


@pytest.fixture(scope="session")
def _server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lab")
    (folder / "work").mkdir()
    with lab.server(folder / "work", folder / "state") as address:
        yield folder / "work", address


@pytest.fixture
def notebook(_server):
    """``notebook(cells)`` opens a page on a new notebook and runs it; ``notebook(path)`` on a copy of one.

    ``theme="JupyterLab Dark"`` changes the colours first. The page has ``path``, the file, and ``run_all()``.
    """
    folder, address = _server
    with contextlib.ExitStack() as pages:

        def open_(cells, theme=None, run=True, **options):
            path = folder / f"test{next(_numbers)}.ipynb"
            if isinstance(cells, pathlib.Path):
                shutil.copy(cells, path)
            else:
                kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
                made = [nbformat.v4.new_code_cell(text) for text in cells]
                nbformat.write(nbformat.v4.new_notebook(cells=made, metadata=kernel), path)
            page = pages.enter_context(lab.page(address.format(path.name), **options))
            page.path = path
            page.run_all = functools.partial(lab.run_all, page)
            if theme:
                lab.change_theme(page, theme)
            if run:
                lab.run_all(page)
            return page

        yield open_


_numbers = itertools.count()


@pytest.fixture(scope="class")
def widget():
    """``widget(module, state=, answer=, theme=, …)`` shows a widget's ES module without Jupyter: see ``esm.py``.

    For the tests of a class, which ends it before a ``notebook`` begins.
    """
    with esm.browser() as open_widget:
        yield open_widget
