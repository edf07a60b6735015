"""Contractions of floats with what is whole: derivatives sum it as numbers, whatever is left beside the seed."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.primitives.contraction import contract
from symgrad.primitives.primitive import input_node, literal
from symgrad.program.node import Graph

RNG = np.random.default_rng(4)


#: functions of a float and of what is whole or a truth value: the latter may be all that a derivative sums
BESIDE_WHOLE = {
    "inner": (lambda x, k: np.inner(x, k), (), (40,)),
    "tensordot": (lambda x, k: np.tensordot(x, k, 0), (), (40,)),
    "einsum": (lambda x, k: np.einsum(",i->", x, k), (), (40,)),
    "outer": (np.outer, (2,), (40,)),
    "kron": (np.kron, (2,), (40,)),
    "matmul": (np.matmul, (3, 40), (40, 2)),
    "vector": (np.matmul, (40,), (40,)),
    "vdot": (np.vdot, (40,), (40,)),
    "vecdot": (np.vecdot, (3, 40), (40,)),
    "convolve": (np.convolve, (2,), (40,)),
    "product": (lambda x, k: np.sum(x * k, axis=0), (), (40, 2)),
    "average": (lambda x, k: np.average(x * np.ones(40), weights=k), (), (40,)),
    "cross": (np.cross, (3,), (40, 3)),
}


@pytest.mark.parametrize("name", BESIDE_WHOLE)
@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint8])
@pytest.mark.parametrize("backend", ["numpy", "auto", "numexpr", "native"])
def test_derivatives_sum_what_is_whole_as_numbers(name, dtype, backend):
    fn, shape, other = BESIDE_WHOLE[name]
    x, k = RNG.normal(size=shape), np.full(other, 1 if dtype is np.bool_ else 77).astype(dtype)
    want = np.array([fn(e.reshape(shape), k.astype(float)).sum() for e in np.eye(x.size)]).reshape(shape)
    out = tuple(range(np.ndim(fn(x, k))))
    for got in (
        sg.grad(fn, 0, backend=backend)(x, k),
        np.sum(sg.jacobian(fn, 0, backend=backend)(x, k), axis=out),
        np.sum(sg.jacobian(fn, 0, backend=backend, mode="forward")(x, k), axis=out),
    ):
        np.testing.assert_allclose(got, want, rtol=1e-12)


def test_a_complex_number_among_reals_of_two_dtypes_makes_the_product_complex():
    with Graph():
        single, double = input_node("a", (3,), np.dtype("f4")), input_node("b", (3,), np.dtype("f8"))
        made = contract([literal(2j), single, double], [(), (0,), (0,)], (0,), (3,))
    assert made.dtype == np.result_type(1j, np.float32, np.float64) == np.complex128
