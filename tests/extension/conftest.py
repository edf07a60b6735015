"""One in-process IPython for the tests of the magics, with the extension loaded afresh for each."""

from __future__ import annotations

import pytest
from IPython.utils.capture import capture_output


@pytest.fixture
def run(shell):
    """Run a cell; gives the displayed outputs and what was printed, and raises what the cell raised."""

    def run_cell(text: str):
        with capture_output() as captured:
            shell.run_cell(text).raise_error()
        return captured

    return run_cell
