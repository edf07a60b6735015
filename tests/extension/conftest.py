"""One in-process IPython for the tests of the magics, with the extension loaded afresh for each."""

from __future__ import annotations

import builtins

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output


@pytest.fixture(scope="session")
def _shell(tmp_path_factory):
    directory = tmp_path_factory.mktemp("ipython")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IPYTHONDIR", str(directory))
        patch.setenv("HOME", str(directory))
        shell = InteractiveShell.instance(ipython_dir=str(directory))
        shell.history_manager.enabled = False
        yield shell
        shell.history_manager.end_session()
        InteractiveShell.clear_instance()


@pytest.fixture
def shell(_shell, monkeypatch):
    """An IPython whose namespace holds what the test puts there."""
    monkeypatch.delattr(builtins, "_", raising=False)  # which doctests leave, and IPython takes for another shell's
    _shell.reset(new_session=False)
    # what takes long on a busy machine says so in a line of its own, which no test here is about
    _shell.run_cell("import numpy as np\n%load_ext symgrad\n%symgrad progress=0")
    yield _shell
    _shell.run_line_magic("unload_ext", "symgrad")


@pytest.fixture
def run(shell):
    """Run a cell; gives the displayed outputs and what was printed, and raises what the cell raised."""

    def run_cell(text: str):
        with capture_output() as captured:
            shell.run_cell(text).raise_error()
        return captured

    return run_cell
