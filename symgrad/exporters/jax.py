"""A module of jax.numpy: functional, for jax.jit, jax.vmap and every accelerator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..program.node import Node
from . import array_module, plain_values
from .arguments import Leaf
from .array_module import Module, Signature
from .subject import Subject
from .typed_source import TypedWriter, is_raw

_SAME_NAMES = (
    "sqrt cbrt square exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh "
    "arccosh arctanh deg2rad rad2deg radians degrees sign absolute fabs floor ceil trunc rint reciprocal isfinite "
    "isnan isinf signbit logical_not invert"
)
_SAME_PAIRS = (
    "power float_power logaddexp logaddexp2 arctan2 hypot maximum minimum fmax fmin heaviside copysign floor_divide "
    "remainder fmod ldexp logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor"
)
_SPECIAL = "erf erfc erfcx expit logit ndtr"

#: elementwise function -> how jax spells it
TABLE = {
    **{name: f"jnp.{name}({{0}})" for name in _SAME_NAMES.split()},
    **{name: f"jnp.{name}({{0}}, {{1}})" for name in _SAME_PAIRS.split()},
    **{name: f"special.{name}({{0}})" for name in _SPECIAL.split()},
    "norm_sqrt": "jnp.sqrt({0})",
    "where": "jnp.where({0}, {1}, {2})",
    "conjugate": "{0}",
    "positive": "{0}",
    "xlogy": "special.xlogy({0}, {1})",
    "zeta": "special.zeta({0}, {1})",
    "digamma": "_digamma({0})",
    "gammaln": "_gammaln({0})",
    "log_ndtr": "_log_ndtr({0})",
}
#: elementwise function of integers -> how jax spells it
WHOLE = {"reciprocal": "_reciprocal({0})", "floor_divide": "_floor_divide({0}, {1})"}

#: functions that arguments go through
ENTRANCES = {
    "_array": '''
def _array(name, given, dtype):
    """An argument as an array of the dtype; an error that names it where it is none."""
    try:
        array = given if isinstance(given, (jax.Array, np.ndarray, np.generic)) else jnp.asarray(given)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} is no array: {error}") from None
    kinds = [jnp.bool_, jnp.integer, jnp.floating]  # each holds what those before it hold
    while not jnp.issubdtype(dtype, kinds[-1]):
        kinds.pop()
    if array.size and not any(jnp.issubdtype(array.dtype, kind) for kind in kinds):
        raise TypeError(f"{name} holds {array.dtype}, and {jnp.dtype(dtype)} is expected")
    return jnp.asarray(array, dtype)
''',
    "_fixed": '''
def _fixed(name, given, wanted):
    """Refuse another value than the one that this was derived with; a traced one is taken for that."""
    if isinstance(given, jax.core.Tracer):
        return
    same = given == wanted
    if not isinstance(same, bool) or not same:
        raise ValueError(f"{name} is {given!r}, and this was derived with {wanted!r}")
''',
}

HELPERS = {
    "_gammaln": '''
def _gammaln(x):
    """The logarithm of the absolute gamma function, at minus infinity as SciPy has it."""
    return jnp.where(x == -jnp.inf, x, special.gammaln(x))
''',
    "_digamma": '''
def _digamma(x):
    """The digamma function, infinite at zero."""
    return jnp.where(x == 0, -jnp.copysign(jnp.inf, x), special.digamma(x))
''',
    "_log_ndtr": '''
def _log_ndtr(x):
    """The logarithm of the normal distribution, to the last digits on the right too."""
    right = jnp.log1p(-0.5 * special.erfc(jnp.maximum(x, 0) * 0.5**0.5))
    return jnp.where(x > 0, right, special.log_ndtr(jnp.minimum(x, 0)))
''',
    "_reciprocal": '''
def _reciprocal(x):
    """The reciprocal as integers have it."""
    return jnp.where(jnp.abs(x) == 1, x, jnp.where(x == 0, jnp.iinfo(x.dtype).min, 0)).astype(x.dtype)
''',
    "_floor_divide": '''
def _floor_divide(a, b):
    """The quotient of integers, 0 where the divisor is."""
    return jnp.where(b == 0, 0, jnp.floor_divide(a, jnp.where(b == 0, 1, b)))
''',
    "_on_diagonal": '''
def _on_diagonal(values, shape, spelled):
    """Zeros with values on the diagonals that repeated letters name."""
    full, own = spelled.split("->")
    places = jnp.ogrid[tuple(slice(n) for n in values.shape)]
    places = places if isinstance(places, (list, tuple)) else [places]
    return jnp.zeros(shape, values.dtype).at[tuple(places[own.index(i)] for i in full)].set(values)
''',
}


class JaxWriter(TypedWriter):
    """Nothing is written into: pieces are set and added through ``.at``."""

    target = "jax"
    library = "jnp"
    table = TABLE
    whole = WHOLE

    def dtype(self, dtype: np.dtype) -> str:
        if dtype.kind == "f" and dtype.itemsize > 8:
            raise self.refused(dtype.name)
        return f"jnp.{'bool_' if dtype.kind == 'b' else dtype.name}"

    def scalar(self, code: str, dtype: np.dtype) -> str:
        return f"jnp.asarray({code}, {self.dtype(dtype)})"

    def converted(self, code: str, dtype: np.dtype) -> str:
        return f"{code}.astype({self.dtype(dtype)})"

    def sum(self, code: str, axes: Sequence[int] | None) -> str:
        return f"jnp.sum({code})" if axes is None else f"jnp.sum({code}, axis={_axes(axes)})"

    def permuted(self, code: str, axes: Sequence[int]) -> str:
        return f"jnp.transpose({code}, {tuple(axes)})"

    def einsum(self, spelled: str, *codes: str) -> str:
        return f'jnp.einsum("{spelled}", {", ".join(codes)})'

    def filled(self, shape: Sequence[Any], code: str, node: Node) -> str:
        if not shape:
            return self.scalar(code, node.dtype)
        return f"jnp.full({self.shape(shape)}, {code}, {self.dtype(node.dtype)})"

    def broadcast(self, code: str, shape: Sequence[Any]) -> str:
        return f"jnp.broadcast_to({code}, {self.shape(shape)})"

    def result(self, node: Node, name: str, shared: bool) -> str:
        if is_raw(node):
            return self.scalar(name, node.dtype)
        return f"jnp.asarray({name})" if name in self.constants else name

    def stopped(self, node: Node) -> str:
        return f"jax.lax.stop_gradient({self.own(node)})"

    def assembled(self, node: Node) -> str:
        shape, specs = node.params
        name = self.assign(f"jnp.zeros({self.shape(shape)}, {self.dtype(node.dtype)})", node)
        for k, spec in enumerate(specs):
            index, turned = self.index(spec, shape)
            piece = self.own(node, k)
            piece = self.turned(piece, turned) if turned else piece
            name = self.assign(f"{name}.at[{index}].{'add' if k else 'set'}({piece})")
        return name

    def gather(self, node: Node) -> str:
        index = node.operands[1]
        return f"jnp.take({self.own(node)}, {self.typed(index, index.dtype)}, axis={node.params[0]})"

    def scatter(self, node: Node) -> str:
        axis = node.params[0]
        place = ":, " * axis + self.read(node.operands[1])
        zeros = f"jnp.zeros({self.shape(node.shape)}, {self.dtype(node.dtype)})"
        return f"{zeros}.at[{place}].add({self.own(node)})"

    def concatenated(self, node: Node) -> str:
        parts = ", ".join(self.own(node, k) for k in range(len(node.operands)))
        return f"jnp.concatenate([{parts}], axis={node.params[0]})"

    def extremum(self, node: Node) -> str:
        return f"jnp.{node.primitive.name}({self._over(node)})"

    def prod(self, node: Node) -> str:
        return f"jnp.prod({self._over(node)})"

    def _over(self, node: Node) -> str:
        x = self.own(node)
        return f"{x}, axis={_axes(node.params[0])}" if node.shape else x

    def accumulation(self, node: Node) -> str:
        (axis, reverse), name = node.params, node.primitive.name
        x = self.own(node)
        if reverse:
            return f"jnp.flip(jnp.{name}(jnp.flip({x}, {axis}), {axis}), {axis})"
        return f"jnp.{name}({x}, {axis})"

    def convolve(self, node: Node) -> str:
        return f"jnp.convolve({self.own(node)}, {self.own(node, 1)})"

    def searchsorted(self, node: Node) -> str:
        knots, values = self.common(node)
        found = f'jnp.searchsorted({knots}, {values}, side="{node.params[0]}")'
        return self.converted(found, node.dtype)

    def search(self, node: Node) -> str:
        x = self.read(node.operands[0])
        return self.converted(f"jnp.{node.primitive.name}({x}, axis={node.params[0]})", node.dtype)

    def cholesky(self, node: Node) -> str:
        x = self.own(node)
        if node.params[0]:  # NumPy reads the upper triangle
            return f"jnp.linalg.cholesky({x}.mT, symmetrize_input=False).mT"
        return f"jnp.linalg.cholesky({x}, symmetrize_input=False)"


def module(subject: Subject) -> str:
    """The derivative as a function of jax arrays, in a module of its own."""
    signature = Signature.of(subject, ["jax", "jnp"])
    writer = JaxWriter(signature.program, signature.arguments, signature.dims)
    tests: list[str] = []

    def refuse(_: Node, name: str) -> list[str]:
        tests.append(name)
        return []

    results = writer.write(signature.outputs, refuse)
    if tests:
        writer.lines.append(f"holds = {' & '.join(tests)}  # the branches that were derived")
        floats = [n.dtype.kind == "f" for n in signature.program.outputs[: signature.outputs]]
        results = [
            f"jnp.where(holds, {r}, jnp.nan)" if is_float else r for r, is_float in zip(results, floats, strict=True)
        ]
    helpers = [HELPERS[name] for name in writer.helpers if name in HELPERS]
    call = f"jax.jit({signature.function})" if _compiles(subject) else signature.function
    special = "special" in writer.helpers or any("special." in h for h in helpers)
    return Module(
        subject,
        signature,
        "it needs JAX alone.",
        ["import sys", "", "import jax", "import jax.numpy as jnp", "import numpy as np"]
        + (["from jax.scipy import special"] if special else []),
        ("jax.Array", "jax.Array"),
        argument="jax.typing.ArrayLike",
        remarks=_remarks(signature, bool(tests)),
        helpers=helpers,
        constants=array_module.constant_lines(writer),
        check=array_module.checked(
            signature, argument="jnp.asarray({})", first='jax.config.update("jax_enable_x64", True)', call=call
        ),
        entrances=ENTRANCES,
    ).text(lambda leaves: _entered(signature, writer, leaves), writer, results)


def _entered(signature: Signature, writer: JaxWriter, leaves: Sequence[Leaf]) -> list[str]:
    """The arguments as arrays of their dtypes."""
    rows = []
    for leaf in leaves:
        name, said = signature.arguments[leaf.node], plain_values.quoted(leaf.found)
        rows.append(f"{name} = _array({said}, {leaf.found}, {writer.dtype(leaf.node.dtype)})")
        if leaf.node.weak:
            rows.append(f"_shape_of({said}, {name})")
    return rows


def _compiles(subject: Subject) -> bool:
    """Whether jax.jit takes the arguments and gives the result, beside whose arrays there may be other values."""
    beside = [value for is_array, value in subject.slots if not is_array]
    fixed = [a for a in subject.arguments if not all(is_input for is_input, _ in a.slots)]
    return not fixed and all(value is None or isinstance(value, (int, float)) for value in beside)


def _remarks(signature: Signature, tested: bool) -> list[str]:
    nodes = signature.program.nodes
    rows = []
    if any(n.dtype == np.float64 for n in nodes):
        rows += [
            'It computes in float64, which JAX has after jax.config.update("jax_enable_x64", True); without that it',
            "computes in float32. Importing this module changes no setting.",
        ]
    if any(n.primitive.name == "einsum" and n.dtype == np.float32 for n in nodes):
        rows += [
            "On accelerators JAX multiplies float32 matrices with fewer digits, unless it is called within",
            'jax.default_matmul_precision("highest").',
        ]
    if tested:
        rows += ["Arguments that take another branch than the derived one give NaN, since compiled code cannot raise."]
    if any(n.primitive.name in _SINGULAR for n in nodes):
        rows += ["Singular matrices, and matrices that are not positive definite, give infinities or NaN."]
    if any(n.primitive.name in ("gather", "scatter") for n in nodes):
        rows += ["An index that is out of bounds gives NaN or is left out."]
    return rows


_SINGULAR = ("inverse", "solve", "cholesky")


def _axes(axes: Sequence[int]) -> str:
    return str(axes[0]) if len(axes) == 1 else str(tuple(axes))
