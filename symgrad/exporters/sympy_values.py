"""Numbers of sympy formulas, element by element: what an exported script checks itself with.

The functions are copied into the script, so they call nothing but each other, NumPy and sympy.
"""

import itertools

import numpy as np
import sympy

_FUNCTIONS = {
    "exp": np.exp,
    "log": np.log,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "Abs": np.abs,
    "sign": np.sign,
    "floor": np.floor,
    "ceiling": np.ceil,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log1p": np.log1p,
    "log2": np.log2,
    "log10": np.log10,
    "Cbrt": np.cbrt,
    "hypot": np.hypot,
    "logaddexp": np.logaddexp,
    "logaddexp2": np.logaddexp2,
    "Mod": np.remainder,
    "Max": lambda *v: np.max(v),
    "Min": lambda *v: np.min(v),
    "trunc": np.trunc,
    "round": np.rint,
    "fmod": np.fmod,
    "heaviside": np.heaviside,
    "conjugate": np.conjugate,
    "positive": np.positive,
    "xor": np.logical_xor,
    "isfinite": np.isfinite,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "bitand": lambda a, b: int(a) & int(b),
    "bitor": lambda a, b: int(a) | int(b),
    "bitxor": lambda a, b: int(a) ^ int(b),
    "invert": lambda a: ~int(a),
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


def _known(expression, known):
    """The number of a formula where ``known`` has the symbols by their names, arrays by ``name[]``."""
    name = type(expression).__name__
    if expression.is_Symbol:
        return known[expression.name]
    if expression.is_number and not expression.args:
        return float(expression)
    if name == "Indexed":
        place = tuple(int(_known(i, known)) for i in expression.indices)
        return known[f"{expression.base}[]"][place]
    if name in ("BooleanTrue", "BooleanFalse"):
        return name == "BooleanTrue"
    if name in ("Sum", "Product"):
        return _over(expression, known)
    if name in ("Piecewise", "ITE"):
        cases = expression.args if name == "Piecewise" else [expression.args[1::-1], (expression.args[2], sympy.true)]
        return next((_known(value, known) for value, test in cases if _known(test, known)), np.nan)
    if name in ("ExtremumOver", "SearchOver", "OfMatrix"):
        return _of_elements(name, expression.args, known)
    values = [_known(a, known) for a in expression.args]
    if name == "Pow":
        return np.exp(values[1]) if expression.base == sympy.E else np.power(float(values[0]), values[1])
    if name in _FUNCTIONS:
        return _FUNCTIONS[name](*values)
    if not np.all(np.isfinite(values)):
        return np.nan
    return float(expression.func(*[sympy.Float(float(v), 17) for v in values]).evalf())


def _over(expression, known):
    """A sum or a product, whose last limits are the outermost."""
    (index, low, high), *inner = reversed(expression.limits)
    part = expression.func(expression.function, *reversed(inner)) if inner else expression.function
    indices = range(int(_known(low, known)), int(_known(high, known)) + 1)
    values = [_known(part, {**known, index.name: k}) for k in indices]
    return np.sum(values) if type(expression).__name__ == "Sum" else np.prod(values)


def _of_elements(kind, arguments, known):
    """An extremum, a search or a function of a matrix, of which the element at bound indices is given."""
    name, element, *rest = arguments
    count = 2 if kind == "OfMatrix" else 1
    (*bound,), size, place = (
        rest[:count],
        int(_known(rest[count], known)),
        [_known(p, known) for p in rest[count + 1 :]],
    )
    array = np.empty((size,) * count)
    for k in itertools.product(range(size), repeat=count):
        array[k] = _known(element, {**known, **{index.name: i for index, i in zip(bound, k)}})
    name = str(name)
    if name.startswith("searchsorted"):
        return np.searchsorted(array, place[0], side="right" if name.endswith("right") else "left")
    made = {
        "max": np.max,
        "min": np.min,
        "argmax": np.argmax,
        "argmin": np.argmin,
        "det": np.linalg.det,
        "argsort": lambda a: np.argsort(a, kind="stable"),
        "inv": np.linalg.inv,
        "chol": np.linalg.cholesky,
    }[name](array)
    return made[tuple(int(p) for p in place)] if place else made


def _array(free, formula, known, shape):
    """The numbers of a formula at all indices, or of an array of formulas."""
    made = np.empty([int(_known(sympy.sympify(d), known)) for d in shape])
    for place in itertools.product(*map(range, made.shape)):
        here = formula if free or not made.shape else formula[place]
        made[place] = _known(sympy.sympify(here), {**known, **{i.name: k for i, k in zip(free, place)}})
    return made
