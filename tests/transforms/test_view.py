"""Methods of derivatives that live in modules of their own: they are found, documented and overridden as any."""

from __future__ import annotations

import inspect
import pydoc
import subprocess
import sys

import numpy as np
import pytest

import symgrad as sg
from symgrad.transforms.derived import DerivedFunction

SHOWN = [
    "agreement",
    "annotate",
    "closed_form",
    "entry",
    "equals",
    "export",
    "formulas",
    "latex",
    "panel",
    "plot",
    "steps",
]


@pytest.mark.parametrize("name", SHOWN)
def test_a_method_has_its_name_its_documentation_and_its_options(name):
    method = getattr(sg.grad(lambda x: x**2), name)
    assert method.__name__ == name
    assert inspect.getdoc(method)
    assert f" {name}(" in pydoc.plain(pydoc.render_doc(sg.grad(lambda x: x**2).__class__))
    assert "kwargs" in inspect.signature(method).parameters
    assert "derived" not in inspect.signature(method).parameters


def test_the_class_itself_and_completion_know_them():
    assert set(SHOWN) <= set(dir(DerivedFunction))
    assert inspect.getdoc(DerivedFunction.export)
    assert "contributions" in dir(sg.jacobian(lambda x: x))


def test_what_shows_is_imported_when_it_is_asked_for():
    code = (
        "import sys, symgrad; g = symgrad.grad(lambda x: x**2); assert g(3.0) == 6.0\n"
        "assert not {'symgrad.transforms.shown', 'symgrad.transforms.equality'} & set(sys.modules)\n"
        "assert str(g.closed_form()) == '2*x'; assert 'symgrad.transforms.shown' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_subclass_extends_what_it_overrides():
    gradient = sg.from_latex("x^2 y", "x")
    assert "2 x y" in gradient.export("latex", y=2.0, x=3.0)


def scaled(x, y=2.0):
    return np.sum(x**2 * y)


X = np.array([0.5, 1.0, 2.0])
ASKED = {
    "program": (),
    "kernel": (),
    "provenance": (),
    "result_shapes": (),
    "latex": (),
    "closed_form": (),
    "formulas": (),
    "agreement": (),
    "steps": (),
    "conditions": (),
    "annotate": (),
    "picture": (),
    "explain": (),
    "export": ("python",),
}


@pytest.mark.parametrize("derive", [sg.grad, sg.value_and_grad, sg.jacobian, sg.hessian])
@pytest.mark.parametrize("name", ASKED)
def test_every_method_takes_arguments_by_name(derive, name):
    derived = derive(scaled)
    if name in ("annotate", "picture"):
        pytest.importorskip("symgrad_notebook")
    if not hasattr(derived, name):
        pytest.skip("it has no such method")
    method = getattr(derived, name)
    by_name, by_place = method(*ASKED[name], x=X), method(*ASKED[name], X)
    assert type(by_name) is type(by_place)
    if name not in ("kernel", "provenance"):
        assert str(by_name) == str(by_place)


def test_entries_and_their_lines_take_arguments_by_name():
    hessian = sg.hessian(scaled)
    assert hessian.entry((0, 0), x=X) == hessian.entry((0, 0), X)
    assert str(hessian.contributions((0, 0), x=X)) == str(hessian.contributions((0, 0), X))
    assert hessian.entry(index=(1, 1), x=X) == hessian.entry((1, 1), X)


def test_what_takes_no_arguments_takes_its_own_names():
    """A block is n rows long, whatever the arguments are called."""
    blocks = sg.grad(sg.named(lambda n: np.sum(n**2), n="n"))
    np.testing.assert_array_equal(blocks.in_chunks(n=2)(X), 2 * X)
