"""Calls of custom functions: what they are given, when they run, what they give back, maps, named dims."""

from __future__ import annotations

import math
import threading
import types

import numpy as np
import pytest
import scipy.linalg

import symgrad as sg
from symgrad.errors import ArgumentError, ArgumentTypeError, DtypeError, ShapeError, TracingError

X = np.array([0.3, 0.7, 1.1])


@sg.custom(vjp=lambda primals, ct: ct * np.cos(primals[0]))
def sine(x):
    return np.sin(np.asarray(x))


scaled = sg.custom(lambda x, k=2.0: k * x, vjp=lambda p, ct: (p[1] * ct, np.sum(p[0] * ct)), name="scaled")


class TestCalls:
    def test_it_is_called_live(self):
        state = types.SimpleNamespace(k=2.0)
        f = sg.custom(lambda x: state.k * x, vjp=lambda p, ct: ct)
        value = sg.symbolic(lambda x: f(x) + f(1.0))
        assert value(3.0) == 8
        state.k = 5.0
        assert value(3.0) == 20

    def test_what_a_rule_reads_is_guarded(self):
        state = types.SimpleNamespace(k=2.0)
        f = sg.custom(lambda x: x, vjp=lambda p, ct: state.k * ct)
        gradient = sg.grad(lambda x: f(x))
        assert gradient(1.0) == 2
        state.k = 7.0
        assert gradient(1.0) == 7

    def test_one_call_serves_a_value_and_its_uses(self):
        calls = []
        f = sg.custom(lambda x: calls.append(1) or np.sin(x), jvp=lambda p, t, out: t[0] * np.cos(p[0]) + 0 * out)
        both = sg.value_and_grad(lambda x: np.sum(f(x) ** 2 * f(x)))
        both(X)
        calls.clear()
        both(X + 1)
        assert len(calls) == 1

    def test_several_results_take_one_call_each_way(self):
        ran = {"f": 0, "rule": 0}

        def pair(x):
            ran["f"] += 1
            return x**2, x**3

        def rule(primals, ct):
            ran["rule"] += 1
            return ct[0] * 2 * primals[0] + ct[1] * 3 * primals[0] ** 2

        f = sg.custom(pair, vjp=sg.custom(rule))
        gradient = sg.grad(lambda x: np.sum(f(x)[0] * f(x)[1]))
        gradient(X)
        ran.update(f=0, rule=0)
        np.testing.assert_allclose(gradient(2 * X), 5 * (2 * X) ** 4)
        assert ran == {"f": 1, "rule": 1}

    def test_arguments_come_as_they_would_without_symgrad(self):
        seen = []

        def look(*given):
            seen.append(given)
            return np.float64(1.0)

        f = sg.custom(look, jvp=lambda p, t: t[0])
        table = {"a": 1}
        sg.symbolic(lambda x, y, z, i: f(x, y, z, i, "text", table, None) + 0 * y)(X, 2.0, np.float32(3), np.arange(2))
        x, y, z, i, text, mapping, none = seen[-1]
        assert type(x) is np.ndarray
        assert x.flags.c_contiguous
        assert type(y) is float
        assert type(z) is np.float32
        assert i.dtype == np.arange(2).dtype
        assert (text, none) == ("text", None)
        assert mapping == table

    def test_the_function_may_keep_its_arrays(self):
        kept = []
        f = sg.custom(lambda x: kept.append(x) or x, jvp=lambda p, t: t[0])
        large = np.linspace(0, 1, 300_000)
        for backend in ("numpy", "auto", "native"):
            kept.clear()
            value = sg.symbolic(lambda x: np.sum(np.exp(np.sin(f(np.cos(x)) * 2.0) + 1.0)), backend=backend)
            value(large)
            value(large / 2)
            np.testing.assert_allclose(kept[-1], np.cos(large / 2), rtol=1e-13)

    def test_what_it_gives_back_stays_its_own(self):
        cache = np.array([1.0, 2.0, 3.0])
        f = sg.custom(lambda x: cache, jvp=lambda p, t: t[0])
        for backend in ("numpy", "auto"):
            got = sg.symbolic(f, backend=backend)(X)
            got += 1
            np.testing.assert_array_equal(cache, [1.0, 2.0, 3.0])

    def test_writing_into_an_argument_is_refused(self):
        def careless(x):
            x *= 2
            return x

        with pytest.raises(ArgumentError, match="careless wrote into its array argument 0"):
            sg.symbolic(sg.custom(careless))(X)
        np.testing.assert_array_equal(X, [0.3, 0.7, 1.1])

    def test_a_result_of_another_shape_is_refused(self):
        f = sg.custom(lambda x: x[: int(np.sum(x > 0))], vjp=lambda p, ct: ct, name="kept")
        value = sg.symbolic(f)
        value(X)
        with pytest.raises(ShapeError, match=r"kept gave an array of shape \(2,\) where \(3,\) was expected"):
            value(np.array([1.0, -1.0, 2.0]))

    def test_a_result_of_another_dtype_is_refused(self):
        f = sg.symbolic(sg.custom(lambda x: x.astype(np.float32) if x[0] > 0 else x, jvp=lambda p, t: t[0], name="g"))
        f(X)
        with pytest.raises(DtypeError, match="g gave float64 where float32 was expected"):
            f(-X)
        with pytest.raises(DtypeError, match="complex"):
            sg.symbolic(sg.custom(lambda x: x * 1j))(X)

    def test_a_branch_may_give_a_whole_number(self):
        f = sg.custom(lambda x: 0 if x < 0 else x * x, vjp=lambda p, ct: ct * np.where(p[0] < 0, 0.0, 2 * p[0]))
        for first in (-1.0, 3.0):
            gradient = sg.grad(lambda x: f(x) * x)
            gradient(first)
            assert gradient(2.0) == 12
            assert gradient(-2.0) == 0

    def test_results_that_are_no_arrays_are_refused(self):
        for made, said in (("text", "gave a str"), (None, "gave no array"), ({1}, "gave a set")):
            with pytest.raises(ArgumentTypeError, match=said):
                sg.symbolic(sg.custom(lambda x, made=made: made))(X)
        f = sg.symbolic(sg.custom(lambda x: (x, x) if x[0] > 0 else x))
        f(X)
        with pytest.raises(ArgumentTypeError, match="gave an array where it has given a tuple of 2"):
            f(-X)

    def test_whole_numbers_beside_floats(self):
        f = sg.custom(lambda x: (2 * x, np.int64(7), np.arange(3), x > 0.5), vjp=lambda p, ct: 2 * ct[0])
        _, n, places, mask = sg.symbolic(f)(X)
        assert (n, n.dtype, places.dtype, mask.dtype) == (7, np.int64, np.arange(3).dtype, bool)
        np.testing.assert_array_equal(sg.grad(lambda x: f(x)[0][f(x)[2]] * f(x)[1])(X), [14.0, 14.0, 14.0])
        with pytest.raises(DtypeError, match="above 2"):
            sg.symbolic(sg.custom(lambda x: (x, 2**60)))(X)

    def test_it_computes_where_no_trace_is_on(self):
        inner = sg.grad(lambda z: z**3)
        f = sg.custom(lambda x: inner(float(x)) + sine(float(x)), jvp=lambda p, t: (6 * p[0] + np.cos(p[0])) * t[0])
        assert sg.grad(f)(2.0) == pytest.approx(12 + np.cos(2.0))

    def test_calls_around_it_and_in_its_rules_are_followed(self):
        def turned(a):
            return np.array([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]])

        def along(primals, tangents):
            made = np.zeros((2, 2))
            made[0] = [-math.sin(primals[0]), -math.cos(primals[0])]
            made[1] = math.cos(primals[0]), -math.sin(primals[0])
            return made * tangents[0]

        rotation = sg.custom(turned, jvp=along)

        def reached(x):
            y = np.zeros(2)
            for k in range(2):
                y[k] = math.sin(x[k + 1])
            return np.sum((rotation(float(x[0])) @ y) ** 2 * np.array([1.0, x[1]]))

        steps = 1e-6 * np.eye(3)
        numeric = [(reached(X + h) - reached(X - h)) / 2e-6 for h in steps]
        np.testing.assert_allclose(sg.grad(reached)(X), numeric, rtol=1e-7)
        gradient = sg.grad(reached)
        second = [(gradient(X + h) - gradient(X - h)) / 2e-6 for h in steps]
        np.testing.assert_allclose(sg.hessian(reached)(X), second, atol=1e-7)

    def test_a_function_of_a_library_stays_what_it_is_where_calls_are_followed(self):
        expm = sg.custom(scipy.linalg.expm, jvp=sg.custom(lambda p, t: scipy.linalg.expm_frechet(p[0], t[0])[1]))

        def total(x):
            return np.sum(expm(np.array([[x[0], 1.0], [x[1], x[2]]])))

        numeric = [(total(X + h) - total(X - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
        np.testing.assert_allclose(sg.grad(total)(X), numeric, rtol=1e-7)

    def test_traced_values_around_it_have_to_be_passed(self):
        def outer(x):
            return sg.custom(lambda y: y * x, vjp=lambda p, ct: ct, name="leaky")(x)

        with pytest.raises(TracingError, match="leaky runs as it is, on plain arrays, and it met a traced value"):
            sg.grad(outer)(2.0)

    def test_its_own_errors_are_its_own(self):
        class Broken(Exception):
            pass

        def fails(x):
            raise Broken("no convergence")

        with pytest.raises(Broken, match="no convergence"):
            sg.grad(sg.custom(fails, vjp=lambda p, ct: ct))(1.0)
        assert sg.grad(sine)(0.0) == 1  # nothing stays behind

    def test_keywords_defaults_and_names_alone(self):
        assert sg.grad(lambda x: scaled(k=x, x=3.0))(2.0) == 3
        assert sg.grad(lambda x: scaled(x))(2.0) == 2
        with pytest.raises(ArgumentTypeError, match="scaled: got an unexpected keyword argument"):
            sg.grad(lambda x: scaled(x, other=1))(2.0)
        f = sg.custom(lambda x, *, k: x * k, vjp=lambda p, ct, k: ct * k)
        assert sg.grad(lambda x: f(x, k=3.0))(2.0) == 3
        with pytest.raises(ArgumentTypeError, match="k can be passed by name alone"):
            sg.grad(lambda x: f(x, k=x))(2.0)

    def test_ints_that_change_are_honoured(self):
        f = sg.custom(lambda x, n: sum(x for _ in range(n)), jvp=lambda p, t: p[1] * t[0])
        gradient = sg.grad(lambda x, n: f(x, n))
        assert [gradient(2.0, n) for n in (1, 2, 3, 4, 7)] == [1, 2, 3, 4, 7]

    def test_threads(self):
        gradient = sg.grad(lambda x: np.sum(sine(x) ** 2))
        wanted, wrong = 2 * np.sin(X) * np.cos(X), []

        def work():
            for _ in range(50):
                if not np.allclose(gradient(X), wanted):
                    wrong.append(1)

        workers = [threading.Thread(target=work) for _ in range(4)]
        for w in workers:
            w.start()
        for w in workers:
            w.join()
        assert not wrong


class TestMaps:
    BATCH = np.stack([X, 2 * X, 3 * X, 4 * X])

    def test_one_example_after_the_other(self):
        seen = []
        f = sg.custom(
            lambda x, k: seen.append(x.shape) or np.sin(k * x),
            vjp=sg.custom(lambda p, ct: (ct * p[1] * np.cos(p[0] * p[1]), np.sum(ct * p[0] * np.cos(p[0] * p[1])))),
        )
        mapped = sg.vmap(f, (0, None))
        np.testing.assert_allclose(mapped(self.BATCH, 2.0), np.sin(2 * self.BATCH))
        assert set(seen) == {(3,)}
        by_k = sg.grad(lambda k: np.sum(mapped(self.BATCH, k)))(2.0)
        assert by_k == pytest.approx(np.sum(self.BATCH * np.cos(2 * self.BATCH)))
        np.testing.assert_allclose(
            sg.jacobian(lambda k: mapped(self.BATCH, k))(2.0), self.BATCH * np.cos(2 * self.BATCH)
        )
        pairs = sg.vmap(sg.vmap(f, (None, 0)), (0, None))(self.BATCH, np.array([1.0, 2.0]))
        np.testing.assert_allclose(pairs[:, 1], np.sin(2 * self.BATCH))

    def test_all_in_one_call_where_leading_axes_are_taken(self):
        seen = []
        f = sg.custom(
            lambda x, k: seen.append(x.shape) or np.sin(np.asarray(k)[..., None] * x),
            jvp=lambda p, t: np.cos(p[0] * p[1]) * (t[0] * p[1] + p[0] * t[1]),
            shape=lambda x, k: x,
            vectorized=True,
        )
        np.testing.assert_allclose(sg.vmap(f, (0, None))(self.BATCH, 2.0), np.sin(2 * self.BATCH))
        both = sg.vmap(sg.vmap(f, (None, 0)), (0, None))(self.BATCH, np.array([1.0, 2.0]))
        np.testing.assert_allclose(both[:, 1], np.sin(2 * self.BATCH))
        assert seen == [(4, 3), (4, 2, 3)]
        np.testing.assert_allclose(
            sg.vmap(sg.grad(lambda x, k: np.sum(f(x, k)), 1), (0, None))(self.BATCH, 2.0),
            np.sum(self.BATCH * np.cos(2 * self.BATCH), axis=1),
        )
        assert sg.vmap(f, (0, None))(np.ones((0, 3)), 2.0).shape == (0, 3)

    def test_no_example_needs_a_shape(self):
        with pytest.raises(ShapeError, match=r"shape=…"):
            sg.vmap(sine)(np.ones((0, 3)))


class TestNamedDims:
    def test_the_shape_is_said(self):
        doubled = sg.custom(
            lambda x: np.concatenate([x, x]),
            vjp=lambda p, ct: ct[: p[0].shape[0]] + ct[p[0].shape[0] :],
            shape=lambda s: (2 * s[0],),
        )
        gradient = sg.grad(sg.named(lambda x: np.sum(doubled(x) ** 2), x="n"))
        for x in (X, np.ones(5)):
            np.testing.assert_allclose(gradient(x), 4 * x)
        pair = sg.custom(lambda x: (x, np.sum(x)), vjp=lambda p, ct: ct[0] + ct[1], shape=lambda s: (s, ()))
        for backend in ("numpy", "auto", "native"):
            second = sg.hessian(sg.named(lambda x: np.sum(pair(x)[0] * pair(x)[1]), x="n"), backend=backend)
            np.testing.assert_allclose(second(X), np.full((3, 3), 2.0))

    def test_without_one_it_is_asked_for(self):
        with pytest.raises(ShapeError, match=r"the shape of its result is not known.*shape=…"):
            sg.grad(sg.named(lambda x: np.sum(sine(x)), x="n"))(X)

    def test_another_shape_than_said_is_refused(self):
        wrong = sg.custom(lambda x: x[:1], shape=lambda s: s, name="wrong")
        with pytest.raises(ShapeError, match=r"wrong gave an array of shape \(1,\) where \(3,\) was expected"):
            sg.symbolic(sg.named(lambda x: wrong(x), x="n"))(X)
        with pytest.raises(ArgumentTypeError, match="it gives a tuple of sizes"):
            sg.symbolic(sg.custom(np.sin, shape=lambda *s: "no"))(X)
