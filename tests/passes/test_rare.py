"""What seldom matters is left out, and the program says where it does; kernels run the whole there."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.kernels.rare_kernel import RareKernel
from symgrad.passes.rare import without_rare
from symgrad.program.interpret import interpreted

RNG = np.random.default_rng(2)
WEIGHTS = RNG.standard_normal((3, 3))
APART, EQUAL = np.diag([1.0, 2.0, 5.0]) + 0.1, np.diag([2.0, 2.0, 5.0])


def logarithm(a):
    values, vectors = np.linalg.eigh(a)
    return np.sum(WEIGHTS * ((vectors * np.log(values)) @ vectors.T))


def of_stack(a):
    values, vectors = np.linalg.eigh(a)
    return np.sum(WEIGHTS * ((vectors * np.log(values)[:, None, :]) @ np.swapaxes(vectors, -1, -2)))


@pytest.mark.parametrize(
    ("derivative", "args"),
    [
        (sg.grad(logarithm), (APART,)),
        (sg.grad(of_stack), (np.stack([APART, 2 * APART]),)),
        (sg.vmap(sg.grad(logarithm)), (np.stack([APART, 2 * APART]),)),
        (sg.jacobian(lambda a: np.linalg.svd(a)[0], mode="forward"), (APART,)),
        (sg.hessian(logarithm), (APART,)),
    ],
    ids=["gradient", "stack", "many examples", "forward", "hessian"],
)
def test_values_are_those_of_the_whole(derivative, args):
    program = derivative.kernel(*args).program
    usual, flags = without_rare(program)
    assert flags
    assert len(usual.nodes) < 0.7 * len(program.nodes)
    *made, flag = interpreted(usual.with_outputs([*usual.outputs, *flags]), args)
    assert not np.any(flag)
    np.testing.assert_allclose(made[0], interpreted(program, args)[0], rtol=1e-10, atol=1e-12)


def test_a_program_without_is_itself():
    program = sg.grad(lambda x: np.sum(np.sin(x))).kernel(np.ones(3)).program
    assert without_rare(program) == (program, [])


@pytest.mark.parametrize("backend", ["numpy", "auto", "numexpr"])
def test_the_whole_is_compiled_where_it_is_needed(backend, monkeypatch):
    wholes = []
    monkeypatch.setattr(RareKernel, "_whole", property(lambda self: wholes.append(self) or self._make_whole()))
    derivative = sg.grad(logarithm, backend=backend)
    first = derivative(APART)
    assert np.isfinite(first).all()
    assert not wholes
    assert np.isfinite(derivative(EQUAL)).all()
    assert len(wholes) == 1
    np.testing.assert_array_equal(derivative(APART), first)


def test_functions_that_run_as_they_are_run_once():
    calls = []

    def noted(x):
        calls.append(1)
        return np.sin(x)

    noisy = sg.custom(vjp=lambda primals, ct: ct * np.cos(primals[0]))(noted)
    derivative = sg.value_and_grad(lambda a: logarithm(a) * noisy(a[0, 0]))
    derivative(EQUAL)
    before = len(calls)
    derivative(EQUAL)
    assert len(calls) <= before + 1


def test_exports_are_without_and_say_so():
    derivative = sg.grad(logarithm)
    derivative(APART)
    text = derivative.export("python")
    assert "at equal eigenvalues" in text
    made = {}
    exec(text.split("if __name__")[0], made)
    np.testing.assert_allclose(made["grad_logarithm"](APART), derivative(APART), rtol=1e-12)
    assert np.isnan(made["grad_logarithm"](EQUAL)).any()


def test_documents_hold_the_whole(tmp_path):
    derivative = sg.grad(logarithm)
    derivative(APART)
    derivative.export("json", path=tmp_path / "slope.json")
    again = sg.load(tmp_path / "slope.json")
    for a in (APART, EQUAL):
        np.testing.assert_allclose(again(a), derivative(a), rtol=1e-12)
    slope = sg.grad(lambda a: np.sum(WEIGHTS * again(a)))
    np.testing.assert_allclose(slope(APART), sg.grad(lambda a: np.sum(WEIGHTS * derivative(a)))(APART), rtol=1e-9)
    assert np.isnan(slope(EQUAL)).any()
