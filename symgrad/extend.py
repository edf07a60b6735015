"""Operations, containers, backends, export formats and flags of one's own: one call each, and symgrad knows them.

What is registered stays for the life of the process.
Registering a name again replaces what it meant, as running a cell again does; symgrad's own names are refused.

>>> import numpy as np, sympy, symgrad
>>> from symgrad import extend
>>> softsign = extend.elementwise("softsign", lambda x: x / (1 + sympy.Abs(x)))
>>> symgrad.grad(softsign)(np.array([0.0, 1.0]))
array([1.  , 0.25])
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any

import numpy as np
import sympy

from .closed_form.reading.walk import check, computed
from .errors import ArgumentError, ArgumentTypeError, ShapeError
from .exporters import FORMATS, Format
from .exporters.subject import Subject
from .flags import Flag, register
from .kernels.backend import BACKENDS, LIBRARY_BACKENDS, Backend
from .kernels.base import Kernel
from .primitives.elementwise import ELEMENTWISE, SLOTS, Elementwise
from .primitives.functions import ANY, opaque
from .program.dims import is_concrete
from .program.program import Program
from .tracing import containers
from .tracing.instances import hides_content
from .tracing.trace import as_node, current
from .tracing.tracer import Tracer

__all__ = [
    "ElementwiseOperation",
    "StructuralOperation",
    "backend",
    "container",
    "elementwise",
    "export_format",
    "flag",
    "structural",
]

#: what symgrad itself brings
_OWN_FORMATS, _OWN_BACKENDS = frozenset(FORMATS), frozenset(BACKENDS) | frozenset(LIBRARY_BACKENDS)


class ElementwiseOperation:
    """A function of numbers, applied to arrays element by element; made by ``elementwise``."""

    def __init__(self, template: Elementwise) -> None:
        self._template = template
        self.__name__ = template.name

    @property
    def formula(self) -> Any:
        """The sympy formula, in the symbols ``a``, ``b``, ``c`` and ``d``."""
        return self._template.expr

    def __call__(self, *args: Any) -> Any:
        """The value on arrays, which broadcast; in a traced function a traced value."""
        arity = self._template.arity
        if len(args) != arity:
            raise ArgumentTypeError.here(f"{self.__name__} takes {arity} arguments; it got {len(args)}.")
        if current() is not None and any(hasattr(a, "_symgrad_node") for a in args):
            return Tracer(self._template(*map(as_node, args)))
        return self._template.ufunc(*args)

    def __repr__(self) -> str:
        return f"<elementwise operation {self.__name__}>"


def elementwise(
    name: str,
    formula: Callable[..., Any] | None = None,
    value: Callable[..., Any] | None = None,
    *,
    derivatives: Sequence[Callable[..., Any] | None] | None = None,
    domain: Sequence[tuple[float, float]] | None = None,
) -> ElementwiseOperation:
    """Register a function of one to four numbers, and return it: it works on arrays and in traced functions.

    ``formula`` gives the sympy expression of its arguments, of which sympy takes the derivatives; formulas, exports and
    the JSON form are written with it. ``value`` is what computes it on arrays, a ufunc or any function that broadcasts;
    without it the formula does. ``derivatives`` are functions of the same arguments, in NumPy code, one for each
    argument, or None where it is zero: for derivatives that lose digits as sympy writes them, and where there is no
    formula. What has no formula runs on every backend, and exports refuse it by its name.

    ``domain`` has one interval for each argument; value and formula are compared there at once, and an ArgumentError
    says where they differ. A formula that symgrad does not read is an UnsupportedOperation.

    >>> import numpy as np, sympy, symgrad
    >>> from scipy import special
    >>> dawson = elementwise("dawson", value=special.dawsn, derivatives=[lambda x: 1 - 2 * x * dawson(x)])
    >>> symgrad.grad(dawson)(1.0)
    np.float64(-0.0761590138255...)
    """
    _check_name(name, ELEMENTWISE, "an operation")
    _check_functions(name, formula=formula, value=value)
    _check_functions(name, **{f"derivative_{k}": d for k, d in enumerate(derivatives or ())})
    arity = _arity(name, formula, value, derivatives)
    slots = SLOTS[:arity]
    expansion = expr = None
    if formula is not None:
        try:
            expr = sympy.sympify(formula(*slots))
        except Exception as error:  # whatever the user's own code raises
            raise ArgumentError(f"{name}: the formula computes with sympy's functions; it raised: {error}") from error
        check([expr], slots, _no_plan)
        expansion = _of_nodes(_Formula(expr, slots))
        if derivatives is None:
            derivatives = [_Formula(d, slots) if d != 0 else None for d in (sympy.diff(expr, s) for s in slots)]
            check([d.expr for d in derivatives if d is not None], slots, _no_plan)
    if derivatives is None or (value is None and formula is None):
        raise ArgumentError(f"{name} needs a formula, or a value and derivatives.")
    if len(derivatives) != arity:
        raise ArgumentError(f"{name} takes {arity} arguments; it has {len(derivatives)} derivatives.")
    computes = value or _Formula(expr, slots)
    if value is not None and expr is not None:
        _compare(name, value, _Formula(expr, slots), domain or (ANY,) * arity)
    template = Elementwise(
        name,
        computes,
        opaque(name, arity) if expr is None else expr,
        tuple(None if d is None else _of_nodes(d) for d in derivatives),
        arity=arity,
        expansion=expansion,
        is_formula=value is None,
    )
    return ElementwiseOperation(template)


class _Formula:
    """A formula as a function of arrays, or of traced values."""

    def __init__(self, expr: Any, slots: Sequence[Any]) -> None:
        self.expr = expr
        self._slots = slots
        self.__name__ = "formula"

    def __call__(self, *values: Any) -> Any:
        known = dict(zip(self._slots, values, strict=True))
        with np.errstate(all="ignore"):
            (made,) = computed([self.expr], known, _no_plan)
        return made


def _no_plan(_: Any) -> None:
    return None


def _of_nodes(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function``, in NumPy code, as one of nodes."""
    return lambda *nodes: as_node(function(*map(Tracer, nodes)))


def _arity(name: str, formula: Any, value: Any, derivatives: Any) -> int:
    if formula is None and isinstance(value, np.ufunc):
        count = value.nin
    elif formula is None and derivatives is not None:
        count = len(derivatives)
    elif formula is not None:
        count = len(inspect.signature(formula).parameters)
    else:
        raise ArgumentError(f"{name} needs a formula, or a value and derivatives.")
    if not 1 <= count <= len(SLOTS):
        raise ArgumentError(f"{name} takes {count} arguments; an elementwise operation takes 1 to {len(SLOTS)}.")
    return count


def _compare(name: str, value: Callable, formula: _Formula, domain: Sequence[tuple[float, float]]) -> None:
    points = [np.linspace(low, high, 9)[1:-1] for low, high in domain]
    points = [np.roll(p, k) for k, p in enumerate(points)]
    got, wanted = np.asarray(value(*points)), np.asarray(formula(*points))
    if got.shape != points[0].shape:
        raise ArgumentError(f"{name}: the value has shape {got.shape} for arguments of shape {points[0].shape}.")
    differing = np.flatnonzero(~np.isclose(got, wanted, rtol=1e-6, atol=1e-9, equal_nan=True))
    if differing.size:
        k = differing[0]
        at = ", ".join(f"{p[k]:.6g}" for p in points)
        by_formula = np.broadcast_to(wanted, got.shape)[k]
        raise ArgumentError(
            f"{name}: the value at ({at}) is {got[k]:.9g}, and by the formula {by_formula:.9g}. "
            "Mend one of them, or say with domain= where the formula holds."
        )


Shape = tuple[int, ...]


class StructuralOperation:
    """A function that moves elements of an array; made by ``structural``."""

    def __init__(self, name: str, source: Callable[..., Any], shape: Callable[[Shape], Sequence[int]]) -> None:
        self.__name__ = name
        self._source = source
        self._shape = shape

    def __call__(self, x: Any) -> Any:
        """The value on an array; in a traced function a traced value."""
        own = tuple(np.shape(x))
        if not is_concrete(own):
            raise ShapeError.here(f"{self.__name__} moves elements of arrays whose sizes are numbers.")
        places, is_padded = self._index_map(own)
        flat = np.reshape(x, (-1,))
        return (np.concatenate([flat, np.zeros(1, flat.dtype)]) if is_padded else flat)[places]

    def _index_map(self, own: Shape) -> tuple[np.ndarray, bool]:
        """The place of each element, counted row by row; those from outside come from behind the last, if there are."""
        shape = tuple(self._shape(own))
        if not all(isinstance(d, (int, np.integer)) and d >= 0 for d in shape):
            raise ShapeError(f"{self.__name__}: {shape} is no shape; sizes are whole numbers.")
        index = self._source(own, *np.indices(shape, sparse=True)) if shape else self._source(own)
        index = tuple(index) if isinstance(index, (tuple, list)) else (index,)
        if len(index) != len(own):
            raise ShapeError(
                f"{self.__name__}: an array of shape {own} has {len(own)} axes; the source {len(index)} indices."
            )
        arrays = [np.broadcast_to(np.asarray(i), shape) for i in index]
        if any(a.dtype.kind not in "iu" for a in arrays):
            raise ArgumentTypeError(f"{self.__name__}: the source gives indices, whole numbers.")
        inside, places = np.ones(shape, bool), np.zeros(shape, np.intp)
        for a, size in zip(arrays, own, strict=True):
            inside &= (a >= 0) & (a < size)
            places = places * size + a
        return np.where(inside, places, math.prod(own)), not inside.all()

    def __repr__(self) -> str:
        return f"<structural operation {self.__name__}>"


def structural(
    name: str, source: Callable[..., Any], shape: Callable[[Shape], Sequence[int]] = tuple
) -> StructuralOperation:
    """Register a function that moves elements, and return it: it works on arrays and in traced functions.

    ``shape(s)`` is the shape of the result for an array of shape ``s``. ``source(s, i, j, …)`` says where the element
    at ``[i, j, …]`` of the result comes from: one index for each axis of the array, computed from arrays of whole
    numbers. What would come from outside of the array is zero. Derivatives, the zeros of Jacobians and the loops of
    kernels and exports follow from this map.

    >>> import numpy as np, symgrad
    >>> shift = structural("shift", lambda s, i: i - 1)
    >>> shift(np.array([1.0, 2.0, 3.0]))
    array([0., 1., 2.])
    >>> symgrad.jacobian(shift)(np.ones(3))
    array([[0., 0., 0.],
           [1., 0., 0.],
           [0., 1., 0.]])
    """
    _check_name(name, ELEMENTWISE, "an operation")
    _check_functions(name, source=source, shape=shape)
    return StructuralOperation(name, source, shape)


def container(
    kind: type,
    take_apart: Callable[[Any], Mapping[str, Any]] | None = None,
    put_together: Callable[[dict[str, Any]], Any] | None = None,
) -> type:
    """Register a class whose instances hold data, and return it: they are arguments and results then, as dicts are.

    ``take_apart(value)`` gives the parts by name: what is a float or an array is an input, what else there is belongs
    to the signature. ``put_together(parts)`` makes a value of parts of these names; while a function is traced they
    are traced arrays, so it checks nothing. Without the two the parts are the attributes, and a value is made without
    ``__init__``. Dataclasses, attrs classes and ``types.SimpleNamespace`` are known as they are.

    >>> import numpy as np, symgrad
    >>> @container
    ... class Line:
    ...     def __init__(self, slope, name):
    ...         self.slope, self.name = np.asarray(slope, float), name
    >>> gradient = symgrad.grad(lambda line, x: np.sum(line.slope * x) ** 2)(Line([1.0, 2.0], "a"), 3.0)
    >>> type(gradient).__name__, gradient.slope, gradient.name
    ('Line', array([54., 54.]), 'a')
    """
    if not isinstance(kind, type):
        raise ArgumentTypeError(f"container takes a class, got {kind!r}.")
    name = kind.__name__
    _check_functions(name, take_apart=take_apart, put_together=put_together)
    if (take_apart is None) != (put_together is None):
        raise ArgumentError(f"{name}: take_apart and put_together belong together; pass both, or neither.")
    if issubclass(kind, (np.ndarray, np.generic, float, int, str, bytes, tuple, list, dict, type, Enum)):
        raise ArgumentError(f"{name} derives from a type that symgrad takes as it is; hold the data in attributes.")
    if take_apart is None or put_together is None:
        if hides_content(kind):
            raise ArgumentError(f"{name} holds more than its attributes; pass take_apart and put_together.")
        containers.register(kind)
    else:
        containers.register(kind, containers.Container(_Checked(name, take_apart), put_together))
    return kind


class _Checked:
    """``take_apart`` of a user's class, which gives parts by names."""

    def __init__(self, name: str, take_apart: Callable[[Any], Any]) -> None:
        self._name = name
        self._take_apart = take_apart

    def __call__(self, value: Any) -> Mapping[str, Any]:
        parts = self._take_apart(value)
        if not isinstance(parts, Mapping) or not all(isinstance(key, str) for key in parts):
            raise ArgumentTypeError(f"{self._name}: take_apart must give a dict of parts by name, got {parts!r}.")
        return parts


def backend(
    name: str, lower: Callable[[Program], Callable[..., Sequence[Any]]], about: str = "a backend of its own"
) -> None:
    """Register a backend: ``grad(f, backend=name)`` and every other place that names one then know it.

    ``lower(program)`` gives a function of the program's inputs, arrays whose dims are numbers, that returns its outputs
    in order; ``program.nodes`` are in the order to compute them in. ``about`` says what it does, for ``explain()``. A
    ``source`` that the function has as an attribute is shown as that of the kernel.

    >>> import numpy as np, symgrad
    >>> def interpreted(program):
    ...     def run(*arrays):
    ...         known = dict(zip(program.inputs, arrays))
    ...         for node in program.nodes:
    ...             if node not in known:
    ...                 operands = [known[o] for o in node.operands]
    ...                 known[node] = node.primitive.evaluate(node.params, *operands)
    ...         return [known[node] for node in program.outputs]
    ...     return run
    >>> backend("interpreted", interpreted, about="one node after the other")
    >>> symgrad.grad(np.sin, backend="interpreted")(np.zeros(2))
    array([1., 1.])
    """
    _check_name(name, _OWN_BACKENDS, "a backend")
    _check_functions(name, lower=lower)

    def made(program: Program, plain: Callable[[], Kernel]) -> Kernel:
        run = lower(program)
        return Kernel(program, name, getattr(run, "source", str(program)), lambda *arrays: tuple(run(*arrays)))

    BACKENDS[name] = Backend(about, BACKENDS["numpy"].write, made)


def export_format(name: str, write: Callable[[Subject], Any], *, suffix: str, about: str) -> None:
    """Register an export format: ``.export(name)``, ``%%grad --export``, the panel and the command line then know it.

    ``write(subject)`` gives a text, or bytes; ``subject`` is a ``symgrad.exporters.subject.Subject``, whose ``program``
    is in symgrad's own operations. ``suffix`` is that of a file, ``about`` what lists of formats say.

    >>> import numpy as np, symgrad
    >>> export_format("operations", lambda s: ", ".join(n.primitive.name for n in s.program.bindings),
    ...               suffix=".txt", about="the names of its operations")
    >>> symgrad.grad(lambda x: np.sin(x) ** 2).export("operations", 1.0)
    'sin, cos, einsum'
    """
    _check_name(name, _OWN_FORMATS, "a format")
    _check_functions(name, write=write)
    FORMATS[name] = Format(write, suffix, about)


def flag(name: str, help: str, **options: Any) -> Flag:
    """Register a flag, a ``symgrad.flags.Flag`` of these options: ``%%grad --name`` and the command line then know it.

    ``derive(derived, value)`` gives the derivative that takes the place of another one, or ``show(derived, args,
    kwargs, value)`` what is shown of it besides; with a ``gloss``, a few words, the panel has it too.

    >>> from symgrad.flags import FLAGS, unregister
    >>> shapes = flag("shapes", "the shapes of the result", show=lambda derived, args, kwargs, _:
    ...               derived.result_shapes(*args, **kwargs)[1])
    >>> FLAGS["shapes"].typed
    ('--shapes',)
    >>> unregister("shapes")
    """
    return register(Flag(name, help, **options))


def _check_functions(name: str, **given: Any) -> None:
    for what, function in given.items():
        if function is not None and not callable(function):
            raise ArgumentTypeError(f"{name}: {what} is a {type(function).__name__}; a function is expected.")


def _check_name(name: str, own: Any, what: str) -> None:
    if not isinstance(name, str) or not (name.isidentifier() and name.isascii()):
        raise ArgumentError(f"{name!r} is no name for {what}; take ASCII letters, digits and _, a letter first.")
    if name in own:
        raise ArgumentError(f"symgrad has {what} {name} of its own; choose another name.")
