"""Named dims are dynamic axes of an ONNX model, which serves every size; users' names are identifiers."""

from __future__ import annotations

import re

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx_models import Exported, infers_what_it_declares, run, same

import symgrad as sg
from symgrad import Parameter, nn

rng = np.random.default_rng(3)

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


def test_named_dims_are_dynamic_axes():
    made = onnx.load_from_string(Exported(sg.symbolic(lambda x, y: np.concatenate([x, y[1:]])), ("n", "größe")).model)
    dims = [x.type.tensor_type.shape.dim[0].dim_param for x in (*made.graph.input, *made.graph.output)]
    assert dims == ["n", "gro_e", "gro_e + n - 1"] or all(d.isascii() for d in dims)


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


@settings(max_examples=30)
@given(st.lists(st.text(max_size=8), min_size=1, max_size=4, unique=True))
def test_any_keys_are_names(keys):
    made = Exported(sg.grad(lambda p: sum(v * v for v in p.values())), (dict.fromkeys(keys, 2.0),))
    made.compare(*[3.0 + k for k in range(len(keys))])
