"""What an array library says differently: the names of its calls, its rules of promotion, what it has not.

A call is a format: ``{0}`` and ``{1}`` are its operands, ``{all}`` all of them, ``{np}`` is the library, and the other
names are what ``statements`` hands over. An elementwise function is called by the name of its ufunc, so that only
exceptions are listed.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...primitives.elementwise import COMPARISONS, SIGNS, Elementwise

#: elementwise functions that Python has signs for
OPERATORS = {"negative": "-{0}"} | {name: f"{{0}} {sign} {{1}}" for name, sign in (SIGNS | COMPARISONS).items()}
#: calls as NumPy has them; most libraries took over its names
CALLS = {
    "argmax": "{np}.argmax({0}, axis={axis})",
    "argmin": "{np}.argmin({0}, axis={axis})",
    "argsort": '{np}.argsort({0}, axis={axis}, kind="stable")',
    "broadcast": "{np}.broadcast_to({0}, {shape})",
    "cast": "{0}.astype({dtype})",
    "cholesky": "{linalg}.cholesky({0})",
    "cholesky_upper": "{linalg}.cholesky({0}, upper=True)",
    "concatenate": "{np}.concatenate([{all}], axis={axis})",
    "convolve": "{np}.convolve({0}, {1})",
    "copy": "{np}.array({0})",
    "fourier": '{np}.fft.{name}({0}, {count}axis={axis}, norm="{norm}")',
    "cumprod": "{np}.cumprod({0}, {axis})",
    "cumsum": "{np}.cumsum({0}, {axis})",
    "determinant": "{linalg}.det({0})",
    "determinant_sign": "{linalg}.slogdet({0})[0]",
    "diagonal": '_on_diagonal({0}, {shape}, "{letters}")',
    "eig": "_below(*{linalg}.eig({0}))",
    "eigh": "_below(*{linalg}.eigh({0}))",
    "eigvals": "{linalg}.eigvals({0})",
    "eigvalsh": "{linalg}.eigvalsh({0})",
    "einsum": '{np}.einsum("{letters}", {all})',
    "flip": "{np}.flip({0}, {axes})",
    "from_end": "{np}.flip({np}.{name}({np}.flip({0}, {axis}), {axis}), {axis})",
    "full": "{np}.full({shape}, {0}, {dtype})",
    "full_of": "{np}.full({shape}, {0}, {dtype})",
    "gate": "{0} * {np}.where({0} != 0, {1}, 0)",
    "gate_truth": "{np}.where({0}, {1}, 0)",
    "gather": "{np}.take({0}, {1}, axis={axis})",
    "inverse": "{linalg}.inv({0})",
    "least_squares": "_least_squares({linalg}.pinv({0}, rtol={rcond}) @ {1}, {0}, {1})",
    "least_squares_values": "{linalg}.svdvals({0})",
    "log_determinant": "{linalg}.slogdet({0})[1]",
    "max": "{np}.max({0}{over})",
    "min": "{np}.min({0}{over})",
    "pad": "{np}.pad({0}, {widths})",
    "prod": "{np}.prod({0}{over})",
    "pseudo_inverse": "{linalg}.pinv({0}, rtol={rcond}, hermitian={hermitian})",
    "qr": "_turned_below(*{linalg}.qr({0}))",
    "reshape": "{0}.reshape({shape})",
    "scalar": "{dtype}({0})",
    "scatter": "_scatter({0}, {1}, {axis}, {size})",
    "searchsorted": '{np}.searchsorted({0}, {1}, side="{side}")',
    "solve": "{linalg}.solve({0}, {1})",
    "solve_vectors": "{linalg}.solve({0}, {1}[..., None])[..., 0]",  # a stack of vectors would be taken for a matrix
    "stack": "{np}.stack({0})",
    "stop_gradient": "{0}",
    "sum": "{np}.sum({0}{over})",
    "svd": "_singular(*{linalg}.svd({0}, full_matrices=False))",
    "svdvals": "{linalg}.svdvals({0})",
    "transpose": "{np}.transpose({0}, {axes})",
    "zeros": "{np}.zeros({shape}, {dtype})",
}
_FLOATS, _WHOLE = "float16 float32 float64 complex64 complex128", "int8 int16 int32 int64 uint8 uint16 uint32 uint64"


@dataclass(frozen=True)
class Dialect:
    """An array library: what it is called in messages and in the source, and where it differs from NumPy."""

    target: str
    #: names in the source of the library and of its special functions
    library: str
    special: str = "special"
    #: the package that a module imports ``special`` from
    special_from: str = "scipy"
    #: the special functions that the library has by SciPy's names, and for the same arguments; None where it has all
    special_has: frozenset[str] | None = None
    #: calls that differ from CALLS
    own: Mapping[str, str] = field(default_factory=dict)
    #: elementwise functions that are not called by the name of their ufunc
    functions: Mapping[str, str] = field(default_factory=dict)
    #: the same where they compute in integers or truth values
    whole: Mapping[str, str] = field(default_factory=dict)
    #: the same where they compute in truth values alone
    truth: Mapping[str, str] = field(default_factory=dict)
    #: the same where they compute in complex numbers
    of_complex: Mapping[str, str] = field(default_factory=dict)
    #: functions that a module takes with it, by name
    helpers: Mapping[str, str] = field(default_factory=dict)
    #: the dtypes there are, by NumPy's names
    dtypes: Mapping[str, str] = field(default_factory=dict)
    #: reductions that take one axis at a time
    one_axis: Sequence[str] = ()
    #: the dtype of index arrays, where it has to be this one
    index: np.dtype | None = None
    #: the argument that says which axes are summed
    axis: str = "axis"
    #: what makes an array of the library of a captured one where it is read
    constant: str = "{}"
    #: whether the library promotes dtypes as NumPy does and takes weak values as Python's own scalars
    promotes: bool = False
    #: whether functions take Python numbers beside arrays, as operators do
    takes_numbers: bool = True
    #: whether arrays are never written into
    functional: bool = False
    #: whether steps of slices may be negative
    steps_back: bool = True
    #: whether products of grouped axes are as fast as matrices only where they are written as such
    groups: bool = False
    #: whether expressions have operators and comments for readers, or are calls that take buffers
    readable: bool = True
    #: letters of axes
    letters: str = "ijklmnopqrstuvwxyzabcdefghABCDEFGHIJKLMNOPQRSTUVWXYZ"
    #: the call that repeats the function of a ``step``; where there is none, a loop is written with ``for``
    scan: str = ""
    #: whether what a loop keeps of its steps is stacked, where not written into an array
    stacks: bool = False
    #: elements from which an array is let go of where nothing reads it any more
    freed_from: float = 1 << 16
    #: all calls
    calls: Mapping[str, str] = field(init=False, default_factory=dict)
    refusal: str = "{name} cannot be written for {target}; export the format python, or write it with other operations."

    def __post_init__(self) -> None:
        object.__setattr__(self, "calls", {**CALLS, **self.own})

    def function(self, template: Elementwise, kind: str, operators: bool = True) -> str | None:
        """How an elementwise function is called that computes in dtypes of a ``kind``; None where there is none."""
        name = template.name
        signs = OPERATORS if operators and self.readable else {}
        special = {"b": {**self.whole, **self.truth}, "f": {}, "c": self.of_complex}.get(kind, self.whole)
        for table in (special, self.functions, signs):
            if name in table:
                return table[name].replace("{np}", self.library).replace("{special}", self.special)
        called, ufunc = getattr(template.ufunc, "__name__", ""), getattr(template.ufunc, "ufunc", template.ufunc)
        slots = ", ".join([f"{{{k}}}" for k in range(template.arity)])
        result = "" if ufunc is template.ufunc else f"[{template.ufunc.place}]"  # of those that it gives
        for library, spelled in ((np, self.library), (sys.modules.get("scipy.special"), self.special)):
            is_there = library is np or self.special_has is None or called in self.special_has
            if is_there and getattr(library, called, None) is ufunc:
                return f"{spelled}.{called}({slots}){result}"
        return None


#: functions of symgrad's own
OWN = {"at_kink": "{np}.where({0} == 0, {1}, 0.0)", "squared_sech": "({np}.cosh({0}) ** -2.0)"}
#: functions that libraries beside NumPy and SciPy have not, or with another value at infinity
ELSEWHERE = {
    **OWN,
    "positive": "{0}",
    "special_cbrt": "{np}.cbrt({0})",
    "special_exp2": "{np}.exp2({0})",
    "special_expm1": "{np}.expm1({0})",
    "special_log1p": "{np}.log1p({0})",
    "zeta": "{special}.zeta({0}, {1})",
    "gammaln": "{np}.where({0} == -{np}.inf, {0}, {special}.gammaln({0}))",
}


def divides_integers(library: str, name: str) -> str:
    """A module's function for a division of integers, which NumPy makes 0 where the divisor is."""
    return f'''
def _{name}(a, b):
    """{library}.{name} of integers, 0 where the divisor is."""
    return {library}.where(b == 0, 0, {library}.{name}(a, {library}.where(b == 0, 1, b)))
'''


def inverts_integers(library: str, cast: str) -> str:
    """A module's function for the reciprocal of integers as NumPy has it; ``cast`` is the method that casts."""
    return f'''
def _reciprocal(x):
    """The reciprocal as integers have it."""
    of_others = {library}.where(x == 0, {library}.iinfo(x.dtype).min, 0)
    return {library}.where({library}.abs(x) == 1, x, of_others).{cast}(x.dtype)
'''


def puts_below(join: str) -> dict[str, str]:
    """A module's functions for decompositions: factors one below the other, by what joins arrays of the library."""
    return {
        "_below": f"""
def _below(values, vectors):
    \"\"\"A vector as a row, and a matrix below it.\"\"\"
    return {join}([values[..., None, :], vectors], -2)
""",
        "_singular": f"""
def _singular(u, s, vh):
    \"\"\"The singular values as a row, and the singular vectors as columns below it.\"\"\"
    return {join}([s[..., None, :], u, vh.mT], -2)
""",
        "_turned_below": f"""
def _turned_below(q, r):
    \"\"\"A matrix, and the transpose of another one below it.\"\"\"
    return {join}([q, r.mT], -2)
""",
        "_least_squares": f"""
def _least_squares(x, a, b):
    \"\"\"A solution, and the sums of squares of what it leaves below it.\"\"\"
    return {join}([x, (abs(b - a @ x) ** 2).sum(0)[None]], -2)
""",
    }


def dtypes_of(library: str, truth: str) -> dict[str, str]:
    """The dtypes that ``library`` calls as NumPy does, and what it calls that of truth values."""
    return {name: f"{library}.{name}" for name in (*_FLOATS.split(), *_WHOLE.split())} | {"bool": f"{library}.{truth}"}


NUMPY = Dialect(
    "NumPy",
    "np",
    own={name: f'_of_matrices("{name}", {{0}})' for name in ("expm", "logm", "sqrtm")}
    | {"sylvester": '_of_matrices("solve_sylvester", {0}, {1}, {2})'},
    functions={**OWN, "zeta": "{special}.zeta({0}, {1})"},
    helpers={
        **puts_below("np.concatenate"),
        "_of_matrices": '''
def _of_matrices(name, *stacks):
    """A function of scipy.linalg, of each of stacks of matrices."""
    import scipy.linalg

    function, shape, dtype = getattr(scipy.linalg, name), stacks[-1].shape, np.result_type(np.float32, *stacks)
    made = np.empty(shape, dtype)
    for place in np.ndindex(shape[:-2]):
        made[place] = function(*[x[place].astype(dtype) for x in stacks])
    return made
''',
        "_on_diagonal": '''
def _on_diagonal(values, shape, spelled):
    """Zeros with values on the diagonals that repeated letters name."""
    made = np.zeros(shape, values.dtype)
    np.einsum(spelled, made)[...] = values
    return made
''',
        "_scatter": '''
def _scatter(values, index, axis, size):
    """Zeros with the values added along an axis where the index says."""
    values = np.asarray(values)
    made = np.zeros((*values.shape[:axis], size, *values.shape[axis + np.ndim(index) :]), values.dtype)
    np.add.at(made, (slice(None),) * axis + (index,), values)
    return made
''',
    },
    dtypes={np.dtype(np.longdouble).name: "np.longdouble", **dtypes_of("np", "bool_")},
    promotes=True,
    groups=True,
    refusal="{name} has no function in NumPy or SciPy that a module could call.",
)
