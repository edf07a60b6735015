"""Every NumPy function traced with named dims, called with sizes that it was not traced for."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from numpy_code import CODE
from registered import distinct

import symgrad
from symgrad.errors import SymgradError
from symgrad.finite_differences import differences
from symgrad.tracing.declare import CASES, Given
from symgrad.tracing.tree import flatten, unflatten

#: functions that compute with sizes as numbers, or choose by values: refused for named dims, in some cases or all
REFUSED = {
    *("average", "block", "broadcast_to", "convolve", "cumprod", "det", "diag", "diagonal", "interp", "inv"),
    *("hsplit", "dsplit"),
    *("cond", "eigh", "eigvalsh", "lstsq", "matrix_rank", "norm", "pinv", "qr", "svd", "svdvals", "tensorinv"),
    "tensorsolve",
    *("fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "ifftn", "rfft2", "irfft2", "rfftn", "irfftn", "fftn"),
    *("fftshift", "ifftshift"),
    *("median", "nanmean", "nansum", "pad", "prod", "repeat", "reshape", "slogdet", "solve", "split"),
    *("take_along_axis", "trace", "tril", "triu", "unstack", "where"),
    *("choose", "compress", "correlate", "extract", "gradient", "lexsort", "nanmax", "nanmedian", "nanmin"),
    *(f.__name__ for f in CODE),
}
#: what describes an array, and gives no array
DESCRIBES = {"ndim", "shape", "size", "isscalar", "iscomplexobj", "isrealobj", "result_type", "array_equal", "allclose"}
PARAMETERS = [
    pytest.param(function, case, id=f"{function.__name__}-{case}")
    for function, cases in distinct(CASES).items()
    for case in cases
    if function.__name__ not in DESCRIBES
]


class Declared:
    """One case: each size above 1 is a name; ``sizes`` are those of the case."""

    def __init__(self, function, case):
        self.case = case
        self.names: dict[int, str] = {}
        self.texts = [self._text(a) for a in case.args if not isinstance(a, Given)]
        self.sizes = {name: d for d, name in self.names.items()}
        self.call = case.of_drawn(lambda *args: function(*args, **case.kwargs))

    def _text(self, spec):
        if isinstance(spec, list):
            return [self._text(s) for s in spec]
        if not isinstance(spec, tuple) or not all(isinstance(d, int) for d in spec):
            raise TypeError
        return " ".join(str(d) if d < 2 else self.names.setdefault(d, "abcdefgh"[len(self.names)]) for d in spec)

    def draw(self, rng, sizes):
        def one(text):
            if isinstance(text, list):
                return [one(t) for t in text]
            return rng.uniform(*self.case.domain, [sizes[w] if w in sizes else int(w) for w in text.split()])

        return [one(t) for t in self.texts]

    def outputs(self, arrays):
        """What the function gives for its nested arrays, as floats."""
        rest = iter(arrays)
        args = [a.value if isinstance(a, Given) else next(rest) for a in self.case.args]
        found = [v if hasattr(v, "dtype") else np.asarray(v) for v in flatten(self.call(*args))[0]]  # np.poly([])
        found = [part for v in found for part in ([v.real, v.imag] if np.dtype(v.dtype).kind == "c" else [v])]
        return tuple(v if np.dtype(v.dtype).kind == "f" else v * 1.0 for v in found)


@pytest.mark.parametrize(("function", "case"), PARAMETERS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_named_dims_serve_other_sizes(function, case):
    try:
        declared = Declared(function, case)
    except TypeError:
        pytest.skip("the case is not made of arrays alone")
    if not declared.names:
        pytest.skip("no size to name")
    named = symgrad.named(lambda arrays: declared.outputs(arrays), arrays=declared.texts)
    rng = np.random.default_rng(0)
    served = []
    for sizes in (
        {name: d + 1 for name, d in declared.sizes.items()},
        dict.fromkeys(declared.sizes, 3),
        dict.fromkeys(declared.sizes, 1),
        {name: 0 if name == "a" else d for name, d in declared.sizes.items()},
    ):
        served.append(check(declared, named, declared.draw(rng, sizes), rng))
    assert any(served) or not any(s is False for s in served) or function.__name__ in REFUSED


def sizes_are_ints(program):
    """Sympy's integers are equal to Python's, so what is remembered of the one would be taken for the other."""
    pending = [p for node in program.every_node for p in (node.params, node.shape)]
    while pending:
        param = pending.pop()
        if isinstance(param, tuple):
            pending += param
        assert not isinstance(param, sympy.Integer)


def check(declared, named, arrays, rng) -> bool | None:
    """Value and derivatives at one point; False where named dims are refused, None where NumPy has no value."""
    leaves, structure = flatten(arrays)
    try:
        with np.errstate(all="ignore"):
            want = declared.outputs(arrays)
    except (ValueError, IndexError, TypeError, ZeroDivisionError, RuntimeError, np.linalg.LinAlgError):
        return None
    direction = [rng.uniform(-1, 1, np.shape(x)) for x in leaves]
    v = unflatten(structure, direction)
    try:
        got, pushed = symgrad.jvp(named, (arrays,), (v,))
    except SymgradError:
        return False
    assert [(np.shape(g), g.dtype) for g in got] == [(np.shape(w), w.dtype) for w in want]
    gradient = symgrad.value_and_grad(symgrad.named(lambda a: sum(map(np.sum, declared.outputs(a))), a=declared.texts))
    sizes_are_ints(gradient.kernel(arrays).program)
    for g, w in zip(got, want, strict=True):
        np.testing.assert_allclose(g, w, rtol=1e-12, atol=1e-12)
    if not sum(d.size for d in direction):  # nothing to derive by
        return True

    def plain(*parts):
        return declared.outputs(unflatten(structure, parts))

    slopes, errors, _ = differences(plain, leaves, [direction])
    _, pullback = symgrad.vjp(named, arrays)
    weights = tuple(rng.uniform(-1, 1, np.shape(w)) for w in want)
    (gradient,) = pullback(weights)
    along = sum(np.sum(g * d) for g, d in zip(flatten(gradient)[0], direction, strict=True))
    if all(np.all(np.isfinite(s)) for s in slopes):
        for p, s, e in zip(pushed, slopes, errors, strict=True):
            np.testing.assert_array_less(np.abs(p - s), 10 * e + 1e-7 * (1 + np.abs(s)))
        total = sum(np.sum(w * s) for w, s in zip(weights, slopes, strict=True))
        bound = sum(np.sum(np.abs(w) * e) for w, e in zip(weights, errors, strict=True))
        assert abs(along - total) <= 10 * bound + 1e-7 * (1 + abs(total))
    return True
