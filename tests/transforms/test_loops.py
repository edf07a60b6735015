"""scan, fori_loop, while_loop, cond and checkpoint: against the steps as Python runs them, and what they refuse.

Random loops are in ``tests/fuzz/test_loops.py``.
"""

from __future__ import annotations

import dataclasses
import tracemalloc
from typing import Any, ClassVar

import numpy as np
import pytest
from central_differences import slopes

import symgrad as sg
from symgrad import nn
from symgrad.errors import ArgumentError, ArgumentTypeError, ShapeError, TracingError
from symgrad.primitives.scan import SCAN

RNG = np.random.default_rng(5)
X = RNG.normal(size=(6, 3))
A = RNG.normal(size=(3, 3)) * 0.5
H = np.ones(3)
N = sg.Array["n"]


def close(got: Any, want: Any, tolerance: float = 1e-11) -> None:
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


def traced(fn, *args):
    """What ``fn`` gives where its loops are operations."""
    return sg.symbolic(fn, backend="numpy")(*args)


def recurrent(A, h, xs, **options):
    return sg.scan(lambda h, x: (np.tanh(A @ h + x), h * x), h, xs, **options)


def unrolled(A, h, xs, reverse=False):
    kept = []
    for x in xs[::-1] if reverse else xs:
        kept.append(h * x)
        h = np.tanh(A @ h + x)
    return h, np.stack(kept[::-1] if reverse else kept)


def picked(v):
    return v[0] * v[1] if v[0] > 1 else v[2] ** 2


#: of an array, and of what makes functions compute their values again
BRANCHING = {
    "a branch": lambda x, again: again(picked)(x) * again(picked)(0.5 * x),
    "one inside of another": lambda x, again: again(lambda v: again(picked)(2 * v) + (v[0] if v[1] > 1 else v[2]))(x),
    "a number of terms": lambda x, again: again(lambda v: sum(v[k] ** 2 for k in range(abs(int(v[0])) % 3)) + v[0])(x),
    "a quantile": lambda x, again: again(lambda v: np.quantile(v, 0.3) * v[0])(x),
    "a while_loop": lambda x, again: again(lambda v: sg.while_loop(lambda c: c < 9, lambda c: c * 2, v[2]))(x),
}


class TestScan:
    @pytest.mark.parametrize("reverse", [False, True])
    def test_values_are_those_of_the_steps_to_the_bit(self, reverse):
        want = unrolled(A, H, X, reverse)
        for got in (recurrent(A, H, X, reverse=reverse), traced(lambda *a: recurrent(*a, reverse=reverse), A, H, X)):
            for a, b in zip(got, want, strict=True):
                np.testing.assert_array_equal(a, b)

    def test_a_thousand_steps_are_one_operation(self):
        program = sg.trace(lambda x: sg.scan(lambda c, _: (np.sin(c) * x, None), x, None, 1000)[0], 1.0)
        assert sum(n.primitive is SCAN for n in program.nodes) == 1
        assert len(program.bindings) < 5

    def test_nested_values(self):
        @dataclasses.dataclass
        class State:
            place: Any
            speed: Any
            steps: int = 0
            name: str = "ball"

        def fall(s, push):
            after = State(s.place + 0.1 * s.speed, s.speed - s.place * push, s.steps + 1)
            return after, {"energy": (s.place**2, s.speed**2), "nothing": None}

        begin = State(1.0, 0.5)
        plain = sg.scan(fall, begin, X[:, 0])
        got = traced(lambda xs: sg.scan(fall, begin, xs), X[:, 0])
        assert got[0].steps == 6
        assert got[0].name == "ball"
        assert got[1]["nothing"] is None
        close((got[0].place, got[0].speed), (plain[0].place, plain[0].speed))
        close(got[1]["energy"], plain[1]["energy"])

    def test_what_is_carried_has_a_dtype(self):
        f = lambda x: sg.scan(lambda c, v: ((c[0] + 1, c[1] * v, ~c[2]), c), (0, 1.0, False), x)  # noqa: E731
        for dtype in (np.float64, np.float32):
            last, kept = traced(f, X[:, 0].astype(dtype))
            assert [v.dtype for v in last] == [np.int64, dtype, np.bool_]
            assert [v.dtype for v in kept] == [np.int64, dtype, np.bool_]
            np.testing.assert_array_equal(kept[0], np.arange(6))
            np.testing.assert_array_equal(kept[2], [False, True] * 3)

    def test_an_integer_that_becomes_a_float_begins_as_one(self):
        last, kept = traced(lambda x: sg.scan(lambda c, v: (c + v, c), 0, x), X[:, 0])
        assert last.dtype == kept.dtype == np.float64
        close(last, X[:, 0].sum())

    def test_what_is_kept_need_not_depend_on_the_step(self):
        f = lambda x: np.sum(sg.scan(lambda c, _: (c, (np.exp(x), 1.0)), None, length=3)[1][0])  # noqa: E731
        close(sg.grad(f)(0.5), 3 * np.exp(0.5))

    @pytest.mark.parametrize("wrap", [lambda f, x: f(x), traced])
    def test_no_steps(self, wrap):
        last, kept = wrap(lambda x: sg.scan(lambda c, v: (c + v, {"a": c * X, "b": v > 0}), 1.0, x), np.zeros(0))
        assert last == 1.0
        assert kept["a"].shape == (0, 6, 3)
        assert kept["b"].shape == (0,)
        assert kept["b"].dtype == bool

    def test_a_step_writes_into_arrays_of_its_own(self):
        def step(c, x):
            c[1:] += x[0]
            x[:] = c * x
            return c, x

        begin, xs = np.ones(3), X.copy()
        plain = sg.scan(step, begin, xs)
        np.testing.assert_array_equal(begin, np.ones(3))
        np.testing.assert_array_equal(xs, X)
        for a, b in zip(traced(lambda xs: sg.scan(step, begin, xs), X), plain, strict=True):
            np.testing.assert_array_equal(a, b)

    def test_the_step_is_traced_once(self):
        met = []
        sg.grad(lambda x: sg.scan(lambda c, v: (met.append(1) or c * v, None), 1.0, x)[0])(X[:, 0])
        assert len(met) == 1

    def test_derivatives_inside_of_a_step(self):
        def f(x):
            return sg.scan(lambda c, v: (c + sg.grad(lambda z: z**3 * c)(v), None), 1.0, x)[0]

        def plain(x):
            c = 1.0
            for v in x:
                c = c + 3 * v**2 * c
            return c

        x = np.array([0.3, -0.2, 0.5])
        close(sg.grad(f)(x), sg.grad(plain)(x))
        close(sg.hessian(f)(x), sg.hessian(plain)(x))

    def test_stop_gradient_inside_of_a_step(self):
        got = sg.grad(lambda x: sg.scan(lambda c, v: (c * v + sg.stop_gradient(c), None), 1.0, x)[0])(X[:3, 0])
        c, want = 1.0, np.zeros(3)
        for k, v in enumerate(X[:3, 0]):
            want, c = want * v + c * np.eye(3)[k], c * v + c
        close(got, want)

    def test_a_cell_reads_its_parameters_in_the_step(self):
        class Net(nn.Cell):
            def __init__(self, as_operation):
                super().__init__()
                self.dense = nn.Dense(3, 3)
                self.as_operation = as_operation

            def construct(self, h, xs):
                if self.as_operation:
                    return sg.scan(lambda h, x: (np.tanh(self.dense(h) + x), None), h, xs)[0]
                for x in xs:
                    h = np.tanh(self.dense(h) + x)
                return h

        rolled, plain = Net(True), Net(False)
        plain.dense = rolled.dense
        weights = rolled.trainable_params()
        h, xs = np.ones((1, 3), np.float32), X[:, None].astype(np.float32)
        got, want = (sg.grad(lambda h, n=net: np.sum(n(h, xs) ** 2), 0, weights)(h) for net in (rolled, plain))
        close(got[0], want[0], 1e-5)
        for a, b in zip(got[1], want[1], strict=True):
            close(a, b, 1e-5)

    def test_counters_index_arrays(self):
        f = lambda x: sg.fori_loop(1, 6, lambda i, c: c * x[i] + x[i - 1], 1.0)  # noqa: E731
        close(f(X[:, 0]), traced(f, X[:, 0]))
        rows = np.eye(6) * 1e-30j
        want = [sg.fori_loop(1, 6, lambda i, c, x=X[:, 0] + row: c * x[i] + x[i - 1], 1.0).imag for row in rows]
        close(sg.grad(f)(X[:, 0]), np.array(want) * 1e30)

    @pytest.mark.parametrize(("low", "high"), [(-2, 2), (3, 3), (3, -2), (np.int64(0), np.array(3))])
    def test_bounds_are_those_of_range(self, low, high):
        f = lambda x: sg.fori_loop(low, high, lambda i, c: c * x + i, 1.0)  # noqa: E731
        want = 1.0
        for i in range(low, high):
            want = want * 1.5 + i
        assert f(1.5) == traced(f, 1.5) == want


def fill(i, c, x):
    c[i] = x[i, 0] ** 2 + c[i - 1]
    return c


def add_to_a_row(i, c, x):
    c[i] += x[i] * c[-1 - i]
    c[i, 1:] *= x[0, 0]
    c[-1, i] = np.sum(x[i])
    return c


def through_views(i, c, x):
    row, j = c[i], i * 1
    other = c[j]
    j += 1
    row[0] = 5.0 * x[i, 1]
    c[:, i][1:] = x[1:, 0]
    return c + other[2]


def local(i, c, x):
    made = np.zeros(3)
    made[i] = c[0] * x[i, 0]
    made[0] += 1.0
    return c + made * made[i]


class TestWrites:
    """At places that differ from step to step."""

    @pytest.mark.parametrize(
        ("body", "begin"),
        [(fill, X[:3, 0]), (add_to_a_row, X[:3]), (through_views, X[:3]), (local, X[:3, 0])],
    )
    def test_as_with_the_numbers_themselves(self, body, begin):
        def rolled(x):
            return np.sum(sg.fori_loop(0, 3, lambda i, c: body(i, c, x), begin * x[0, 0]))

        def plain(x):
            c = begin * x[0, 0]
            for i in range(3):
                c = body(i, c, x)
            return np.sum(c)

        x = X[3:]
        assert traced(rolled, x) == rolled(x) == plain(x)
        close(sg.grad(rolled)(x), sg.grad(plain)(x))
        close(sg.hessian(rolled)(x), sg.hessian(plain)(x))
        both = np.stack([x, x / 2])
        close(sg.vmap(sg.grad(rolled))(both), np.stack([sg.grad(plain)(x), sg.grad(plain)(x / 2)]))

    def test_not_into_what_the_loop_begins_with(self):
        begin = np.ones(3)
        write = lambda c: c.__setitem__(0, c[0] + 1) or c  # noqa: E731
        assert sg.fori_loop(0, 3, lambda i, c: write(c), begin)[0] == 4
        assert sg.while_loop(lambda c: c[0] < 3, write, begin)[0] == 3
        np.testing.assert_array_equal(begin, 1)

    def test_beyond_the_end(self):
        def beyond(i, c):
            c[i + 1] = 1.0
            return c

        with pytest.raises(IndexError, match="index 3 is out of bounds"):
            traced(lambda x: sg.fori_loop(0, 3, beyond, x), H)

    def test_each_example_has_a_place_of_its_own(self):
        def put(x, i):
            y = x * 2
            y[i] = 7.0 * x[i]
            return y

        np.testing.assert_array_equal(sg.vmap(put)(np.ones((2, 3)), np.array([0, 2])), [[7, 2, 2], [2, 2, 7]])


class TestNamedDims:
    def test_one_trace_serves_every_length(self):
        def f(x: N):
            last, kept = sg.scan(lambda c, v: (c * np.sin(v) + v / x.shape[0], c * v), 1.0, x)
            return np.append(kept, last)

        def plain(x):
            c, kept = 1.0, []
            for v in x:
                kept.append(c * v)
                c = c * np.sin(v) + v / x.shape[0]
            return np.stack([*kept, c])

        ways = (sg.symbolic, sg.jacfwd, sg.jacrev, lambda f: sg.grad(f), lambda f: sg.hessian(f))
        for way in ways:
            derived, want = way(f), way(plain)
            for n in (1, 2, 5, 9):
                x = RNG.normal(size=n)
                close(derived(x), want(x))
            assert derived(np.zeros(0)).shape[-1 if way is not sg.symbolic else 0] in (0, 1)

    def test_a_length_that_is_no_array(self):
        def f(x: N):
            return sg.fori_loop(1, x.shape[0] - 1, lambda i, c: c * x[i] + x[i - 1] - x[i + 1], 1.0)

        def plain(x):
            c = 1.0
            for i in range(1, len(x) - 1):
                c = c * x[i] + x[i - 1] - x[i + 1]
            return c

        value, derivative = sg.symbolic(f), sg.grad(f)
        for n in (0, 1, 2, 3, 7):
            x = RNG.normal(size=n)
            close(value(x), plain(x))
            close(derivative(x), sg.grad(plain)(x) if n > 2 else np.zeros(n))

    def test_maps_of_loops_of_every_length(self):
        def f(x: N):
            return sg.scan(lambda c, v: (np.tanh(c + v), None), 1.0, x)[0]

        mapped = sg.vmap(sg.grad(f))
        for n in (1, 4):
            x = RNG.normal(size=(3, n))
            close(mapped(x), np.stack([sg.grad(f)(row) for row in x]))


class TestWhileLoop:
    @staticmethod
    def root(a):
        return sg.while_loop(lambda x: abs(x * x - a) > 1e-13, lambda x: (x + a / x) / 2, a)

    def test_derivatives_of_the_steps_that_are_taken(self):
        derivative = sg.grad(self.root)
        for a in (2.0, 2.1, 50.0, 1e4, 2.0):
            close(self.root(a), np.sqrt(a))
            close(derivative(a), 0.5 / np.sqrt(a), 1e-8)
        close(sg.grad(sg.grad(self.root))(2.0), -0.25 / 2**1.5, 1e-6)
        close(sg.jvp(self.root, 2.0, 3.0)[1], 1.5 / np.sqrt(2.0), 1e-8)

    def test_as_many_steps_are_one_trace(self):
        derivative = sg.grad(lambda x: sg.while_loop(lambda c: c < 10.0, lambda c: c * x, 1.0))
        kernel = derivative.kernel(2.0)
        for x in (2.1, 1.9):
            close(derivative(x), 4 * x**3)
            assert derivative.kernel() is kernel
        close(derivative(3.0), 27.0)
        assert derivative.kernel() is not kernel

    def test_a_condition_that_other_values_never_end(self):
        def f(x):
            if x > 1:
                return sg.while_loop(lambda c: c < 100, lambda c: c * x, x)
            return x

        derivative = sg.grad(f)
        assert [derivative(x) for x in (2.0, 0.5, 2.0, 0.0, 3.0)] == [448.0, 1.0, 448.0, 1.0, 405.0]

    def test_a_condition_on_known_numbers_alone_in_a_vmap_and_a_step(self):
        counted = lambda a: sg.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * a), (0, 1.0))[1]  # noqa: E731
        close(sg.vmap(counted)(H * 2), H * 8)
        close(traced(lambda x: sg.scan(lambda c, v: (c + counted(v), None), 0.0, x)[0], H), 3.0)

    @pytest.mark.parametrize(
        "call",
        [
            lambda f: sg.vmap(f)(H),
            lambda f: traced(lambda x: sg.scan(lambda c, v: (f(v), None), 0.0, x), H),
            lambda f: sg.grad(f).program(""),
        ],
    )
    def test_values_that_nobody_knows(self, call):
        with pytest.raises(TracingError, match=r"(?s)fori_loop or scan with a length.*np\.where.*test_loops"):
            call(self.root)

    def test_a_condition_of_many_elements(self):
        with pytest.raises(ShapeError, match=r"one truth value; use np\.all"):
            traced(lambda x: sg.while_loop(lambda c: c < 10, lambda c: c * 2, x), H)


class TestCond:
    #: functions that are infinite, or no number, where they are not taken
    PARTIAL: ClassVar = {
        "sqrt": np.sqrt,
        "log": np.log,
        "inverse": lambda v: 1 / v,
        "power": lambda v: v**-1.5,
        "loop": lambda v: sg.fori_loop(0, 3, lambda i, c: np.sqrt(c) / v, v),
    }
    Z = np.array([4.0, 0.0, -1.0, 2.0])

    @pytest.mark.parametrize("name", PARTIAL)
    def test_the_branch_that_is_not_taken_has_no_derivative(self, name):
        fn = self.PARTIAL[name]

        def f(z):
            return sg.scan(lambda c, v: (c + sg.cond(v > 0, fn, lambda v: v * 0.5, v) * c, None), 1.0, z)[0]

        def plain(z):
            c = 1.0
            for v in z:
                c = c + (fn(v) if v > 0 else v * 0.5) * c
            return c

        want = sg.grad(plain)(self.Z)
        assert np.isfinite(want).all()
        close(sg.grad(f)(self.Z), want)
        close(sg.grad(f, mode="forward")(self.Z), want)
        close(sg.hessian(f)(self.Z), sg.hessian(plain)(self.Z))

    def test_nor_has_what_all_steps_read(self):
        def f(a, z):
            return sg.scan(lambda c, v: (c + np.where(a > 0, np.sqrt(a), v), None), 0.0, z)[0]

        def products(a, z):
            return sg.scan(lambda c, v: (c + np.where(v > 9, np.sqrt(a) * v, v * c), None), H, z)[0]

        for a in (-1.0, 0.0):
            assert sg.grad(f)(a, self.Z) == 0
            np.testing.assert_array_equal(sg.grad(products)(a * H, self.Z), 0 * H)

    def test_examples_choose_for_themselves(self):
        f = lambda v: sg.cond(v > 0, np.log, lambda v: v * 0.5, v)  # noqa: E731
        close(sg.vmap(f)(self.Z), np.where(self.Z > 0, np.log(np.abs(self.Z) + (self.Z == 0)), 0.5 * self.Z))
        close(sg.vmap(sg.grad(f))(self.Z), [0.25, 0.5, 0.5, 0.5])

    def test_where_the_value_is_known_one_branch_is_traced(self):
        met = []
        f = lambda x: sg.cond(x > 0, lambda v: v * v, lambda v: met.append(1) or -v, x)  # noqa: E731
        derivative = sg.grad(f)
        assert derivative(3.0) == 6.0
        assert not met
        assert derivative(-3.0) == -1.0
        assert f(2.0) == 4.0
        assert sg.cond(True, lambda: "yes", lambda: "no") == "yes"

    def test_both_write_into_what_they_are_given(self):
        def write(v, by):
            v[0] = v[0] * by
            return v

        step = lambda c, x: (sg.cond(x > 0, lambda v: write(v, 2), lambda v: write(v, 3), c), None)  # noqa: E731
        got = traced(lambda z: sg.scan(step, np.ones(2), z)[0], np.array([1.0, -1.0, 1.0]))
        np.testing.assert_array_equal(got, [12.0, 1.0])

    @pytest.mark.parametrize(
        ("first", "second", "kind", "message"),
        [
            (lambda v: (v, v), lambda v: v, ArgumentTypeError, "structures"),
            (lambda v: None, lambda v: v, ArgumentTypeError, "structures"),
            (lambda v: v, lambda v: np.stack([v, v]), ShapeError, r"\(\).*\(2,\)"),
            (lambda v: v, lambda v: np.float32(1), ArgumentTypeError, "float64 where the other gives float32"),
        ],
    )
    def test_both_give_the_same(self, first, second, kind, message):
        with pytest.raises(kind, match=message):
            sg.vmap(lambda v: sg.cond(v > 0, first, second, v))(self.Z)

    def test_numbers_give_way(self):
        got = sg.vmap(lambda v: sg.cond(v > 0, lambda v: v, lambda v: 0.0, v))(self.Z.astype(np.float32))
        assert got.dtype == np.float32
        np.testing.assert_array_equal(got, [4, 0, 0, 2])

    @pytest.mark.parametrize("wrap", [lambda f, x: f(x), traced])
    def test_one_truth_value(self, wrap):
        with pytest.raises(ShapeError, match=r"pred is one truth value, and it has shape \(4,\)"):
            wrap(lambda z: sg.cond(z > 0, np.sin, np.cos, z), self.Z)


class TestCheckpoint:
    @pytest.mark.parametrize("reverse", [False, True])
    @pytest.mark.parametrize("every", ["sqrt", 1, 2, 4, 5, 6, 100])
    def test_derivatives_are_the_same(self, every, reverse):
        def loss(A, h, xs, checkpoint):
            last, kept = recurrent(A, h, xs, reverse=reverse, checkpoint=checkpoint)
            return np.sum(last**2) + np.sum(kept)

        got, want = (sg.value_and_grad(lambda *a, k=k: loss(*a, k), (0, 1, 2))(A, H, X) for k in (every, None))
        assert got[0] == want[0]
        for a, b in zip(got[1], want[1], strict=True):
            close(a, b)
        close(*(sg.hessian(lambda h, k=k: loss(A, h, X, k))(H) for k in (every, None)))
        close(*(sg.jacfwd(lambda h, k=k: recurrent(A, h, X, checkpoint=k)[1])(H) for k in (every, None)))

    def test_memory(self):
        def peak(length, checkpoint):
            def loss(y):
                return np.sum(sg.scan(lambda y, _: (y + 1e-3 * np.sin(A @ y), None), y, None, length, **checkpoint)[0])

            derivative = sg.grad(loss, backend="numpy")
            derivative(H)
            found = []
            for _ in range(3):  # other threads, which may compile what earlier tests asked for, need memory too
                tracemalloc.start()
                derivative(H)
                found.append(tracemalloc.get_traced_memory()[1])
                tracemalloc.stop()
            return min(found)

        every = peak(6400, {"checkpoint": None})
        few, many = (peak(n, {"checkpoint": "sqrt"}) for n in (400, 6400))
        assert many < every / 8
        assert many < 8 * few

    def test_a_function(self):
        f = lambda x: np.exp(np.sin(A @ x)) * 2  # noqa: E731
        again = sg.checkpoint(f)
        np.testing.assert_array_equal(again(H), f(H))
        close(sg.jacrev(again)(H), sg.jacrev(f)(H))
        close(sg.jacfwd(again)(H), sg.jacrev(f)(H))
        close(*(sg.hessian(lambda x, g=g: np.sum(g(x) ** 2))(H) for g in (again, f)))
        close(sg.vmap(again)(X), np.stack([f(x) for x in X]))

    def test_a_function_of_nested_values(self):
        @sg.checkpoint
        def scaled(p, name, *, by):
            """Scale."""
            return {"out": p["a"] * p["b"] * by, "name": name, "none": None}

        f = lambda p: scaled(p, "s", by=2.0)["out"]  # noqa: E731
        got = sg.grad(f)({"a": np.float64(2.0), "b": np.float64(3.0)})
        assert got == {"a": 6.0, "b": 4.0}
        assert scaled.__doc__ == "Scale."

    @pytest.mark.parametrize("name", BRANCHING)
    def test_values_decide_in_it_as_outside_of_it(self, name):
        f = BRANCHING[name]
        derived = sg.value_and_grad(lambda x: f(x, sg.checkpoint))
        for x in (np.array([1.2, 2.0, 3.0]), np.array([-0.4, 0.3, 5.0]), np.array([3.3, -0.1, 0.2])):
            value, gradient = derived(x)
            close(value, f(x, lambda g: g))
            close(gradient, slopes(lambda x: f(x, lambda g: g), x), 1e-7)

    @pytest.mark.parametrize("plain", [lambda v: v.__array__()[0], lambda v: v[0].__float__(), lambda v: {v[0]: 1}])
    def test_no_derivative_is_lost_in_it(self, plain):
        with pytest.raises(TracingError, match=r"a traced (array|value) cannot"):
            sg.grad(sg.checkpoint(lambda v: plain(v) * v[1]))(H)

    def test_a_reverse_sweep_stores_nothing_of_it(self):
        def f(x):
            for _ in range(20):
                x = np.sin(np.cos(x) * x)
            return x

        stored = [
            len(sg.grad(lambda x, g=g: np.sum(g(x)), backend="numpy").program(H).bindings)
            for g in (f, sg.checkpoint(f))
        ]
        assert stored[1] < 10 < stored[0]


class TestRefusals:
    @pytest.mark.parametrize(
        "step",
        [
            lambda c, x: (c + x if x > 0 else c, None),
            lambda c, x: (c + x if np.all(x > 0) and c > 1 else c, None),
            lambda c, x: (c * sum(range(np.trunc(x).astype(int))), None),
            lambda c, x: (c * [1.0, 2.0][int(np.trunc(x))], None),
            lambda c, x: (c * X[: int(np.trunc(x))].sum(), None),
        ],
    )
    def test_values_inside_of_a_step(self, step):
        with pytest.raises(
            TracingError, match=r"(?s)inside a step of scan.*sg\.cond or np\.where.*test_loops"
        ) as raised:
            traced(lambda x: sg.scan(step, 1.0, x)[0], H)
        assert "named dims" not in str(raised.value)

    @pytest.mark.parametrize(
        "use", [lambda v: v + 1, lambda v: v, np.sum, lambda v: np.stack([v, v]), lambda v: v.shape]
    )
    @pytest.mark.parametrize("way", [traced, lambda f, x: sg.grad(f)(x), lambda f, x: sg.jacobian(f)(x)])
    def test_values_of_a_step_after_it(self, use, way):
        kept = []

        def f(x):
            last = sg.scan(lambda c, v: (kept.append(c * v) or c * v, None), 1.0, x)[0]
            used = use(kept[-1])
            return used if use(1.0) == 1.0 else last + np.sum(used)

        with pytest.raises(TracingError, match="from inside a step of scan"):
            way(f, H)

    def test_values_of_an_inner_step_in_the_outer_one(self):
        kept = []

        def outer(c, x):
            sg.fori_loop(0, 2, lambda i, a: kept.append(a * x) or a * x, 1.0)
            return c + kept[-1], None

        with pytest.raises(TracingError, match="from inside a step of scan"):
            sg.grad(lambda x: sg.scan(outer, 0.0, x)[0])(H)

    def test_what_is_kept_in_a_list_and_not_used_is_no_mistake(self):
        kept = []
        assert sg.grad(lambda x: sg.scan(lambda c, v: (kept.append(c * v) or c * v, None), 1.0, x)[0])(H).sum() == 3

    @pytest.mark.parametrize(
        ("call", "kind", "message"),
        [
            (lambda x: sg.scan(lambda c, v: c, 0.0, x), ArgumentTypeError, "a step gives a pair"),
            (lambda x: sg.scan(lambda c, v: (c, c, c), 0.0, x), ArgumentTypeError, "it gave a tuple of 3"),
            (lambda x: sg.scan(lambda c, v: ((c, c), None), 0.0, x), ArgumentTypeError, "another structure"),
            (lambda x: sg.scan(lambda c, v: ({**c, "b": v}, None), {"a": 0.0}, x), ArgumentTypeError, "structure"),
            (lambda x: sg.scan(lambda c, v: (c, None), 0.0, x, 4), ArgumentError, "they are 4 and 3"),
            (lambda x: sg.scan(lambda c, v: (c, None), 0.0, (x, x[1:])), ArgumentError, "they are 3 and 2"),
            (lambda x: sg.scan(lambda c, v: (c, None), 0.0, x[0]), ShapeError, "needs a first axis"),
            (lambda x: sg.scan(lambda c, v: (c, None), 0.0, [1.0, 2.0]), ShapeError, r"np\.array\(xs\)"),
            (lambda x: sg.scan(lambda c, v: (c, None), 0.0), ArgumentError, "give xs, or the length"),
            (lambda x: sg.scan(lambda c, v: (c, None), 0.0, None, 2.5), ArgumentTypeError, "not a float"),
            (lambda x: sg.scan(lambda c, v: (c, None), 0.0, None, True), ArgumentTypeError, "not a bool"),
            (lambda x: sg.scan(lambda c, v: (c, None), 0.0, None, -1), ArgumentError, "cannot be negative"),
            (lambda x: sg.scan(3, 0.0, x), ArgumentTypeError, "must be a function"),
            (lambda x: sg.scan(lambda c, v: (c, None), 0.0, x, reverse=1), ArgumentTypeError, "reverse"),
            (lambda x: sg.scan(lambda c, v: (c, None), 0.0, x, checkpoint=0), ArgumentError, "from 1 on"),
            (lambda x: sg.scan(lambda c, v: (c, None), 0.0, x, checkpoint="all"), ArgumentTypeError, "'sqrt'"),
            (lambda x: sg.fori_loop(0, 2.0, lambda i, c: c, x), ArgumentTypeError, "upper is a whole number"),
            (lambda x: sg.fori_loop(None, 2, lambda i, c: c, x), ArgumentTypeError, "lower is a whole number"),
        ],
    )
    @pytest.mark.parametrize("wrap", [lambda f, x: f(x), traced])
    def test_wrong_arguments(self, wrap, call, kind, message):
        with pytest.raises(kind, match=message):
            wrap(call, H)

    @pytest.mark.parametrize(
        ("step", "begin", "kind", "message"),
        [
            (lambda c, v: (c + H, None), 0.0, ShapeError, r"c has shape \(\) and after a step \(3,\)"),
            (lambda c, v: (c * v, None), np.float32(1), ArgumentTypeError, "float32 and after a step float64"),
            (lambda c, v: ({"a": c["a"] > v}, None), {"a": 0.0}, ArgumentTypeError, "a has dtype float64"),
        ],
    )
    def test_carries_that_change(self, step, begin, kind, message):
        with pytest.raises(kind, match=message):
            traced(lambda x: sg.scan(step, begin, x)[0], H)
