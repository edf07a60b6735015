"""grad, value_and_grad, get_grad and GradOperation: MindSpore's return structure, to the letter."""

import numpy as np
import pytest

import symgrad
from symgrad import GradOperation, get_grad, grad, value_and_grad
from symgrad.errors import ArgumentError
from symgrad.tensor import Parameter

X, Y = np.array([1.0, 2.0]), np.array([3.0, 5.0])
MODES = ["auto", "forward", "reverse"]


def product(x, y):
    return x * y


def close(got, want):
    """The same structure, equal arrays."""
    if isinstance(want, (tuple, list, dict)):
        assert type(got) is type(want)
        assert len(got) == len(want)
        pairs = zip(got.items(), want.items()) if isinstance(want, dict) else zip(got, want)
        for a, b in pairs:
            close(a, b)
    elif isinstance(want, str):
        assert got == want
    else:
        assert np.shape(got) == np.shape(want)
        np.testing.assert_allclose(got, want)


@pytest.mark.parametrize("mode", MODES)
def test_positions(mode):
    close(grad(product, mode=mode)(X, Y), Y)
    close(grad(product, 1, mode=mode)(X, Y), X)
    close(grad(product, (0,), mode=mode)(X, Y), (Y,))
    close(grad(product, (1, 0), mode=mode)(X, Y), (X, Y))
    close(grad(product, [0, 1], mode=mode)(X, Y), (Y, X))
    close(grad(product, np.int64(1), mode=mode)(X, Y), X)


def test_a_tuple_of_one_position_gives_a_tuple_of_one():
    x = np.array([1.0, 2.0])
    close(value_and_grad(np.square, (0,))(3.0), (9.0, (6.0,)))
    close(symgrad.jacobian(np.square, (0,))(x), (np.diag(2 * x),))
    close(symgrad.hessian(lambda v: np.sum(v**2), [0])(x), ((2 * np.eye(2),),))


@pytest.mark.parametrize("mode", MODES)
def test_weights(mode):
    w, b = Parameter(np.array([2.0, 3.0]), name="w"), Parameter(np.array(1.0), name="b")

    def net(x, y):
        return w * x * y + b

    def by(*args, **kwargs):
        return grad(net, *args, mode=mode, **kwargs)(X, Y)

    close(by(None, [w, b]), (X * Y, 2.0))
    close(by(None, [w]), (X * Y,))
    close(by(None, w), X * Y)
    close(by(0, [w, b]), (Y * [2.0, 3.0], (X * Y, 2.0)))
    close(by((0, 1), [b]), ((Y * [2.0, 3.0], X * [2.0, 3.0]), (2.0,)))
    close(by(0, w), (Y * [2.0, 3.0], X * Y))
    close(by((0, 1), [w, b], return_ids=True)[1], (("w", X * Y), ("b", 2.0)))
    with pytest.raises(ValueError, match=r"^`grad_position` and `weight` can not be None at the same time\.$"):
        grad(net, None)


@pytest.mark.parametrize("mode", MODES)
def test_the_sum_over_all_elements_and_all_outputs(mode):
    close(grad(lambda x: (x**2, [3 * x, x[0] * 5]), mode=mode)(X), 2 * X + 3 + np.array([5.0, 0.0]))
    close(grad(lambda x: {"a": x, "b": np.argmax(x)}, mode=mode)(X), np.ones(2))


@pytest.mark.parametrize("mode", MODES)
def test_aux(mode):
    close(grad(lambda x, y: (x * y, y), has_aux=True, mode=mode)(X, Y), (Y, (Y,)))
    close(grad(lambda x, y: [x * y, x, y + 1], (0, 1), has_aux=True, mode=mode)(X, Y), ((Y, X), (X, Y + 1)))
    close(value_and_grad(lambda x, y: (x * y, x**3), has_aux=True, mode=mode)(X, Y), ((X * Y, X**3), Y))


@pytest.mark.parametrize("mode", MODES)
def test_values(mode):
    close(value_and_grad(product, mode=mode)(X, Y), (X * Y, Y))
    close(value_and_grad(product, (0, 1), mode=mode)(X, Y), (X * Y, (Y, X)))
    close(value_and_grad(lambda x: (x, {"k": x**2}), mode=mode)(X), ((X, {"k": X**2}), 1 + 2 * X))


def test_ids():
    close(grad(product, 1, return_ids=True)(X, Y), (1, X))
    close(grad(product, (1, 0), return_ids=True)(X, Y), ((1, X), (0, Y)))
    w = Parameter(np.array([2.0, 3.0]), name="scale")
    gradients = grad(lambda x, y: w * x * y, (0, 1), [w], return_ids=True)(X, Y)
    close(get_grad(gradients, 0), Y * [2.0, 3.0])
    close(get_grad(gradients, 1), X * [2.0, 3.0])
    close(get_grad(gradients, "scale"), X * Y)
    close(get_grad(gradients, w), X * Y)
    for missing in (2, "other", True):
        with pytest.raises(ValueError, match="there is no gradient with the id"):
            get_grad(gradients, missing)


def test_grad_operation():
    w, b = Parameter(np.array([2.0, 3.0]), name="w"), Parameter(np.array(1.0), name="b")

    def net(x, y):
        return w * x * y + b

    close(GradOperation()(net)(X, Y), Y * [2.0, 3.0])
    close(GradOperation(get_all=True)(net)(X, Y), (Y * [2.0, 3.0], X * [2.0, 3.0]))
    close(GradOperation(get_all=True)(lambda x: x**2)(X), (2 * X,))
    close(GradOperation(get_by_list=True)(net, [w, b])(X, Y), (X * Y, 2.0))
    close(GradOperation(get_by_list=True)(net, [w])(X, Y), (X * Y,))
    both = GradOperation(get_all=True, get_by_list=True)(net, [w])(X, Y)
    close(both, ((Y * [2.0, 3.0], X * [2.0, 3.0]), (X * Y,)))


def test_sens():
    s = np.array([10.0, 0.5])
    close(GradOperation(sens_param=True)(product)(X, Y, s), s * Y)
    close(GradOperation(sens_param=True)(product)(X, Y, sens=s), s * Y)
    close(GradOperation(get_all=True, sens_param=True)(product)(X, Y, s), (s * Y, s * X))
    pair = GradOperation(sens_param=True)(lambda x: (x**2, np.sum(x)))
    close(pair(X, (s, 4.0)), 2 * X * s + 4)
    close(GradOperation(sens_param=True)(np.sum)(X, 3.0), np.full(2, 3.0))


def test_sens_errors():
    g = GradOperation(sens_param=True)(product)
    with pytest.raises(TypeError, match=r"sens, of the output's shape; it got 2 arguments"):
        g(X, Y)
    with pytest.raises(ValueError, match=r"sens has shape \(3,\) and the output has shape \(2,\)"):
        g(X, Y, np.ones(3))
    with pytest.raises(ValueError, match=r"sens has shape \(\) and the output has shape \(2,\)"):
        g(X, Y, 1.0)
    with pytest.raises(TypeError, match="sens holds 2 arrays and the function has 1 outputs"):
        g(X, Y, (X, X))
    with pytest.raises(TypeError, match="build it with sens_param=True"):
        grad(product)(X, Y, sens=X)
    close(g(X, Y, X), X * Y)


def test_sens_that_is_itself_traced():
    def outer(x, s):
        return np.sum(GradOperation(sens_param=True)(lambda v: v**3)(x, s**2) * x)

    close(grad(outer, (0, 1))(X, Y), (9 * X**2 * Y**2, 6 * X**3 * Y))


def test_an_argument_that_is_left_out_has_its_default():
    def scaled(x, w=2.0):
        return np.sum(w * x**2)

    x = np.arange(3.0)
    assert grad(scaled, "w")(x) == grad(scaled, 1)(x, 2.0) == 5.0
    assert grad(scaled, 1).formulas(x).text_rows(["g"]) == ["g = ‖x‖²"]
    by_x, by_w = symgrad.jacobian(scaled, (0, 1))(x)
    np.testing.assert_array_equal(by_x, 4 * x)
    assert by_w == 5.0
    with pytest.raises(ValueError, match="no arguments are given"):
        grad(scaled)()


def test_keyword_arguments():
    def fn(x, *, k=1.0, flag=False, arr=None):
        return np.sum(x**2 * k * (arr if arr is not None else 1.0)) if flag else np.sum(x * k)

    g = grad(fn)
    close(g(X), np.ones(2))
    close(g(X, k=3.0), np.full(2, 3.0))
    close(g(X, flag=True, k=2.0), 4 * X)
    close(g(X, k=2.0, flag=True, arr=Y), 4 * X * Y)
    close(g(X, arr=2 * Y, k=2.0, flag=True), 8 * X * Y)


def test_unused_and_constant():
    close(grad(lambda x, y: np.sum(y), (0, 1))(X, Y), (np.zeros(2), np.ones(2)))
    close(grad(lambda x: 3.0)(X), np.zeros(2))
    close(grad(lambda x: np.float32(2.0) + 0 * x.sum())(X), np.zeros(2))
    close(grad(lambda x: x)(2.0), 1.0)


def test_python_floats_and_numpy_scalars():
    for value in (2.0, np.float64(2.0), np.array(2.0)):
        got = grad(lambda x: x**3)(value)
        assert (got, got.dtype, np.shape(got)) == (12.0, np.float64, ())
    assert grad(lambda x: x * 2.5)(np.float32(3.0)).dtype == np.float32


DOOR = {
    "negative": (lambda: grad(product, -1), ValueError, "grad_position -1 is negative"),
    "twice": (lambda: grad(product, (0, 0)), ValueError, "names a position twice"),
    "empty": (lambda: grad(product, ()), ValueError, "empty tuple"),
    "float": (
        lambda: grad(product, 1.0),
        TypeError,
        "must be an int, the name of an argument or a tuple of these, got 1.0",
    ),
    "bool": (lambda: grad(product, True), TypeError, "must be an int"),
    "a name that is none": (lambda: grad(product, "q"), ValueError, "no argument 'q'; its arguments are x, y"),
    "by keyword": (lambda: grad(lambda x, *, k: x * k, "k"), ValueError, "k is passed by keyword alone"),
    "twice by name": (lambda: grad(product, (0, "x")), ValueError, "names a position twice"),
    "unknown by name": (lambda: grad(product)(z=3.0), ValueError, "no argument 'z'; its arguments are"),
    "nested": (lambda: grad(product, ((0,),)), TypeError, r"must hold ints and names, got \(0,\)"),
    "bool inside": (lambda: grad(product, (0, True)), TypeError, "must hold ints and names, got True"),
    "too large": (lambda: grad(product, 2)(X, Y), ValueError, "grad_position 2 is out of range.*2 positional"),
    "too large in a tuple": (lambda: grad(product, (0, 5))(X, Y), ValueError, "grad_position 5 is out of range"),
    "left out": (lambda: grad(product, 1)(X), ValueError, "1 is out of range.*1 positional argument\\."),
    "has_aux": (lambda: grad(product, has_aux=1), TypeError, "has_aux must be True or False, got 1"),
    "return_ids": (lambda: grad(product, return_ids="yes"), TypeError, "return_ids must be True or False, got 'yes'"),
    "get_all": (lambda: GradOperation(get_all=None), TypeError, "get_all must be True or False"),
    "get_by_list": (lambda: GradOperation(get_by_list=0), TypeError, "get_by_list must be True or False"),
    "sens_param": (lambda: GradOperation(sens_param=1.0), TypeError, "sens_param must be True or False"),
    "no list": (lambda: GradOperation(get_by_list=True)(product), TypeError, "needs the parameters"),
    "one output with has_aux": (lambda: grad(product, has_aux=True)(X, Y), ValueError, "two outputs or more"),
    "a one-tuple with has_aux": (lambda: grad(lambda x: (x,), has_aux=True)(X), ValueError, "two outputs or more"),
    "int": (lambda: grad(product)(2, Y), TypeError, r"argument 0 has dtype int64 .* pass floats \(1.0 instead of 1\)"),
    "int array": (lambda: grad(product)(np.arange(2), Y), TypeError, r"argument 0 has dtype int64.*x.astype\(float\)"),
    "bool array": (lambda: grad(product, 1)(X, X > 1), TypeError, "argument 1 has dtype bool"),
    "int in a list": (lambda: grad(lambda p: p[0] * p[1])([1.0, 2]), TypeError, "argument 0, at 1, has dtype int64"),
    "None": (lambda: grad(lambda x: x)(None), TypeError, "argument 0 is a NoneType"),
    "string": (lambda: grad(lambda x: x)("a"), TypeError, "argument 0 is a str"),
    "an empty list": (lambda: grad(lambda x: 1.0)([]), ValueError, "argument 0 holds no array"),
    "no arguments": (lambda: grad(product)(), ValueError, "no arguments are given"),
    "not a function": (lambda: grad(3.0), TypeError, "fn must be a function or a Cell, got a float"),
    "returns None": (lambda: grad(lambda x: None)(X), TypeError, "returned None"),
    "returns ints": (lambda: grad(np.argmax)(X), TypeError, "no float or complex dtype"),
    "weights of another kind": (lambda: grad(product, 0, [X]), TypeError, "weights must be a Parameter"),
    "no weights": (lambda: grad(product, 0, []), ValueError, "weights is empty"),
    "mode": (lambda: grad(product, mode="backward"), ValueError, "mode='backward' is unknown; choose one of"),
    "backend": (lambda: grad(product, backend="cuda"), ValueError, "backend='cuda' is unknown; choose one of"),
}


@pytest.mark.parametrize("name", DOOR)
def test_mistakes_are_told_at_the_door(name):
    mistake, error, message = DOOR[name]
    with pytest.raises(error, match=message) as caught:
        mistake()
    assert isinstance(caught.value, symgrad.errors.SymgradError)


def test_weights_twice():
    w = Parameter(np.ones(2), name="w")
    with pytest.raises(ValueError, match="names a parameter twice"):
        grad(product, 0, [w, w])


@pytest.mark.parametrize("verb", [grad, symgrad.value_and_grad, symgrad.jacobian, symgrad.jacrev, symgrad.hessian])
def test_arguments_by_name(verb):
    def f(x, y, /, z, *rest, k=1.0):
        return x**2 * y * np.sin(z) * k

    args = 1.5, 2.0, 0.3
    for names, positions in (("y", 1), (("z", "x"), (2, 0)), (["x", 1], (0, 1))):
        assert str(verb(f, names)(*args)) == str(verb(f, positions)(*args))
    assert str(grad(grad(f, "z"), "y")(*args)) == str(grad(grad(f, 2), 1)(*args))


def test_arguments_of_a_cell_by_name():
    class Net(symgrad.nn.Cell):
        def construct(self, x, y):
            return x**2 * y

    assert grad(Net(), "y")(3.0, 2.0) == 9.0


@pytest.mark.parametrize("name", ["grad", "value_and_grad", "jacobian", "jacfwd", "jacrev", "hessian"])
def test_what_it_is_taken_by_has_three_names(name):
    transform = getattr(symgrad, name)

    def f(x, y):
        return x**2 * y**3

    want = transform(f, 1)(2.0, 3.0)
    assert transform(f, argnums=1)(2.0, 3.0) == transform(f, wrt="y")(2.0, 3.0) == transform(f, "y")(2.0, 3.0) == want
    assert transform(f, argnums=(0, 1))(2.0, 3.0) == transform(f, wrt=("x", "y"))(2.0, 3.0)
    for both in ({"argnums": 1, "wrt": "y"}, {"grad_position": 1, "argnums": 1}):
        with pytest.raises(ArgumentError, match="say the same; give one of them"):
            transform(f, **both)


def scaled(x, y=2.0, *, power=2):
    return np.sum(x**power * y)


@pytest.mark.parametrize(
    ("position", "args", "kwargs"),
    [
        (0, (), {"x": 3.0}),
        (0, (), {"y": 4.0, "x": 3.0}),
        (1, (3.0,), {"y": 4.0}),
        (1, (), {"y": 4.0, "x": 3.0}),
        (1, (3.0,), {"power": 3}),
        ((0, 1), (), {"x": 3.0, "power": 3}),
        ("y", (), {"x": 3.0, "y": 1.0}),
    ],
)
def test_arguments_that_it_is_taken_by_may_be_named(position, args, kwargs):
    whole = (args[0] if args else kwargs["x"], kwargs.get("y", 2.0))
    power = kwargs.get("power", 2)
    derived = grad(scaled, position)
    wanted = derived(*whole, power=power)
    for found in (derived(*args, **kwargs), derived(*args, **kwargs)):
        np.testing.assert_array_equal(found, wanted)
    assert derived.program(*args, **kwargs).outputs
    assert "∂f/∂" in str(derived.steps(*args, **kwargs))
