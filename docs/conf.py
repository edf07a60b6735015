"""The documentation site: ``sphinx-build -W docs docs/_build``. Pages are Markdown; the gallery is run from notebooks/.

What the README says is said there alone: pages of topics include its sections.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import sys

from docutils import nodes

ROOT = pathlib.Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "tests" / "closed_form")]

import site_pages  # noqa: E402

from symgrad.version import VERSION  # noqa: E402

project = "symgrad"
author = copyright = "symgrad contributors"
version = release = VERSION
WIDGET = "application/vnd.jupyter.widget-view+json"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx_copybutton", "sphinx-mathjax-offline"]
exclude_patterns = ["_build"]
suppress_warnings = ["config.cache"]

myst_enable_extensions = ["dollarmath", "attrs_inline"]
myst_heading_anchors = 3
nb_execution_mode = "cache"
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_merge_streams = True  # what a cell prints is one box
nb_mime_priority_overrides = [("html", "text/latex", 1), ("html", "text/html", 2), ("html", WIDGET, None)]
nb_ipywidgets_js: dict[str, dict[str, str]] = {}  # a panel without a kernel answers nothing: formulas are shown alone

autodoc_typehints = "none"
autodoc_member_order = "bysource"
python_maximum_signature_line_length = 100
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = f"symgrad {VERSION}"
html_static_path = ["_static"]
html_css_files = ["wide.css"]
templates_path: list[str] = []


def setup(app) -> None:
    """Make the pages that follow from the code, and bring the notebooks, before anything is read."""
    gallery = ROOT / "docs" / "gallery"
    gallery.mkdir(exist_ok=True)
    for notebook in sorted((ROOT / "notebooks").glob("*.ipynb")):
        copy = gallery / notebook.name
        if not copy.exists() or copy.read_bytes() != notebook.read_bytes():
            shutil.copy(notebook, copy)
    settings = gallery.parent / "_build" / "ipython" / "profile_default" / "ipython_config.py"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text("c = get_config()\nc.SymgradMagics.progress = 0\n", "utf-8")  # how long a cell took is not said
    os.environ["IPYTHONDIR"] = str(gallery.parent / "_build" / "ipython")
    site_pages.textbook(ROOT / "docs" / "textbook.md")
    site_pages.signatures(ROOT / "docs" / "api")
    app.connect("doctree-read", _without_last_line)


def _without_last_line(app, doctree) -> None:
    """Blocks of code end where their text does: doctest wants an empty line before the fence, readers do not."""
    for block in doctree.findall(nodes.literal_block):
        text = block.astext().rstrip("\n")
        block.children, block.rawsource = [], text
        block += nodes.Text(text)
