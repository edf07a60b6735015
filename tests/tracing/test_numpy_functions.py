"""NumPy functions on numbers, vectors and arrays without elements, at every axis: NumPy's value, or its refusal."""

from __future__ import annotations

import numpy as np
import pytest

from symgrad.errors import AxisError, SymgradError
from symgrad.tracing.python_numbers import held_like
from symgrad.tracing.trace import Trace
from symgrad.tracing.tracer import Tracer
from symgrad.tracing.tree import flatten

SHAPES = [(), (0,), (1,), (3,), (2, 3), (0, 3)]
AXES = [None, -3, -2, -1, 0, 1, 2, 3]
KNOTS = np.array([-1.0, 0.5, 2.0])

REDUCTIONS = ("sum", "mean", "var", "std", "max", "min", "ptp", "any", "all", "prod", "argmax", "argmin", "median")
#: name -> the function of an array and an axis
ALONG = {
    **{name: getattr(np, name) for name in (*REDUCTIONS, "nansum", "nanmean", "average", "cumsum", "cumprod")},
    **{name: getattr(np, name) for name in ("argsort", "sort", "flip", "squeeze", "expand_dims", "size")},
    **{f"{name}, axis kept": lambda x, k, n=name: getattr(np, n)(x, axis=k, keepdims=True) for name in REDUCTIONS},
    "diff": lambda x, k: np.diff(x, axis=k),
    "stack": lambda x, k: np.stack([x, x], k),
    "concatenate": lambda x, k: np.concatenate([x, x], k),
    "split": lambda x, k: np.split(x, 2, axis=k),
    "array_split": lambda x, k: np.array_split(x, [1], axis=k),
    "unstack": lambda x, k: np.unstack(x, axis=k),
    "roll": lambda x, k: np.roll(x, (1, 2), k),
    "repeat": lambda x, k: np.repeat(x, 2, k),
    "take": lambda x, k: np.take(x, [0, -1], k),
    "take_along_axis": lambda x, k: np.take_along_axis(x, np.zeros((1, 2), int), k),
    "gradient": lambda x, k: np.gradient(x, axis=k),
    "trapezoid": lambda x, k: np.trapezoid(x, axis=k),
    "trapezoid at places": lambda x, k: np.trapezoid(x, KNOTS, axis=k),
    "swapaxes": lambda x, k: np.swapaxes(x, k, 0),
    "moveaxis": lambda x, k: np.moveaxis(x, k, 0),
    "vecdot": lambda x, k: np.vecdot(x, x, axis=k),
    "norm": lambda x, k: np.linalg.norm(x, axis=k),
    **{f"norm {o}": lambda x, k, o=o: np.linalg.norm(x, o, k) for o in (0, 1, 3, np.inf, -np.inf)},
    "vector_norm": lambda x, k: np.linalg.vector_norm(x, axis=k),
    **{f"{u.__name__}.reduce": lambda x, k, u=u: u.reduce(x, axis=k) for u in (np.add, np.maximum, np.logical_or)},
    "diff so often": lambda x, k: np.diff(x, k or 0),
    "tensordot": lambda x, k: np.tensordot(x, x, (k, k)),
}
#: functions of an array alone
PLAIN = {
    **{n: getattr(np, n) for n in ("atleast_1d", "atleast_2d", "atleast_3d", "ravel", "transpose", "copy", "real")},
    **{n: getattr(np, n) for n in ("tril", "triu", "rot90", "diag", "diagonal", "trace", "matrix_transpose", "ndim")},
    **{n: getattr(np, n) for n in ("zeros_like", "ones_like", "round", "nan_to_num", "modf", "isscalar")},
    **{f"{n} of two": lambda x, n=n: getattr(np, n)([x, x]) for n in ("vstack", "hstack", "column_stack", "dstack")},
    **{f"{n} of two": lambda x, n=n: getattr(np, n)(x, x) for n in ("dot", "inner", "outer", "vdot", "kron", "matmul")},
    **{f"{n} of two": lambda x, n=n: getattr(np, n)(x, x) for n in ("allclose", "isclose", "convolve")},
    **{f"{n} of two": lambda x, n=n: getattr(np, n)(x, x) for n in ("meshgrid", "broadcast_arrays")},
    **{f"tensordot {k}": lambda x, k=k: np.tensordot(x, x, k) for k in (0, 1, 2)},
    **{f"pad {m}": lambda x, m=m: np.pad(x, 1, mode=m) for m in ("constant", "edge", "reflect", "wrap")},
    **{f"matrix norm {o}": lambda x, o=o: np.linalg.norm(x, o) for o in ("fro", 1, -1, np.inf, -np.inf)},
    **{n: getattr(np.linalg, n) for n in ("inv", "det", "slogdet", "cholesky")},
    **{f"reshape {s}": lambda x, s=s: np.reshape(x, s) for s in (-1, (), (3, -1), (0,))},
    "block": lambda x: np.block([x, x]),
    "tile": lambda x: np.tile(x, (2, 1)),
    "clip": lambda x: np.clip(x, -0.5, None),
    "where": lambda x: np.where(x > 0, x, 0.0),
    "searchsorted": lambda x: np.searchsorted(KNOTS, x),
    "interp": lambda x: np.interp(x, KNOTS, KNOTS**2),
    "polyval": lambda x: np.polyval(x, 2.0),
    "polyval at": lambda x: np.polyval(KNOTS, x),
    "einsum": lambda x: np.einsum("...i,...j->...ij", x, x),
    "gradient": lambda x: np.gradient(x, 0.5),
    "broadcast_to": lambda x: np.broadcast_to(x, (2, 3)),
    "full_like": lambda x: np.full_like(x, 2.0),
    "iteration": lambda x: list(x),
    "first": lambda x: x[0],
    "last of the last": lambda x: x[..., -1],
    "with a new axis": lambda x: x[None, ..., None],
    "picked": lambda x: x[[0, -1]],
    "picked by two": lambda x: x[[0, 1], [0, 2]],
    "picked by indices that do not fit": lambda x: x[[0, 1], [0, 1, 0]],
    "picked by a mask": lambda x: x[np.array([True, False])],
    "picked by a mask of the last axis": lambda x: x[..., np.array([True, False, True])],
    "picked by a mask of two axes": lambda x: x[np.ones((2, 3), bool)],
    "picked out of bounds": lambda x: x[[0, 3]],
}
CALLS = {
    **{f"{name} along": [(name, x, (k,)) for x in SHAPES for k in AXES] for name in ALONG},
    **{name: [(name, x, ()) for x in SHAPES] for name in PLAIN},
}


def _arrays(found):
    parts = list(found) if isinstance(found, (tuple, list)) else [found]
    return [np.asarray(p) for p in parts]


def _by_symgrad(function, x, *axis):
    with Trace() as trace:
        found, _ = flatten(function(held_like(Tracer(trace.new_input("x", x)), x), *axis))
        return [np.asarray(trace.value_of(v._symgrad_node) if isinstance(v, Tracer) else v) for v in found]


def _outcome(compute, *args):
    try:
        return compute(*args)
    except Exception as error:
        return error


def _difference(ours, wanted):
    """What is wrong with the outcome of symgrad, given that of NumPy; None where nothing is."""
    if isinstance(wanted, Exception):
        if not isinstance(ours, Exception):
            return f"NumPy raises {wanted!r}"
        if isinstance(ours, SymgradError) or __file__ in str(ours) or type(ours) is np.linalg.LinAlgError:
            return None
        return f"{ours!r} names no line"
    if isinstance(ours, Exception):
        return f"NumPy gives {wanted}, symgrad raises {ours!r}"
    if [(a.shape, a.dtype) for a in ours] != [(a.shape, a.dtype) for a in wanted]:
        return f"{ours} is not {wanted}"
    same = all(np.allclose(a, b, rtol=1e-14, atol=0, equal_nan=True) for a, b in zip(ours, wanted, strict=True))
    return None if same else f"{ours} is not {wanted}"


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_numbers_and_empty_arrays_at_every_axis(name):
    table = ALONG if name.endswith(" along") else PLAIN
    rng = np.random.default_rng(3)
    wrong = []
    for key, shape, axis in CALLS[name]:
        function, x = table[key], rng.normal(size=shape)
        wanted = _outcome(lambda *a, f=function: _arrays(f(*a)), x, *axis)
        found = _difference(_outcome(_by_symgrad, function, x, *axis), wanted)
        wrong += [f"{shape} {axis}: {found}"] if found else []
    assert not wrong, "\n".join(wrong)


def test_an_axis_that_there_is_not_is_said_with_the_line():
    with pytest.raises(AxisError, match="axis 2 is out of bounds for array of dimension 1") as refused:
        _by_symgrad(lambda x: np.sum(x, axis=2), np.ones(3))
    assert isinstance(refused.value, np.exceptions.AxisError)
    assert (refused.value.axis, refused.value.ndim) == (2, 1)
    assert __file__ in str(refused.value)
