"""Wrong arguments of everything public: no error but symgrad's, the user's own, or the one that NumPy raises as well.

``SYMGRAD_WRONG_CALLS`` says how many calls of each kind are drawn, ``SYMGRAD_WRONG_SEED`` from where.
"""

from __future__ import annotations

import os
import random
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import symgrad as sg
from symgrad.errors import SymgradError
from symgrad.tracing.array_methods import METHODS
from symgrad.tracing.declare import CASES
from symgrad.tracing.dispatch import UFUNCS
from symgrad.tracing.trace import current

CALLS = int(os.environ.get("SYMGRAD_WRONG_CALLS", "60"))
SEED = int(os.environ.get("SYMGRAD_WRONG_SEED", "0"))

WRONG: list[Any] = [
    *(
        None,
        "x",
        b"x",
        "",
        True,
        0,
        -1,
        2,
        7,
        -7,
        10**30,
        -(10**30),
        2**63,
        0.5,
        -0.0,
        3.0,
        float("nan"),
        float("inf"),
        1j,
    ),
    *((), (0,), (0, 0), (1, -1), (5, 7), (-1, -1), [0], [[0], [1, 2]], ["a"], {}, {"a": 1}, {1}, object(), int, len),
    *(slice(None), Ellipsis, "float32", "O", np.float16, np.complex128, "no dtype", np.datetime64("2020-01-01")),
    *(np.ones(3), np.ones((2, 3)), np.ones((0, 3)), np.ones((1, 1, 1, 1)), np.arange(3), np.array(1), np.array(True)),
    *(np.ones(3) * 1j, np.array(["a", "b"]), np.array([None, 1.0]), np.array([True, False, True]), np.float64(2.0)),
    *(np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]), sg.Tensor([1.0, 2.0]), sg.Parameter([1.0], name="p"), sg.float32),
]
KEYWORDS = [
    *("axis", "keepdims", "dtype", "out", "where", "initial", "ddof", "order", "mode", "casting", "k", "n", "offset"),
    *("axis1", "axis2", "shape", "decimals", "min", "max", "side", "ord", "indexing", "no_such_keyword"),
]


def mutated(rng: random.Random, args: list, kwargs: dict) -> tuple[list, dict]:
    """The arguments with one or two things changed: a value, a number of arguments, a keyword."""
    args, kwargs = list(args), dict(kwargs)
    for _ in range(rng.choice((1, 1, 2))):
        what = rng.random()
        if what < 0.5 and args:
            args[rng.randrange(len(args))] = rng.choice(WRONG)
        elif what < 0.6 and kwargs:
            kwargs[rng.choice(list(kwargs))] = rng.choice(WRONG)
        elif what < 0.8:
            kwargs[rng.choice(KEYWORDS)] = rng.choice(WRONG)
        elif what < 0.9 and args:
            del args[rng.randrange(len(args))]
        else:
            args.insert(rng.randrange(len(args) + 1), rng.choice(WRONG))
    return args, kwargs


def outcome(call: Callable[[], Any]) -> tuple[Any, Exception | None]:
    """What ``call`` gives and what it raises; warnings are none of its business here."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return call(), None
        except Exception as error:
            return None, error


def is_raised_here(error: Exception) -> bool:
    """True where a call in this file raised it: of Python, or of NumPy with plain values."""
    files = [step.filename for step in traceback.extract_tb(error.__traceback__)]
    return [name for name in files if "numpy" not in name][-1] == __file__


def check(call: Callable[[], Any], plain: Callable[[], Any] | None, shown: str) -> Any:
    """What ``call`` gives, None where it raises what it may."""
    value, error = outcome(call)
    assert current() is None, shown
    if error is None or isinstance(error, SymgradError) or is_raised_here(error):
        return value
    reference = None if plain is None else outcome(plain)[1]
    if reference is None or not isinstance(error, (type(reference), type(reference.__cause__))):
        raise AssertionError(f"{shown}\n  NumPy: {reference!r}") from error
    return None


def total(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return sum(map(total, value))
    return np.sum(value * 1.0) if isinstance(value, np.ndarray) else value


def check_traced(function: Callable, args: list, kwargs: dict, shown: str) -> None:
    """``function`` with the float arrays among its arguments traced, and as it is."""
    places = [k for k, a in enumerate(args) if type(a) is np.ndarray and a.dtype == float]

    def traced(*arrays):
        own = list(args)
        for k, array in zip(places, arrays, strict=True):
            own[k] = array * 1.0
        return total(function(*own, **kwargs))

    def plain():
        return total(function(*[a.copy() if type(a) is np.ndarray else a for a in args], **kwargs))

    if places:
        found = check(
            lambda: sg.value_and_grad(traced, tuple(range(len(places))))(*[args[k] for k in places]), plain, shown
        )
        wanted, refused = outcome(plain)
        if found is not None and refused is None:
            np.testing.assert_allclose(found[0], wanted, rtol=1e-6, err_msg=shown)


def drawn(kind: str) -> list[random.Random]:
    return [random.Random(f"{kind} {SEED + k}") for k in range(CALLS)]


FUNCTIONS = sorted(set(CASES) - {np.empty_like}, key=lambda f: (str(f.__module__), f.__name__))
ENDLESS = {np.diff: 1, np.linalg.matrix_power: 1}  # NumPy itself takes a count of 10**30 at its word


def test_numpy_functions():
    for rng in drawn("functions"):
        function = rng.choice(FUNCTIONS)
        case = rng.choice([c for c in CASES[function] if c.of is None] or [None])
        if case is None:
            continue
        args, kwargs = mutated(rng, case.draw(np.random.default_rng(rng.randrange(100))), case.kwargs)
        counts = [*args[1:], *kwargs.values()] if function in ENDLESS else []
        if not any(type(n) is int and abs(n) > 100 for n in counts):
            check_traced(function, args, kwargs, f"{function.__name__}(*{args}, **{kwargs})")


def test_ufuncs():
    ufuncs = sorted([u for u in UFUNCS if isinstance(u, np.ufunc)], key=lambda u: u.__name__)
    for rng in drawn("ufuncs"):
        ufunc, method = rng.choice(ufuncs), rng.choice(["__call__"] * 3 + ["reduce", "accumulate", "outer", "reduceat"])
        args, kwargs = mutated(rng, [np.linspace(0.1, 0.9, 3)] * ufunc.nin, {})
        check_traced(getattr(ufunc, method), args, kwargs, f"{ufunc.__name__}.{method}(*{args}, **{kwargs})")


BEGUN: dict[str, list] = {
    "swapaxes": [0, 1],
    "dot": [np.ones(3)],
    "clip": [-1.0, 1.0],
    "repeat": [2],
    "take": [[0, 1]],
    "transpose": [1, 0],
    "reshape": [3, 2],
    "astype": [np.float32],
}


def test_methods():
    for rng in drawn("methods"):
        name = rng.choice([*METHODS, "item", "tolist", "fill", "conj"])
        args, kwargs = mutated(rng, BEGUN.get(name, []), {})

        def function(x, *args, name=name, **kwargs):
            return getattr(x, name)(*args, **kwargs)

        check_traced(
            function, [np.linspace(0.1, 0.9, 6).reshape(2, 3), *args], kwargs, f"x.{name}(*{args}, **{kwargs})"
        )


_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor")
OPERATORS = [f"__{kind}{name}__" for name in _BINARY for kind in ("", "r", "i")]
OPERATORS += ["__eq__", "__ne__", "__lt__", "__ge__", "__divmod__", "__round__", "__format__"]


def test_operators_and_indices():
    for rng in drawn("operators"):
        name = rng.choice([*OPERATORS, "__getitem__", "__getitem__", "set", "set", "augmented"])
        x, other = rng.choice([np.linspace(0.1, 0.9, 6).reshape(2, 3), np.ones(3), np.array(0.5)]), rng.choice(WRONG)
        other = rng.choice([other, (other, rng.choice(WRONG)), [other]])

        value = rng.choice([1.0, *WRONG])

        def function(x, other, name=name, value=value):
            if name == "set":
                x[other] = value
                return x
            if name == "augmented":
                x += other
                return x
            return getattr(x, name)(other)

        check_traced(lambda x, f=function, o=other: f(x, o), [x], {}, f"{name} {other!r} of shape {x.shape}")


def verb_calls() -> dict[str, Callable]:
    def square(x, y=1.0):
        return np.sum(x**2 * y)

    x, calls = np.ones(3), {}
    for name in ("grad", "value_and_grad", "jacrev", "jacfwd", "jacobian", "hessian", "symbolic"):
        verb = getattr(sg, name)
        calls[name] = (verb, [square, 0], {})
        calls[f"{name} called"] = (verb(square), [x, x], {})
    calls["vmap"] = (lambda *a, **k: sg.vmap(square, *a, **k)(x, x), [(0, None)], {})
    calls["jvp"] = (sg.jvp, [square, (x, x), (x, x)], {})
    calls["vjp"] = (sg.vjp, [square, x, x], {})
    calls["vjp called"] = (sg.vjp(np.sin, x)[1], [x], {})
    calls["hvp"] = (sg.hvp, [square, (x,), (x,)], {})
    calls["trace"] = (sg.trace, [square, x], {})
    calls["trace shapes"] = (lambda *a, **k: sg.trace(square, *a, **k), ["n", ""], {})
    calls["named"] = (sg.named, ["n"], {})
    calls["stop_gradient"] = (sg.stop_gradient, [x], {})
    calls["get_grad"] = (sg.get_grad, [sg.value_and_grad(square)(x), 0], {})
    calls["GradOperation"] = (lambda *a, **k: sg.GradOperation(*a, **k)(square)(x), [False], {"sens_param": False})
    calls["Tensor"] = (sg.Tensor, [x], {"dtype": sg.float32})
    calls["Parameter"] = (sg.Parameter, [x], {"name": "w"})
    calls["set_data"] = (sg.Parameter(x).set_data, [x], {})
    calls["ParameterTuple"] = (sg.ParameterTuple, [[sg.Parameter(1.0)]], {})
    calls["from_sympy"] = (lambda *a, **k: sg.from_sympy(*a, **k)(1.0), ["x**2", "x"], {})
    calls["from_latex"] = (lambda *a, **k: sg.from_latex(*a, **k)(1.0), ["x^2", "x"], {})
    calls["set_context"] = (sg.set_context, [sg.GRAPH_MODE, "CPU"], {})
    calls["export"] = (sg.grad(square).export, ["python", x], {})
    calls["closed_form"] = (sg.grad(square).closed_form, [x], {"form": "index"})
    calls["intermediates"] = (sg.intermediates, [square, x], {})
    calls["StaticLossScaler"] = (lambda *a, **k: sg.amp.StaticLossScaler(*a, **k).scale(x), [2.0], {})
    calls["DynamicLossScaler"] = (lambda *a, **k: sg.amp.DynamicLossScaler(*a, **k).scale(x), [2.0, 2, 1], {})
    return calls


def test_verbs():
    calls = verb_calls()
    for rng in drawn("verbs"):
        name = rng.choice(sorted(calls))
        function, begun, keywords = calls[name]
        args, kwargs = mutated(rng, begun, keywords)
        mode = sg.get_context("mode")
        check(lambda f=function, a=args, k=kwargs: f(*a, **k), None, f"{name}(*{args}, **{kwargs})")
        sg.set_context(mode)


def layer_calls() -> dict[str, tuple[Callable, list]]:
    x, y = np.ones((2, 3)), np.ones((2, 3))
    calls: dict[str, tuple[Callable, list]] = {}
    for name in sg.ops.functional.__all__:
        function = getattr(sg.ops, name)
        if not hasattr(sg, name):
            calls[f"ops.{name}"] = function, [x, y] if "(x, y" in (function.__doc__ or "") else [x]
    for name in sg.nn.__all__:
        made = getattr(sg.nn, name)
        if isinstance(made, type) and name not in ("Cell", "LossBase", "Optimizer"):
            calls[f"nn.{name}"] = made, [3, 3] if name == "Dense" else []
            if name.endswith("Loss") or "Entropy" in name:
                calls[f"nn.{name} called"] = made(), [x, y]
    calls["nn.Dense called"] = sg.nn.Dense(3, 2), [x]
    return calls


def test_operators_and_layers():
    calls = layer_calls()
    for rng in drawn("layers"):
        name = rng.choice(sorted(calls))
        function, begun = calls[name]
        args, kwargs = mutated(rng, begun, {})
        shown = f"{name}(*{args}, **{kwargs})"
        check(lambda f=function, a=args, k=kwargs: f(*a, **k), None, shown)
        if name.startswith("ops.") or name.endswith("called"):
            check_traced(function, args, kwargs, shown)
