"""A derivation read step by step computes what the kernel computes, for every operation, and reads well."""

import shutil
import subprocess
import time

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from operands import draw

import symgrad as sg
from symgrad import nn
from symgrad.closed_form.derivation.naming import Name, user_name
from symgrad.errors import ArgumentError, TracingError, UnsupportedOperation
from symgrad.primitives.elementwise import TEMPLATES
from symgrad.primitives.functions import DOMAINS
from symgrad.tracing.declare import CASES, Given
from symgrad.tracing.tree import flatten
from symgrad.transforms import products


def logistic(w, X, y):
    z = X @ w
    return np.sum(np.log(1 + np.exp(-y * z)))


def cross_entropy(W, X, Y):
    Z = X @ W
    Z = Z - np.max(Z, axis=1, keepdims=True)
    P = np.exp(Z) / np.sum(np.exp(Z), axis=1, keepdims=True)
    return -np.sum(Y * np.log(P))


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def ridge(w, X, y, lam):
    r = X @ w - y
    return 0.5 * r @ r + lam * w @ w


def gaussian(mu, S, x):
    d = x - mu
    return -0.5 * np.linalg.slogdet(S)[1] - 0.5 * d @ np.linalg.solve(S, d)


def arm(q):
    a = q[0]
    b = q[0] + q[1]
    return np.stack([np.cos(a) + 0.5 * np.cos(b), np.sin(a) + 0.5 * np.sin(b)])


def attention(Q, K, V):
    S = Q @ K.T / np.sqrt(K.shape[1])
    A = np.exp(S - np.max(S, axis=1, keepdims=True))
    A = A / np.sum(A, axis=1, keepdims=True)
    return A @ V


def call(S, K, r, sigma, T):
    d1 = (np.log(S / K) + (r + sigma**2 / 2) * T) / (sigma * np.sqrt(T))
    d2 = d1 - sigma * np.sqrt(T)
    return S / (1 + np.exp(-1.7 * d1)) - K * np.exp(-r * T) / (1 + np.exp(-1.7 * d2))


def leaky(x):
    return np.sum(np.where(x > 0, x, 0.1 * x) ** 2) + np.sum(np.maximum(x, 0))


def normalised(x, g):
    m = np.mean(x, axis=1, keepdims=True)
    v = np.mean((x - m) ** 2, axis=1, keepdims=True)
    return np.sum(g * (x - m) / np.sqrt(v + 1e-5))


def loop(x, W):
    for _ in range(3):
        x = np.tanh(W @ x)
    return np.sum(x**2)


def picked(E, i):
    rows = E[i]
    return np.sum(rows**2)


def branching(x):
    return np.sum(x**2) if np.sum(x) > 0 else np.sum(-x)


RNG = np.random.default_rng(0)
A = RNG.normal(size=(4, 4))
READ = {
    "logistic": (logistic, (0,), (RNG.normal(size=3), RNG.normal(size=(6, 3)), np.sign(RNG.normal(size=6)))),
    "cross entropy": (
        cross_entropy,
        (0,),
        (RNG.normal(size=(4, 3)), RNG.normal(size=(6, 4)), np.eye(3)[[0, 1, 2, 0, 1, 2]]),
    ),
    "rosenbrock": (rosenbrock, (0,), (RNG.normal(size=5),)),
    "ridge": (ridge, (0, 3), (RNG.normal(size=3), RNG.normal(size=(6, 3)), RNG.normal(size=6), 0.1)),
    "gaussian": (gaussian, (0, 1), (RNG.normal(size=4), A @ A.T + np.eye(4), RNG.normal(size=4))),
    "arm": (arm, (0,), (RNG.normal(size=2),)),
    "attention": (attention, (0, 1, 2), tuple(RNG.normal(size=(5, 3)) for _ in range(3))),
    "call": (call, (0, 3), (100.0, 95.0, 0.02, 0.3, 1.5)),
    "leaky": (leaky, (0,), (RNG.normal(size=6),)),
    "normalised": (normalised, (0, 1), (RNG.normal(size=(5, 4)), RNG.normal(size=4))),
    "loop": (loop, (0, 1), (RNG.normal(size=4), RNG.normal(size=(4, 4)))),
    "picked": (picked, (0,), (RNG.normal(size=(5, 3)), np.array([0, 2, -1, 2]))),
    "branching": (branching, (0,), (np.array([1.0, 2.0]),)),
    "float32": (loop, (0, 1), (RNG.normal(size=4).astype(np.float32), RNG.normal(size=(4, 4)).astype(np.float32))),
    "empty": (rosenbrock, (0,), (np.ones(1),)),
}


def bar(name):
    return name.marked("bar").text


def cotangents(steps, positions):
    """The cotangents of the arguments, computed line by line."""
    values = steps.values()
    names = [name for _, name, _ in steps._inputs]
    return [values[bar(names[p])] for p in positions]


def places(args, positions):
    """Where the arrays at these positions stand among all arrays."""
    counts = [len([v for v in flatten(a)[0] if isinstance(v, (np.ndarray, np.generic, float))]) for a in args]
    return [sum(counts[:p]) for p in positions]


def close(found, wanted):
    wanted = np.asarray(wanted)
    rough = wanted.dtype == np.float32
    np.testing.assert_allclose(
        found, wanted, rtol=1e-4 if rough else 1e-9, atol=(1e-5 if rough else 1e-11) * _largest(wanted)
    )


def _largest(x):
    finite = np.abs(np.asarray(x, float))[np.isfinite(x)]
    return max(1.0, float(finite.max(initial=0.0)))


def along(steps, names, directions):
    """The last value, along these directions of the arguments."""
    given = {Name(n, n).marked("dot").text: v for n, v in zip(names, directions, strict=True)}
    values = steps.values(given)
    return values[steps[-1].name.text]


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
    pushed = products._derived(products._Pushforward, arm, False, "auto").steps((x,), (v,))
    close(_last(pushed), sg.jvp(arm, x, v)[1])
    curved = products._derived(products._HessianProduct, rosenbrock, "auto").steps((x,), (v,))
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


def test_the_function_is_told_in_its_own_names():
    text = str(sg.grad(logistic).steps(*READ["logistic"][2]))
    assert text.splitlines()[3].split() == ["z", "=", "Xw", "shape", "(6,)"]
    assert "z̄ = −y ⊙ v̄₁" in text
    assert "w̄ = Xᵀz̄" in text
    assert "∂f/∂w = −Xᵀ(y ⊙ σ(−y ⊙ Xw))" in text


def test_names_that_are_bound_again_are_numbered():
    text = str(sg.grad(loop, (0, 1)).steps(*READ["loop"][2]))
    assert "x₃ = tanh(v₃)" in text
    assert "W̄ = v̄₁xᵀ + v̄₂x₁ᵀ + v̄₃x₂ᵀ" in text
    assert "used in v₃, v₂ and v₁, so contributions add up" in text


def test_computed_values_are_used_again():
    """d exp(u) = exp(u) du, in terms of what exp(u) is called."""

    def f(x):
        u = np.exp(x)
        return np.sum(u**2)

    assert "x̄ = u ⊙ ū" in str(sg.grad(f).steps(np.ones(3)))


def test_slices_add_to_their_places():
    text = str(sg.grad(rosenbrock).steps(np.ones(5)))
    assert "x̄[1:5] += v̄₁" in text
    assert "Ē[i] += r̅o̅w̅s̅" in str(sg.grad(picked).steps(*READ["picked"][2]))


def test_hostile_names_stay_names():
    def f(**arguments):
        return sum(np.sum(v**2) for v in arguments.values())

    names = ["a.b", r"\input{/etc/passwd}", "</script>", "$x$", "v1", "vbar", "Δt", "x" * 60]
    derived = sg.grad(lambda p: f(**p))
    steps = derived.steps({n: np.ones(2) for n in names})
    written = steps.latex() + steps.markdown() + steps._repr_html_()
    assert r"\input{/" not in written
    assert "</script>" not in written
    assert len({s.name.latex for s in steps}) == len({s.target for s in steps})


def test_reprs_of_a_notebook():
    steps = sg.grad(logistic).steps(*READ["logistic"][2])
    assert steps._repr_latex_().startswith(r"$\displaystyle \begin{aligned}")
    assert r"$\displaystyle \bar{w} = X^\top \bar{z}$ | linear in w" in steps._repr_markdown_()
    assert "<td" in steps._repr_html_()
    assert steps[0]._repr_latex_() == r"$\displaystyle z = X w$"
    assert repr(steps[0]).startswith("z = Xw")
    assert len(steps) == len(list(steps)) == len(steps[:])


@pytest.mark.parametrize("budget", [2, 10, 1000])
def test_long_derivations_are_cut_with_a_note(budget):
    def f(x):
        for _ in range(40):
            x = np.sin(x) * x
        return x

    steps = sg.grad(f).steps(0.9, budget=budget)
    text = str(steps)
    assert ("more lines, budget=" in text) == (budget < 1000)
    assert len(text.splitlines()) < len(steps) + 12
    assert text.count("\n") < budget + 20
    close(steps.values()["x̄"], sg.grad(f)(0.9))


def test_thousands_of_operations():
    def f(x):
        total = 0.0
        for k in range(1000):
            total = total + np.sin(k * x)
        return total

    start = time.perf_counter()
    steps = sg.grad(f).steps(0.3)
    text, written = str(steps), steps.latex()
    assert time.perf_counter() - start < 30
    assert len(steps) > 3000
    assert len(text) + len(written) < 60_000
    close(steps.values()["x̄"], sg.grad(f)(0.3))


def test_refusals():
    with pytest.raises(ArgumentError, match="'sideways' is unknown"):
        sg.grad(np.sin).steps(1.0, mode="sideways")
    with pytest.raises(ArgumentError, match="budget"):
        sg.grad(np.sin).steps(1.0, budget=0)
    with pytest.raises(UnsupportedOperation, match="differentiates nothing itself"):
        sg.vmap(sg.grad(np.sin)).steps(np.ones(3))
    with pytest.raises(ArgumentError, match="no argument or free seed called 'q'"):
        sg.grad(np.sin).steps(1.0).values({"q": 1.0})


def test_after_a_call_no_arguments_are_needed_where_shapes_are_declared():
    derived = sg.grad(np.sin)
    derived(1.0)
    with pytest.raises(ArgumentError, match="pass the arguments"):
        derived.steps()


OPERATIONS = [
    name
    for name in TEMPLATES
    if any(not isinstance(low, (bool, int)) or isinstance(low, float) for low, _ in DOMAINS[name])
]


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_elementwise_operation(name):
    rng = np.random.default_rng(3)
    shapes = {1: [(2, 3)], 2: [(2, 3), (3,)], 3: [(2, 3), (3,), ()]}[TEMPLATES[name].arity]
    args = [draw(rng, interval, shape) for interval, shape in zip(DOMAINS[name], shapes, strict=True)]
    ufunc = TEMPLATES[name].ufunc
    positions = tuple(k for k, a in enumerate(args) if a.dtype.kind == "f")
    if not positions or np.asarray(ufunc(*args)).dtype.kind != "f":
        return
    _check(lambda *xs: np.sum(ufunc(*xs) * 1.5), args, positions)


def _check(function, args, positions):
    derived = sg.grad(function, positions)
    try:
        results = flatten(derived(*args))[0]
    except TracingError:
        return  # it has no derivative by one of them
    steps = derived.steps(*args)
    for found, wanted in zip(cotangents(steps, places(args, positions)), results, strict=True):
        close(found, wanted)
    assert str(steps)
    assert steps.latex().count(r"\begin") == steps.latex().count(r"\end")


FUNCTION_CASES = [
    pytest.param(function, case, id=f"{function.__name__}-{case}")
    for function, cases in CASES.items()
    for case in cases[:1]
]


@pytest.mark.parametrize(("function", "case"), FUNCTION_CASES)
def test_every_numpy_function(function, case):
    args = case.draw(np.random.default_rng(7))
    held = [k for k, a in enumerate(case.args) if isinstance(a, Given)]
    positions = tuple(
        k for k, a in enumerate(args) if k not in held and isinstance(a, np.ndarray) and a.dtype.kind == "f"
    )
    run = case.of_drawn(function)

    def total(*xs):
        leaves = flatten(run(*xs, **case.kwargs))[0]
        return sum(np.sum(v * 1.5) for v in leaves if getattr(v, "dtype", np.dtype(int)).kind == "f")

    if positions and not isinstance(total(*args), int):
        _check(total, args, positions)


UNARY = [
    np.sin,
    np.tanh,
    lambda a: np.exp(-(a**2)),
    lambda a: np.log(1 + np.exp(a)),
    lambda a: 1 / (2 + np.cos(a)),
    lambda a: np.where(a > 0.1, a * 2, np.sin(a)),
    lambda a: a - a.mean(),
    lambda a: np.concatenate([a[1:], a[:1] * 2]),
    lambda a: np.cumsum(a) / 2,
    lambda a: a[::-1] * a,
]
BINARY = [np.add, np.subtract, np.multiply, np.maximum, lambda a, b: a / (1.5 + b**2), lambda a, b: a * np.sum(b)]


@given(st.data())
@settings(max_examples=8, deadline=None)
def test_random_programs(data):
    count = data.draw(st.integers(2, 9))
    plan = []
    for k in range(count):
        unary = data.draw(st.booleans())
        table = UNARY if unary else BINARY
        operands = data.draw(st.lists(st.integers(0, k + 1), min_size=1 if unary else 2, max_size=1 if unary else 2))
        plan.append((table[data.draw(st.integers(0, len(table) - 1))], operands))

    def f(x, y):
        values = [x, y]
        for operation, operands in plan:
            values.append(operation(*[values[k] for k in operands]))
        return np.sum(values[-1] * values[-2])

    args = (np.array([0.3, -1.2, 0.7]), np.array([1.1, 0.2, -0.4]))
    _check(f, args, (0, 1))


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_the_latex_compiles(tmp_path):
    pages = []
    for function, positions, args in READ.values():
        pages.append("\\[\n" + sg.grad(function, positions).steps(*args).latex() + "\n\\]\n\\newpage")
    pages.append("\\[\n" + sg.hessian(logistic).steps(*READ["logistic"][2]).latex() + "\n\\]")
    source = "\n".join(
        [
            r"\documentclass{article}\usepackage{amsmath,amssymb}\usepackage[a2paper,margin=1cm]{geometry}\begin{document}"
        ]
        + pages
        + [r"\end{document}"]
    )
    (tmp_path / "steps.tex").write_text(source)
    made = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "steps.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stdout[-2000:]


def test_sympy_symbols_are_not_confused_with_names():
    """Names that sympy would read as accents or Greek letters stay what they are."""

    def f(xbar, alpha):
        xdot = np.sin(xbar) * alpha
        return xdot**2

    steps = sg.grad(f, (0, 1)).steps(0.3, 0.4)
    latex = steps.latex()
    assert r"\overline{\mathit{xbar}}" in latex
    assert r"\bar{\alpha}" in latex
    assert sympy.Symbol("x")  # nothing of sympy's state has changed
