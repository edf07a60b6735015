"""Tracebacks show the user's frames alone, and symgrad's own where it failed itself or all are asked for."""

from __future__ import annotations

import traceback

import numpy as np
import pytest

import symgrad as sg
from symgrad import errors

X = np.array([1.0, 2.0])


def helper(x):
    return x.tobytes()


def refused(x):
    return helper(np.sin(x)) + 1


def wrong(x):
    return np.sum(x) + undefined  # noqa: F821  # the user's own mistake


class Refused(sg.nn.Cell):
    def construct(self, x):
        return helper(x)


@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize(
    ("call", "functions"),
    [
        (lambda: sg.grad(refused)(1.0), ["refused", "helper"]),
        (lambda: sg.grad(sg.grad(refused))(1.0), ["refused", "helper"]),
        (lambda: sg.grad(lambda x: sg.grad(wrong)(x))(1.0), ["<lambda>", "wrong"]),
        (lambda: sg.hessian(refused).latex(X), ["refused", "helper"]),
        (lambda: sg.jacobian(refused).program(X), ["refused", "helper"]),
        (lambda: sg.jvp(refused, X, X), ["refused", "helper"]),
        (lambda: Refused()(X), ["construct", "helper"]),
        (lambda: sg.grad(3), []),
        (lambda: sg.grad(), []),
        (lambda: sg.grad(refused, mode="up"), []),
        (lambda: sg.grad(lambda x: np.sum(x[5:] @ x))(X), ["<lambda>"]),
    ],
)
def test_a_traceback_has_the_users_frames_alone(call, functions):
    with pytest.raises(Exception) as caught:  # noqa: PT011  # of every kind
        call()
    error = caught.value
    while error is not None:
        files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
        assert not [file for file in files if errors.is_own(file)]
        error = error.__cause__
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert names == [test_a_traceback_has_the_users_frames_alone.__name__, "<lambda>", *functions]


@pytest.mark.usefixtures("brief")
def test_symgrads_own_failure_keeps_its_frames(monkeypatch):
    space = {}
    exec(compile("def failing(*_): raise RuntimeError('a defect')", errors.__file__, "exec"), space)
    monkeypatch.setattr("symgrad.transforms.gradient.pulled_back", space["failing"])
    with pytest.raises(RuntimeError) as caught:
        sg.grad(lambda x: x**2)(1.0)
    assert any(errors.is_own(f.filename) for f in traceback.extract_tb(caught.value.__traceback__))


def test_a_full_traceback_is_kept_when_asked_for():
    assert sg.get_context("full_traceback")
    with pytest.raises(errors.ArgumentTypeError) as caught:
        sg.grad(3)
    assert any(errors.is_own(f.filename) for f in traceback.extract_tb(caught.value.__traceback__))
    assert not hasattr(caught.value, "_render_traceback_")
