"""Which rule a NumPy function has for traced values, and the errors where it has none."""

from __future__ import annotations

import difflib
import functools
import importlib
import inspect
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from ..errors import TracingError, UnsupportedArguments, UnsupportedOperation
from ..primitives import functions as f
from ..primitives.elementwise import ELEMENTWISE, Elementwise

#: NumPy function -> what it does to traced values; filled by ``numpy_functions``
FUNCTIONS: dict[Callable, Callable] = {}
#: classes whose own operators know traced values
DEFERRED: set[type] = set()
#: NumPy function without a rule -> what to write instead
ADVICE: dict[Callable, str] = {}
#: function that gives Python numbers, or writes into its arguments -> what a call with traced values gives
CALLS: dict[Callable, Callable] = {}
#: ufunc -> elementwise operation
UFUNCS: dict[np.ufunc, Elementwise] = {
    t.ufunc: t for t in reversed(ELEMENTWISE.values()) if isinstance(t.ufunc, np.ufunc)
}
UFUNCS[np.sqrt] = f.sqrt
#: library that may be missing -> the modules with the rules of its functions, imported where one is called
_OPTIONAL = {
    "pandas": ["symgrad.tracing.labelled_making"],
    "scipy.integrate": ["symgrad.solvers.initial_values"],
    "scipy.interpolate": ["symgrad.tracing.interpolation_by_weights"],
    "scipy.linalg": ["symgrad.solvers.riccati"],
    "scipy.ndimage": ["symgrad.solvers.searches"],
    "scipy.optimize": ["symgrad.solvers.roots", "symgrad.solvers.minima", "symgrad.solvers.searches"],
    "scipy.signal": ["symgrad.solvers.searches"],
    "scipy.spatial": ["symgrad.solvers.searches"],
    "scipy.sparse": ["symgrad.tracing.sparse_making", "symgrad.solvers.sparse_systems"],
    "scipy.special": ["symgrad.tracing.special_functions"],
    "scipy.stats": ["symgrad.tracing.statistics_of_scipy"],
    "xarray": ["symgrad.tracing.labelled_xarray"],
}
#: method of a class of C that does not say its module -> that
_METHODS_OF_C = {"SuperLU.solve": "scipy.sparse.linalg", "cKDTree.query": "scipy.spatial"}
#: (ufunc name, method) -> NumPy function that does the same
REDUCTIONS = {
    ("add", "reduce"): np.sum,
    ("multiply", "reduce"): np.prod,
    ("maximum", "reduce"): np.max,
    ("minimum", "reduce"): np.min,
    ("logical_or", "reduce"): np.any,
    ("logical_and", "reduce"): np.all,
    ("add", "accumulate"): np.cumsum,
    ("multiply", "accumulate"): np.cumprod,
}

#: method of ufuncs -> what it does, with the ufunc before its arguments; filled by ``ufunc_methods``
UFUNC_METHODS: dict[str, Callable] = {}

#: public name of a function of a library that need not be there -> what a call that concerns traced values gives
NAMED_CALLS: dict[str, Callable] = {}
#: public name of such a function -> the cases (``declare.Case``) that its rule test runs
NAMED_CASES: dict[str, Sequence[Any]] = {}


def answers_for(*names: str, cases: Sequence[Any] = ()) -> Callable[[Callable], Callable]:
    """``answers`` for functions by their public names: their library is imported by the user's code alone.

    A method is named with its class, ``scipy.interpolate.PPoly._evaluate``, and gets the instance first. What users
    call has the ``cases`` that test it.
    """

    def declared(answer: Callable) -> Callable:
        NAMED_CALLS.update(dict.fromkeys(names, answer))
        if cases:
            NAMED_CASES.update(dict.fromkeys(names, cases))
        return answer

    return declared


def answers(*functions: Callable) -> Callable[[Callable], Callable]:
    """Declare what calls of ``functions`` with traced values give, in code whose calls are followed."""

    def declared(answer: Callable) -> Callable:
        CALLS.update(dict.fromkeys(functions, answer))
        return answer

    return declared


def refuse(message: str) -> NoReturn:
    """Raise a TracingError that shows the user's line."""
    raise TracingError.here(message)


def refuse_unknown(func: Callable, rule: Callable, args: Any, kwargs: Any, error: TypeError) -> None:
    """An UnsupportedArguments where ``rule`` does not take these arguments, as NumPy's own function does."""
    try:
        inspect.signature(rule).bind(*args, **kwargs)
    except TypeError as refused:
        raise UnsupportedArguments.here(
            f"np.{func.__name__} with these arguments has no derivative rule in symgrad ({refused}). Write it with "
            "other supported NumPy functions, or compute it outside the differentiated function and pass it in."
        ) from error


def has_rule(function: Any) -> bool:
    """Whether traced values answer this function of NumPy or scipy.special."""
    if isinstance(function, np.ufunc):
        return any(function in rules for rules in (FUNCTIONS, UFUNCS, CALLS)) or special(function) is not None
    return type(function).__hash__ is not None and function in FUNCTIONS


@functools.cache
def place_of_out(func: Callable) -> int:
    """Which positional argument of a NumPy function is ``out``: rules do not have it."""
    try:
        parameters = inspect.signature(func).parameters.values()
    except ValueError:  # written in C, without a signature
        parameters = []
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return names.index("out") if "out" in names else sys.maxsize


def special(ufunc: np.ufunc) -> Elementwise | None:
    """The operation of a ``scipy.special`` ufunc. They are declared at the first call of one: scipy is optional."""
    if "scipy.special" in sys.modules and ufunc not in UFUNCS and ufunc not in CALLS:
        from ..primitives.special import SPECIAL

        UFUNCS.update(SPECIAL)
        _import_rules("scipy.special")
    return UFUNCS.get(ufunc)


def module_of(function: Any) -> str:
    """The name of the module that a function is of."""
    return getattr(function, "__module__", None) or _METHODS_OF_C.get(getattr(function, "__qualname__", ""), "")


def load_rules(function: Any) -> None:
    """Import the rules of the library that ``function`` belongs to, where it is one that is optional."""
    module = module_of(function)
    library = module.split(".")[:2] if module.startswith("scipy.") else module.split(".")[:1]
    _import_rules(".".join(library))


def _import_rules(library: str) -> None:
    for room in _OPTIONAL.get(library, ()):
        importlib.import_module(room)


def no_rule(ufunc: np.ufunc) -> Callable:
    def rule(*_: Any, **__: Any) -> NoReturn:
        name, near = f"the ufunc {ufunc.__name__}", ""
        if getattr(np, ufunc.__name__, None) is ufunc:
            name = f"np.{ufunc.__name__}"
        elif ufunc in vars(sys.modules.get("scipy.special", sys)).values():
            name = f"scipy.special.{ufunc.__name__}"
            found = difflib.get_close_matches(ufunc.__name__, [u.__name__ for u in UFUNCS], 1)
            near = f" The nearest that has one is {found[0]}." if found else ""
        raise UnsupportedOperation.here(
            f"{name} has no derivative rule in symgrad.{near} Say what its derivative is: symgrad.custom(f, "
            "vjp=…), or extend.elementwise for a function of numbers."
        )

    return rule
