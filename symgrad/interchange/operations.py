"""Operations in a document: their names, how many operands they have, and their parameters, which are checked.

Every elementwise function of ``symgrad.primitives`` is one, without parameters; the others stand in ``_FORMS``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..differentiation.encoding import own_operation
from ..errors import MissingPart, UnsupportedOperation
from ..primitives.elementwise import Template
from ..primitives.primitive import Primitive
from ..program.node import Node
from . import linear_algebra, rearranging
from .arrays import read_dtype, written_dtype
from .contractions import read_contraction, written_contraction
from .dims import Dims
from .field import Field, shown
from .limits import MOST_OPERANDS
from .lost_rule import read_rule, written_rule
from .requirements import Requirements

#: elementwise functions that symgrad computes by scipy
SPECIAL = frozenset(
    ("erf", "erfc", "erfcx", "zeta", "digamma", "gammaln", "expit", "logit", "xlogy", "ndtr", "log_ndtr")
)

Read = Callable[[Field, "tuple[Node, ...]", Dims, Requirements], tuple]


@dataclass(frozen=True)
class Form:
    """How an operation with parameters is written and read, and how many operands it takes."""

    least: int
    most: int
    write: Callable[[tuple], dict[str, Any]]
    read: Read


def _no_parameters(params: tuple) -> dict[str, Any]:
    return {}


def _fits_always(field: Field, operands: tuple[Node, ...], dims: Dims, require: Requirements) -> tuple:
    field.members(())
    return ()


def _read_cast(field: Field, operands: tuple[Node, ...], dims: Dims, require: Requirements) -> tuple:
    return (read_dtype(field.members(("dtype",))["dtype"]),)


r, a = rearranging, linear_algebra
_FORMS: dict[str, Form] = {
    "argmax": Form(1, 1, r.written_axis, r.read_filled_axis),
    "argmin": Form(1, 1, r.written_axis, r.read_filled_axis),
    "argsort": Form(1, 1, r.written_axis, r.read_axis),
    "assemble": Form(1, MOST_OPERANDS, r.written_pieces, r.read_pieces),
    "cast": Form(1, 1, lambda params: {"dtype": written_dtype(params[0])}, _read_cast),
    "cholesky": Form(1, 1, a.written_upper, a.read_upper),
    "concatenate": Form(1, MOST_OPERANDS, r.written_axis, r.read_parts),
    "convolve": Form(2, 2, _no_parameters, a.read_vectors),
    "cumprod": Form(1, 1, r.written_running, r.read_running),
    "cumsum": Form(1, 1, r.written_running, r.read_running),
    "custom": Form(1, MOST_OPERANDS, written_rule, read_rule),
    "determinant": Form(1, 1, _no_parameters, a.read_square),
    "determinant_sign": Form(1, 1, _no_parameters, a.read_square),
    "einsum": Form(1, MOST_OPERANDS, written_contraction, read_contraction),
    "gate": Form(2, 2, _no_parameters, _fits_always),
    "gather": Form(2, 2, r.written_axis, r.read_gather),
    "inverse": Form(1, 1, _no_parameters, a.read_square),
    "log_determinant": Form(1, 1, _no_parameters, a.read_square),
    "mark": Form(1, 1, _no_parameters, _fits_always),
    "max": Form(1, 1, r.written_axes, r.read_filled_axes),
    "min": Form(1, 1, r.written_axes, r.read_filled_axes),
    "prod": Form(1, 1, r.written_axes, r.read_axes),
    "reshape": Form(1, 1, r.written_shape, r.read_shape),
    "scatter": Form(2, 2, r.written_scatter, r.read_scatter),
    "searchsorted": Form(2, 2, a.written_side, a.read_side),
    "slice": Form(1, 1, r.written_slice, r.read_slice),
    "solve": Form(2, 2, _no_parameters, a.read_solve),
    "stop_gradient": Form(1, 1, _no_parameters, _fits_always),
}


def names() -> list[str]:
    """The operations that a document may hold, those of scipy among them."""
    from ..primitives.elementwise import TEMPLATES

    own = [name for name, t in TEMPLATES.items() if own_operation(name) is t]
    return sorted({*_FORMS, *SPECIAL, *own})


def written_operation(node: Node) -> dict[str, Any]:
    """The name of a node's operation, and its parameters where it has some."""
    primitive = node.primitive
    if own_operation(primitive.name) is not primitive:
        raise UnsupportedOperation(
            f"{primitive.name} is no operation of symgrad's own, so the JSON form has no name for it; write the "
            "function with operations of NumPy."
        )
    if isinstance(primitive, Template):
        return {"op": primitive.name}
    form = _FORMS.get(primitive.name)
    if form is None:
        raise UnsupportedOperation(f"the JSON form has no operation {primitive.name} yet; please report it.")
    parameters = form.write(node.params)
    return {"op": primitive.name} | ({"parameters": parameters} if parameters else {})


def read_operation(field: Field, name: Field, operands: tuple[Node, ...]) -> tuple[Primitive, Read]:
    """The operation that ``name`` is, which takes so many operands, and how its parameters are read."""
    spelled = name.text()
    if spelled in SPECIAL:
        _import_special(name, spelled)
    form = _FORMS.get(spelled)
    primitive = own_operation(spelled)
    if primitive is not None and form is not None:
        least, most = form.least, form.most
    elif isinstance(primitive, Template):
        least = most = primitive.arity
    else:
        name.fail(f"there is no operation {shown(spelled)}")
    if not least <= len(operands) <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        field.fail(f"{spelled} has {wanted} operands, and there are {len(operands)}")
    return primitive, form.read if form else _fits_always


def _import_special(name: Field, spelled: str) -> None:
    try:
        from ..primitives import special  # noqa: F401
    except ImportError:
        raise MissingPart(f"{name.path}: {spelled} needs scipy: pip install 'symgrad[sparse]'") from None
