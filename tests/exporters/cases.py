"""Derivatives that every format is tried on: the seeds', the benchmarks', and one for each kind of difficulty."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import looping
import numpy as np
import structure
import workloads

import symgrad as sg
from symgrad import nn
from symgrad.exporters import export
from symgrad.exporters.subject import Subject
from symgrad.tracing.tree import flatten
from symgrad.transforms.derived import DerivedFunction
from symgrad.transforms.subjects import subject_of


@dataclass(frozen=True)
class Case:
    """A derivative and example arguments for it; ``others`` are further arguments that the export must serve."""

    make: Callable[[], DerivedFunction]
    args: tuple
    others: tuple[tuple, ...] = field(default=())

    @functools.cached_property
    def derived(self) -> DerivedFunction:
        """Traced once for all formats."""
        return self.make()

    @functools.cached_property
    def _subjects(self) -> dict[tuple[str, bool], Subject]:
        return {}

    def export(self, format: str, path: Any = None, form: str = "auto", document: bool = False) -> Any:
        """What ``derived.export`` gives for the example arguments, of a subject that formats share."""
        if path is not None:
            return self.derived.export(format, *self.args, path=path, form=form, document=True)
        return export(self.subject(form, document), format)

    def subject(self, form: str = "auto", document: bool = True) -> Subject:
        """What the export is made of: its check and formulas are computed once."""
        if (form, document) not in self._subjects:
            made = subject_of(self.derived._readable(), self.args, {}, None, form, document)
            known = vars(self._subjects.get((form, not document), made))
            vars(made).update({name: known[name] for name in ("formulas", "_check") if name in known})
            self._subjects[form, document] = made
        return self._subjects[form, document]

    def inputs(self, args: tuple | None = None) -> list[np.ndarray]:
        """The arrays that the exported function takes, one an input of the program: those of the call, then weights."""
        entry, leaves = self.derived._readable()._compiled.served(*(self.args if args is None else args))
        return [np.asarray(a) for a in entry.arguments(leaves)]

    def expected(self, args: tuple | None = None) -> list[np.ndarray]:
        """The arrays of the result in order, by the kernel."""
        result = self.derived._readable()(*(self.args if args is None else args))
        return [np.asarray(leaf) for leaf in flatten(result)[0]]


def _random(seed: int = 5) -> np.random.Generator:
    return np.random.default_rng(seed)


# the functions


def product_chain(x, y, z):
    return x * x * y * z


def with_sens(x, y):
    return x @ y * 0.5


def cubes(x):
    return x**3 + 2 * np.sin(x)


def logistic(w, X, y):
    return np.sum(np.log(1.0 + np.exp(-y * (X @ w))))


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def branches(x, steps=3):
    total = 0.0
    for k in range(steps):
        if np.sum(x) > k:  # a branch on values
            total = total + np.sum(np.where(x > 0.5, x**2, np.abs(x) * k))
        else:
            total = total - np.sum(np.maximum(x, 0.25))
    return total


def ridge(w: sg.Array["d"], X: sg.Array["n d"], y: sg.Array["n"], lam):
    r = X @ w - y
    return np.sum(r**2) + lam * np.sum(w**2)


def windowed(x: sg.Array["n"]):
    return np.sum(np.diff(x) ** 2) + x[-1] * np.max(x)


def gaussian(L, x):
    K = L @ L.T + 2.0 * np.eye(3)
    return 0.5 * x @ np.linalg.solve(K, x) + 0.5 * np.linalg.slogdet(K)[1]


def softmax_entropy(logits, targets):
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    return -np.mean(shifted[np.arange(4), targets] - np.log(np.sum(np.exp(shifted), axis=1)))


def two_results(x):
    return {"total": np.sum(np.cumsum(x) ** 2), "each": np.tanh(x)}, np.sort(x)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = nn.Dense(3, 4)
        self.second = nn.Dense(4, 2)

    def construct(self, x):
        return self.second(np.tanh(self.first(x)))


def _net() -> DerivedFunction:
    net = Net()
    draw = _random()
    for p in net.trainable_params():
        p.set_data(sg.Tensor(draw.normal(size=p.shape).astype(np.float32)))
    return sg.value_and_grad(net, None, net.trainable_params())


def _mlp(*args):
    return workloads.mlp(np, *args)


def _gmm(*args):
    return workloads.gmm(np, *args)


def _arm(q):
    return workloads.arm(np, q)


def _blackscholes(*args):
    return workloads.blackscholes(np, *args)


def _factorisation(*args):
    return structure.matrix_factorisation(np, *args)


_draw = _random()
_X, _y = _draw.normal(size=(6, 3)), _draw.choice([-1.0, 1.0], 6)

CASES: dict[str, Case] = {
    "product_chain": Case(lambda: sg.grad(product_chain, (0, 1, 2)), (2.0, 3.0, 4.0), ((0.5, -1.0, 2.0),)),
    "sens": Case(
        lambda: sg.GradOperation(get_all=True, sens_param=True)(with_sens),
        (
            np.array([[0.5, 0.6, 0.4], [1.2, 1.3, 1.1]]),
            np.array([[0.01, 0.3, 1.1], [0.1, 0.2, 1.3], [2.1, 1.2, 3.3]]),
            np.array([[0.1, 0.6, 0.2], [0.8, 1.3, 1.1]]),
        ),
    ),
    "third_order": Case(lambda: sg.grad(sg.grad(sg.grad(cubes))), (np.array([1.0, 2.0, -0.5]),)),
    "logistic": Case(lambda: sg.value_and_grad(logistic), (np.array([0.1, -0.2, 0.3]), _X, _y)),
    "logistic_hessian": Case(lambda: sg.hessian(logistic), (np.array([0.1, -0.2, 0.3]), _X, _y)),
    "rosenbrock_hessian": Case(lambda: sg.hessian(rosenbrock), (np.array([0.3, -0.4, 0.9, 1.2]),)),
    "branches": Case(
        lambda: sg.value_and_grad(branches), (np.array([0.9, -0.3, 0.6]),), ((np.array([0.2, 0.7, 0.3]),),)
    ),
    "ridge": Case(
        lambda: sg.value_and_grad(ridge, (0, 3)),
        (np.array([0.5, -1.0]), _X[:4, :2].copy(), _y[:4].copy(), 0.1),
        (
            (np.array([0.5, -1.0, 2.0]), _X, _y, 0.7),
            (np.array([2.0]), _X[:1, :1].copy(), _y[:1].copy(), 0.0),
        ),
    ),
    "windowed": Case(
        lambda: sg.grad(windowed), (np.array([0.4, 1.5, -0.3, 1.1]),), ((np.array([0.1, 0.7, 0.2, 0.9, -2.0, 0.3]),),)
    ),
    "gaussian": Case(lambda: sg.grad(gaussian, (0, 1)), (_X[:3].copy(), np.array([0.3, -0.7, 1.1]))),
    "softmax_entropy": Case(
        lambda: sg.value_and_grad(softmax_entropy),
        (_draw.normal(size=(4, 3)), np.array([0, 2, 1, 1])),
        ((_draw.normal(size=(4, 3)), np.array([-1, 0, 0, 2])),),
    ),
    "two_results": Case(lambda: sg.value_and_grad(two_results, has_aux=True), (np.array([0.4, 1.5, -0.3]),)),
    "vmap": Case(lambda: sg.vmap(sg.grad(partial(logistic, y=_y)), in_axes=(0, None)), (_X[:2].copy(), _X)),
    "float32_net": Case(_net, (_X[:2].astype(np.float32),)),
    "mlp": Case(lambda: sg.grad(_mlp, (0, 1, 2, 3, 4, 5)), workloads.mlp_args(3, 4, 3, 2, np.float64)),
    "gmm": Case(lambda: sg.grad(_gmm, (0, 1, 2, 3)), workloads.gmm_args(4, 2, 3)),
    "arm": Case(lambda: sg.jacobian(_arm), workloads.arm_args(3)),
    "blackscholes": Case(lambda: sg.value_and_grad(_blackscholes, (0, 1, 2, 3)), workloads.blackscholes_args(3)),
    "recurrence": Case(lambda: sg.grad(looping.recurrent), looping.LOOPING["recurrent"].arguments),
    "recurrence_backwards": Case(lambda: sg.jacobian(looping.backwards), looping.LOOPING["backwards"].arguments),
    "loops_within_loops": Case(lambda: sg.hessian(looping.nested), looping.LOOPING["nested"].arguments),
    "factorisation": Case(lambda: sg.hessian(_factorisation, 0), structure.matrix_factorisation_args(3, 4, 2)),
}
#: the cases whose exports are kept as golden files
GOLDEN = ("product_chain", "logistic", "branches", "ridge", "float32_net")
