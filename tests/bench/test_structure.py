"""The workloads of the speed comparison: symgrad and the formulas by hand, against finite differences."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import run_structure
import structure

import symgrad
from symgrad.finite_differences import differences

WORKLOADS = structure.WORKLOADS
TOLERANCE = {"jacobian": 1e-9, "hessian": 1e-7}


@functools.cache
def _case(name):
    """The workload, its arguments, and its derivative by differences in longdouble: a list of matrices."""
    work = WORKLOADS[name]
    args = work.args(**work.small)
    point = [args[k] for k in work.wrt]

    def plain(*moved):
        given = dict(zip(work.wrt, moved, strict=True))
        return tuple(structure.flat(work.fn(np, *[given.get(k, a) for k, a in enumerate(args)])))

    units = [_units(point, k) for k in range(len(point))]
    if work.verb == "jacobian":
        columns = [[differences(plain, point, [u])[0] for u in own] for own in units]
        blocks = [[np.stack([np.ravel(c[i]) for c in own], -1) for own in columns] for i in range(len(columns[0][0]))]
        return work, args, [b for row in blocks for b in row]
    mixed = lambda u, v: differences(plain, point, [u, v])[0][0]  # noqa: E731
    return work, args, [np.array([[mixed(u, v) for v in by] for u in own]) for own in units for by in units]


def _units(point, k):
    """One direction for each entry of ``point[k]``."""
    rows = np.eye(point[k].size).reshape(-1, *point[k].shape)
    return [[row if i == k else np.zeros(np.shape(x)) for i, x in enumerate(point)] for row in rows]


def _compare(result, work, want):
    blocks = structure.flat(result)
    assert len(blocks) == len(want)
    for got, block in zip(blocks, want, strict=True):
        got = np.asarray(got if isinstance(got, np.ndarray) else got.toarray())
        bound = TOLERANCE[work.verb] * max(1.0, float(np.max(np.abs(block))))
        np.testing.assert_allclose(got.reshape(block.shape), block.astype(float), rtol=0, atol=bound)


def _derivative(work, **keywords):
    by = work.wrt if len(work.wrt) > 1 else work.wrt[0]
    return getattr(symgrad, work.verb)(functools.partial(work.fn, np), by, **keywords)


@pytest.mark.parametrize("name", WORKLOADS)
def test_symgrad(name):
    work, args, want = _case(name)
    _compare(_derivative(work)(*args), work, want)


@pytest.mark.parametrize(("name", "label"), [(n, k) for n, w in WORKLOADS.items() for k in w.by_hand])
def test_by_hand(name, label):
    if WORKLOADS[name].sparse:
        pytest.importorskip("scipy")
    work, args, want = _case(name)
    _compare(work.by_hand[label](*args), work, want)


@pytest.mark.parametrize(("name", "mode"), [(n, m) for n, w in WORKLOADS.items() for m in w.modes])
def test_modes(name, mode):
    work, args, want = _case(name)
    _compare(_derivative(work, mode=mode)(*args), work, want)


@pytest.mark.parametrize("name", [n for n, w in WORKLOADS.items() if w.sparse])
def test_sparse(name):
    sparse = pytest.importorskip("scipy.sparse")
    work, args, want = _case(name)
    result = _derivative(work, sparse=True)(*args)
    assert all(map(sparse.issparse, structure.flat(result)))
    _compare(result, work, want)


def test_comparison():
    sparse = pytest.importorskip("scipy.sparse")
    a = np.array([[1.0, 0.0], [2.0, 3.0], [0.0, 4.0]])
    for kind in (np.array, sparse.csr_array):
        assert run_structure.same(kind(a), a + 1e-10)
        assert not run_structure.same(kind(a), a + 1e-6)
        assert not run_structure.same(kind(a), kind(a[:2]))
        assert not run_structure.same(kind(np.where(a == 3.0, np.nan, a)), kind(a))
        assert not run_structure.same(kind(a), kind(np.where(a == 3.0, np.nan, a)))
    assert run_structure.same(sparse.csr_array(a), a.reshape(3, 1, 2))
    assert not run_structure.same(a, a.reshape(3, 1, 2))


def test_ratios():
    steady = {"hand": 1.0, "symgrad": 2.0, "symgrad_cross": 0.5, "jax_fwd": 8.0, "jax_rev": 4.0}
    expected = {"jax_rev": 0.5, "symgrad_cross": 4.0, "hand": 2.0}
    assert run_structure.ratios(steady) == {f"symgrad / {k}": r for k, r in expected.items()}
