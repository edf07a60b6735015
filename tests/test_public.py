"""The public surface: every name in __all__ is there and documented, and importing is light."""

from __future__ import annotations

import subprocess
import sys

import pytest
import site_pages

import symgrad


@pytest.mark.parametrize("name", symgrad.__all__)
def test_each_public_name_exists_and_has_a_docstring(name):
    assert getattr(symgrad, name).__doc__


def test_each_public_name_is_on_a_page_of_the_site():
    shown = [name for _, _, names in site_pages.ROLES.values() for name in names]
    dtypes = set(symgrad.dtype.__all__)
    rest = {"GRAPH_MODE", "PYNATIVE_MODE", "__version__", "context", "dtype", *site_pages.MODULES}
    assert len(shown) == len(set(shown))
    assert set(shown) == set(symgrad.__all__) - dtypes - rest


def test_importing_symgrad_imports_no_notebook_and_no_optional_package():
    heavy = ["IPython", "ipywidgets", "matplotlib", "scipy", "sklearn", "jax", "torch", "numexpr", "opt_einsum"]
    heavy.append("threadpoolctl")
    code = f"import sys, symgrad; print([m for m in {heavy} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
