"""One adapter a system: ``SYSTEMS[name](work, args)`` gives the ``build`` that makes the call to be timed.

The adapter itself imports the system and turns the arguments into its own arrays; ``build()`` is what a first call
has to do before it can run. Calls return what the system returns: its own arrays, finished.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

Build = Callable[[], Callable[[], Any]]


class NotThere(Exception):
    """What a system cannot do, or is not asked to; an ImportError says that it is not installed."""


def hand(work, args: tuple) -> Build:
    if not work.by_hand:
        raise NotThere("no formula by hand")
    (formula,) = work.by_hand.values()
    return lambda: functools.partial(formula, *args)


# symgrad


def symgrad_on(backend: str) -> Callable:
    """symgrad's derivative on one of its backends."""

    def adapter(work, args: tuple) -> Build:
        import symgrad
        from symgrad.errors import BackendError

        by = work.wrt if len(work.wrt) > 1 else work.wrt[0]
        keywords: dict[str, Any] = {"sparse": True} if work.sparse else {}

        def build() -> Callable[[], Any]:
            try:
                derivative = getattr(symgrad, work.verb)(
                    functools.partial(work.fn, np), by, backend=backend, **keywords
                )
            except BackendError as error:
                raise NotThere(str(error)) from None
            return Call(derivative, args)

        return build

    return adapter


def symgrad_of_jax(work, args: tuple) -> Build:
    """symgrad's derivative of JAX's arrays, which JAX computes."""
    import jax

    import symgrad

    if work.sparse:
        raise NotThere("scipy.sparse is NumPy's")
    jax.config.update("jax_enable_x64", True)
    by = work.wrt if len(work.wrt) > 1 else work.wrt[0]
    own = [jax.numpy.asarray(a) if isinstance(a, np.ndarray) else a for a in args]

    def build() -> Callable[[], Any]:
        derivative = getattr(symgrad, work.verb)(functools.partial(work.fn, np), by)
        return lambda: jax.block_until_ready(derivative(*own))

    return build


def function_alone(work, args: tuple, backend: str) -> Call:
    """symgrad's call of the function itself, on the backend that its derivative runs on."""
    import symgrad

    return Call(symgrad.symbolic(functools.partial(work.fn, np), backend=backend), args)


class Call:
    """The call of one of symgrad's functions, and what is known of its kernel."""

    def __init__(self, function: Any, args: tuple) -> None:
        self.function = function
        self.args = args

    def __call__(self) -> Any:
        return self.function(*self.args)

    def wait(self, limit: float = 120.0) -> None:
        """Return when a kernel that is compiled beside its first calls is there, or is known not to come."""
        kernel = self.function.kernel(*self.args)
        if hasattr(kernel, "ready"):
            kernel.ready(limit)

    def compile_seconds(self) -> float | None:
        """What a compiler took, where there was one."""
        return getattr(self.function.kernel(*self.args), "compile_seconds", None)


# the peers


def jax(work, args: tuple) -> Build:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    fn = functools.partial(work.fn, jnp)
    by = work.wrt if len(work.wrt) > 1 else work.wrt[0]
    derive: Any = {"value_and_grad": jax.value_and_grad, "jacobian": jax.jacrev}[work.verb]
    static = tuple(k for k, a in enumerate(args) if not isinstance(a, np.ndarray))
    own = [a if k in static else jnp.asarray(a) for k, a in enumerate(args)]

    def build() -> Callable[[], Any]:
        compiled = jax.jit(derive(fn, by), static_argnums=static)
        return lambda: jax.block_until_ready(compiled(*own))

    return build


def autograd(work, args: tuple) -> Build:
    import autograd
    import autograd.numpy as anp

    by = work.wrt if len(work.wrt) > 1 else work.wrt[0]
    derive = {"value_and_grad": autograd.value_and_grad, "jacobian": autograd.jacobian}[work.verb]
    derived: Any = derive(functools.partial(work.fn, anp), by)
    return lambda: functools.partial(derived, *args)


def torch(work, args: tuple) -> Build:
    """Eager: ``autograd.grad`` of the function, ``func.jacrev`` for a Jacobian."""
    import torch

    xp = SimpleNamespace(
        **{name: getattr(torch, name) for name in ("log", "exp", "sqrt", "tanh", "sin", "cos", "einsum", "stack")},
        mean=torch.mean,
        sum=lambda a, axis=None, keepdims=False: a.sum() if axis is None else a.sum(dim=axis, keepdim=keepdims),
        max=lambda a, axis, keepdims=False: a.amax(dim=axis, keepdim=keepdims),
        concatenate=lambda arrays, axis: torch.cat([torch.as_tensor(a) for a in arrays], dim=axis),
        cumsum=lambda a: torch.cumsum(a, 0),
    )
    fn = functools.partial(work.fn, xp)
    own = [torch.from_numpy(a) if isinstance(a, np.ndarray) else a for a in args]
    if work.verb == "jacobian":
        return lambda: functools.partial(torch.func.jacrev(fn, work.wrt[0]), *own)
    leaves = [own[k].requires_grad_() for k in work.wrt]

    def call() -> Any:
        value = fn(*own)
        return value.detach(), torch.autograd.grad(value, leaves)

    return lambda: call


def casadi(work, args: tuple) -> Build:
    """A CasADi function called through its buffers: of scalars for a small Jacobian, of vectors otherwise."""
    casadi: Any = importlib.import_module("casadi")
    if any(not isinstance(a, np.ndarray) or a.ndim != 1 for a in args):
        raise NotThere("CasADi is asked for functions of vectors alone")
    xp = SimpleNamespace(
        **{name: getattr(casadi, name) for name in ("log", "exp", "sqrt", "tanh", "sin", "cos")},
        sum=casadi.sum1,
        cumsum=casadi.cumsum,
        stack=lambda parts: casadi.vertcat(*parts),
    )
    kind = casadi.SX if work.verb == "jacobian" else casadi.MX

    def build() -> Callable[[], Any]:
        own = [kind.sym(f"a{k}", a.size) for k, a in enumerate(args)]
        value = work.fn(xp, *own)
        if work.verb == "jacobian":
            outputs = [casadi.densify(casadi.jacobian(value, own[0])).T]  # CasADi is column-major
        else:
            outputs = [value, *(casadi.gradient(value, own[k]) for k in work.wrt)]
        buffer, call = casadi.Function("derivative", own, outputs).buffer()
        for k, a in enumerate(args):
            buffer.set_arg(k, a.data)

        def run() -> Any:
            results = [np.empty(o.shape[::-1] if work.verb == "jacobian" else o.shape[0]) for o in outputs]
            for k, r in enumerate(results):
                buffer.set_res(k, r.data)
            call()
            return results[0] if work.verb == "jacobian" else (results[0][0], *results[1:])

        return run

    return build


def sympy_with(modules: str) -> Callable:
    """``lambdify(cse=True)`` of the symbolic Jacobian, on Python floats."""

    def adapter(work, args: tuple) -> Build:
        import sympy

        if work.verb != "jacobian":
            raise NotThere("lambdify is asked for small Jacobians alone")
        xp = SimpleNamespace(
            sin=lambda c: [sympy.sin(v) for v in c],
            cos=lambda c: [sympy.cos(v) for v in c],
            sum=lambda c: sympy.Add(*c),
            cumsum=lambda q: [sympy.Add(*q[: k + 1]) for k in range(len(q))],
            stack=lambda parts: parts,
        )
        (q,) = args

        def build() -> Callable[[], Any]:
            symbols = sympy.symbols(f"q:{q.size}")
            jacobian = sympy.Matrix(work.fn(xp, symbols)).jacobian(symbols)
            if modules == "numpy":
                compiled = sympy.lambdify(symbols, jacobian, "numpy", cse=True)
                return lambda: compiled(*q.tolist())
            rows = sympy.lambdify(symbols, jacobian.tolist(), modules, cse=True)
            return lambda: np.array(rows(*q.tolist()))

        return build

    return adapter


SYSTEMS: dict[str, Callable[[Any, tuple], Build]] = {
    "symgrad": symgrad_on("auto"),
    "symgrad_jax": symgrad_of_jax,
    "symgrad_native": symgrad_on("native"),
    "symgrad_numexpr": symgrad_on("numexpr"),
    "symgrad_numpy": symgrad_on("numpy"),
    "hand": hand,
    "jax": jax,
    "torch": torch,
    "autograd": autograd,
    "casadi": casadi,
    "sympy_math": sympy_with("math"),
    "sympy_numpy": sympy_with("numpy"),
}
#: the backend of each of symgrad's systems
BACKENDS = {"symgrad": "auto", **{f"symgrad_{b}": b for b in ("native", "numexpr", "numpy")}}
