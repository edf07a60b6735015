"""The way a Jacobian is derived: which is chosen, what ``explain`` says of it, and that all give the same."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import symgrad
from symgrad.errors import ArgumentError, SymgradError
from symgrad.transforms.modes import MODES

RNG = np.random.default_rng(2)


def layers(*sizes):
    """A chain of dense layers between arrays of these sizes."""
    weights = [RNG.normal(size=(b, a)) / np.sqrt(a) for a, b in itertools.pairwise(sizes)]

    def network(x):
        for w in weights:
            x = np.tanh(w @ x)
        return x

    return network, RNG.normal(size=sizes[0])


def operations(choice):
    return {c.mode: c.cost.operations for c in choice.candidates}


def test_tall_chains_go_forward():
    network, x = layers(3, 100, 200, 400)
    choice = symgrad.jacobian(network).explain(x)
    cost = operations(choice)
    assert choice.mode == "forward"
    assert 3 * cost["forward"] < cost["reverse"]


def test_wide_chains_go_in_reverse():
    network, x = layers(400, 200, 100, 3)
    choice = symgrad.jacobian(network).explain(x)
    cost = operations(choice)
    assert choice.mode == "reverse"
    assert 3 * cost["reverse"] < cost["forward"]


def test_narrow_middles_are_multiplied_from_the_middle():
    network, x = layers(300, 200, 5, 200, 300)
    choice = symgrad.jacobian(network).explain(x)
    cost = operations(choice)
    assert choice.mode == "cross"
    assert 3 * cost["cross"] < min(cost["forward"], cost["reverse"])
    assert "cross-country" in choice.reason


def test_cross_country_is_never_predicted_to_be_dearer():
    for sizes in [(3, 100, 400), (400, 100, 3), (50, 50, 50), (80, 5, 80)]:
        network, x = layers(*sizes)
        choice = symgrad.jacobian(network).explain(x)
        seconds = {c.mode: c.cost.seconds for c in choice.candidates}
        assert seconds["cross"] <= 1.001 * min(seconds["forward"], seconds["reverse"])


@pytest.mark.parametrize("sizes", [(3, 20, 40), (40, 20, 3), (40, 30, 2, 30, 40)])
def test_every_mode_gives_the_same(sizes):
    network, x = layers(*sizes)
    results = [symgrad.jacobian(network, mode=mode)(x) for mode in MODES]
    step = 1e-6
    columns = [(network(x + step * e) - network(x - step * e)) / (2 * step) for e in np.eye(x.size)]
    np.testing.assert_allclose(results[0], np.stack(columns, 1), atol=1e-7)
    for other in results[1:]:
        np.testing.assert_allclose(other, results[0], rtol=1e-10, atol=1e-12)
    hessians = [symgrad.hessian(lambda v: network(v) ** 2, mode=mode)(x) for mode in MODES]
    for other in hessians[1:]:
        np.testing.assert_allclose(other, hessians[0], rtol=1e-9, atol=1e-11)


class TestExplain:
    def test_the_table(self):
        network, x = layers(3, 100, 200, 400)
        lines = str(symgrad.jacobian(network).explain(x)).splitlines()
        assert lines[0].split() == ["mode", "operations", "memory", "predicted"]
        assert [line.split()[0] for line in lines[1:4]] == ["forward", "reverse", "cross"]
        assert [line for line in lines if "← chosen" in line] == [lines[1]]
        assert "1.00 ×" in "\n".join(lines)
        assert lines[4] == symgrad.jacobian(network).explain(x).reason
        assert "3 elements in, 400 out" in lines[4]

    @pytest.mark.parametrize("mode", MODES[1:])
    def test_a_mode_that_was_asked_for(self, mode):
        network, x = layers(3, 20, 40)
        choice = symgrad.jacobian(network, mode=mode).explain(x)
        assert choice.mode == mode
        assert choice.reason == f"mode={mode!r} was asked for."
        assert {c.mode for c in choice.candidates} == {"forward", "reverse", "cross"}
        assert choice.table is next(c.table for c in choice.candidates if c.mode == mode)

    def test_what_moves_elements_alone(self):
        for function in (
            lambda x: x[[0, -1, 2]],
            lambda x: x[1:1],
            lambda x: np.concatenate([x, x])[::2].reshape(2, 2),
        ):
            choice = symgrad.jacobian(function).explain(np.ones(4))
            assert "chosen" in str(choice)
            assert all(np.isfinite(c.cost.seconds) for c in choice.candidates)
            symgrad.jacobian(function)(np.ones(4))

    def test_both_ways_alike(self):
        choice = symgrad.jacobian(lambda x: np.sin(x)).explain(np.ones(4))
        assert "both ways cost the same" in choice.reason

    def test_nothing_is_computed_and_calls_use_the_trace(self):
        runs = itertools.count()

        def function(x):
            next(runs)
            return np.sin(x)

        derived = symgrad.jacobian(function)
        derived.explain(np.ones(3))
        assert derived._compiled.latest._kernel is None
        derived(np.ones(3))
        assert next(runs) == 1

    def test_of_a_hessian_and_of_several_arguments(self):
        choice = symgrad.hessian(lambda x, y: np.sum(x**2 * y), (0, 1)).explain(np.ones(3), np.ones(3))
        assert choice.mode in MODES
        assert [len(row) for row in choice.table] == [2, 2]

    def test_a_long_program_is_derived_one_way(self):
        def long(x):
            for k in range(2500):  # no steps that repeat (Thue and Morse), so none are a loop
                x = (np.sin, np.cos)[k.bit_count() % 2](x) + float(k)
            return np.concatenate([x, x])

        choice = symgrad.jacobian(long).explain(np.ones(2))
        assert choice.mode == "forward"
        assert "The program is long" in choice.reason
        assert len(choice.candidates) == 1

    def test_bad_arguments(self):
        with pytest.raises(SymgradError):
            symgrad.jacobian(np.sin).explain()


@pytest.mark.parametrize("make", [symgrad.jacobian, symgrad.hessian])
def test_an_unknown_mode(make):
    with pytest.raises(ArgumentError, match=r"mode='backward' is unknown; choose one of 'auto', 'forward'"):
        make(np.sin, mode="backward")
