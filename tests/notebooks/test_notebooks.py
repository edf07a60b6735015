"""The notebooks run, show their formulas with and without a kernel, and stand in git without outputs."""

from __future__ import annotations

import asyncio
import html
import pathlib
import re
import sys

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
STATE = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "MPLCONFIGDIR")

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


def cells(notebook, kind):
    return [cell for cell in notebook.cells if cell.cell_type == kind]


def outputs(notebook):
    return [output for cell in cells(notebook, "code") for output in cell.outputs]


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """The environment of kernels, without the user's settings; one for all, so that fonts are looked up once."""
    state = tmp_path_factory.mktemp("state")
    with pytest.MonkeyPatch.context() as patch:
        for name in STATE:
            patch.setenv(name, str(state / name.lower()))
        patch.setenv("JUPYTER_PATH", str(pathlib.Path(sys.prefix) / "share" / "jupyter"))
        # threads that wait for each other take many times as long where other tests run beside them
        patch.setenv("OPENBLAS_NUM_THREADS", "1")
        yield


@pytest.fixture(scope="module", params=NOTEBOOKS, ids=lambda path: path.stem)
def executed(request, environment, tmp_path_factory):
    """Each notebook, run once for all the tests that look at it."""
    notebook = nbformat.read(request.param, as_version=4)
    resources = {"metadata": {"path": str(tmp_path_factory.mktemp("work"))}}
    client = NotebookClient(notebook, timeout=300, kernel_name="python3", resources=resources)
    asyncio.run(client.async_execute())
    return notebook


def test_they_stand_in_reading_order():
    assert [p.name[:2] for p in NOTEBOOKS] == [f"{k + 1:02d}" for k in range(len(NOTEBOOKS))]
    assert len(NOTEBOOKS) >= 8


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_stripped(path):
    for cell in cells(nbformat.read(path, as_version=4), "code"):
        assert cell.outputs == []
        assert cell.execution_count is None


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_says_what_it_is_for_and_points_to_notebooks_that_exist(path):
    texts = [cell.source for cell in cells(nbformat.read(path, as_version=4), "markdown")]
    title, _, purpose = texts[0].partition("\n\n")
    assert re.fullmatch("# .+", title)
    assert purpose.count(".") >= 2
    for name in re.findall(r"\w+\.ipynb", "\n".join(texts)):
        assert (FOLDER / name).exists(), name


def test_it_runs_without_a_word_on_stderr(executed):
    assert outputs(executed)
    assert [o for o in outputs(executed) if o.output_type == "error" or o.get("name") == "stderr"] == []


def test_every_grad_cell_shows_a_formula(executed):
    for cell in cells(executed, "code"):
        if re.search(r"^%%?grad\b", cell.source, re.MULTILINE):
            formulas = [o.data["text/latex"] for o in cell.outputs if "text/latex" in o.get("data", {})]
            assert formulas, cell.source
            assert all(f.startswith(r"$\displaystyle ") for f in formulas)


def test_html_without_a_kernel_has_every_formula(executed, environment):
    from nbconvert import HTMLExporter

    page, _ = HTMLExporter().from_notebook_node(executed)
    shown = html.unescape(page)
    for output in outputs(executed):
        data = output.get("data", {})
        if "text/markdown" in data:  # which pages prefer
            assert all(f in shown for f in re.findall(r"\$[^$]+\$", data["text/markdown"]))
        else:
            assert data.get("text/latex", "") in shown


def test_explorers_leave_a_picture(executed):
    """A widget is empty without its kernel, so a cell that explores has a picture beside it that stays."""
    for cell in cells(executed, "code"):
        if ".explore(" in cell.source:
            static = [o.data for o in cell.outputs if "application/vnd.jupyter.widget-view+json" not in o.data]
            assert any("<img" in d.get("text/html", "") for d in static), cell.source


def test_panels_leave_their_formula(executed):
    """What a panel showed when it was opened stays below it."""
    for cell in cells(executed, "code"):
        if ".panel(" in cell.source or "--panel" in cell.source:
            latex = [o.data for o in cell.outputs if "text/latex" in o.get("data", {})]
            assert latex, cell.source
