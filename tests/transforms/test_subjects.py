"""What an export is made of: conditions for the branches taken, names, sources."""

from __future__ import annotations

import hashlib
import inspect
from functools import partial

import numpy as np
import pytest

import symgrad as sg
from symgrad import nn
from symgrad.errors import DtypeError
from symgrad.kernels.kernel import lower
from symgrad.transforms.subjects import subject_of


def subject(derived, *args):
    return subject_of(derived, args, {}, None, "auto", False)


def branching(x, n=2):
    if x[0] > 1:
        return np.sum(x**2)
    if int(np.trunc(x[1])) == n:
        return np.sum(x)
    return x[0] * np.sum(x**3) if np.all(x > 0) else np.sum(x)


@pytest.mark.parametrize("taken", [[2.0, 0.0], [0.5, 2.5], [0.5, 1.5], [-0.5, 1.5]])
def test_conditions_hold_where_the_trace_does_and_nowhere_else(taken):
    found = subject(sg.grad(branching), np.array(taken))
    kernel = lower(found.guarded, "numpy")
    for other in ([2.0, 0.0], [0.5, 2.5], [0.5, 1.5], [-0.5, 1.5], [3.0, 2.0], [0.1, 2.2]):
        values = kernel(np.array(other))
        holds = all(values[len(found.program.outputs) :])
        if holds:
            assert np.array_equal(values[0], sg.grad(branching)(np.array(other)))
        else:
            traced = sg.grad(branching)
            traced(np.array(taken))
            first = traced._compiled.latest
            traced(np.array(other))
            assert traced._compiled.latest is not first
    assert all(n.shape == () and n.dtype == bool for n in found.conditions)


def test_without_branches_there_are_no_conditions():
    found = subject(sg.grad(np.sin), np.ones(2))
    assert found.conditions == ()
    assert found.guarded.outputs == found.program.outputs


def test_names_come_from_the_function():
    found = subject(sg.hessian(branching), np.array([2.0, 0.0]))
    assert (found.name, found.title, found.stem) == (
        "hessian_branching",
        "the Hessian of branching",
        "hessian_branching",
    )
    written = subject_of(sg.grad(branching), (np.ones(2),), {}, "somewhere/made.c", "auto", True)
    assert written.stem == "made"


def test_the_hash_is_that_of_the_source():
    whole = hashlib.sha256(inspect.getsource(branching).encode()).hexdigest()
    assert subject(sg.grad(branching), np.ones(2)).facts.source_hash == whole[:16]
    dense = hashlib.sha256(inspect.getsource(nn.Dense).encode()).hexdigest()
    assert subject(sg.grad(nn.Dense(2, 2)), np.ones((1, 2), np.float32)).facts.source_hash == dense[:16]


def test_what_has_no_source_has_a_hash_or_says_so():
    scope: dict = {}
    exec("def f(x): return x ** 2\ndef g(x): return x ** 3", scope)
    first, second = (subject(sg.grad(scope[name]), 2.0).facts.source_hash for name in "fg")
    assert first != second
    assert subject(sg.grad(np.sin), 2.0).facts.source_hash == "unknown"
    assert subject(sg.grad(partial(branching, n=3)), np.ones(2)).name == "grad_partial"


def test_flags_say_what_was_asked_for():
    flags = sg.value_and_grad(branching, (0,), has_aux=False, mode="forward").flags
    assert flags == {"grad_position": (0,), "with_value": True, "mode": "forward"}
    assert sg.jacobian(branching).flags == {"grad_position": 0, "mode": "auto"}
    assert sg.GradOperation(get_all=True, sens_param=True)(branching).flags["sens_param"] is True


def test_arguments_are_checked_at_the_door():
    with pytest.raises(DtypeError):
        subject(sg.grad(branching), np.array([1, 2]))
