"""Decompositions by every argument: LAPACK's values, signs and phases, and slopes of these against differences."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import SymgradError

linalg = pytest.importorskip("scipy.linalg")
RNG = np.random.default_rng(5)
DRAWS = 3


def drawn(rows, columns, is_complex):
    made = RNG.normal(size=(rows, columns))
    return made + 1j * RNG.normal(size=(rows, columns)) if is_complex else made


def hermitian(n, is_complex):
    made = drawn(n, n, is_complex)
    return made + made.conj().T


def definite(n, is_complex):
    made = drawn(n, n, is_complex)
    return made @ made.conj().T + np.eye(n)


RIGHT = {kind: definite(4, kind) for kind in (False, True)}


def _hermitian_cases(kind):
    for uplo in "LU":
        yield f"np.eigh {uplo}", lambda a, uplo=uplo: np.linalg.eigh(a, uplo)
        yield f"np.cholesky {uplo}", lambda a, uplo=uplo: np.linalg.cholesky(a @ a + 9 * np.eye(4), upper=uplo == "U")
    for lower, driver in itertools.product((True, False), (None, "ev", "evd", "evr", "evx")):
        yield f"eigh {lower} {driver}", lambda a, lower=lower, driver=driver: linalg.eigh(a, lower=lower, driver=driver)
    for lower, driver in itertools.product((True, False), (None, "gv", "gvd", "gvx")):
        more = {"lower": lower, "driver": driver}
        yield f"eigh of two {more}", lambda a, more=more: linalg.eigh(a, RIGHT[kind], **more)
    yield "eigh in part", lambda a: linalg.eigh(a, subset_by_index=(1, 2))
    yield "eigh, values", lambda a: linalg.eigh(a, eigvals_only=True)
    yield "eigvalsh", np.linalg.eigvalsh
    yield "svd of hermitian", lambda a: np.linalg.svd(a, hermitian=True)
    for lower in (True, False):
        yield f"cholesky {lower}", lambda a, lower=lower: linalg.cholesky(a @ a + 9 * np.eye(4), lower=lower)
        own = np.tril if lower else np.triu  # of the other triangle SciPy promises nothing
        yield f"cho_factor {lower}", lambda a, low=lower, own=own: own(linalg.cho_factor(a @ a + 9 * np.eye(4), low)[0])


def _square_cases(kind):
    yield "np.eig", np.linalg.eig
    yield "np.eig as complex", lambda a: np.linalg.eig(a + 0j)
    yield "eig", linalg.eig
    yield "eig of two", lambda a: linalg.eig(a, RIGHT[kind])
    yield "eigvals of two", lambda a: linalg.eigvals(a, RIGHT[kind])
    yield "schur", linalg.schur
    yield "lu", linalg.lu
    yield "lu_factor", lambda a: linalg.lu_factor(a)[0]
    yield "polar", linalg.polar
    yield "hessenberg", linalg.hessenberg


def _any_cases():
    yield "np.svd", lambda a: np.linalg.svd(a, full_matrices=False)
    yield "np.svd in full", np.linalg.svd
    for driver, full in itertools.product(("gesdd", "gesvd"), (True, False)):
        more = {"lapack_driver": driver, "full_matrices": full}
        yield f"svd {driver} {full}", lambda a, more=more: linalg.svd(a, **more)
    for mode in ("reduced", "complete", "r"):
        yield f"np.qr {mode}", lambda a, mode=mode: np.linalg.qr(a, mode)
    for mode in ("full", "economic", "r"):
        yield f"qr {mode}", lambda a, mode=mode: linalg.qr(a, mode=mode)
    yield "qr with pivots", lambda a: linalg.qr(a, mode="economic", pivoting=True)


CASES = []
for _kind in (False, True):
    _name = "complex" if _kind else "real"
    CASES += [pytest.param(f, (4, 4), _kind, True, id=f"{_name} {n}") for n, f in _hermitian_cases(_kind)]
    CASES += [pytest.param(f, (4, 4), _kind, False, id=f"{_name} {n}") for n, f in _square_cases(_kind)]
    for _shape in ((4, 4), (5, 3), (9, 3), (3, 5), (2, 9)):
        CASES += [pytest.param(f, _shape, _kind, False, id=f"{_name} {n} {_shape}") for n, f in _any_cases()]


def _parts(result):
    return [np.asarray(v) for v in (result if isinstance(result, tuple) else (result,))]


def _turned(parts, like):
    """Columns with the sign of those that they are like: some routines choose it otherwise for each matrix."""
    return [
        p * np.where(np.sum(np.real(p.conj() * q), axis=0) < 0, -1, 1) if p.ndim == 2 and len(parts) == 2 else p
        for p, q in zip(parts, like, strict=True)
    ]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("function", "shape", "is_complex", "is_hermitian"), CASES)
def test_values_and_slopes_are_those_of_the_routine(function, shape, is_complex, is_hermitian):
    for _ in range(DRAWS):
        draw = hermitian if is_hermitian else drawn
        size = shape[:1] if is_hermitian else shape
        a, direction = draw(*size, is_complex), draw(*size, is_complex)

        def along(t, a=a, direction=direction):
            found = function(a + t * direction)
            found = found if isinstance(found, tuple) else (found,)
            return tuple(part for v in found for part in (np.real(v), np.imag(v)))

        try:
            values, slopes = sg.symbolic(along)(0.0), sg.jacfwd(along)(0.0)
        except SymgradError:  # what is not given is refused by name
            continue
        wanted, step = _parts(function(a)), 1e-6
        assert [np.shape(v) for v in values[::2]] == [w.shape for w in wanted]
        for k, want in enumerate(wanted):
            np.testing.assert_allclose(values[2 * k] + 1j * values[2 * k + 1], want, atol=1e-10)
        ends = [_parts(function(a + s * direction)) for s in (step, -step)]
        if "eigh" in getattr(function, "__qualname__", "") or is_hermitian:
            ends = [_turned(end, wanted) for end in ends]
        for k, (above, below) in enumerate(zip(*ends, strict=True)):
            want = (above - below) / (2 * step)
            scale = 1 + np.max(np.abs(want), initial=0)
            np.testing.assert_allclose(slopes[2 * k] + 1j * slopes[2 * k + 1], want, atol=3e-5 * scale)
