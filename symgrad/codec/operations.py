"""Operations in a document: one line each says how many operands it takes and what its parameters are.

Every elementwise function of ``symgrad.primitives`` is one, without parameters.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ..errors import MissingPart, UnsupportedOperation
from ..primitives import functions, kinks
from ..primitives.casting import CAST
from ..primitives.contraction import EINSUM, GATE
from ..primitives.convolution import CONVOLVE
from ..primitives.decompositions import (
    EIG,
    EIGH,
    EIGVALS,
    EIGVALSH,
    LEAST_SQUARES,
    LEAST_SQUARES_VALUES,
    PSEUDO_INVERSE,
    QR,
    SVD,
    SVDVALS,
)
from ..primitives.elementwise import Elementwise
from ..primitives.equal_values import APART, RARE, UNKNOWN
from ..primitives.fourier import FFT, IRFFT, RFFT
from ..primitives.identity import CUSTOM, MARK, STOP
from ..primitives.linalg import CHOLESKY, COFACTOR, DETERMINANT, DETERMINANT_SIGN, INVERSE, LOG_DETERMINANT, SOLVE
from ..primitives.matrix_functions import EXPM, LOGM, SQRTM, SYLVESTER
from ..primitives.primitive import Primitive
from ..primitives.reduction import ARGMAX, ARGMIN, ARGSORT, CUMPROD, CUMSUM, MAX, MIN, PROD, SEARCHSORTED
from ..primitives.scan import PART, ROW, SCAN
from ..primitives.selection import ASSEMBLE, CONCATENATE, GATHER, SCATTER, SLICE
from ..primitives.shaping import RESHAPE
from ..program.node import Node
from . import fits
from .arrays import DTYPE
from .contractions import CONTRACTION, fits_contraction
from .forms import Either, Form, Listed, Made, Members, OneOf, Real, Schema, Truth, Whole, Wrong, described, shown
from .limits import LARGEST_SIZE, MAX_AXES, MAX_OPERANDS
from .loops import LOOP, PART_OF, ROW_OF, fits_loop, fits_part, fits_row
from .lost_rule import RULE
from .sizes import PLACE, SHAPE, SIZE, Sizes

_SPECIAL = """
    agm airy_ai airy_aip airy_bi airy_bip airye_ai airye_aip airye_bi airye_bip bdtr bdtrc bdtri bei beip ber berp
    beta betainc betaincc betainccinv betaincinv betaln binom boxcox boxcox1p chdtr chdtrc chdtri cosdg cosm1 cotdg
    dawsn digamma ellipe ellipeinc ellipj_cn ellipj_dn ellipj_ph ellipj_sn ellipk ellipkinc ellipkm1 elliprc elliprd
    elliprf entr erf erfc erfcinv erfcx erfi erfinv eval_chebyc eval_chebys eval_chebyt eval_chebyu eval_gegenbauer
    eval_genlaguerre eval_hermite eval_hermitenorm eval_jacobi eval_laguerre eval_legendre eval_sh_chebyt
    eval_sh_chebyu eval_sh_jacobi eval_sh_legendre exp1 exp10 expi expit expn exprel fdtr fdtrc fdtri fresnel_c
    fresnel_s gamma gammainc gammaincc gammainccinv gammaincinv gammaln gammasgn gdtr gdtrc gdtria gdtrix huber
    hyp0f1 hyp1f1 hyp2f1 hyperu i0 i0e i1 i1e inv_boxcox inv_boxcox1p it2i0k0_i0 it2i0k0_k0 it2j0y0_j0 it2j0y0_y0
    it2struve0 iti0k0_i0 iti0k0_k0 itj0y0_j0 itj0y0_y0 itmodstruve0 itstruve0 iv ive j0 j1 jv jve k0 k0e k1 k1e kei
    keip ker kerp kl_div kn kv kve log_expit log_ndtr loggamma logit lpmv modstruve nbdtr nbdtrc nbdtri ndtr ndtri
    ndtri_exp nrdtrimn nrdtrisd owens_t pbdv_slope pbdv_value pbvv_slope pbvv_value pbwa_slope pbwa_value pdtr pdtrc
    pdtri poch powm1 pseudo_huber radian rel_entr rgamma shichi_chi shichi_shi sici_ci sici_si sindg special_cbrt
    special_exp2 special_expm1 special_log1p spence spherical_in spherical_jn spherical_kn spherical_yn stdtr
    stdtrit struve tandg wrightomega xlog1py xlogy y0 y1 yn yv yve zeta zetac
"""
#: elementwise functions that symgrad computes by scipy
SPECIAL = frozenset(_SPECIAL.split())

Fits = Callable[[tuple, "tuple[Node, ...]", Sizes], None]


def parameters(**forms: Form) -> Form:
    """Parameters, a tuple, as members in this order."""
    return Made(Members(forms), lambda members, known: tuple(members.values()), lambda params: dict(zip(forms, params)))


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
    return Operation(primitive, least, most, parameters(**forms), fits)


def _distinct(items: tuple, known: Any) -> tuple:
    if len(set(items)) < len(items):
        raise Wrong("an axis stands twice")
    return items


#: derivatives of a determinant are sums over permutations of so many
_MAX_MINORS = 5
AXIS = Whole(0, MAX_AXES - 1)
_FROM_END, _NORM = Whole(-MAX_AXES, -1), OneOf("backward", "ortho", "forward")
_AXES = Made(Listed(AXIS, MAX_AXES), _distinct)
_PLACE = Members({"at": PLACE})
_RANGE = Members({"start": PLACE, "length": SIZE, "step": Whole(-LARGEST_SIZE, LARGEST_SIZE)})
#: one axis of a slice: a place, which takes one element and drops the axis, or ``(start, length, step)``
_ENTRY = Made(
    Either("at", _PLACE, _RANGE),
    lambda made, known: made["at"] if "at" in made else tuple(made.values()),
    lambda entry: dict(zip(_RANGE.forms, entry)) if isinstance(entry, tuple) else {"at": entry},
)
_SPEC = Listed(_ENTRY, MAX_AXES).named("slice")
_SLICES = Listed(_SPEC, MAX_OPERANDS)

_OPERATIONS: dict[str, Operation] = {
    o.primitive.name: o
    for o in (
        _takes(2, 2, APART, fits.apart),
        _takes(1, 1, ARGMAX, fits.filled_axis, axis=AXIS),
        _takes(1, 1, ARGMIN, fits.filled_axis, axis=AXIS),
        _takes(1, 1, ARGSORT, fits.axis, axis=AXIS),
        _takes(1, MAX_OPERANDS, ASSEMBLE, fits.assemble, shape=SHAPE, slices=_SLICES),
        _takes(1, 1, CAST, dtype=DTYPE),
        _takes(1, 1, CHOLESKY, fits.square, upper=Truth()),
        _takes(2, _MAX_MINORS + 1, COFACTOR, fits.cofactors, order=Whole(1, _MAX_MINORS)),
        _takes(1, MAX_OPERANDS, CONCATENATE, fits.concatenate, axis=AXIS),
        _takes(2, 2, CONVOLVE, fits.vectors),
        _takes(1, 1, CUMPROD, fits.axis, axis=AXIS, reverse=Truth()),
        _takes(1, 1, CUMSUM, fits.axis, axis=AXIS, reverse=Truth()),
        _takes(1, MAX_OPERANDS, CUSTOM, rule=RULE),
        _takes(1, 1, EIG, fits.square),
        _takes(1, 1, EIGH, fits.square),
        _takes(1, 1, EIGVALS, fits.square),
        _takes(1, 1, EIGVALSH, fits.square),
        _takes(2, 2, LEAST_SQUARES, fits.least_squares, rcond=Real()),
        _takes(1, 1, LEAST_SQUARES_VALUES, fits.matrices),
        _takes(1, 1, PSEUDO_INVERSE, fits.matrices, rcond=Real(), hermitian=Truth()),
        _takes(1, 1, QR, fits.matrices),
        _takes(1, 1, SVD, fits.matrices),
        _takes(1, 1, SVDVALS, fits.matrices),
        *[_takes(1, 1, function, fits.square) for function in (EXPM, LOGM, SQRTM)],
        _takes(3, 3, SYLVESTER, fits.sylvester),
        _takes(1, 1, DETERMINANT, fits.square),
        _takes(1, 1, DETERMINANT_SIGN, fits.square),
        Operation(EINSUM, 1, MAX_OPERANDS, CONTRACTION, fits_contraction),
        _takes(1, 1, FFT, fits.axis_from_end, axis=_FROM_END, inverse=Truth(), norm=_NORM),
        _takes(2, 2, GATE),
        _takes(2, 2, GATHER, fits.gather, axis=AXIS),
        _takes(1, 1, INVERSE, fits.square),
        _takes(1, 1, IRFFT, fits.half_sequence, axis=_FROM_END, count=Whole(1, LARGEST_SIZE), norm=_NORM),
        _takes(1, 1, LOG_DETERMINANT, fits.square),
        _takes(1, 1, MARK),
        _takes(1, 1, MAX, fits.filled_axes, axes=_AXES),
        _takes(1, 1, MIN, fits.filled_axes, axes=_AXES),
        _takes(1, 1, PART, fits_part, **PART_OF),
        _takes(1, 1, PROD, fits.axes, axes=_AXES),
        _takes(1, 1, RESHAPE, fits.reshape, shape=SHAPE),
        _takes(1, 1, RFFT, fits.real_sequence, axis=_FROM_END, norm=_NORM),
        _takes(1, MAX_OPERANDS, ROW, fits_row, **ROW_OF),
        Operation(SCAN, 0, MAX_OPERANDS, LOOP, fits_loop),
        _takes(2, 2, SCATTER, fits.scatter, axis=AXIS, size=SIZE),
        _takes(2, 2, SEARCHSORTED, fits.knots, side=OneOf("left", "right")),
        _takes(1, 1, SLICE, fits.slice, slice=_SPEC),
        _takes(2, 2, SOLVE, fits.solve),
        _takes(1, 1, RARE, fits.truths),
        _takes(1, 1, STOP),
        _takes(3, 3, UNKNOWN, fits.unknown),
    )
}
_SPECIAL_MODULE = f"{__name__.split('.')[0]}.primitives.special"


def _add_elementwise(operations: Iterable[Any]) -> None:
    own = [t for t in operations if isinstance(t, Elementwise) and t.name not in _OPERATIONS]
    _OPERATIONS.update({t.name: _takes(t.arity, t.arity, t) for t in own})


_add_elementwise([*vars(functions).values(), kinks.at_kink])


def names() -> list[str]:
    """The operations that a document may hold, those of scipy among them."""
    return sorted({*_OPERATIONS, *SPECIAL})


def own_operation(name: str) -> Operation | None:
    """symgrad's own operation of this name, as far as it is imported. Any other may be another one elsewhere."""
    if name in SPECIAL and name not in _OPERATIONS and _SPECIAL_MODULE in sys.modules:
        _add_elementwise(sys.modules[_SPECIAL_MODULE].EVERY)
    return _OPERATIONS.get(name)


def operation_of(primitive: Primitive) -> Operation:
    """The operation that a primitive is; an UnsupportedOperation for one that is not symgrad's own."""
    found = own_operation(primitive.name)
    if found is None or found.primitive is not primitive:
        raise UnsupportedOperation(
            f"{primitive.name} is no operation of symgrad's own, so the JSON form has no name for it; write the "
            "function with operations of NumPy."
        )
    return found


def _named(name: Any, known: Any) -> Operation:
    name = name if type(name) is str else ""
    if name in SPECIAL:
        try:
            importlib.import_module(_SPECIAL_MODULE)
        except ImportError:
            raise Wrong(f"{name} needs scipy: pip install 'symgrad[sparse]'", error=MissingPart) from None
    found = own_operation(name)
    if found is None:
        raise Wrong(f"there is no operation {shown(name)}")
    return found


#: an operation, by its name
OPERATION = Made(Form({"enum": names()}), _named)


def parameters_schema(defs: Schema) -> list[Schema]:
    """What the member ``parameters`` is for each operation, as conditions in JSON Schema."""
    made = []
    for name, operation in sorted(_OPERATIONS.items()):
        own = described(operation.form, defs)
        if own["required"]:
            said = {"properties": {"parameters": own}, "required": ["parameters"]}
            made.append({"if": {"properties": {"op": {"const": name}}}, "then": said})
    others = {"not": {"enum": [case["if"]["properties"]["op"]["const"] for case in made]}}
    return [*made, {"if": {"properties": {"op": others}}, "then": {"properties": {"parameters": False}}}]
