"""Numbers of formulas, element by element: what tells whether closed forms agree, and what exported scripts compute.

From ``_FUNCTIONS`` on it is copied into scripts, so these functions call nothing but each other, NumPy and sympy.
"""

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import sympy

from ..primitives.elementwise import Elementwise, elementwise_of
from .bound import Applied, OfMatrix


def value(expression: Any, known: Mapping[str, Any]) -> Any:
    """The number of a formula where ``known`` has symbols by their names, and arrays by ``name[]``.

    >>> x, i = sympy.IndexedBase("x"), sympy.Symbol("i")
    >>> float(value(sympy.Sum(x[i] ** 2, (i, 0, 1)), {"x[]": np.array([3.0, 4.0])}))
    25.0
    """
    called = _elementwise([expression]).items()
    functions = {f"{name}()": t.ufunc for name, t in called if isinstance(t.ufunc, np.ufunc)}
    with np.errstate(all="ignore"):
        return _known(sympy.sympify(expression), {**functions, **known})


def numpy_functions(expressions: Iterable[Any]) -> dict[str, str]:
    """What NumPy calls the elementwise functions in formulas, by their names there.

    >>> x = sympy.Symbol("x")
    >>> numpy_functions([sympy.asin(x) + sympy.exp(x)])
    {'asin': 'arcsin', 'exp': 'exp'}
    """
    called = {name: t.ufunc.__name__ for name, t in sorted(_elementwise(expressions).items())}
    return {name: function for name, function in called.items() if isinstance(getattr(np, function, None), np.ufunc)}


def without_numbers(expressions: Iterable[Any]) -> list[str]:
    """The functions of whole arrays in formulas whose numbers nobody knows here."""
    called = {str(f.args[0]) for e in expressions for f in e.atoms(Applied, OfMatrix)}
    return sorted(called - {*_OF_ARRAYS})


def _elementwise(expressions: Iterable[Any]) -> dict[str, Elementwise]:
    """The operations that formulas name."""
    counts = {type(f): len(f.args) for e in expressions for f in sympy.sympify(e).atoms(sympy.Function)}
    found = {k.__name__: (elementwise_of(k), n) for k, n in counts.items() if k.__name__ not in _FUNCTIONS}
    return {name: t for name, (t, n) in found.items() if t is not None and t.arity == n}


_FUNCTIONS = {
    "Max": lambda *v: np.max(v),
    "Min": lambda *v: np.min(v),
    "KroneckerDelta": lambda a, b: float(a == b),
    "Add": lambda *v: np.sum(v),
    "Mul": lambda *v: np.prod(v),
    "Equality": np.equal,
    "Unequality": np.not_equal,
    "StrictLessThan": np.less,
    "LessThan": np.less_equal,
    "StrictGreaterThan": np.greater,
    "GreaterThan": np.greater_equal,
    "Not": np.logical_not,
    "And": lambda *v: all(v),
    "Or": lambda *v: any(v),
    "Xor": lambda *v: sum(map(bool, v)) % 2 == 1,
}

_OF_ARRAYS = {
    "max": np.max,
    "min": np.min,
    "argmax": np.argmax,
    "argmin": np.argmin,
    "det": np.linalg.det,
    "argsort": lambda a: np.argsort(a, kind="stable"),
    "inv": np.linalg.inv,
    "pinv": np.linalg.pinv,
    "chol": np.linalg.cholesky,
    "eigh.lambda": np.linalg.eigvalsh,
    "eigh.V": lambda a: np.linalg.eigh(a)[1],
    "eig.lambda": np.linalg.eigvals,
    "eig.V": lambda a: np.linalg.eig(a)[1],
    "svd.sigma": lambda a: np.linalg.svd(a)[1],
    "svd.U": lambda a: np.linalg.svd(a)[0],
    "svd.V": lambda a: np.conj(np.linalg.svd(a)[2]).T,
    "qr.Q": lambda a: np.linalg.qr(a)[0],
    "qr.R": lambda a: np.linalg.qr(a)[1],
}


def _known(expression, known):
    """The number of a formula; ``known`` has symbols by their names, arrays by ``name[]``, functions by ``name()``."""
    name = type(expression).__name__
    if expression.is_Symbol:
        return known[expression.name]
    if name in ("Applied", "AppliedComplex"):
        raise LookupError(f"{expression.args[0]} has no value here")
    if expression.is_number and not expression.args:
        number: Any = 1j if expression is sympy.I else float(expression)
        return number
    if name == "Indexed":
        place = tuple(int(_known(i, known)) for i in expression.indices)
        return known[f"{expression.base}[]"][place]
    if name in ("BooleanTrue", "BooleanFalse"):
        return name == "BooleanTrue"
    free = expression.free_symbols
    if name in ("floor", "Mod") and all(s.is_Symbol and s.is_integer for s in free):  # of indices, exactly
        return int(expression.xreplace({s: sympy.Integer(known[s.name]) for s in free}))
    if name in ("Sum", "Product"):
        return _over(expression, known)
    deltas = [a for a in expression.args if type(a).__name__ == "KroneckerDelta"] if name == "Mul" else []
    if not all(_known(a, known) for a in deltas):
        return 0.0  # what it picks nothing of may be infinite
    if name in ("Piecewise", "ITE"):
        cases = expression.args if name == "Piecewise" else [expression.args[1::-1], (expression.args[2], sympy.true)]
        return next((_known(value, known) for value, test in cases if _known(test, known)), np.nan)
    if name in ("ExtremumOver", "SearchOver", "OfMatrix", "OfComplexMatrix"):
        return _of_elements(expression.args, 2 if name.startswith("Of") else 1, known)
    values = [_known(a, known) for a in expression.args]
    if name == "Pow":
        return np.exp(values[1]) if expression.base == sympy.E else np.power(_as_float(values[0]), values[1])
    if name in _FUNCTIONS:
        return _FUNCTIONS[name](*values)
    if f"{name}()" in known:
        function = known[f"{name}()"]
        return function(*values if any("d" in t for t in function.types) else map(int, values))
    if not np.all(np.isfinite(values)):
        return np.nan
    made = expression.func(*map(_exact, values)).evalf()
    if not made.is_number:
        raise LookupError(f"{name} has no value here")
    found: Any = complex(made) if any(map(np.iscomplexobj, values)) else float(made)
    return found


def _as_float(value):
    return value if np.iscomplexobj(value) else float(value)


def _exact(value):
    real = sympy.Float(float(np.real(value)), 17)
    return real + sympy.I * sympy.Float(float(np.imag(value)), 17) if np.iscomplexobj(value) else real


def _over(expression, known):
    """A sum or a product, whose last limits are the outermost."""
    (index, low, high), *inner = reversed(expression.limits)
    part = expression.func(expression.function, *reversed(inner)) if inner else expression.function
    indices = range(int(_known(low, known)), int(_known(high, known)) + 1)
    values = [_known(part, {**known, index.name: k}) for k in indices]
    return np.sum(values) if type(expression).__name__ == "Sum" else np.prod(values)


def _of_elements(arguments, count, known):
    """An extremum, a search or a function of a matrix, of which the element at ``count`` bound indices is given."""
    name, element, *bound = arguments[: 2 + count]
    size, *place = arguments[2 + count :]
    sizes = [int(_known(d, known)) for d in (size.args if type(size).__name__ == "Tuple" else [size] * count)]
    place = [_known(p, known) for p in place]
    places = list(itertools.product(*map(range, sizes)))
    elements = [_known(element, {**known, **{index.name: i for index, i in zip(bound, k)}}) for k in places]
    array = np.reshape(np.array(elements), sizes)
    name = str(name)
    if name.startswith("searchsorted"):
        return np.searchsorted(array, place[0], side="right" if name.endswith("right") else "left")
    if name not in _OF_ARRAYS:
        raise LookupError(f"{name} has no value here")
    found = _OF_ARRAYS[name](array)
    return found[tuple(int(p) for p in place)] if place else found


def _array(free, formula, known, shape):
    """The numbers of a formula at all indices, or of an array of formulas."""
    sizes = [int(_known(sympy.sympify(d), known)) for d in shape]
    made = []
    for place in itertools.product(*map(range, sizes)):
        here = formula if free or not sizes else formula[place]
        made.append(_known(sympy.sympify(here), {**known, **{i.name: k for i, k in zip(free, place)}}))
    return np.reshape(np.array(made, complex if any(map(np.iscomplexobj, made)) else float), sizes)
