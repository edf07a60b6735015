"""Arrays of classes with rules of their own: refused where they meet a traced value, as arguments and as constants."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ArgumentTypeError, SymgradError


class Doubling(np.ndarray):
    """What it is multiplied with it doubles, and counts it; nobody but NumPy may ask it anything."""

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        plain = [v.view(np.ndarray) if isinstance(v, Doubling) else v for v in inputs]
        return 2 * getattr(ufunc, method)(*plain, **kwargs)

    def __array_function__(self, func, types, args, kwargs):
        raise AssertionError("asked")

    def tobytes(self, order="C"):
        raise AssertionError("asked")


class Titled(np.ndarray):
    """An array with something beside its numbers, as NumPy's manual makes them; it computes as any other."""

    def __new__(cls, numbers, title=""):
        made = np.asarray(numbers).view(cls)
        made.title = title
        return made

    def __array_finalize__(self, source):
        self.title = getattr(source, "title", "")


REFUSED = {
    "masked": (np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]), "MaskedArray.*np.ma.getmaskarray"),
    "matrix": (np.eye(3).view(np.matrix), "matrix.*np.asarray.*write @ for its"),
    "subclass": (np.array([1.0, 2.0, 3.0]).view(Doubling), "Doubling.*np.asarray"),
}
OPERATORS = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lt", "eq", "iadd", "imul"]
FUNCTIONS = {
    "dot": np.dot,
    "multiply": np.multiply,
    "outer": np.add.outer,
    "maximum": np.maximum,
    "where": lambda x, m: np.where(x > 0, x, m),
    "stack": lambda x, m: np.concatenate([x.ravel(), m.ravel()]),
    "einsum": lambda x, m: np.einsum("...i,...i", x, m),
    "broadcast": lambda x, m: np.broadcast_arrays(x, m)[1],
    "set": lambda x, m: operator.setitem(x * 1.0, slice(None), m[:1]),
    "clip": lambda x, m: np.clip(x, m, None),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("what", [*OPERATORS, *FUNCTIONS])
def test_a_captured_array_of_a_class_with_its_own_rules_is_refused(name, what):
    captured, message = REFUSED[name]
    operate = FUNCTIONS.get(what) or getattr(operator, what)
    with pytest.raises(ArgumentTypeError, match=message) as refused:
        sg.grad(lambda x: np.sum(operate(x, captured)))(np.ones(3))
    assert f"{__file__}:" in str(refused.value)


@pytest.mark.parametrize("name", REFUSED)
def test_so_is_one_that_the_function_returns(name):
    captured, message = REFUSED[name]
    with pytest.raises(ArgumentTypeError, match=message):
        sg.value_and_grad(lambda x: (np.sum(x), captured), has_aux=True)(np.ones(3))


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("name", ["masked", "matrix"])
@pytest.mark.parametrize("what", [*OPERATORS[:-2], "dot", "multiply"])
def test_so_is_one_that_is_asked_before_the_traced_value(name, what):
    captured, _ = REFUSED[name]
    operate = FUNCTIONS.get(what) or getattr(operator, what)
    with pytest.raises(SymgradError) as refused:
        sg.grad(lambda x: np.sum(operate(captured, x)))(np.ones(3))
    assert f"{__file__}:" in str(refused.value)


@pytest.mark.parametrize("name", REFUSED)
def test_so_is_an_argument_and_the_data_of_a_tensor(name):
    array, message = REFUSED[name]
    for take in (sg.grad(np.sum), sg.jacrev(np.sin), sg.Tensor, sg.Parameter, sg.Parameter(np.ones(3)).set_data):
        with pytest.raises(ArgumentTypeError, match=message):
            take(array)
    with pytest.raises(ArgumentTypeError, match=message):
        sg.grad(lambda p, k: np.sum(p["w"]))({"w": np.ones(3)}, [array])


def test_what_a_masked_array_hides_comes_out_as_numpy_has_it_in_the_way_that_the_error_names():
    m = REFUSED["masked"][0]

    def fn(x):
        return np.sum(np.where(np.ma.getmaskarray(m), 0.0, x * m.filled(1.0)))

    value, gradient = sg.value_and_grad(fn)(np.ones(3))
    assert value == np.sum(np.ones(3) * m)
    assert gradient.tolist() == [1.0, 0.0, 3.0]


@pytest.mark.parametrize("kind", [Titled, np.recarray, sg.Tensor, np.memmap])
def test_arrays_that_compute_as_plain_ones_are_taken(kind, tmp_path):
    if kind is np.memmap:
        w = np.memmap(tmp_path / "w", dtype=float, shape=(3,), mode="w+")
        w[:] = [1.0, 2.0, 3.0]
    else:
        w = kind(np.array([1.0, 2.0, 3.0])) if kind in (Titled, sg.Tensor) else np.array([1.0, 2.0, 3.0]).view(kind)
    assert sg.grad(lambda x: np.sum(w * x))(np.ones(3)).tolist() == [1.0, 2.0, 3.0]
    assert np.asarray(sg.grad(lambda x: np.sum(x**2))(w)).tolist() == [2.0, 4.0, 6.0]


def test_the_mask_of_an_array_that_is_read_outside_of_the_trace_is_guarded():
    m = np.ma.array([1.0, 2.0], mask=[0, 0])
    gradient = sg.grad(lambda x: x * m.sum())
    assert gradient(1.0) == 3.0
    m[1] = np.ma.masked
    assert gradient(1.0) == 1.0


def test_what_an_array_class_computes_itself_with_a_traced_value_is_its_own():
    w = np.array([1.0, 2.0]).view(Doubling)
    assert sg.grad(lambda x: np.sum(w * x))(np.ones(2)).tolist() == [2.0, 4.0]


def test_guards_do_not_run_the_code_of_an_array_class():
    w = np.array([1.0, 2.0]).view(Doubling)
    gradient = sg.grad(lambda x: x * len(w))
    assert gradient(1.0) == 2.0
    assert gradient(2.0) == 2.0


class Wrapped:
    """A quantity that hands on what it does not know to its number."""

    def __init__(self, number):
        self.number = number

    def __getattr__(self, name):
        return getattr(self.number, name)


def test_a_traced_value_is_not_taken_out_of_an_object_that_wraps_it():
    with pytest.raises(SymgradError, match="Wrapped"):
        sg.grad(lambda x: x * Wrapped(x))(1.0)
