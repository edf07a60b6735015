"""Everything that is called goes to other processes and is copied, before and after it was called."""

from __future__ import annotations

import concurrent.futures
import copy
import multiprocessing
import pickle

import numpy as np
import pickled_functions as given
import pytest
import sympy

import symgrad as sg
from symgrad.errors import UnsupportedOperation
from symgrad.tracing.tree import flatten

X = np.array([0.5, 1.5])
IMAGE = np.ones((1, 2), np.float32)
MANY = np.arange(6.0).reshape(3, 2)
SYMBOLS = sympy.symbols("x y")
A, B = sympy.MatrixSymbol("A", 2, 2), sympy.MatrixSymbol("b", 2, 1)


def _by_weights():
    net = given.Net()
    return sg.value_and_grad(net, None, net.trainable_params())


def _loaded(tmp_path):
    path = tmp_path / "slope.json"
    sg.grad(given.plain).export("json", X, path=path)
    return sg.load(path)


#: what makes a function, and arguments to call it with
MADE = {
    "grad": (lambda: sg.grad(given.plain), (X,)),
    "grad by both": (lambda: sg.grad(given.product, (0, 1), return_ids=True, mode="forward"), (X, X)),
    "grad of grad": (lambda: sg.grad(sg.grad(given.plain)), (X,)),
    "value_and_grad": (lambda: sg.value_and_grad(given.pair, has_aux=True), (X,)),
    "weights": (_by_weights, (IMAGE,)),
    "GradOperation": (lambda: sg.GradOperation(get_all=True, sens_param=True)(given.pair), (X, (X, 1.0))),
    "jacobian": (lambda: sg.jacobian(given.pair, backend="numpy"), (X,)),
    "jacfwd": (lambda: sg.jacfwd(given.plain), (X,)),
    "jacrev": (lambda: sg.jacrev(given.plain), (X,)),
    "hessian": (lambda: sg.hessian(given.plain), (X,)),
    "vmap": (lambda: sg.vmap(sg.grad(given.product), in_axes=(0, None)), (MANY, X)),
    "vmap of named dims": (lambda: sg.vmap(given.annotated), (MANY,)),
    "symbolic": (lambda: sg.symbolic(given.plain), (X,)),
    "annotated": (lambda: sg.grad(given.annotated), (X,)),
    "named": (lambda: sg.grad(given.renamed), (X,)),
    "named alone": (lambda: given.renamed, (X,)),
    "stopping": (lambda: sg.grad(sg.stopping(given.local, ["square"])), (X,)),
    "pullback": (lambda: sg.vjp(given.product, X, X)[1], (1.0,)),
    "a custom function": (lambda: sg.grad(given.rooted), (X,)),
    "with a custom function": (lambda: sg.hessian(given.of_rooted), (X,)),
    "decorated": (lambda: given.decorated, (X,)),
    "decorated twice": (lambda: given.decorated_twice, (2.0,)),
    "grad of decorated": (lambda: sg.jacobian(given.decorated), (X,)),
    "of a model": (lambda: given.Model(3.0).slope, (X,)),
    "from_sympy": (lambda: sg.from_sympy(SYMBOLS[0] ** 2 * SYMBOLS[1], list(SYMBOLS)), (2.0, 3.0)),
    "from_sympy of matrices": (lambda: sg.from_sympy(B.T * A * B, B), (np.ones((2, 1)), np.eye(2))),
    "from_latex": (lambda: sg.from_latex("x^2 y", "x"), (2.0, 3.0)),
    "Cell": (given.Net, (IMAGE,)),
    "activation": (lambda: sg.nn.Softmax(axis=0), (X,)),
    "loss": (sg.nn.MSELoss, (X, X + 1)),
    "operator": (lambda: sg.ops.Softmax(axis=0), (X,)),
    "function of an operator": (lambda: sg.ops.softmax, (X,)),
}
COPIED = {
    "pickle": lambda made: pickle.loads(pickle.dumps(made)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}


def check_same(got, want):
    (got, shape), (want, wanted) = flatten(got), flatten(want)
    assert shape == wanted
    for a, b in zip(got, want, strict=True):
        assert type(a) is type(b)
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("copied", COPIED)
@pytest.mark.parametrize("name", MADE)
def test_copies_give_what_the_original_gives(name, copied):
    make, args = MADE[name]
    made = make()
    before = COPIED[copied](made)
    want = made(*args)
    after = COPIED[copied](made)
    for other in (before, after, COPIED[copied](after)):
        check_same(other(*args), want)
    check_same(made(*args), want)


@pytest.mark.parametrize("copied", COPIED)
def test_a_loaded_function_is_copied(tmp_path, copied):
    made = _loaded(tmp_path)
    for _ in range(2):
        check_same(COPIED[copied](made)(X), made(X))
    assert COPIED[copied](made).check().passed
    check_same(COPIED[copied](sg.jacobian(made))(X), sg.jacobian(made)(X))


def test_the_methods_of_a_copy_work():
    made = sg.hessian(given.plain)
    made.sparsity(X), made.contributions((0, 0), X), made(X)
    other = pickle.loads(pickle.dumps(made))
    assert repr(other) == repr(made)
    assert other.flags == made.flags
    assert other.sparsity(X) == made.sparsity(X)
    assert str(other.program(X)) == str(made.program(X))
    assert other.contributions((0, 0), X).value == made.contributions((0, 0), X).value


def test_a_pickle_holds_what_was_asked_for_and_nothing_that_was_made():
    made = sg.grad(given.plain)
    before = pickle.dumps(made)
    made(X), made(MANY), made.latex(X)
    assert pickle.dumps(made) == before
    assert len(before) < 1000


def test_a_copy_has_traces_of_its_own():
    made = sg.grad(given.plain)
    made(X)
    for copied in COPIED.values():
        assert copied(made)._compiled is not made._compiled
        assert copied(made)._compiled.latest is None


def test_a_decorated_function_is_itself_wherever_it_is_imported():
    for copied in COPIED.values():
        assert copied(given.decorated) is given.decorated
        assert copied(given.renamed) is given.renamed


def test_a_deep_copy_differentiates_by_its_own_weights():
    net = given.Net()
    made, copied = copy.deepcopy((sg.grad(net, None, net.trainable_params()), net))
    before = made(IMAGE)
    net.dense.weight.set_data(net.dense.weight + 1)
    check_same(made(IMAGE), before)
    copied.dense.weight.set_data(copied.dense.weight + 1)
    assert not np.array_equal(made(IMAGE)[0], before[0])


def test_a_model_that_holds_its_gradient_is_copied_whole():
    model = given.Model(3.0)
    model.slope(X)
    for copied in (COPIED["pickle"], COPIED["deepcopy"]):
        other = copied(model)
        other.scale = 5.0
        check_same(other.slope(X), 10.0 * X)
    check_same(model.slope(X), 6.0 * X)


def test_another_process_takes_what_has_been_called():
    """Takes seconds: a fresh interpreter imports everything."""
    names = ["grad", "vmap of named dims", "decorated", "from_sympy", "of a model"]
    pairs = [(MADE[name][0](), MADE[name][1]) for name in names]
    wanted = [made(*args) for made, args in pairs]
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        asked = [pool.submit(made, *args) for made, args in pairs]
        for future, want in zip(asked, wanted, strict=True):
            check_same(future.result(), want)


def test_functions_that_no_module_holds_travel_by_value():
    cloudpickle = pytest.importorskip("cloudpickle", reason="joblib's way, which only comes with the notebook's parts")
    scale = 3.0
    made = sg.grad(lambda x: np.sum(x**2) * scale)
    for _ in range(2):
        check_same(pickle.loads(cloudpickle.dumps(made))(X), made(X))
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(made)


def test_programs_travel_as_json():
    made = sg.value_and_grad(given.annotated).program()
    other = pickle.loads(pickle.dumps(made))
    assert str(other) == str(made)
    assert copy.deepcopy(made) is made


def test_results_are_copied():
    made = sg.hessian(given.plain)
    for result in (made.sparsity(X), made.closed_form(X)):
        assert pickle.loads(pickle.dumps(result)) == result
    for result in (made.contributions((0, 0), X), made.agreement(X), made.equals(made, X)):
        assert repr(pickle.loads(pickle.dumps(result))) == repr(result)


@pytest.mark.parametrize("ask", ["kernel", "steps", "provenance", "explain"])
def test_what_belongs_to_its_process_is_copied_and_says_so_where_it_is_pickled(ask):
    found = getattr(sg.jacobian(given.plain), ask)(X)
    assert repr(copy.deepcopy(found)) == repr(copy.copy(found)) == repr(found)
    with pytest.raises(UnsupportedOperation, match="pickle the derivative"):
        pickle.dumps(found)
