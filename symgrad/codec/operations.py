"""Operations in a document: one line each says how many operands it takes and what its parameters are.

Every elementwise function of ``symgrad.primitives`` is one, without parameters.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from ..errors import MissingPart, UnsupportedOperation
from ..primitives import functions
from ..primitives.casting import CAST
from ..primitives.contraction import EINSUM, GATE
from ..primitives.convolution import CONVOLVE
from ..primitives.elementwise import Template
from ..primitives.identity import CUSTOM, MARK, STOP
from ..primitives.linalg import CHOLESKY, DETERMINANT, DETERMINANT_SIGN, INVERSE, LOG_DETERMINANT, SOLVE
from ..primitives.primitive import Primitive
from ..primitives.reduction import ARGMAX, ARGMIN, ARGSORT, CUMPROD, CUMSUM, MAX, MIN, PROD, SEARCHSORTED
from ..primitives.selection import ASSEMBLE, CONCATENATE, GATHER, SCATTER, SLICE
from ..primitives.shaping import RESHAPE
from ..program.node import Node
from . import fits
from .arrays import DTYPE
from .contractions import CONTRACTION, fits_contraction
from .forms import Form, Listed, Members, OneOf, Schema, Truth, Whole, Wrong, described, shown
from .limits import LARGEST_SIZE, MOST_AXES, MOST_OPERANDS
from .lost_rule import RULE
from .sizes import PLACE, SHAPE, SIZE, Sizes

#: elementwise functions that symgrad computes by scipy
SPECIAL = frozenset(
    ("erf", "erfc", "erfcx", "zeta", "digamma", "gammaln", "expit", "logit", "xlogy", "ndtr", "log_ndtr")
)

Fits = Callable[[tuple, "tuple[Node, ...]", Sizes], None]


class Parameters(Members):
    """The parameters of an operation, a tuple, as members that are called as they are."""

    def __init__(self, **forms: Form) -> None:
        super().__init__(forms)

    def write(self, value):
        return {key: form.write(own) for (key, form), own in zip(self.forms.items(), value)}  # a mark's is not written

    def read(self, value, known=None):
        return tuple(super().read(value, known).values())


class _Entry(Form):
    """One axis of a slice: a place, which takes one element and drops the axis, or ``(start, length, step)``."""

    _place = Members({"at": PLACE})
    _range = Parameters(start=PLACE, length=SIZE, step=Whole(-LARGEST_SIZE, LARGEST_SIZE))

    def write(self, value):
        return self._range.write(value) if isinstance(value, tuple) else self._place.write({"at": value})

    def read(self, value, known=None):
        if type(value) is dict and "at" in value:
            return self._place.read(value, known)["at"]
        return self._range.read(value, known)

    def schema(self, defs):
        return {"oneOf": [self._place.schema(defs), self._range.schema(defs)]}


@dataclass(frozen=True)
class Operation:
    """An operation: so many operands, the form of its parameters, and what these and the operands must satisfy."""

    primitive: Primitive
    least: int
    most: int
    form: Form
    fits: Fits


def _fits_always(params: tuple, operands: tuple[Node, ...], sizes: Sizes) -> None:
    """Nothing is asked for."""


def _takes(least: int, most: int, primitive: Primitive, fits: Fits = _fits_always, **forms: Form) -> Operation:
    return Operation(primitive, least, most, Parameters(**forms), fits)


AXIS = Whole(0, MOST_AXES - 1)
_AXES = Listed(AXIS, MOST_AXES, twice="an axis stands twice")
_SPEC = Listed(_Entry(), MOST_AXES).named("slice")
_SLICES = Listed(_SPEC, MOST_OPERANDS)

_FORMS: dict[str, Operation] = {
    o.primitive.name: o
    for o in (
        _takes(1, 1, ARGMAX, fits.filled_axis, axis=AXIS),
        _takes(1, 1, ARGMIN, fits.filled_axis, axis=AXIS),
        _takes(1, 1, ARGSORT, fits.axis, axis=AXIS),
        _takes(1, MOST_OPERANDS, ASSEMBLE, fits.assemble, shape=SHAPE, slices=_SLICES),
        _takes(1, 1, CAST, dtype=DTYPE),
        _takes(1, 1, CHOLESKY, fits.square, upper=Truth()),
        _takes(1, MOST_OPERANDS, CONCATENATE, fits.concatenate, axis=AXIS),
        _takes(2, 2, CONVOLVE, fits.vectors),
        _takes(1, 1, CUMPROD, fits.axis, axis=AXIS, reverse=Truth()),
        _takes(1, 1, CUMSUM, fits.axis, axis=AXIS, reverse=Truth()),
        _takes(1, MOST_OPERANDS, CUSTOM, rule=RULE),
        _takes(1, 1, DETERMINANT, fits.square),
        _takes(1, 1, DETERMINANT_SIGN, fits.square),
        Operation(EINSUM, 1, MOST_OPERANDS, CONTRACTION, fits_contraction),
        _takes(2, 2, GATE),
        _takes(2, 2, GATHER, fits.gather, axis=AXIS),
        _takes(1, 1, INVERSE, fits.square),
        _takes(1, 1, LOG_DETERMINANT, fits.square),
        _takes(1, 1, MARK),
        _takes(1, 1, MAX, fits.filled_axes, axes=_AXES),
        _takes(1, 1, MIN, fits.filled_axes, axes=_AXES),
        _takes(1, 1, PROD, fits.axes, axes=_AXES),
        _takes(1, 1, RESHAPE, fits.reshape, shape=SHAPE),
        _takes(2, 2, SCATTER, fits.scatter, axis=AXIS, size=SIZE),
        _takes(2, 2, SEARCHSORTED, fits.knots, side=OneOf("left", "right")),
        _takes(1, 1, SLICE, fits.slice, slice=_SPEC),
        _takes(2, 2, SOLVE, fits.solve),
        _takes(1, 1, STOP),
    )
}
_ELEMENTWISE = {t.name: t for t in vars(functions).values() if isinstance(t, Template)}
_SPECIAL_MODULE = f"{__name__.split('.')[0]}.primitives.special"
_OWN_SPECIAL: dict[str, Template] = {}


def names() -> list[str]:
    """The operations that a document may hold, those of scipy among them."""
    return sorted({*_FORMS, *SPECIAL, *_ELEMENTWISE})


def own_operation(name: str) -> Operation | None:
    """symgrad's own operation of this name, as far as it is imported. Any other may be another one elsewhere."""
    found = _FORMS.get(name)
    if found is not None:
        return found
    template = _ELEMENTWISE.get(name)
    if template is None and name in SPECIAL:
        template = getattr(sys.modules.get(_SPECIAL_MODULE), name, None)
    return None if template is None else _elementwise(template)


@lru_cache
def _elementwise(template: Template) -> Operation:
    return _takes(template.arity, template.arity, template)


def operation_of(primitive: Primitive) -> Operation:
    """The operation that a primitive is; an UnsupportedOperation for one that is not symgrad's own."""
    found = own_operation(primitive.name)
    if found is None or found.primitive is not primitive:
        raise UnsupportedOperation(
            f"{primitive.name} is no operation of symgrad's own, so the JSON form has no name for it; write the "
            "function with operations of NumPy."
        )
    return found


class _OperationName(OneOf):
    """The name of an operation, which is read as the operation."""

    def read(self, value, known=None):
        if type(value) is not str or value not in self.choices:
            raise Wrong(f"there is no operation {shown(value)}")
        if value in SPECIAL:
            try:
                importlib.import_module(_SPECIAL_MODULE)
            except ImportError:
                raise Wrong(f"{value} needs scipy: pip install 'symgrad[sparse]'", error=MissingPart) from None
        return own_operation(value)


OPERATION = _OperationName(*names())


def parameters_schema(defs: Schema) -> list[Schema]:
    """What the member ``parameters`` is for each operation, as conditions in JSON Schema."""
    made = []
    for name, operation in _FORMS.items():
        own = described(operation.form, defs)
        if own["required"]:
            said = {"properties": {"parameters": own}, "required": ["parameters"]}
            made.append({"if": {"properties": {"op": {"const": name}}}, "then": said})
    others = {"not": {"enum": [case["if"]["properties"]["op"]["const"] for case in made]}}
    return [*made, {"if": {"properties": {"op": others}}, "then": {"properties": {"parameters": False}}}]
