"""Exported Python modules take arguments, and give results, in the structure in which the derivative does."""

from __future__ import annotations

import contextlib
import os
import sys
from collections import namedtuple
from typing import Any

import numpy as np
import pytest
from exportables import same
from loaded_modules import exported, loaded

import symgrad as sg
from symgrad import Parameter, nn
from symgrad.errors import ArgumentError
from symgrad.exporters import plain_values

LIBRARIES = {"python": "numpy", "numexpr": "numexpr", "numba": "numba", "jax": "jax", "torch": "torch"}
Layer = namedtuple("Layer", "w b")
ODD = [
    "it's",
    'a"b',
    '"""',
    "\\",
    "\n",
    "{x}",
    "%s",
    "λ",
    "]",
    "__import__('os')",
    "'+1+'",
    3,
    -2,
    True,
    None,
    ("a", 1.5),
]


@pytest.fixture(params=[pytest.param(f, marks=pytest.mark.needs("torch") if f == "torch" else ()) for f in LIBRARIES])
def format(request):
    library = LIBRARIES[request.param]
    if not os.environ.get("CI"):
        pytest.importorskip(library)
    __import__(library)
    with sys.modules["jax"].enable_x64(True) if library == "jax" else contextlib.nullcontext():
        yield request.param


def alike(got: Any, wanted: Any) -> None:
    """The same structure, and the same arrays."""
    if isinstance(wanted, dict):
        assert got.keys() == wanted.keys()
        for key in wanted:
            alike(got[key], wanted[key])
    elif isinstance(wanted, (tuple, list)):
        assert getattr(got, "_fields", type(got)) == getattr(wanted, "_fields", type(wanted))
        for a, b in zip(got, wanted, strict=True):
            alike(a, b)
    else:
        same(got, wanted)


def network(params, x, power, *, scale):
    h = x
    for w, b in params["layers"]:
        h = np.tanh(h @ w + b) ** power
    return np.sum(h) * params["gain"] * scale[0]["s"]


LAYERS = [(np.full((3, 3), 0.1), np.zeros(3)), Layer(np.ones((3, 2)), np.zeros(2))]
ARGS = {"layers": LAYERS, "gain": 2.0}, np.linspace(0, 1, 12).reshape(4, 3), 2
SCALE = ({"s": np.array(1.5)},)


def test_it_is_called_as_the_derivative_is(format, capsys):
    derived = sg.value_and_grad(network)
    function = exported(derived, format, *ARGS, scale=SCALE)
    assert ": pass (largest difference" in capsys.readouterr().out
    alike(function(*ARGS, scale=SCALE), derived(*ARGS, scale=SCALE))
    (first, bias), last = LAYERS
    other = {"gain": 0.5, "layers": [(2 * first, bias + 1), Layer(last.w, last.b + 1)]}  # in another order
    wanted = derived(other, *ARGS[1:], scale=SCALE)
    alike(function({**other, "layers": [list(layer) for layer in other["layers"]]}, ARGS[1], scale=[*SCALE]), wanted)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (5, "params is of type int, and a dict is expected"),
        ({"gain": 2.0}, r"params has no key 'layers'"),
        ({**ARGS[0], "more": 1.0}, r"params has the key 'more', which is not expected"),
        ({**ARGS[0], "layers": np.ones((2, 2))}, r"params\['layers'\] is of type ndarray, and a list or tuple"),
        ({**ARGS[0], "layers": LAYERS[:1]}, r"params\['layers'\] has length 1, and 2 is expected"),
        (
            {**ARGS[0], "layers": [LAYERS[0], (1.0, LAYERS[1][1])]},
            r"params\['layers'\]\[1\]\[0\] has shape \(\), and \(3, 2\)",
        ),
        ({**ARGS[0], "gain": [1.0, 2.0]}, r"params\['gain'\] has shape \(2,\), and"),
        ({**ARGS[0], "gain": "1.5"}, r"params\['gain'\]"),
    ],
)
def test_another_structure_is_refused_by_name(params, message):
    function = exported(sg.grad(network), "python", *ARGS, scale=SCALE)
    with pytest.raises((TypeError, ValueError), match=message) as raised:
        function(params, *ARGS[1:], scale=SCALE)
    assert "\n" not in str(raised.value)


def test_named_tuples_of_odd_names_are_tuples():
    Odd = namedtuple("Odd", "class x", rename=True)  # whose first field is called _0
    derived = sg.grad(lambda p: np.sum(p[0] * p[1]))
    for kind in (Odd, type('a"b\n', (Layer,), {})):
        function = exported(derived, "python", kind(np.ones(2), np.zeros(2)))
        got = function(kind(np.ones(2), np.zeros(2)))
        assert getattr(got, "_fields", ()) in ((), ("w", "b"))
        alike(tuple(got), (np.zeros(2), np.ones(2)))


def squares(x, lam):
    return np.sum(x**2) * lam


@pytest.mark.parametrize("wrong", ["abc", [[1.0, 2.0], [3.0]], np.ones(3) * 1j, None, np.ones((3, 1)), 1.0, object()])
def test_what_is_no_such_array_is_refused_by_name(format, wrong):
    function = exported(sg.grad(squares), format, np.ones(3), 0.5)
    with pytest.raises((TypeError, ValueError), match=r"^x (holds|is no|has shape)") as raised:
        function(wrong, 0.5)
    assert "\n" not in str(raised.value)
    if not isinstance(wrong, float):
        with pytest.raises((TypeError, ValueError), match=r"^lam (holds|is no|has shape)"):
            function(np.ones(3), wrong)
    same(np.asarray(function([1, 2, 3], 2)), [4.0, 8.0, 12.0])


def picked(x, i, mask):
    return np.sum(np.where(mask, x, 2 * x)[i])


def test_integers_and_truth_values_are_not_rounded(format):
    function = exported(sg.grad(picked), format, np.ones(3), np.array([0, 2]), np.array([True, False, True]))
    same(np.asarray(function(np.ones(3), [0, 1], [True, False, True])), [1.0, 2.0, 0.0])
    with pytest.raises(TypeError, match=r"^i holds .*float64, and .*int64 is expected"):
        function(np.ones(3), [0.5, 1.0], [True, False, True])
    with pytest.raises(TypeError, match=r"^mask holds .*int64, and .*bool is expected"):
        function(np.ones(3), [0, 1], [1, 0, 1])


def test_arrays_are_refused_that_numpy_would_change_silently():
    function = exported(sg.symbolic(lambda x, k: x * k), "python", np.ones(2), np.array([1, 2], np.int8))
    with pytest.raises(ValueError, match="k has values that int8 does not hold"):
        function(np.ones(2), [1, 300])
    with pytest.raises(TypeError, match="x is a masked array"):
        function(np.ma.masked_array([1.0, 2.0], [True, False]), [1, 2])


@pytest.mark.parametrize("format", ["python", "c", "fortran", "julia", "json", "latex"])
def test_keys_are_written_as_plain_values(format):
    params = {key: np.array([1.0 + k, 2.0]) for k, key in enumerate(ODD)}
    derived = sg.grad(lambda p: sum(np.sum(v**2) for v in p.values()))
    if format == "json":
        del params["a", 1.5]
    text = derived.export(format, params)
    if format == "python":
        alike(loaded(text)(params), derived(params))
        assert '__import__("os")' not in text.replace("\"__import__('os')\"", "")


@pytest.mark.parametrize("format", ["python", "numexpr"])
def test_numbers_of_the_result_are_of_the_same_types(format):
    derived = sg.symbolic(lambda x, y: (x, x * 2.0, y[0] * x, np.sum(y)))
    args = 1.5, np.ones(2)
    got, wanted = exported(derived, format, *args)(*args), derived(*args)
    assert [type(v) for v in got] == [type(v) for v in wanted] == [float, *[np.float64] * 3]


class Text(str):
    def __repr__(self) -> str:
        return "__import__('os').system('exit 1')"


def test_keys_that_are_no_plain_values_are_refused():
    for key in (Text("w"), np.float64(1.0), frozenset()):
        with pytest.raises(ArgumentError, match="with a key of type"):
            sg.grad(lambda p: sum(np.sum(v**2) for v in p.values())).export("python", {key: np.ones(2)})
    assert plain_values.spelled([Text("w")]) is None


def test_arguments_by_name_stand_where_the_function_has_them():
    def loss(w, X, y, *, rate):
        return np.sum((X @ w - y) ** 2) * rate

    args = np.ones(2), np.arange(4.0).reshape(2, 2), np.array([3.0, -1.0])
    derived = sg.grad(loss)
    function = exported(derived, "python", args[0], rate=0.5, y=args[2], X=args[1])
    same(function(*args, rate=2.0), derived(*args, rate=2.0))
    with pytest.raises(TypeError, match="positional arguments"):
        function(*args, 2.0)


def activated(x, activation, shape=(3,), *, power=2):
    return np.sum(activation(x.reshape(shape)) ** power)


def test_what_is_no_array_is_held_fixed(format):
    x, derived = np.array([0.1, 0.2, 0.3]), sg.grad(activated)
    function = exported(derived, format, x, np.tanh, (3,), power=3)
    for args in ((x, np.tanh), (x, np.tanh, (3,))):
        same(np.asarray(function(*args, power=3)), derived(x, np.tanh, (3,), power=3))
    with pytest.raises(ValueError, match="power is 2, and this was derived with 3"):
        function(x, np.tanh, power=2)
    with pytest.raises(ValueError, match=r"shape is \(3, 1\), and this was derived with \(3,\)"):
        function(x, np.tanh, (3, 1))


def test_jax_compiles_and_maps_what_is_nested():
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        function = exported(sg.grad(network), "jax", *ARGS, scale=SCALE)
        wanted = sg.grad(network)(*ARGS, scale=SCALE)
        alike(jax.jit(function)(*ARGS, scale=SCALE), wanted)
        many = jax.vmap(lambda x: function(ARGS[0], x, scale=SCALE))(np.stack([ARGS[1], ARGS[1]]))
        alike(jax.tree.map(lambda leaf: leaf[1], many), wanted)
        power = exported(sg.grad(lambda x, n: np.sum(x**n)), "jax", np.ones(2), 3)
        alike(jax.jit(power)(np.ones(2), 3), np.full(2, 3.0))  # the number is traced, and cannot be looked at


# networks


class Net(nn.Cell):
    def __init__(self, width: int = 2):
        super().__init__()
        self.fc = nn.Dense(3, width)
        self.unused = Parameter(np.ones(1), name="fc.weight")

    def construct(self, x):
        return np.tanh(self.fc(x))


def test_a_network_is_called_without_its_weights_or_with_others(format):
    net, x = Net(), np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
    weights = [net.fc.weight, net.fc.bias]
    derived = sg.grad(net, 0, weights)
    text = derived.export(format, x)
    assert "inputs: x: float32[2, 3], fc.weight (a weight): float32[2, 3], fc.bias (a weight): float32[2]" in text
    assert "weights: the weights of the network by name, as they were when this was written" in text
    function = loaded(text)
    alike(function(x), derived(x))
    for p in weights:
        p.set_data(p + 0.25)
    given = {p.name: p for p in weights}
    alike(function(x, given), derived(x))
    alike(function(x, weights={**given, "further": 1}), derived(x))
    with pytest.raises(ValueError, match=r"weights has no key 'fc\.bias'"):
        function(x, {"fc.weight": 1})
    with pytest.raises(ValueError, match=r"weights\['fc\.bias'\] has shape"):
        function(x, {**given, "fc.bias": np.ones(3, np.float32)})


def test_many_weights_are_not_written_down():
    net, x = Net(3000), np.ones((1, 3), np.float32)
    derived = sg.grad(net)
    function = exported(derived, "python", x)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'weights'"):
        function(x)
    alike(function(x, {"fc.weight": net.fc.weight, "fc.bias": net.fc.bias}), derived(x))


def test_weights_of_one_name_are_told_apart():
    net, x = Net(), np.ones((1, 3), np.float32)
    derived = sg.grad(lambda x: net(x) * net.unused)
    function = exported(derived, "python", x)
    alike(function(x), derived(x))
    with pytest.raises(ValueError, match=r"weights has no key 'fc\.weight_2'"):
        function(x, {"fc.weight": net.fc.weight, "fc.bias": net.fc.bias})


@pytest.mark.parametrize("format", ["c", "fortran", "julia", "sympy", "markdown"])
def test_flat_formats_say_where_their_arguments_come_from(format):
    text = str(sg.grad(network).export(format, *ARGS, scale=SCALE, document=True))
    text = " ".join(text.replace("//", "").replace("!", "").replace("#", "").replace("*", "").split())
    assert "params_layers_0_0 (params[layers][0][0]): float64[3, 3]" in text
    assert "params_gain (params[gain]): float" in text
