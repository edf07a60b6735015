"""ONNX models pass the official checker, infer the shapes they declare, and give what the kernel gives."""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import replace

import golden
import numpy as np
import pytest
import scipy.special
import structure
import workloads
from cases import CASES, GOLDEN
from hypothesis import given, settings
from hypothesis import strategies as st

import symgrad as sg
from symgrad import Parameter, nn
from symgrad.errors import ArgumentError, MissingPart, UnsupportedOperation
from symgrad.exporters import onnx_model
from symgrad.kernels.kernel import lower
from symgrad.primitives.elementwise import TEMPLATES
from symgrad.primitives.functions import DOMAINS
from symgrad.tracing.declare import CASES as FUNCTION_CASES
from symgrad.tracing.declare import Given as Held
from symgrad.tracing.tree import flatten
from symgrad.transforms.subjects import subject_of

if not os.environ.get("CI"):
    pytest.importorskip("onnx", reason="onnx is not installed")
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
import onnx
import onnxruntime

onnxruntime.set_default_logger_severity(4)

#: operations that no model holds
REFUSED = {"digamma", "gammaln", "zeta"}
rng = np.random.default_rng(3)


def run(model, arrays):
    """The results of a model in onnxruntime."""
    made = onnx.load_from_string(model)
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    return session.run(None, {i.name: np.asarray(a) for i, a in zip(made.graph.input, arrays, strict=True)})


class Exported:
    """A derivative as a model, made without a check, beside its kernel."""

    def __init__(self, derived, args):
        made = subject_of(derived._readable(), args, {}, None, "auto", True)
        self.subject = replace(made, checked=lambda: "it is compared here")
        self.model = onnx_model.model(self.subject)

    def compare(self, *arrays, bound=1e-11, of_single=1e-5):
        """Results have the shapes and dtypes of the kernel's, and its values."""
        with np.errstate(all="ignore"):
            wanted = lower(self.subject.program, "numpy")(*arrays)
        for got, want in zip(run(self.model, arrays), map(np.asarray, wanted), strict=True):
            same(got, want, bound, of_single)


def same(got, want, bound=1e-11, of_single=1e-5):
    assert got.shape == want.shape
    assert got.dtype == want.dtype
    limit = of_single if want.dtype == np.float32 else bound
    np.testing.assert_allclose(got, want, rtol=limit, atol=limit)


def exported(function, *args):
    return Exported(sg.symbolic(function, backend="numpy"), args)


def of_template(template):
    def function(*operands):
        return template.ufunc(*operands)

    function.__name__ = template.name
    return function


# the cases


@pytest.mark.parametrize("name", CASES)
def test_every_case_is_a_model_that_agrees_with_the_kernel(name):
    case = CASES[name]
    model = case.export("onnx")
    infers_what_it_declares(model)
    for args in (case.args, *case.others):
        for got, want in zip(run(model, case.inputs(args)), case.expected(args), strict=True):
            same(got, want, 1e-9, 1e-4)


def infers_what_it_declares(model):
    """Shape inference, told nothing of the results, finds the types and known dims that are declared."""
    made = onnx.load_from_string(model)
    onnx.checker.check_model(made, full_check=True)
    declared = {o.name: o.type.tensor_type for o in made.graph.output}
    bare = onnx.ModelProto.FromString(model)
    for o in bare.graph.output:
        o.type.tensor_type.ClearField("shape")
    for o in onnx.shape_inference.infer_shapes(bare, strict_mode=True, data_prop=True).graph.output:
        found, said = o.type.tensor_type, declared[o.name]
        assert found.elem_type == said.elem_type
        if found.HasField("shape"):
            assert len(found.shape.dim) == len(said.shape.dim)
            for a, b in zip(found.shape.dim, said.shape.dim, strict=True):
                assert not (a.HasField("dim_value") and b.HasField("dim_value")) or a.dim_value == b.dim_value


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_models(name):
    made = onnx.load_from_string(CASES[name].export("onnx"))
    assert {entry.key for entry in made.metadata_props} == {"symgrad_header", "symgrad_check"}
    golden.check("onnx", name, summary(made))


def summary(made):
    """A model as text that no version of onnx changes."""
    rows = [*made.doc_string.splitlines(), ""]
    for kind, values in (("input", made.graph.input), ("output", made.graph.output)):
        for v in values:
            dims = ", ".join(d.dim_param or str(d.dim_value) for d in v.type.tensor_type.shape.dim)
            rows.append(
                f"{kind} {v.name}: {onnx.helper.tensor_dtype_to_np_dtype(v.type.tensor_type.elem_type)}[{dims}]"
            )
    for c in made.graph.initializer:
        rows.append(f"{c.name} = {onnx.numpy_helper.to_array(c).tolist()}")
    for n in made.graph.node:
        words = [f"{a.name}={onnx.helper.get_attribute_value(a)}" for a in sorted(n.attribute, key=lambda a: a.name)]
        rows.append(f"{', '.join(n.output)} = {n.op_type}({', '.join([*n.input, *words])})")
    return "\n".join(rows) + "\n"


@pytest.mark.parametrize("name", [*workloads.WORKLOADS, *structure.WORKLOADS])
def test_bench_workloads(name):
    work = (workloads.WORKLOADS | structure.WORKLOADS)[name]
    args = work.args(**work.small)
    verb = getattr(sg, work.verb)

    def function(*given):
        return work.fn(np, *given)

    derived = verb(function, work.wrt)
    Exported(derived, args).compare(*flatten(args)[0], bound=1e-9)


# operations

SHAPES = {1: [((2, 3),), ((),), ((0,),)], 2: [((2, 1), (3,)), ((), (3,)), ((0,), (1,))], 3: [((2, 1), (3,), ())]}


def drawn(interval, shape, dtype):
    low, high = interval
    if isinstance(low, bool):
        return np.asarray(rng.random(shape) < 0.5)
    if isinstance(low, int):
        return np.asarray(rng.integers(low, high, shape))
    return np.asarray(rng.uniform(low, high, shape)).astype(dtype)


@pytest.mark.parametrize("name", [n for n in TEMPLATES if n != "zeta"])
def test_elementwise_functions(name):
    """Values and first derivatives."""
    template = TEMPLATES[name]
    if name in REFUSED:
        with pytest.raises(UnsupportedOperation, match=f"onnx: {name} has no operator"):
            exported(of_template(template), np.ones(2))
        return
    for dtype in (np.float64, np.float32):
        for shapes in SHAPES[template.arity][: 3 if dtype == np.float64 else 1]:
            args = [drawn(i, s, dtype) for i, s in zip(DOMAINS[name], shapes, strict=True)]
            exported(of_template(template), *args).compare(*args)
            at = tuple(k for k, a in enumerate(args) if a.dtype.kind == "f")
            if at and sg.symbolic(of_template(template)).program(*args).outputs[0].dtype.kind == "f":
                slope = sg.grad(lambda *given: np.sum(template.ufunc(*given)), at)
                Exported(slope, tuple(args)).compare(*args, bound=1e-10, of_single=1e-4)


EDGES = [0.0, 1, -1, 0.5, -0.5, 2, -2, 3, 2.5, -2.5, 1.5, np.inf, -np.inf, np.nan, 1e300, -1e300, 1e-300, 5e-324]
EDGES += [709.9, -745.2, 30, -30, 1e17, 1 + 1e-15, 4096, 1e-8, -1e-9, -0.999999]
WHOLE = [0, 1, -1, 2, -2, 3, 7, -7, 2**62, -(2**63), 2**63 - 1, 2**53 + 1]


def grid(pool, arity):
    if arity == 3:
        return np.resize([True, False], len(pool)), pool, pool[::-1].copy()
    return tuple(np.ravel(a).copy() for a in np.meshgrid(*[pool] * arity))


def attempted(template, args):
    """The model, or the words in which it is refused."""
    try:
        return exported(of_template(template), *args).model, ""
    except UnsupportedOperation as error:
        return None, str(error)


@pytest.mark.parametrize("name", [n for n in TEMPLATES if n not in REFUSED])
def test_elementwise_functions_at_their_edges(name):
    """Infinities, NaN, zeros, numbers that overflow; whole numbers of all sizes and truth values."""
    template = TEMPLATES[name]
    with np.errstate(over="ignore"):
        single = np.array(EDGES).astype(np.float32)
    whole = np.array(WHOLE) if name not in ("power", "float_power") else np.array([0, 1, 3])
    narrow = np.array([0, 1, -1, 5, -7, 2**31 - 1], np.int32)
    for pool in (np.array(EDGES), single, whole, narrow, np.array([True, False])):
        args = grid(pool, template.arity)
        if name == "ldexp":
            args = (args[0], np.nan_to_num(args[1], posinf=5000, neginf=-5000).clip(-5000, 5000).astype(int))
        try:
            with np.errstate(all="ignore"):
                want = np.asarray(template.ufunc(*args))
        except (TypeError, ValueError):  # NumPy has no such function of whole numbers or truth values
            continue
        model, said = attempted(template, args)
        if model is None:
            assert re.match("onnx: (arrays of|reciprocal of|a power of)", said)
            continue
        (got,) = run(model, args)
        assert got.dtype == want.dtype
        if got.dtype.kind == "f":
            near = np.finfo(got.dtype).eps if name.startswith("logaddexp") else 0.0  # terms may cancel
            np.testing.assert_allclose(got, want, rtol=3e-13 if got.dtype == np.float64 else 3e-6, atol=near)
        else:
            np.testing.assert_array_equal(got, want)


FUNCTIONS = [
    pytest.param(function, case, id=f"{function.__name__}-{case}")
    for function, cases in FUNCTION_CASES.items()
    for case in cases
]


@pytest.mark.parametrize(("function", "case"), FUNCTIONS)
def test_functions(function, case):
    """Values and first derivatives of every NumPy function that is traced."""
    args = case.draw(np.random.default_rng(7))
    traced = [k for k, a in enumerate(case.args) if not isinstance(a, Held)]

    def value(*given):
        rest = iter(given)
        return case.of_drawn(function)(*[next(rest) if k in traced else a for k, a in enumerate(args)], **case.kwargs)

    def total(*given):
        leaves = [a for a in flatten(value(*given))[0] if hasattr(a, "dtype") and a.dtype.kind == "f"]
        return sum((np.sum(np.sin(a)) for a in leaves), start=0.0 * np.sum(flatten(given)[0][0]))

    given = tuple(args[k] for k in traced)
    for derived in (sg.symbolic(value, backend="numpy"), sg.grad(total, tuple(range(len(given))), backend="numpy")):
        subject = subject_of(derived._readable(), given, {}, None, "auto", True)
        if not subject.program.outputs:
            with pytest.raises(ArgumentError, match="the result holds no array"):
                Exported(derived, given)
        else:
            Exported(derived, given).compare(*flatten(given)[0], bound=1e-10)


def test_searches_put_nan_where_numpy_does():
    x = np.array([[1, np.nan, 3, np.nan], [2, 2, 1, 1], [np.inf, np.nan, -np.inf, np.inf], [-np.inf] * 4])
    knots = np.array([0.0, 1, 1, 2, np.inf, np.nan])
    for function in (
        lambda x: np.argmax(x, axis=1),
        lambda x: np.argmin(x, axis=0),
        lambda x: np.argsort(x, axis=1, kind="stable"),
        lambda x: np.argsort(x, axis=0, kind="stable"),
        lambda x: np.max(x, axis=1),
        lambda x: np.min(x),
        lambda x: np.searchsorted(knots, x, side="left"),
        lambda x: np.searchsorted(knots, x, side="right"),
        lambda x: np.sort(x, axis=1),
    ):
        exported(function, x).compare(x)


def test_sums_of_whole_numbers_are_exact():
    x = np.array([[2**62, 1, -(2**62), 3], [2**53 + 1, 2, 3, 4]])
    y = np.array([[1.0, 2.0]])

    def totals(y):
        counts = x * (y[0, 0] > 0)
        return np.sum(counts), np.sum(counts, axis=1), np.cumsum(counts, axis=1), counts @ np.ones(4, int)

    exported(totals, y).compare(y)


def test_indices():
    x = rng.normal(size=(5, 4))
    rows = np.array([[0, -1], [3, 3]])
    for function in (
        lambda x: x[::-2, 1:3],
        lambda x: x[4:1:-1],
        lambda x: x[-1] * x[1, -2],
        lambda x: x[rows] * 2.0,
        lambda x: x[:, np.array([1, 1, -1])],
        lambda x: x[2:2],
        lambda x: x[::3, ::-3],
    ):
        exported(function, x).compare(x)
        Exported(sg.grad(lambda x, f=function: np.sum(np.sin(f(x)))), (x,)).compare(x)
    outside = exported(lambda x, k: x[k], x, np.array([1, 2]))
    with pytest.raises(Exception, match="out of data bounds"):
        run(outside.model, [x, np.array([1, 9])])


def test_diagonals_and_identities():
    x = rng.normal(size=4)
    x[1] = np.inf
    exported(lambda x: (np.diag(x), np.einsum("i,j->ij", x, x).trace(), np.diagonal(np.outer(x, x))), x).compare(x)
    Exported(sg.hessian(lambda x: np.sum(x**4) + np.sum(np.exp(x)) ** 2), (x[2:],)).compare(x[2:])
    third = sg.jacobian(sg.hessian(lambda x: np.sum(x**4)))
    Exported(third, (x[2:],)).compare(x[2:])
    Exported(sg.jacobian(lambda x: np.tanh(x)), (np.ones((2, 3)),)).compare(rng.normal(size=(2, 3)))


# linear algebra


@pytest.mark.parametrize("n", [1, 2, 3, 6, 17])
def test_linear_algebra_is_that_of_numpy(n):
    a, b, v = rng.normal(size=(2, n, n)), rng.normal(size=(2, n, 3)), rng.normal(size=(2, n))
    a[0, 0, 0] = 0.0  # rows must change
    for function, args in (
        (np.linalg.solve, (a[0], v[0])),
        (np.linalg.solve, (a, b)),
        (np.linalg.inv, (a,)),
        (np.linalg.det, (a[1],)),
        (lambda a: tuple(np.linalg.slogdet(a)), (a,)),
    ):
        if not (n == 1 and function in (np.linalg.solve, np.linalg.inv)):
            exported(function, *args).compare(*args, bound=1e-10)
    spd = np.einsum("bij,bkj->bik", a, a) + np.eye(n)
    one_sided = np.tril(spd) + 7 * np.triu(a, 1)  # the other triangle is not read
    exported(np.linalg.cholesky, one_sided).compare(one_sided)
    exported(lambda x: np.linalg.cholesky(x, upper=True), one_sided.swapaxes(1, 2)).compare(one_sided.swapaxes(1, 2))


def test_matrices_that_numpy_raises_for_give_no_numbers():
    x, ok = np.array([[1.0, 2.0], [2.0, 4.0]]), np.array([[2.0, 1.0], [1.0, 3.0]])
    for function in (np.linalg.inv, lambda a: np.linalg.solve(a, np.ones(2)), lambda a: np.linalg.cholesky(a - 2)):
        made = exported(function, ok + 3)
        made.compare(ok + 3)
        assert np.isnan(run(made.model, [x])[0]).all()
    for function in (np.linalg.det, lambda a: tuple(np.linalg.slogdet(a))):
        made = exported(function, ok)
        for singular in (x, np.zeros((2, 2)), np.array([[0.0, 1.0], [0.0, 2.0]])):
            made.compare(singular)
        made.compare(np.array([[1.0, np.nan], [2.0, 3.0]]))


def test_stacked_matrices_of_named_number():
    made = Exported(sg.grad(lambda a: np.sum(np.linalg.slogdet(a)[1])), ("n 2 2",))
    for n in (1, 4):
        made.compare(rng.normal(size=(n, 2, 2)), bound=1e-10)


# named dims

NAMED = {
    "product": (lambda A, x: A @ x, ("m n", "n")),
    "gram": (lambda A: A.T @ A, ("m n",)),
    "batch": (lambda A, B: np.einsum("bij,bjk->bik", A, B), ("n m d", "n d m")),
    "statistics": (lambda A: np.mean(A, axis=0) * np.var(A), ("m n",)),
    "differences": (lambda x: np.diff(x) * x[1:], ("n",)),
    "backwards": (lambda x: x[::-1] * np.cumsum(x) - x[-1], ("n",)),
    "inside": (lambda x: x[1:-1] * x[2:], ("n",)),
    "diagonal": (lambda A: np.trace(A) + np.diagonal(A), ("n n",)),
    "joined": (lambda x, y: np.concatenate([x, y, x]), ("n", "m")),
    "flat": (lambda A: np.sin(A).reshape(-1), ("m n",)),
    "softmax": (lambda A: np.exp(A - A.max(1, keepdims=True)) / A.shape[0], ("m n",)),
    "sorted": (lambda x: np.sort(x) * np.roll(x, 1), ("n",)),
    "outer": (lambda x, y: np.kron(x, y), ("n", "m")),
    "last": (lambda A, x: (A @ x)[-1] * A.shape[0], ("m n", "n")),
}
SIZES = [(3, 4, 2), (1, 1, 1), (5, 1, 2), (1, 6, 3), (7, 3, 1)]


@pytest.mark.parametrize("name", NAMED)
def test_named_dims_serve_every_size(name):
    function, shapes = NAMED[name]
    total = sg.grad(lambda *given: np.sum(np.sin(function(*given))), tuple(range(len(shapes))))
    for derived in (sg.symbolic(function, backend="numpy"), total):
        made = Exported(derived, shapes)
        infers_what_it_declares(made.model)
        facts = made.subject.program.graph.sizes
        for sizes in SIZES:
            size = dict(zip("nmd", sizes, strict=True))
            arrays = [rng.normal(size=[size[d] for d in shape.split()]) for shape in shapes]
            if facts.broken({s: size[str(s)] for x in made.subject.program.inputs for s in x.shape}):
                assert all(np.isnan(r).all() for r in run(made.model, arrays))
            else:
                made.compare(*arrays)


def test_structured_second_derivatives_have_named_dims_too():
    for derived, shapes in (
        (sg.hessian(lambda w, X: np.sum(np.log(1 + np.exp(X @ w)))), ("d", "n d")),
        (sg.hessian(lambda x: np.sum(x[1:] * x[:-1] ** 2)), ("d",)),
        (sg.jacobian(lambda x: np.cumsum(x) * x), ("d",)),
    ):
        made = Exported(derived, shapes)
        for d in (2, 5):
            made.compare(*[rng.normal(size=(d,) if s == "d" else (3, d)) for s in shapes])


def test_pieces_stand_backwards_at_named_places():
    mirrored = sg.jacobian(lambda x: np.concatenate([x * x, np.cumsum(x)[::-1] * x]))
    model = Exported(mirrored, ("n",)).model
    for n in (1, 2, 5):
        x = rng.normal(size=n)
        same(run(model, [x])[0], np.asarray(mirrored(x)))


def test_axes_without_elements():
    X, w = np.ones((0, 3)), rng.normal(size=3)
    loss = sg.value_and_grad(lambda w, X: np.sum((X @ w) ** 2) + np.sum(X.T @ X))
    Exported(loss, (w, X)).compare(w, X)
    Exported(loss, ("d", "n d")).compare(w, X)
    largest = Exported(sg.symbolic(lambda x: np.max(x)), ("n",))
    assert np.isnan(run(largest.model, [np.ones(0)])[0])  # NumPy raises


def test_named_dims_are_dynamic_axes():
    made = onnx.load_from_string(Exported(sg.symbolic(lambda x, y: np.concatenate([x, y[1:]])), ("n", "größe")).model)
    dims = [x.type.tensor_type.shape.dim[0].dim_param for x in (*made.graph.input, *made.graph.output)]
    assert dims == ["n", "gro_e", "gro_e + n - 1"] or all(d.isascii() for d in dims)


# random programs

UNARY = [
    np.sin,
    np.arctan,
    np.expm1,
    np.cosh,
    np.sign,
    np.rint,
    lambda a: a[..., ::-1] if a.ndim else a,
    lambda a: np.cumsum(a, axis=-1) if a.ndim else -a,
    lambda a: np.sort(a, axis=-1) if a.ndim else a,
    lambda a: np.max(a, axis=-1, keepdims=True) if a.ndim else abs(a),
    lambda a: np.take(a, np.array([0, -1, 0]), axis=0) if a.ndim else a + 1,
    lambda a: a.reshape(-1)[1:] if a.size > 1 else a,
    lambda a: np.pad(a, 1),
    lambda a: np.einsum("...i->i...", a) if a.ndim else a,
    lambda a: np.where(a > 0.2, np.sqrt(np.abs(a)), a) % 0.7,
    lambda a: np.mean(a, axis=0) if a.ndim else a / 3,
    lambda a: np.diff(a) if a.ndim and a.shape[-1] > 1 else a,
]
BINARY = [
    np.add,
    np.multiply,
    np.maximum,
    np.arctan2,
    np.hypot,
    lambda a, b: a / (1.5 + b * b),
    lambda a, b: np.dot(np.ravel(a)[:1], np.ravel(b)[:1]) * a,
    lambda a, b: np.outer(a, b),
    lambda a, b: np.outer(a, b) @ np.ravel(b),
    lambda a, b: np.concatenate([np.ravel(a), np.ravel(b)]),
    lambda a, b: np.where(np.sum(a) < np.sum(b), a, b),
]


@st.composite
def programs(draw):
    shapes = draw(st.lists(st.sampled_from([(), (3,), (1, 3), (2, 1), (2, 3)]), min_size=1, max_size=3))
    steps = []
    for k in range(draw(st.integers(1, 8))):
        at = st.integers(0, len(shapes) + k - 1)
        table = draw(st.sampled_from([UNARY, BINARY]))
        steps.append((table, draw(st.integers(0, len(table) - 1)), draw(at), draw(at)))
    return shapes, steps


def results(steps, xs):
    values = list(xs)
    for table, k, first, second in steps:
        a, b = values[first], values[second]
        try:
            made = table[k](a) if table is UNARY else table[k](a, b)
        except ValueError:  # shapes that do not broadcast
            made = a
        values.append(np.tanh(made) if made.size < 40 else np.sum(made))
    return values


@given(programs(), st.integers(0, 2**16))
@settings(max_examples=50, deadline=None)
def test_random_programs(program, seed):
    shapes, steps = program
    draw = np.random.default_rng(seed)
    xs = tuple(np.asarray(draw.uniform(-1.5, 1.5, s)) for s in shapes)
    values = exported(lambda *xs: results(steps, xs)[-1], *xs)
    values.compare(*xs)
    slopes = sg.grad(lambda *xs: sum(np.sum(v) for v in results(steps, xs)), tuple(range(len(xs))))
    Exported(slopes, xs).compare(*xs, bound=1e-9)


def test_a_long_program():
    def long(x):
        y = x
        for k in range(800):
            y = np.sin(y) * x + y / (k + 2.0)
        return np.sum(y)

    x = np.array([0.3, 0.7])
    made = Exported(sg.value_and_grad(long), (x,))
    assert len(made.subject.program.nodes) > 10_000
    made.compare(x, bound=1e-9)


# what a model says of itself


def snippet():
    """The code of the module's documentation, as a reader would copy it."""
    text = onnx_model.__doc__
    code = text[text.index("    import json") :]
    scope: dict = {}
    exec("\n".join(line[4:] for line in code.splitlines()), scope)
    return scope["check"]


def test_the_documented_check_reads_what_the_model_carries(tmp_path, capsys):
    for name, case in CASES.items():
        path = tmp_path / f"{name}.onnx"
        assert case.derived.export("onnx", *case.args, path=path) == path.read_bytes()
        assert snippet()(str(path))
    said = capsys.readouterr().out.splitlines()
    assert len(said) == len(CASES)
    assert all(": pass (largest difference" in line for line in said)
    made = onnx.load(tmp_path / "logistic.onnx")
    (entry,) = [e for e in made.metadata_props if e.key == "symgrad_check"]
    block = json.loads(entry.value)
    block["outputs"]["f"]["values"] = ["1.25"]
    entry.value = json.dumps(block)
    onnx.save(made, tmp_path / "other.onnx")
    assert not snippet()(str(tmp_path / "other.onnx"))
    assert "FAIL" in capsys.readouterr().out


def test_large_inputs_are_drawn_by_the_documented_check(tmp_path, capsys):
    x, k = rng.normal(size=2000), np.arange(1500) % 7
    path = tmp_path / "large.onnx"
    sg.grad(lambda x, k, b: np.sum(np.where(b, x, x**2) * 2) + np.sum(x[k])).export("onnx", x, k, x > 0, path=path)
    assert snippet()(str(path)), capsys.readouterr().out


def test_numbers_in_the_check_block_read_back_as_they_are():
    values = np.array([np.nan, np.inf, -np.inf, 0.1, 1e-300])
    derived = sg.symbolic(lambda x, n, b: (x * 2, n, b))
    made = subject_of(derived, (values, np.array(2**62 + 1), np.array(True)), {}, None, "auto", True)
    facts = {e.key: e.value for e in onnx.load_from_string(onnx_model.model(made)).metadata_props}
    block = json.loads(facts["symgrad_check"])
    np.testing.assert_array_equal([float(v) for v in block["inputs"]["x"]["values"]], values)
    assert block["inputs"]["n"]["values"] == [str(2**62 + 1)]
    assert block["inputs"]["b"]["values"] == ["1"]


def test_the_header_stands_in_the_model():
    made = onnx.load_from_string(CASES["logistic"].export("onnx"))
    assert "derived by symgrad" in made.doc_string
    assert "the gradient of logistic" in made.doc_string
    assert [(o.domain, o.version) for o in made.opset_import] == [("", 18)]
    assert {n.domain for n in made.graph.node} == {""}
    unchecked = onnx.load_from_string(exported(np.sin, 1.0).model)
    assert [e.key for e in unchecked.metadata_props] == ["symgrad_header"]


# what is refused, and names


def test_other_branches_are_no_numbers():
    case = CASES["branches"]
    results = run(case.export("onnx"), [-case.args[0]])
    assert all(np.isnan(r).all() for r in results)


def test_other_branches_of_whole_numbers_and_truth_values():
    def counted(x):
        return (np.argmax(x), x) if np.sum(x) > 0 else (np.argmin(x), x)

    made = exported(counted, np.array([1.0, 2.0]))
    place, floats = run(made.model, [np.array([-1.0, -2.0])])
    assert place == np.iinfo(np.int64).min
    assert np.isnan(floats).all()
    with pytest.raises(UnsupportedOperation, match="onnx: the function branches on values"):
        exported(lambda x: x > 1 if np.sum(x) > 0 else x < 1, np.ones(2))


def test_what_a_model_cannot_hold_is_refused_by_name():
    with pytest.raises(UnsupportedOperation, match="onnx: arrays of float16 are not written; cast to float64"):
        exported(lambda x: x * x, np.ones(2, np.float16))
    with pytest.raises(
        UnsupportedOperation, match=r"onnx: solve is written out .* up to 32 rows, and here there are 40"
    ):
        exported(np.linalg.solve, np.eye(40), np.ones(40))
    with pytest.raises(UnsupportedOperation, match=r"onnx: inverse is written out .*, and here there are n"):
        exported(np.linalg.inv, "n n")
    with pytest.raises(UnsupportedOperation, match="onnx: gammaln has no operator"):
        exported(scipy.special.gammaln, np.ones(2))
    with pytest.raises(UnsupportedOperation, match="onnx: a product of whole numbers"):
        exported(lambda x, k: np.prod(k) * x, np.ones(2), np.array([1, 2]))
    with pytest.raises(UnsupportedOperation, match="onnx: a power of whole numbers"):
        exported(lambda x, k: k**k * x, np.ones(2), np.array([1, 2]))
    with pytest.raises(ArgumentError, match="onnx: the result holds no array"):
        exported(lambda x: x.shape, np.ones(2))


def test_without_the_package_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingPart, match=r"pip install 'symgrad\[onnx\]'"):
        sg.grad(np.sin).export("onnx", 1.0)


HOSTILE = ["</script>", "λ", "v0", "v0_1", "c0", "a.b", "a_b", "*/", '"""', "x\ny", "\\input{/etc/passwd}", "'); drop"]
HOSTILE += ["for", "", "1x", "x" * 300, "X", "x", "holds_1", "f", "df_dx", "size_holds_1", "result_1"]


def test_hostile_names_come_out_as_identifiers():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            for k, name in enumerate(HOSTILE):
                setattr(self, f"w{k}", Parameter(np.full(2, k + 1.0), name=name))

        def construct(self, x):
            return np.sum(sum(getattr(self, f"w{k}") ** 2 * x for k in range(len(HOSTILE))))

    net = Net()
    x = np.array([0.5, 2.0])
    made = Exported(sg.value_and_grad(net, 0, net.trainable_params()), (x,))
    graph = onnx.load_from_string(made.model).graph
    names = [v.name for v in (*graph.input, *graph.output)]
    assert len(set(names)) == 2 * len(HOSTILE) + 3
    assert all(re.fullmatch(r"[A-Za-z]\w*", n, re.ASCII) and len(n) <= 100 for n in names)
    made.compare(x, *[np.full(2, k + 1.0) for k in range(len(HOSTILE))])


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(max_size=8), min_size=1, max_size=4, unique=True))
def test_any_keys_are_names(keys):
    made = Exported(sg.grad(lambda p: sum(v * v for v in p.values())), (dict.fromkeys(keys, 2.0),))
    made.compare(*[3.0 + k for k in range(len(keys))])
