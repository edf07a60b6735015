"""Flags: the derivative and the code line of every combination, against the numbers of the tutorials."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from symgrad_notebook.panel.flags import Flags, derivative, refusals
from symgrad_notebook.panel.outcome import Study
from symgrad_notebook.panel.subject import Subject

import symgrad as sg

from .conftest import execute, held, same

BOTH = (False, True)


@pytest.mark.parametrize(("get_all", "get_by_list", "sens_param"), [*itertools.product(BOTH, BOTH, BOTH)])
def test_grad_operation(product, get_all, get_by_list, sens_param):
    net, x, y = product
    flags = Flags("GradOperation", get_all, get_by_list, sens_param, trainable=(0,))
    sens = np.full((2, 3), 0.1, np.float32) if sens_param else None
    study = Study(Subject.of(net, (x, y)), {"net": net, "x": x, "y": y, "sg": sg})
    found = study.outcome(flags, sens=sens)
    weigh = np.ones((2, 3), np.float32) if sens is None else sens
    dx, dy = weigh @ y.asnumpy().T, x.asnumpy().T @ weigh
    inputs = (dx, dy) if get_all else dx
    dz = (np.sum(x.asnumpy() * dx)[None],)
    wanted = (inputs, dz) if get_all and get_by_list else dz if get_by_list else inputs
    _close(found.result, wanted)
    assert same(execute(found.code, net=net, x=x, y=y), found.result)
    assert found.tree.count("∂f/∂x") == (get_all or not get_by_list)
    assert found.caption.startswith("∂⟨sens, out⟩" if sens_param else "∂(Σ out)")


@pytest.mark.parametrize(
    ("call", "position", "weights", "has_aux", "return_ids", "mode"),
    [
        case
        for case in itertools.product(
            ("grad", "value_and_grad"), ((0,), (1,), (0, 1), ()), BOTH, BOTH, BOTH, ("reverse", "forward")
        )
        if case[1] or case[2]
    ],
)
def test_grad_and_value_and_grad(regression, call, position, weights, has_aux, return_ids, mode):
    net, x, y = regression
    flags = Flags(
        call,
        grad_position=position,
        weights=weights,
        has_aux=has_aux,
        return_ids=return_ids,
        mode=mode,
        trainable=(0,),
    )
    found = Study(Subject.of(net, (x, y)), {"net": net, "x": x, "y": y, "sg": sg}).outcome(flags)
    # the loss alone, and with the logits, whose derivative is added
    by_x, by_y, by_weight = ([[4, 6, 8]], -2, [[2, 4, 6]]) if has_aux else ([[6, 9, 12]], -2, [[3, 6, 9]])
    inputs = [(0, by_x), (1, by_y)] if return_ids else [by_x, by_y]
    chosen = tuple(inputs[p] for p in position)
    own = (("fc.weight", by_weight),) if return_ids else (by_weight,)
    inner = chosen[0] if len(chosen) == 1 else chosen
    wanted = own if not position else (inner, own) if weights else inner
    if call == "value_and_grad":
        wanted = ((1.0, 20.0), wanted)
    elif has_aux:
        wanted = (wanted, (20.0,))
    _close(found.result, wanted)
    assert same(execute(found.code, net=net, x=x, y=y), found.result)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("stopped", [(), ("h",)])
@pytest.mark.parametrize(
    "flags",
    [
        Flags(),
        Flags(grad_position=(0, 1)),
        Flags(grad_position=(1, 0), mode="forward"),
        Flags("value_and_grad", grad_position=(0,)),
        Flags("GradOperation"),
        Flags("GradOperation", get_all=True),
        Flags("GradOperation", sens_param=True),
        Flags("GradOperation", get_all=True, sens_param=True),
    ],
)
def test_orders_and_stopped_intermediates(order, stopped, flags):
    x, y = np.array([0.5, 1.5]), np.array([2.0, -1.0])
    flags = replace(flags, order=order, stopped=stopped)
    namespace = {"held": held, "x": x, "y": y, "sg": sg}
    found = Study(Subject.of(held, (x, y)), namespace).outcome(flags, sens=np.array([2.0, 3.0]))
    assert same(execute(found.code, held=held, x=x, y=y), found.result)


def test_order_two_of_one_argument_is_the_second_derivative():
    study = Study(Subject.of(held, (0.5, 2.0)))
    found = study.outcome(Flags(order=2))
    assert found.rows[0].text == "∂²f/∂x² = y*(2*cos(x) - x*sin(x))"
    np.testing.assert_allclose(found.result, 2 * (2 * np.cos(0.5) - 0.5 * np.sin(0.5)))
    assert found.tree == "∂²f/∂x²: ()"
    assert [v.name for v in study.outcome(Flags(grad_position=(0, 1), order=3)).values] == ["∂Σ∇Σ∇f/∂x", "∂Σ∇Σ∇f/∂y"]


def test_order_two_of_a_network_keeps_its_names(product):
    net, x, y = product
    found = Study(Subject.of(net, (x, y))).outcome(Flags("GradOperation", True, True, True, order=2, trainable=(0,)))
    assert found.tree == "((∂Σ∇f/∂x: (2, 3), ∂Σ∇f/∂y: (3, 3)), (∂Σ∇f/∂z: (1,),))"
    assert "sens yᵀ" in found.rows[0].text


def test_a_frozen_parameter_is_left_out_and_the_network_stays_as_it_is(product):
    net, x, y = product
    net.other = sg.Parameter(np.ones(3, np.float32), name="other")
    study = Study(Subject.of(net, (x, y)), {"net": net, "x": x, "y": y, "sg": sg})
    found = study.outcome(Flags(weights=True, trainable=(0,)))
    assert "weights=[net.z]" in found.code
    assert "# for good: net.other.requires_grad = False" in found.code
    assert same(execute(found.code, net=net, x=x, y=y), found.result)
    assert [p.requires_grad for p in net.get_parameters()] == [True, True]


def test_an_unused_parameter_is_a_remark(product):
    net, x, y = product
    net.other = sg.Parameter(np.ones(3, np.float32), name="other")
    found = Study(Subject.of(net, (x, y))).outcome(Flags(weights=True, trainable=(0, 1)))
    assert found.notes == ["the output does not depend on the weight 'other', so its gradient is zero"]


def test_what_the_api_refuses_is_known_before():
    whole = Subject.of(lambda x, n: x**n, (2.0, 3))
    assert refusals(whole, Flags()) == {
        "get_all": "n is not made of floats",
        "get_by_list": "the function reads no Parameter",
        "weights": "the function reads no Parameter",
        "has_aux": "the function returns one output",
    }


def test_parameters_that_a_function_reads(product):
    net, x, y = product

    def loss(x, y):
        return np.sum(net(x, y) ** 2)

    subject = Subject.of(loss, (x, y))
    assert [p.name for p in subject.parameters] == ["z"]
    found = Study(subject, {"loss": loss, "net": net, "x": x, "y": y, "sg": sg}).outcome(
        Flags(weights=True, trainable=(0,), grad_position=())
    )
    assert found.code == "sg.grad(loss, None, weights=net.trainable_params())(x, y)"
    assert same(execute(found.code, loss=loss, net=net, x=x, y=y), found.result)


def test_the_same_function_is_stopped_once():
    subject = Subject.of(held, (0.5, 2.0))
    assert subject.held(("h",)) is subject.held(("h",))
    assert subject.held(()) is held
    assert derivative(subject, Flags(stopped=("h",)))(0.5, 2.0) == pytest.approx(2 * np.sin(0.5))


def _close(found, wanted):
    if isinstance(wanted, tuple):
        assert isinstance(found, tuple)
        assert len(found) == len(wanted)
        for a, b in zip(found, wanted, strict=True):
            _close(a, b)
    elif isinstance(wanted, str):
        assert found == wanted
    else:
        np.testing.assert_allclose(found, wanted, rtol=1e-5)
