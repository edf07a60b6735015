"""vmap: against a loop over the examples, with every derivative both ways, with names, cells, rules and errors."""

import functools

import numpy as np
import pytest

import symgrad
from symgrad import grad, hessian, hvp, jacfwd, jacobian, jacrev, jvp, nn, value_and_grad, vjp, vmap
from symgrad.errors import ArgumentError, ArgumentTypeError, ShapeError, TracingError, UnsupportedOperation
from symgrad.program.verify import verify
from symgrad.testing import check_grads
from symgrad.tracing.tracer import Tracer
from symgrad.tracing.tree import flatten, unflatten

RNG = np.random.default_rng(3)
X = RNG.standard_normal((4, 3))
Y = RNG.standard_normal(4)
W = RNG.standard_normal(3)
A = RNG.standard_normal((3, 3))


def loss(w, x, y):
    return (np.tanh(x @ w) - y) ** 2


def stacked(fn, *batched):
    """``fn`` on each example in turn; ``batched`` arguments lead with the examples."""
    outputs = [flatten(fn(*example)) for example in zip(*batched, strict=True)]
    return unflatten(outputs[0][1], [np.stack(leaves) for leaves in zip(*[o[0] for o in outputs], strict=True)])


def expect_equal(got, want, tolerance=1e-12):
    (mine, structure), (theirs, expected) = flatten(got), flatten(want)
    assert structure == expected
    for a, b in zip(mine, theirs, strict=True):
        assert np.shape(a) == np.shape(b)
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def plain_or(mapped, loop):
    """``mapped`` while it is traced, ``loop`` where finite differences evaluate it."""
    return lambda *xs: mapped(*xs) if any(isinstance(x, Tracer) for x in xs) else loop(*xs)


class TestValues:
    def test_a_product_by_a_matrix_is_one_contraction(self):
        mapped = vmap(lambda x: x @ A)
        expect_equal(mapped(X), X @ A)
        assert [n.primitive.name for n in mapped.program(X).bindings] == ["einsum"]

    def test_from_the_left_too(self):
        mapped = vmap(lambda x: A @ x)
        expect_equal(mapped(X), X @ A.T)
        assert [n.primitive.name for n in mapped.program(X).bindings] == ["einsum"]

    @pytest.mark.parametrize("size", [0, 1, 5])
    def test_sizes(self, size):
        x = RNG.standard_normal((size, 3))
        got = vmap(lambda x: (np.sin(x) * np.max(x), np.sort(x)))(x)
        expect_equal(got, (np.sin(x) * np.max(x, 1, keepdims=True), np.sort(x, 1)))

    def test_axes_of_arguments_and_outputs(self):
        mapped = vmap(lambda a, b, c: (a * b + c, a), in_axes=(1, -1, None), out_axes=(-1, 1))
        b = RNG.standard_normal((3, 4))
        expect_equal(mapped(X.T, b, W), ((X.T * b + W[:, None]), X.T))

    def test_trees(self):
        def fn(pair, scales):
            return {"sum": pair["a"] + pair["b"][0], "rest": [pair["b"][1] * scales[0], scales[1]]}

        pair, scales = {"a": X, "b": (W, X.T)}, [2.0, Y]
        mapped = vmap(fn, in_axes=({"a": 0, "b": (None, 1)}, [None, 0]), out_axes={"sum": 0, "rest": 0})
        expect_equal(mapped(pair, scales), {"sum": X + W, "rest": [X * 2.0, Y]})

    def test_keyword_arguments_are_mapped_along_the_first_axis(self):
        expect_equal(vmap(lambda x, y: x * y, in_axes=1)(X.T, y=Y), X * Y[:, None])

    def test_what_is_not_mapped_is_passed_whole(self):
        def fn(x, kind, times, weights):
            assert (kind, times) == ("twice", 2)
            return np.sum(x * weights) * times

        expect_equal(vmap(fn, (0, None, None, None))(X, "twice", 2, X), np.array([np.sum(x * X) * 2 for x in X]))

    def test_outputs_that_are_the_same_for_all(self):
        got = vmap(lambda x: (W, 2, 1.5, True, x.shape[0], None, x.dtype.itemsize * x))(X)
        assert [np.shape(v) for v in got[:5]] == [(4, 3), (4,), (4,), (4,), (4,)]
        assert [v.dtype.kind for v in got[:5]] == ["f", "i", "f", "b", "i"]
        assert got[5] is None
        np.testing.assert_array_equal(got[0], np.stack([W] * 4))

    def test_an_output_without_examples(self):
        expect_equal(vmap(lambda x: (x * 2, W + 1), out_axes=(0, None))(X), (X * 2, W + 1))

    def test_dtypes(self):
        assert vmap(lambda x: x * 2)(X.astype(np.float32)).dtype == np.float32
        assert vmap(lambda i: i + 1)(np.arange(3)).dtype == np.int64

    def test_an_argument_written_to_inside(self):
        def fn(x, w):
            w[0] = x[1]
            x[2] *= 2.0
            return w * x

        before = X.copy(), W.copy()
        want = np.stack([fn(x.copy(), W.copy()) for x in X])
        expect_equal(vmap(fn, (0, None))(X, W), want)
        expect_equal(symgrad.symbolic(lambda x, w: (vmap(fn, (0, None))(x, w), w))(X, W), (want, W))
        expect_equal((X, W), before)

    def test_one_trace_serves_all_calls(self):
        mapped = vmap(lambda x: np.sum(x**2))
        mapped(X)
        first = mapped._compiled.latest
        mapped(X + 1)
        assert mapped._compiled.latest is first

    def test_a_captured_array_that_changes(self):
        scale = np.array([1.0, 2.0, 3.0])
        mapped = vmap(lambda x: x * scale)
        expect_equal(mapped(X), X * scale)
        scale[0] = 5.0
        expect_equal(mapped(X), X * scale)

    def test_nested(self):
        distances = vmap(vmap(lambda a, b: np.sum((a - b) ** 2), (None, 0)), (0, None))
        other = RNG.standard_normal((5, 3))
        expect_equal(distances(X, other), np.sum((X[:, None] - other) ** 2, -1))
        same = vmap(lambda a: vmap(lambda b: np.sum((a - b) ** 2))(other))
        expect_equal(same(X), distances(X, other))
        ends = vmap(vmap(lambda x: x * 2, in_axes=1, out_axes=1), in_axes=2, out_axes=1)
        cube = RNG.standard_normal((2, 3, 4))
        expect_equal(ends(cube), np.moveaxis(cube, 2, 1) * 2)

    def test_indices_of_their_own(self):
        index = RNG.integers(-3, 3, (4, 2))
        expect_equal(vmap(lambda x, i: x[i])(X, index), np.take_along_axis(X, index, 1))
        expect_equal(vmap(lambda a, i: a[i, 0], (None, 0))(A, index), A[index, 0])
        expect_equal(vmap(lambda x, i: x[0, i])(X.reshape(4, 1, 3), index[:, 0]), X[np.arange(4), index[:, 0]])

    def test_special_functions(self):
        special = pytest.importorskip("scipy.special")
        fn = lambda x: special.erf(x) + special.log_ndtr(x[0])  # noqa: E731
        expect_equal(vmap(fn)(X), stacked(fn, X))
        expect_equal(vmap(grad(fn))(X), stacked(grad(fn), X))


def small_problem(x, a):
    y = np.linalg.solve(a @ a.T + np.eye(3), np.sin(x))
    return np.sum(np.exp(y)) * np.max(x) + np.cumsum(x)[1] * np.prod(x[1:]) + np.linalg.norm(x - a[0])


MATRICES = RNG.standard_normal((4, 3, 3))


class TestDerivatives:
    @pytest.mark.parametrize(
        "derived",
        [
            grad(small_problem),
            grad(small_problem, (0, 1)),
            grad(small_problem, 1, mode="forward"),
            value_and_grad(small_problem, (1,)),
            hessian(small_problem),
            jacobian(lambda x, a: np.outer(x, a @ x), (0, 1)),
            jacfwd(lambda x, a: np.tanh(a @ x)),
            jacrev(lambda x, a: {"y": a @ x, "z": x[::-1]}),
            lambda x, a: jvp(small_problem, (x, a), (a[0], a**2)),
            lambda x, a: vjp(lambda x: a @ x, x)[1](np.cos(x))[0],
            lambda x, a: hvp(small_problem, (x, a), (a[1], a)),
            grad(lambda x, a: (small_problem(x, a), x * 2, {"n": 3}), has_aux=True),
            lambda x, a: grad(grad(lambda x: np.sum(x) ** 3))(x[0]),
        ],
        ids=lambda derived: getattr(derived, "verb", "composed"),
    )
    def test_of_each_example(self, derived):
        mapped = vmap(derived)
        expect_equal(mapped(X, MATRICES), stacked(derived, X, MATRICES), 1e-9)
        verify(mapped._compiled.entry(X, MATRICES).program)

    def test_through_the_mapping(self):
        check_grads(plain_or(vmap(small_problem), lambda x, a: stacked(small_problem, x, a)), [X, MATRICES])

    def test_with_an_argument_that_is_the_same_for_all(self):
        loop = lambda w, x, y: np.stack([loss(w, *pair) for pair in zip(x, y, strict=True)])  # noqa: E731
        check_grads(plain_or(vmap(loss, (None, 0, 0)), loop), [W, X, Y])

    def test_through_a_mapped_gradient(self):
        def norms(fn):
            return lambda w, x, y: np.sum(fn(w, x, y) ** 2)

        analytic = lambda w, x, y: 2 * (np.tanh(x @ w) - y)[:, None] * (1 - np.tanh(x @ w) ** 2)[:, None] * x  # noqa: E731
        check_grads(plain_or(norms(vmap(grad(loss), (None, 0, 0))), norms(analytic)), [W, X, Y])

    def test_indices_of_their_own(self):
        index = RNG.integers(-3, 3, (4, 2))
        mapped = vmap(lambda x, i: x[i] ** 3)
        check_grads(plain_or(lambda x: mapped(x, index), lambda x: np.take_along_axis(x, index, 1) ** 3), [X])

    def test_the_gradient_of_a_mean_is_the_mean_of_the_gradients(self):
        each = vmap(grad(loss), (None, 0, 0))(W, X, Y)
        mean = grad(lambda w: np.mean(vmap(loss, (None, 0, 0))(w, X, Y)))(W)
        expect_equal(mean, np.mean(each, 0))

    def test_a_jacobian_is_known_to_be_block_diagonal(self):
        mapped = vmap(lambda x: np.tanh(A @ x))
        blocks = vmap(jacobian(lambda x: np.tanh(A @ x)))(X)
        dense = jacobian(mapped)(X)
        for k in range(4):
            expect_equal(dense[k, :, k], blocks[k])
        assert np.count_nonzero(dense) == blocks.size
        pytest.importorskip("scipy")
        assert jacobian(mapped, sparse=True)(X).nnz == blocks.size
        assert jacobian(mapped).sparsity(X).nnz == blocks.size

    def test_auxiliary_outputs(self):
        gradient, aux = vmap(grad(lambda x: (np.sum(x**2), x + 1, None), has_aux=True))(X)
        expect_equal((gradient, aux[0]), (2 * X, X + 1))
        assert aux[1] is None
        gradient, aux = grad(vmap(lambda x: (np.sum(x**2), x + 1)), has_aux=True)(X)
        expect_equal((gradient, aux[0]), (2 * X, X + 1))

    def test_newton_steps(self):
        fn = lambda x: np.sum(np.cosh(x)) + x[0] * x[1] / 2  # noqa: E731
        step = lambda x: x - np.linalg.solve(hessian(fn)(x), grad(fn)(x))  # noqa: E731
        x = X
        for _ in range(8):
            x = vmap(step)(x)
        expect_equal(vmap(grad(fn))(x), np.zeros_like(X), 1e-9)

    def test_perturbations_are_kept_apart(self):
        fn = lambda x: vmap(lambda y: grad(lambda z: x * y * z**2)(y))(Y)  # noqa: E731
        expect_equal(jvp(fn, 3.0, 1.0)[1], 2 * Y**2)
        expect_equal(vmap(grad(lambda x: x * grad(lambda y: x * y)(1.0)))(Y), 2 * Y)

    def test_per_example_outer_products_are_multiplied_last(self):
        network = lambda u, v, x: np.tanh(x @ u) @ v  # noqa: E731
        source = vmap(grad(network), (None, None, 0)).kernel(np.ones((20, 30)), np.ones(30), np.ones((500, 20))).source
        assert source.count("[:, :, None]") == 1


class TestRules:
    """Cells with a bprop of their own, which no derivative of the construct would give."""

    class Odd(nn.Cell):
        def construct(self, x, w):
            return x * x * w

        def bprop(self, x, w, out, dout):
            return 10 * x * w * dout, np.sum(x) * dout * np.cos(out)

    def test_inside_and_outside(self):
        odd = self.Odd()
        each = stacked(lambda x: grad(odd, (0, 1))(x, W), X)
        expect_equal(vmap(grad(odd, (0, 1)), (0, None))(X, W), each)
        expect_equal(grad(vmap(odd, (0, None)), (0, 1))(X, W), (each[0], np.sum(each[1], 0)))

    @pytest.mark.parametrize("derivative", [jacfwd, jacrev, jacobian])
    def test_jacobians(self, derivative):
        odd = self.Odd()
        want = stacked(lambda x: derivative(odd, 1)(x, W), X)
        expect_equal(derivative(vmap(odd, (0, None)), 1)(X, W), want)
        expect_equal(vmap(derivative(odd, 1), (0, None))(X, W), want)

    def test_nested(self):
        odd, ws = self.Odd(), RNG.standard_normal((2, 3))
        every = vmap(vmap(odd, (0, None)), (None, 0))
        each = [grad(vmap(odd, (0, None)), (0, 1))(X, w) for w in ws]
        expect_equal(grad(every, (0, 1))(X, ws), (each[0][0] + each[1][0], np.stack([g for _, g in each])))
        pushed = [jvp(vmap(odd, (0, None)), (X, w), (np.cos(X), np.sin(w)))[1] for w in ws]
        expect_equal(jvp(every, (X, ws), (np.cos(X), np.sin(ws)))[1], np.stack(pushed))

    def test_a_rule_that_is_constant_in_the_example(self):
        class Sum(nn.Cell):
            def construct(self, x):
                return np.sum(x)

            def bprop(self, x, out, dout):
                return (np.array([1.0, 2.0, 3.0]),)

        expect_equal(grad(vmap(Sum()))(X), np.stack([[1.0, 2.0, 3.0]] * 4))

    def test_a_value_that_hides_what_is_mapped(self):
        class Hides(nn.Cell):
            def construct(self, w):
                return w * self.x

            def bprop(self, w, out, dout):
                return (dout,)

        cell = Hides()

        def fn(x, w):
            object.__setattr__(cell, "x", x)
            return cell(w)

        with pytest.raises(TracingError, match="also depends on 'x'"):
            vmap(fn, (0, None))(X, W)


class TestCells:
    def test_parameters_are_the_same_for_all(self):
        net = nn.SequentialCell(nn.Dense(3, 4), nn.Tanh(), nn.Dense(4, 2))
        x, weights = X.astype(np.float32), net.trainable_params()
        expect_equal(vmap(net)(x), net(x), 1e-6)
        each = vmap(grad(net, None, weights))(x)
        assert [g.shape for g in each] == [(4, *p.shape) for p in weights]
        total = grad(vmap(net), None, weights)(x)
        expect_equal(total, tuple(np.sum(g, 0) for g in each), 1e-5)
        expect_equal(total, grad(net, None, weights)(x), 1e-5)

    def test_a_parameter_that_changes(self):
        net = nn.Dense(3, 1)
        mapped = vmap(net)
        x = X.astype(np.float32)
        mapped(x)
        for p in net.trainable_params():
            p.set_data(p + 1)
        expect_equal(mapped(x), net(x), 1e-6)


class TestNames:
    def test_the_examples_may_be_named(self):
        mapped = symgrad.named(vmap(loss, (None, 0, 0)), w="d", x="n d", y="n")
        gradient = grad(mapped)
        for n, d in ((4, 3), (2, 1), (0, 2)):
            want = np.sum(vmap(grad(loss), (None, 0, 0))(W[:d], X[:n, :d], Y[:n]), 0)
            expect_equal(gradient(W[:d], X[:n, :d], Y[:n]), want)
        through = grad(lambda w, x: np.sum(vmap(np.dot, (0, None))(x, w)))
        assert through.closed_form("d", "n d", form="matrix").text == "xᵀ𝟏"

    def test_shapes_as_text(self):
        each = vmap(grad(lambda w, x, y: (x @ w - y) ** 2), (None, 0, 0))
        assert each.closed_form("d", "n d", "n", form="matrix").text == "2 diag(xw − y) x"
        assert each.program("d", "n d", "n").outputs[0].shape == each.program("d", "n d", "n").inputs[1].shape

    def test_a_declaration_of_one_example(self):
        fn = symgrad.named(lambda w, x, y: (x @ w - y) ** 2, w="d", x="d")
        mapped = vmap(fn, (None, -1, 0))
        expect_equal(mapped(W, X.T, Y), (X @ W - Y) ** 2)
        first = mapped._compiled.latest
        expect_equal(mapped(W[:2], X.T[:2, :3], Y[:3]), (X[:3, :2] @ W[:2] - Y[:3]) ** 2)
        assert mapped._compiled.latest is first
        assert [str(n.shape) for n in first.program.inputs] == ["(d,)", "(d, batch)", "(batch,)"]
        with pytest.raises(ShapeError, match=r"y is 'batch' = 3 gave batch = 3"):
            mapped(W, X.T, Y[:3])
        with pytest.raises(ShapeError, match="w is 'd' = 2, but x is 'd batch'"):
            mapped(W[:2], X.T, Y)
        expect_equal(vmap(mapped, (0, None, None))(np.stack([W, 2 * W]), X.T, Y)[1], mapped(2 * W, X.T, Y))
        expect_equal(grad(mapped)(W, X.T, Y), 2 * (X @ W - Y) @ X)
        expect_equal(vmap(grad(fn), (None, -1, 0))(W, X.T, Y), 2 * (X @ W - Y)[:, None] * X)

    def test_a_complete_declaration_needs_no_arguments(self):
        fn = symgrad.named(lambda w, x: np.sum(x @ w), w="d", x="batch d")
        assert [str(n.shape) for n in vmap(fn, (None, 1)).program().inputs] == ["(d,)", "(batch, batch1, d)"]

    def test_indices_of_their_own(self):
        index = RNG.integers(-3, 3, (4, 2))
        pick = lambda x, i: np.sum(x[i] ** 2)  # noqa: E731
        named = grad(symgrad.named(vmap(pick), x="n d", i="n k"))
        for n, k in ((4, 2), (3, 1)):
            expect_equal(named(X[:n], index[:n, :k]), grad(vmap(pick))(X[:n], index[:n, :k]))
            expect_equal(named(X[:n], index[:n, :k]), stacked(grad(pick), X[:n], index[:n, :k]))

    def test_examples_of_different_names(self):
        with pytest.raises(ShapeError, match="x has n along axis 0, y has m along axis 0"):
            vmap(lambda x, y: x * y).program("n", "m")


class TestReading:
    def test_closed_forms_agree_with_the_kernel(self):
        each = vmap(grad(lambda w, x: np.exp(x @ w)), (None, 0))
        forms = each.agreement(W[:2], X[:3, :2])
        assert max(forms.values()) < 1e-12 if isinstance(forms, dict) else "to" in str(forms)

    def test_names_of_the_arguments_are_the_functions_own(self):
        program = vmap(grad(loss), (None, 0, 0)).program(W, X, Y)
        assert program.names == ("w", "x", "y")

    def test_it_says_what_it_is(self):
        assert repr(vmap(loss)) == "<vmap(loss)>"
        assert "f &=" in vmap(np.sum).latex(X)


class TestErrors:
    def test_a_branch_on_mapped_values(self):
        def fn(x):
            if np.sum(x) > 0:
                return x
            return -x

        with pytest.raises(TracingError, match=r"(?s)np\.where.*if np\.sum\(x\) > 0:"):
            vmap(fn)(X)
        with pytest.raises(TracingError, match=r"np\.where"):
            vmap(lambda x, n: np.repeat(x, n))(X, np.arange(4))
        with pytest.raises(TracingError, match="indexed by them as an argument"):
            vmap(lambda i: A[i])(np.arange(3))

    def test_a_branch_on_what_is_the_same_for_all_is_guarded(self):
        mapped = vmap(lambda x, s: x if s > 0 else -x, (0, None))
        expect_equal(mapped(X, 1.0), X)
        expect_equal(mapped(X, -1.0), -X)

    def test_sizes_that_disagree(self):
        with pytest.raises(ShapeError, match="x has 4 along axis 0, y has 3 along axis 0"):
            vmap(lambda x, y: x * y)(X, W)

    @pytest.mark.parametrize("value", [2.0, 2, True, "a"], ids=str)
    def test_what_has_no_axis(self, value):
        with pytest.raises(ArgumentTypeError, match=f"y is of type {type(value).__name__}"):
            vmap(lambda x, y: x)(X, value)
        with pytest.raises(ArgumentTypeError, match=r"functools\.partial"):
            vmap(lambda x, y: x)(X, y=value)
        expect_equal(vmap(functools.partial(lambda x, y: x, y=value))(X), X)

    def test_arrays_without_the_axis(self):
        with pytest.raises(ShapeError, match=r"y has shape \(\)"):
            vmap(lambda x, y: x)(X, np.float64(2.0))
        with pytest.raises(ShapeError, match=r"a has shape \(4, 3\), and is to be mapped along axis 2"):
            vmap(np.sum, 2)(X)
        with pytest.raises(ShapeError, match="out_axes=2"):
            vmap(lambda x: x, out_axes=2)(X)

    @pytest.mark.parametrize("axes", ["0", 1.0, True, (0, "x"), (0, [True])])
    def test_axes_that_are_none(self, axes):
        with pytest.raises(ArgumentTypeError, match="in_axes"):
            vmap(loss, in_axes=axes)
        with pytest.raises(ArgumentTypeError, match="out_axes"):
            vmap(loss, out_axes=axes)

    def test_axes_that_do_not_fit_the_arguments(self):
        with pytest.raises(ArgumentError, match="in_axes has 2 entries"):
            vmap(loss, (0, 0))(W, X, Y)
        with pytest.raises(ArgumentError, match="nested in another way"):
            vmap(lambda p: p[0], ((0, 0, 0),))((X, X))
        with pytest.raises(ArgumentError, match="nested in another way"):
            vmap(lambda x: (x, x), out_axes=(0, 0, 0))(X)
        with pytest.raises(ArgumentTypeError, match="one entry for each argument"):
            vmap(loss, in_axes={"w": 0})

    def test_nothing_is_mapped(self):
        with pytest.raises(ArgumentError, match="no array is mapped"):
            vmap(loss, None)(W, W, 1.0)
        with pytest.raises(ArgumentError, match="differs between the examples"):
            vmap(lambda x: x, out_axes=None)(X)

    def test_outputs_that_are_no_arrays(self):
        with pytest.raises(ArgumentTypeError, match="of type str"):
            vmap(lambda x: "a")(X)
        with pytest.raises(ArgumentTypeError, match="of type function"):
            vmap(lambda x: vjp(np.sin, x))(X)

    def test_a_value_of_one_example_does_not_escape(self):
        kept = []

        def fn(x):
            vmap(lambda e: kept.append(e) or e)(x)
            return kept[-1] * 2

        with pytest.raises(TracingError):
            symgrad.symbolic(fn)(X)

    def test_a_sparse_result_stays_outermost(self):
        with pytest.raises(TracingError, match="outermost"):
            vmap(jacobian(np.sin, sparse=True))(X)

    def test_an_operation_without_a_rule(self, monkeypatch):
        from symgrad.primitives.primitive import Primitive
        from symgrad.primitives.reduction import CumulativeSum

        monkeypatch.setattr(CumulativeSum, "vmap", Primitive.vmap)
        with pytest.raises(UnsupportedOperation, match="vmap has no rule for cumsum"):
            vmap(np.cumsum)(X)

    def test_a_fn_that_is_none(self):
        with pytest.raises(ArgumentTypeError, match="fn must be a function"):
            vmap(3)


def clipped(x):
    y = 2 * x
    y[y < 0] = 0.5
    y[x > 1] = x[0]
    return np.sum(y**2)


def rows_replaced(x):
    y = x * np.ones((2, 1))
    y[y[:, 0] > 0] = 3.0
    return np.sum(y**3 * x)


@pytest.mark.parametrize("fn", [clipped, rows_replaced])
def test_masked_writes_of_one_value_are_choices(fn):
    """Which places a mask picks need not be known, with vmap and without."""
    np.testing.assert_array_equal(vmap(fn)(X), stacked(fn, X))
    np.testing.assert_array_equal(vmap(grad(fn))(X), np.stack([grad(fn)(x) for x in X]))
    for x in X:
        check_grads(fn, [x], order=1)
