"""``export``: formats by name, files, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentError
from symgrad.exporters import FORMATS
from symgrad.exporters.sources import Sources


def square(x):
    return np.sum(x**2)


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_written_is_what_is_returned(name, tmp_path):
    path = tmp_path / f"made{FORMATS[name].suffix}"
    made = sg.grad(square).export(name, np.ones(3), path=path)
    if isinstance(made, Sources):
        assert {p.name: p.read_text() for p in tmp_path.iterdir()} == made
        assert next(iter(made)) == path.name
    elif isinstance(made, bytes):
        assert path.read_bytes() == made
    else:
        assert path.read_text(encoding="utf-8") == made


def test_another_format_is_refused_with_those_there_are():
    with pytest.raises(ArgumentError, match=r"format 'cobol' is unknown; choose one of c, dot, "):
        sg.grad(square).export("cobol", np.ones(3))


def test_another_form_is_refused():
    with pytest.raises(ArgumentError, match="form='long' is unknown"):
        sg.grad(square).export("latex", np.ones(3), form="long")


def test_nothing_is_written_where_the_export_fails(tmp_path):
    path = tmp_path / "made.c"
    with pytest.raises(sg.errors.SymgradError):
        sg.grad(square).export("c", np.ones(3, np.float16), path=path)
    assert not path.exists()


def test_without_arguments_the_latest_trace_is_exported():
    derived = sg.grad(square)
    derived(np.ones(3))
    assert "x: (float64[3])" in derived.export("text").replace("float64[3]", "(float64[3])")
