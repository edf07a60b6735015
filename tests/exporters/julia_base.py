"""The functions of Julia that exported modules call, with Julia's types, errors and orders of elements."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

TYPES = {
    "Bool": np.bool_,
    "Float32": np.float32,
    "Float64": np.float64,
    **{f"Int{b}": getattr(np, f"int{b}") for b in (8, 16, 32, 64)},
    **{f"UInt{b}": getattr(np, f"uint{b}") for b in (8, 16, 32, 64)},
}
#: the numbers that a name of a kind of numbers stands for
ABSTRACT = {"Real": np.generic, "Integer": np.integer | np.bool_}


class JuliaError(Exception):
    """What a Julia program throws; ``name`` is its type."""

    def __init__(self, name: str, message: object = "") -> None:
        super().__init__(f"{name}: {message}")
        self.name = name


class Factors:
    """What ``lu`` gives."""

    def __init__(self, matrix: np.ndarray) -> None:
        self.matrix = matrix
        if matrix.size and not np.linalg.matrix_rank(np.nan_to_num(matrix)) == len(matrix):
            raise JuliaError("SingularException")


def kind(x: Any) -> str:
    return np.asarray(x).dtype.kind


def promoted(*values: Any) -> Any:
    """The type that arithmetic of these numbers is done in."""
    dtypes = [np.asarray(v).dtype for v in values]
    floats = [d for d in dtypes if d.kind == "f"]
    if floats:
        return max(floats, key=lambda d: d.itemsize).type
    whole = [d for d in dtypes if d.kind != "b"]
    return max(whole, key=lambda d: (d.itemsize, d.kind == "u")).type if whole else np.int64


def convert(made: Any, value: Any) -> Any:
    """``convert(T, x)``: InexactError where it is not the same number."""
    if np.dtype(made).kind != "f":
        whole = made(0) if value != value or math.isinf(value) else made(int(value))
        if whole != value:
            raise JuliaError("InexactError", value)
        return whole
    return made(value)


def truth(value: Any) -> bool:
    if not isinstance(value, np.bool_):
        raise JuliaError("TypeError", f"non-boolean ({type(value).__name__}) used in boolean context")
    return bool(value)


def arithmetic(name: str, function: Callable) -> Callable:
    def apply(a: Any, b: Any) -> Any:
        if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
            raise JuliaError("MethodError", f"{name} of arrays")
        made = promoted(a, b)
        return made(function(made(a), made(b)))

    return apply


def quotient(a: Any, b: Any) -> Any:
    made = promoted(a, b)
    made = made if np.dtype(made).kind == "f" else np.float64
    return made(a) / made(b)


def power(a: Any, b: Any) -> Any:
    if kind(a) in "iu" and kind(b) in "iub":
        if b < 0:
            raise JuliaError("DomainError", (a, b))
        result = type(a)(1)
        for _ in range(int(b)):
            result = type(a)(result * a)
        return result
    made = promoted(a, b)
    if a < 0 and np.isfinite(b) and b != np.trunc(b):
        raise JuliaError("DomainError", (a, b))
    return np.power(made(a), made(b))


def solved(a: Any, b: np.ndarray) -> np.ndarray:
    assert isinstance(a, Factors)
    return np.linalg.solve(a.matrix, b)


def elementwise(function: Callable) -> Callable:
    return lambda a, b: np.array([function(x, np.int64(b)) for x in a])


BINARY: dict[str, Callable] = {
    "+": arithmetic("+", operator.add),
    "-": arithmetic("-", operator.sub),
    "*": arithmetic("*", operator.mul),
    "/": quotient,
    "^": power,
    "\\": solved,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    **{
        sign: (lambda f: lambda a, b: np.bool_(f(a, b)))(function)
        for sign, function in {
            "<": operator.lt,
            "<=": operator.le,
            ">": operator.gt,
            ">=": operator.ge,
            "==": operator.eq,
            "!=": operator.ne,
        }.items()
    },
}
BINARY |= {".+": elementwise(BINARY["+"]), ".-": elementwise(BINARY["-"])}
UNARY: dict[str, Callable] = {
    "-": lambda a: (np.int64 if kind(a) == "b" else type(a))(-(+a if kind(a) != "b" else int(a))),
    "~": lambda a: ~a,
    "!": lambda a: np.bool_(not truth(a)),
}


def float_function(name: str, within: Callable[[Any], bool] = lambda x: True) -> Callable:
    """A function of floats; DomainError outside of where Julia has it, whole numbers become floats."""

    def apply(x: Any) -> Any:
        made = type(x) if kind(x) == "f" else np.float64
        if not (x != x or within(x)):
            raise JuliaError("DomainError", (name, x))
        return made(getattr(np, name)(made(x)))

    return apply


def special(name: str) -> Callable:
    import scipy.special

    return lambda *x: type(x[0])(getattr(scipy.special, name)(*x))


def chosen(largest: bool) -> Callable:
    def apply(a: Any, b: Any) -> Any:
        if kind(a) == kind(b) == "b":
            return np.bool_(max(a, b) if largest else min(a, b))
        made = promoted(a, b)
        return made((np.maximum if largest else np.minimum)(made(a), made(b)))

    return apply


def divided(function: Callable) -> Callable:
    def apply(a: Any, b: Any) -> Any:
        if isinstance(b, type):
            return np.asarray(a).astype(b)[()]
        if kind(a) in "iu" and kind(b) in "iu" and (b == 0 or (b == -1 and a == np.iinfo(type(a)).min)):
            raise JuliaError("DivideError")
        made = promoted(a, b)
        return made(function(made(a), made(b)))

    return apply


def choice(condition: Any, a: Any, b: Any) -> Any:
    return a if truth(condition) else b


def required(*arrays: Any) -> None:
    if not all(isinstance(a, np.ndarray) for a in arrays):
        raise JuliaError("MethodError", "require_one_based_indexing")


def sized(x: np.ndarray, axis: Any = None) -> Any:
    dims = tuple([np.int64(d) for d in x.shape])
    return dims if axis is None else dims[axis - 1]


def filled(x: np.ndarray, value: Any) -> np.ndarray:
    x[...] = convert(x.dtype.type, value)
    return x


def lower_factor(a: np.ndarray) -> Any:
    try:
        return {"L": np.linalg.cholesky(a)}
    except np.linalg.LinAlgError:
        raise JuliaError("PosDefException") from None


def log_determinant(a: np.ndarray) -> tuple:
    sign, log = np.linalg.slogdet(a)
    return log, sign


def raised(error: JuliaError) -> None:
    raise error


def unary(function: Callable) -> Callable:
    return lambda x: type(x)(function(x))


def selected(x, axis, place):
    """A view of what stands at a place of an axis."""
    if not 1 <= place <= x.shape[int(axis) - 1]:
        raise JuliaError("BoundsError", f"{place} of {x.shape}")
    return x[(slice(None),) * (int(axis) - 1) + (int(place) - 1,)]


FUNCTIONS: dict[str, Any] = {
    **{n: float_function(n) for n in ("exp", "exp2", "expm1", "cbrt", "sinh", "cosh", "tanh")},
    **{n: float_function(n, lambda x: x >= 0) for n in ("sqrt", "log", "log2", "log10")},
    "log1p": float_function("log1p", lambda x: x >= -1),
    **{n: float_function(n, lambda x: not np.isinf(x)) for n in ("sin", "cos", "tan")},
    **{f"a{n}": float_function(f"arc{n}", lambda x: abs(x) <= 1) for n in ("sin", "cos", "tanh")},
    "asinh": float_function("arcsinh"),
    "acosh": float_function("arccosh", lambda x: x >= 1),
    "atan": lambda x, *y: np.arctan2(x, *y) if y else float_function("arctan")(x),
    "hypot": np.hypot,
    "copysign": np.copysign,
    "ldexp": lambda x, e: type(x)(np.ldexp(x, int(max(min(e, 5000), -5000)))),
    **{
        n: unary(getattr(np, f))
        for n, f in {"floor": "floor", "ceil": "ceil", "trunc": "trunc", "round": "rint"}.items()
    },
    **{n: (lambda f: lambda x: np.bool_(f(x)))(getattr(np, n)) for n in ("isnan", "isinf", "isfinite", "signbit")},
    "sign": lambda x: type(x)(x if x != x or x == 0 else math.copysign(1, x)),
    "abs": unary(abs),
    "max": chosen(True),
    "min": chosen(False),
    "mod": divided(lambda a, b: np.mod(a, b)),
    "fld": divided(lambda a, b: a // b),
    "rem": divided(lambda a, b: np.fmod(a, b)),
    "div": divided(lambda a, b: -(-a // b) if (a < 0) != (b < 0) else a // b),
    "xor": lambda a, b: a ^ b,
    "ifelse": choice,
    "zero": lambda x: x(0) if isinstance(x, type) else type(x)(0),
    "selectdim": selected,
    "one": lambda x: type(x)(1),
    "oftype": lambda x, y: convert(type(x), y),
    "typemin": lambda t: t(np.iinfo(t).min) if isinstance(t, type) else type(t)(np.iinfo(type(t)).min),
    "sizeof": lambda x: np.int64(x.nbytes),
    "unsafe_trunc": lambda t, x: np.asarray(x).astype(t)[()],
    "size": sized,
    "ndims": lambda x: np.int64(x.ndim),
    "length": lambda x: np.int64(len(x) if isinstance(x, tuple) else x.size),
    "zeros": lambda t, *dims: np.zeros([int(d) for d in dims], t),
    "fill": lambda v, *dims: np.full([int(d) for d in dims], v),
    "fill!": filled,
    "reverse": lambda x: x[::-1],
    "vec": lambda x: x.ravel(order="F"),
    "reshape": lambda x, *dims: x.reshape(
        [int(d) for d in (dims[0] if isinstance(dims[0], tuple) else dims)], order="F"
    ),
    "permutedims": lambda x, order: x.transpose([int(k) - 1 for k in order]).copy(),
    "first": lambda x: x[0],
    "sortperm": lambda x: np.argsort(x, kind="stable") + 1,
    "throw": raised,
    "error": lambda text: raised(JuliaError("ErrorException", text)),
    "ArgumentError": partial(JuliaError, "ArgumentError"),
    "DimensionMismatch": partial(JuliaError, "DimensionMismatch"),
    "Base": {"require_one_based_indexing": required},
    "println": print,
    "Inf": np.float64(np.inf),
    "NaN": np.float64(np.nan),
    "Inf32": np.float32(np.inf),
    "NaN32": np.float32(np.nan),
    "undef": None,
    "nothing": None,
    **TYPES,
}
#: package -> what it exports; seen by modules that import it
PACKAGES: dict[str, dict[str, Any]] = {
    "LinearAlgebra": {
        "lu": Factors,
        "inv": lambda a: np.linalg.inv(a.matrix),
        "det": np.linalg.det,
        "logabsdet": log_determinant,
        "Symmetric": lambda a, part: np.tril(a) if part == "L" else None,
        "cholesky": lower_factor,
    },
    "Printf": {"@printf": lambda text, *values: print(text % values, end="")},
    "SpecialFunctions": {
        **{n: special(n) for n in ("erf", "erfc", "erfcx", "digamma")},
        "logabsgamma": lambda x: (type(x)(special("gammaln")(x)), 1),
        "zeta": lambda s, q: type(q)(special("zeta")(s, q)),
    },
}
