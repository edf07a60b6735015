"""Time structured Jacobians and Hessians side by side, in one process, the rounds interleaved.

    python tests/bench/run_structure.py [--rounds 9] [--only logreg_hess,…] [--systems hand,symgrad,jax,torch]

Prints each system's first call (trace, derive, compile, run) and its median steady call, then the ratios of
symgrad's. Values are compared before anything is timed: what differs, fails or does not exist is said on its
row and is not timed. Exits with 1 where a value of symgrad's differs.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

#: what a system may be off the reference, relative to the largest entry of the block
TOLERANCE = 1e-8


class Entry(NamedTuple):
    """``build()`` makes the call that is timed; ``blocks`` turns its result into what is compared, untimed."""

    build: Callable[[], Callable[[], Any]]
    blocks: Callable[[Any], Any] | None = lambda result: result


def same(got: Any, want: Any) -> bool:
    """Whether two blocks agree; a sparse one is a matrix of output entries by input entries."""
    from scipy.sparse import csr_array, issparse

    sparse = [b for b in (got, want) if issparse(b)]
    if not sparse:
        got, want = np.asarray(got), np.asarray(want)
    elif math.prod(got.shape) == math.prod(want.shape):
        got, want = (csr_array(b if issparse(b) else np.reshape(b, sparse[0].shape)) for b in (got, want))
    if got.shape != want.shape:
        return False
    apart, largest = (np.max(e.data if sparse else e, initial=0.0) for e in (abs(got - want), abs(want)))
    return bool(apart <= TOLERANCE * max(1.0, float(largest)))


# the systems: each gives its entries for a workload


def hand(name: str, work, args: tuple) -> dict[str, Entry]:
    return {label: Entry(lambda fn=fn: lambda: fn(*args)) for label, fn in work.by_hand.items()}


def symgrad(name: str, work, args: tuple) -> dict[str, Entry]:
    import symgrad

    fn = functools.partial(work.fn, np)
    by = work.wrt if len(work.wrt) > 1 else work.wrt[0]
    verb = getattr(symgrad, work.verb)
    keywords: dict[str, Any] = {"sparse": True} if work.sparse else {}

    def entry(**keywords: Any) -> Entry:
        return Entry(lambda: functools.partial(verb(fn, by, **keywords), *args))

    entries = {"symgrad": entry(**keywords)} | {f"symgrad_{m}": entry(mode=m, **keywords) for m in work.modes}
    if name == "rosenbrock_sparse":
        entries["symgrad_gradient"] = Entry(lambda: functools.partial(symgrad.grad(fn, by), *args), None)
    return entries


def jax(name: str, work, args: tuple) -> dict[str, Entry]:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    on_device = [jnp.asarray(a) for a in args]
    fn = functools.partial(work.fn, jnp)
    by = work.wrt if len(work.wrt) > 1 else work.wrt[0]

    def entry(derivative: Callable, blocks: Callable[[Any], Any] = lambda result: result) -> Entry:
        def build() -> Callable[[], Any]:
            compiled = jax.jit(derivative)
            return lambda: jax.block_until_ready(compiled(*on_device))

        return Entry(build, blocks)

    if name == "rosenbrock_sparse":
        return {"jax_coloured": entry(_coloured(jax, jnp, fn), _tridiagonal)}
    if name == "bundle_adjustment":
        residual = functools.partial(_residual, jnp)
        assemble = functools.partial(_assembled, args)
        modes = {"fwd": jax.jacfwd, "rev": jax.jacrev}
        return {f"jax_{m}": entry(_by_observation(jax.vmap, residual, j), assemble) for m, j in modes.items()}
    if work.verb == "hessian":
        return {"jax": entry(jax.hessian(fn, by))}
    return {"jax_fwd": entry(jax.jacfwd(fn, by)), "jax_rev": entry(jax.jacrev(fn, by))}


def torch(name: str, work, args: tuple) -> dict[str, Entry]:
    import torch
    from torch import func

    if name == "rosenbrock_sparse":
        return {}
    tensors = [torch.from_numpy(a) for a in args]
    fn = functools.partial(work.fn, torch)
    by = work.wrt if len(work.wrt) > 1 else work.wrt[0]

    def entry(derivative: Callable, blocks: Callable[[Any], Any] = lambda result: result) -> Entry:
        return Entry(lambda: lambda: derivative(*tensors), blocks)

    modes = {"fwd": func.jacfwd, "rev": func.jacrev}
    if name == "bundle_adjustment":
        residual = functools.partial(_residual, torch)
        assemble = functools.partial(_assembled, args)
        return {f"torch_{m}": entry(_by_observation(func.vmap, residual, j), assemble) for m, j in modes.items()}
    if work.verb == "hessian":
        return {"torch": entry(func.hessian(fn, by))}
    return {f"torch_{m}": entry(j(fn, by)) for m, j in modes.items()}


SYSTEMS = {"hand": hand, "symgrad": symgrad, "jax": jax, "torch": torch}


# what a user of a peer writes by hand where the derivative is sparse


def _residual(xp, cam, X, w, feat):
    from structure import reprojection

    return reprojection(xp, cam, X, w, feat)


def _by_observation(vmap: Callable, residual: Callable, jacobian: Callable) -> Callable:
    """The blocks (p, 2, 11), (p, 2, 3), (p, 2) of the residuals by what each observation reads, and ``−2w``."""
    every = vmap(jacobian(residual, (0, 1, 2)))

    def blocks(cams, X, w, obs, feats):
        return every(cams[obs[:, 0]], X[obs[:, 1]], w, feats), -2.0 * w

    return blocks


def _assembled(args: tuple, result: Any) -> Any:
    """The blocks by observation as sparse Jacobians of both outputs by cams, X and w."""
    from scipy.sparse import csr_array, diags_array

    cams, X, w, obs, _ = args
    (by_cam, by_point, by_weight), weights = result
    p = len(w)

    def placed(block: Any, which: np.ndarray, count: int) -> Any:
        block = np.asarray(block).reshape(2 * p, -1)
        width = block.shape[1]
        columns = np.repeat(which, 2)[:, None] * width + np.arange(width)
        starts = np.arange(0, block.size + 1, width)
        return csr_array((block.ravel(), columns.ravel(), starts), shape=(2 * p, count * width))

    first = (
        placed(by_cam, obs[:, 0], len(cams)),
        placed(by_point, obs[:, 1], len(X)),
        placed(by_weight, np.arange(p), p),
    )
    return first, (csr_array((p, cams.size)), csr_array((p, X.size)), diags_array(np.asarray(weights)).tocsr())


def _coloured(jax, jnp, fn: Callable) -> Callable:
    """A tridiagonal Hessian from three Hessian-vector products: columns three apart do not meet in a row."""

    def products(x):
        colours = (jnp.arange(x.size) % 3 == jnp.arange(3)[:, None]).astype(x.dtype)
        return jax.vmap(lambda v: jax.jvp(jax.grad(fn), (x,), (v,))[1])(colours)

    return products


def _tridiagonal(products: Any) -> Any:
    from structure import tridiagonal

    products = np.asarray(products)
    row = np.arange(products.shape[1])
    main, below = products[row % 3, row], products[(row[1:] - 1) % 3, row[1:]]
    above = products[(row[:-1] + 1) % 3, row[:-1]]
    return tridiagonal(below, main, above)


# timing


def measure(name: str, work, systems: list[str], rounds: int, limit: float) -> bool:
    """Compare, time and print one workload; False where a value of symgrad's differs."""
    from structure import flat
    from timing import interleaved

    args = work.args()
    entries: dict[str, Entry] = {}
    for system in systems:
        try:
            entries |= SYSTEMS[system](name, work, args)
        except ImportError as error:
            print(f"# {name}: {system} is not installed: {error}")
    calls, first, right, reference = {}, {}, True, None
    for label, entry in entries.items():
        try:
            start = time.perf_counter()
            call = entry.build()
            result = call()
            first[label] = time.perf_counter() - start
            if entry.blocks is not None:
                blocks = flat(entry.blocks(result))
                reference = blocks if reference is None else reference
                if len(blocks) != len(reference) or not all(map(same, blocks, reference)):
                    print(f"# {name}: {label}: the values DIFFER from those of {next(iter(first))}")
                    right = right and not label.startswith("symgrad")
                    continue
            calls[label] = call
        except Exception as error:  # what a system cannot do is a result too
            print(f"# {name}: {label}: {type(error).__name__}: {(str(error).splitlines() or [''])[0][:160]}")
    steady = {label: float(np.median(t)) for label, t in interleaved(calls, rounds, limit).items()}
    print(name)
    for label, t in steady.items():
        print(f"    {label:18s} first {first[label] * 1e3:10.1f} ms   steady {t * 1e3:10.3f} ms")
    for what, ratio in ratios(steady).items():
        print(f"    {what:50s} {ratio:8.3f}")
    print(flush=True)
    return right


def ratios(steady: dict[str, float]) -> dict[str, float]:
    """symgrad's time over that of the best peer, of each formula by hand, of one gradient, of the best mode."""
    own = steady.get("symgrad")
    if own is None:
        return {}
    peers = {k: t for k, t in steady.items() if k.startswith(("jax", "torch"))}
    modes = {k: t for k, t in steady.items() if k in ("symgrad_forward", "symgrad_reverse", "symgrad_cross")}
    best = [min(group, key=group.__getitem__) for group in (peers, modes) if group]
    others = [k for k in steady if k.startswith("hand") or k == "symgrad_gradient"]
    return {f"symgrad / {k}": own / steady[k] for k in itertools.chain(best, others)}


def main() -> int:
    from structure import WORKLOADS

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--systems", default=",".join(SYSTEMS))
    parser.add_argument("--only", default=",".join(WORKLOADS))
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--limit", type=float, default=10.0, help="seconds after which a system has no more rounds")
    a = parser.parse_args()
    names, systems = a.only.split(","), a.systems.split(",")
    for given, known in ((names, WORKLOADS), (systems, SYSTEMS)):
        if unknown := [n for n in given if n not in known]:
            parser.error(f"unknown: {', '.join(unknown)}; choose among {', '.join(known)}")
    right = [measure(name, WORKLOADS[name], systems, a.rounds, a.limit) for name in names]
    return 0 if all(right) else 1


if __name__ == "__main__":
    raise SystemExit(main())
