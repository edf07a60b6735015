"""Settings beside the data in what a derivative is by: text, choices and functions in dicts, lists and tuples."""

from __future__ import annotations

from enum import Enum

import numpy as np
import pytest
from central_differences import slopes

import symgrad as sg
from symgrad.errors import ArgumentError, DtypeError

X = np.random.default_rng(3).normal(size=(4, 3))
W = np.random.default_rng(4).normal(size=(3, 2))


class Activation(Enum):
    RELU = "relu"
    TANH = "tanh"


def _loss(p, x):
    h = x @ p["w"]
    h = np.maximum(h, 0) if p["act"] in ("relu", Activation.RELU) else np.tanh(h)
    if p.get("squash"):
        h = p["squash"](h)
    return np.sum(h**2)


def _network(layers, x):
    for w, b, activation in layers:
        x = x @ w + b
        x = x if activation is None else getattr(np, activation)(x)
    return np.sum(x**2)


@pytest.mark.parametrize(
    "settings",
    [
        {"act": "relu"},
        {"act": "tanh", "squash": None, "verbose": False},
        {"act": Activation.RELU, "squash": np.arctan},
        {"act": b"", "squash": lambda h: h / (1 + h * h)},
    ],
)
def test_settings_in_a_dict_come_back_as_they_are(settings):
    value, gradient = sg.value_and_grad(_loss)({"w": W, **settings}, X)
    assert value == pytest.approx(_loss({"w": W, **settings}, X), rel=1e-12)
    assert {k: v for k, v in gradient.items() if k != "w"} == settings
    wanted = slopes(lambda w: _loss({"w": w, **settings}, X), W)
    np.testing.assert_allclose(gradient["w"], wanted, rtol=1e-6, atol=1e-9)


def test_another_setting_is_another_trace():
    g = sg.grad(_loss)
    for act in ("relu", "tanh", "relu"):
        wanted = slopes(lambda w, act=act: _loss({"w": w, "act": act}, X), W)
        np.testing.assert_allclose(g({"w": W, "act": act}, X)["w"], wanted, rtol=1e-6, atol=1e-9)


def test_layers_with_the_name_of_their_activation():
    layers = [(W, np.zeros(2), "tanh"), (np.ones((2, 1)), np.zeros(1), None)]
    gradient = sg.grad(_network)(layers, X)
    assert [layer[2] for layer in gradient] == ["tanh", None]
    wanted = slopes(lambda w: _network([(w, *layers[0][1:]), layers[1]], X), W)
    np.testing.assert_allclose(gradient[0][0], wanted, rtol=1e-6, atol=1e-9)


def test_jacobians_products_and_examples_keep_settings():
    p = {"w": W, "act": "tanh"}
    rows = sg.jacobian(lambda p, x: np.tanh(x @ p["w"]).sum(1))(p, X)
    assert rows["act"] == "tanh"
    assert rows["w"].shape == (4, 3, 2)
    hessian = sg.hessian(_loss)(p, X)
    assert hessian["w"]["w"].shape == (3, 2, 3, 2)
    assert sg.vmap(_loss, in_axes=(None, 0))(p, X[:, None]).sum() == pytest.approx(_loss(p, X), rel=1e-12)
    each = sg.vmap(sg.grad(_loss), in_axes=(None, 0))(p, X[:, None])
    assert each["act"] == "tanh"
    np.testing.assert_allclose(each["w"].sum(0), sg.grad(_loss)(p, X)["w"], rtol=1e-12)


def test_settings_beside_unknowns():
    def distance(p):
        return np.sum((p["w"] - 2) ** 2) if p["kind"] == "square" else np.sum(np.abs(p["w"]))

    found = sg.minimize(distance, {"w": np.zeros(2), "kind": "square"})
    assert found.x["kind"] == "square"
    np.testing.assert_allclose(found.x["w"], 2, atol=1e-6)


def test_a_setting_alone_and_whole_numbers_are_refused():
    with pytest.raises(DtypeError, match="argument 0 is a str"):
        sg.grad(_loss)("relu", X)
    with pytest.raises(ArgumentError, match="holds no array"):
        sg.grad(_loss)({"act": "relu"}, X)
    with pytest.raises(DtypeError, match=r"argument 0, at steps, has dtype int64 .* field of a dataclass"):
        sg.grad(_loss)({"w": W, "act": "relu", "steps": 2}, X)
