"""A derivation read step by step computes what the kernel computes, whatever was derived."""

import numpy as np
import pytest
from derivations import READ, RNG, along, arm, bar, branching, close, cotangents, logistic, rosenbrock

import symgrad as sg
from symgrad import nn
from symgrad.closed_form.derivation.naming import user_name
from symgrad.errors import ArgumentError, UnsupportedOperation
from symgrad.tracing.tree import flatten
from symgrad.transforms import products


@pytest.mark.parametrize("case", READ)
def test_the_steps_compute_the_gradient(case):
    function, positions, args = READ[case]
    derived = sg.grad(function, positions)
    steps = derived.steps(*args)
    results = derived(*args)
    for found, wanted in zip(cotangents(steps, positions), flatten(results)[0], strict=True):
        close(found, wanted)
        assert np.asarray(found).dtype == np.asarray(wanted).dtype


@pytest.mark.parametrize("case", READ)
def test_forward_steps_compute_the_derivative_along_a_direction(case):
    function, positions, args = READ[case]
    if case == "float32":
        args = tuple(a.astype(np.float64) for a in args)
    derived = sg.grad(function, positions, mode="forward")
    steps = derived.steps(*args)
    names = [name.text for _, name, _ in steps._inputs]
    directions = [np.cos(np.arange(np.size(args[p]))).reshape(np.shape(args[p])) for p in positions]
    wanted = sum(np.sum(g * d) for g, d in zip(flatten(derived(*args))[0], directions, strict=True))
    found = along(steps, [names[p] for p in positions], directions)
    assert np.sum(found) == pytest.approx(wanted, rel=1e-9, abs=1e-9)


def test_one_number_is_derived_by_itself():
    steps = sg.grad(lambda x: np.sin(x**2) * x, mode="forward").steps(1.3)
    assert steps[-1].name.text == "ḟ"
    assert steps.values()["ḟ"] == pytest.approx(np.cos(1.69) * 2 * 1.69 + np.sin(1.69))


def test_hessians_are_derived_forward_over_reverse():
    w, X, y = READ["logistic"][2]
    derived = sg.hessian(logistic)
    steps = derived.steps(w, X, y)
    direction = np.array([1.0, -2.0, 0.5])
    close(along(steps, ["w"], [direction]), derived(w, X, y) @ direction)
    with pytest.raises(ArgumentError, match="mode='forward' only"):
        derived.steps(w, X, y, mode="reverse")


def test_hessians_of_slices():
    x = RNG.normal(size=5)
    derived = sg.hessian(rosenbrock)
    direction = RNG.normal(size=5)
    close(along(derived.steps(x), ["x"], [direction]), derived(x) @ direction)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_jacobians_in_both_modes(mode):
    q = np.array([0.3, 0.8])
    derived = sg.jacobian(arm)
    steps = derived.steps(q, mode=mode)
    v = np.array([0.7, -1.1])
    if mode == "forward":
        close(along(steps, ["q"], [v]), derived(q) @ v)
    else:
        values = steps.values({user_name("f").marked("bar").text: v})
        close(values[user_name("q").marked("bar").text], v @ derived(q))


def test_jacfwd_is_shown_forward():
    assert "from the arguments on" in str(sg.jacfwd(np.sin).steps(np.ones(2)))


def test_pullbacks_have_steps():
    x, v = np.array([0.3, 0.8]), np.array([1.0, -2.0])
    _, pullback = sg.vjp(arm, x)
    close(_last(pullback.steps(v)), pullback(v)[0])


def test_products_forward():
    x, v = np.array([0.3, 0.8]), np.array([1.0, -2.0])
    pushed = products.derived_once(products._Pushforward, arm, False, "auto").steps((x,), (v,))
    close(_last(pushed), sg.jvp(arm, x, v)[1])
    curved = products.derived_once(products._HessianProduct, rosenbrock, False, "auto").steps((x,), (v,))
    close(_last(curved), sg.hvp(rosenbrock, x, v))


def test_notes_say_for_what_the_steps_hold():
    assert "for the branches that these arguments take" in str(sg.grad(branching).steps(np.ones(2)))
    assert "sum of all elements" in str(sg.grad(np.sin, mode="forward").steps(np.ones(2)))


def _last(steps):
    return steps.values()[steps[-1].name.text]


def test_sens_is_the_seed():
    derived = sg.GradOperation(sens_param=True)(lambda x: np.sin(x) * x)
    x, sens = np.array([0.3, 0.8]), np.array([1.0, -2.0])
    steps = derived.steps(x, sens)
    assert "as it was given" in str(steps)
    close(_last(steps), derived(x, sens))


def test_value_and_grad_and_weights():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc1 = nn.Dense(3, 4)
            self.fc2 = nn.Dense(4, 1)

        def construct(self, x):
            h = np.tanh(self.fc1(x))
            return self.fc2(h)

    net = Net()
    x = sg.Tensor(RNG.normal(size=(2, 3)).astype(np.float32))
    derived = sg.grad(net, None, weights=net.trainable_params())
    steps = derived.steps(x)
    values = steps.values()
    for parameter, wanted in zip(net.trainable_params(), derived(x), strict=True):
        close(values[bar(user_name(parameter.name))], wanted)
    assert "h = tanh(" in str(steps)
    assert sg.value_and_grad(logistic).steps(*READ["logistic"][2]).values()["w̄"].shape == (3,)


def test_nested_gradients():
    x = 1.3
    derived = sg.grad(sg.grad(lambda x: np.sin(x) * x))
    close(derived.steps(x).values()["x̄"], derived(x))


def test_aux_and_constants_are_not_derived():
    c = np.array([1.0, 2.0])

    def f(x, y):
        return np.sum(x * c), y * 2

    derived = sg.grad(f, has_aux=True)
    steps = derived.steps(np.ones(2), np.ones(2))
    close(steps.values()["x̄"], c)
    assert "ȳ" not in steps.values()


def test_what_does_not_matter_is_zero():
    steps = sg.grad(lambda x, y: np.sum(x) + 0.0 * np.sum(np.floor(y)), (0, 1)).steps(np.ones(2), np.ones(3))
    close(steps.values()["ȳ"], np.zeros(3))


def test_named_dims_and_shapes():
    derived = sg.grad(sg.named(logistic, w="d", X="n d", y="n"))
    steps = derived.steps()
    w, X, y = READ["logistic"][2]
    close(steps.values({"w": w, "X": X, "y": y})["w̄"], derived(w, X, y))
    assert "shape (n,)" in str(steps)
    again = sg.grad(rosenbrock).steps("n")
    close(again.values({"x": np.arange(4.0)})["x̄"], sg.grad(rosenbrock)(np.arange(4.0)))
    with pytest.raises(ArgumentError, match=r"pass x, an array of shape \(n,\)"):
        again.values()


def test_refusals():
    with pytest.raises(ArgumentError, match="'sideways' is unknown"):
        sg.grad(np.sin).steps(1.0, mode="sideways")
    with pytest.raises(ArgumentError, match="budget"):
        sg.grad(np.sin).steps(1.0, budget=0)
    with pytest.raises(UnsupportedOperation, match="no single sweep"):
        sg.vmap(sg.grad(np.sin)).steps(np.ones(3))
    with pytest.raises(ArgumentError, match="no argument or free seed called 'q'"):
        sg.grad(np.sin).steps(1.0).values({"q": 1.0})


def test_after_a_call_no_arguments_are_needed_where_shapes_are_declared():
    derived = sg.grad(np.sin)
    derived(1.0)
    with pytest.raises(ArgumentError, match="pass the arguments"):
        derived.steps()


def test_steps_are_those_of_real_numbers():
    from scipy.stats import norm

    def price(S, sigma):
        d = np.log(S) / sigma
        return S * norm.cdf(d) - norm.cdf(d - sigma)

    told = sg.grad(price, (0, 1)).steps(1.2, 0.3)
    assert not any("nan" in line.text or "[1 >" in line.text for line in told)
    assert "d = v₁ / sigma" in [line.text for line in told]
    for mode in ("reverse", "forward"):
        values = sg.grad(price, (0, 1)).steps(1.2, 0.3, mode=mode).values()
        assert values["f"] == price(1.2, 0.3)


def test_rows_picked_by_an_array_of_two_axes():
    E, bags = RNG.normal(size=(4, 2)), np.array([[0, 1], [2, -1]])
    told = sg.grad(lambda E, bags: np.sum(np.tanh(E[bags]))).steps(E, bags)
    assert [line.text for line in told][:2] == ["v₁ = E[bags]", "v₂ = tanh(v₁)"]
