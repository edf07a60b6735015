"""A module of jax.numpy: functional, for jax.jit, jax.vmap and every accelerator."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..emit.arrays.jax import JAX
from ..emit.arrays.writer import ArrayWriter
from ..program.node import Node
from . import plain_values
from .arguments import Leaf
from .array_module import Module, Signature
from .subject import Subject

#: functions that arguments go through
ENTRANCES = {
    "_array": '''
def _array(name, given, dtype):
    """An argument as an array of the dtype; an error that names it where it is none."""
    try:
        array = given if isinstance(given, (jax.Array, np.ndarray, np.generic)) else jnp.asarray(given)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} is no array: {error}") from None
    kinds = [jnp.bool_, jnp.integer, jnp.floating, jnp.complexfloating]  # each holds what those before it hold
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


def module(subject: Subject) -> str:
    """The derivative as a function of jax arrays, in a module of its own."""
    signature = Signature.of(subject, ["jax", "jnp"])
    writer = ArrayWriter(signature.program, signature.arguments, signature.dims, JAX)
    tests: list[str] = []

    def refuse(_: Node, name: str) -> list[str]:
        tests.append(name)
        return []

    results = writer.write_body(signature.outputs, refuse)
    if tests:
        writer.lines.append(f"holds = {' & '.join(tests)}  # the branches that were derived")
        floats = [n.dtype.kind == "f" for n in signature.program.outputs[: signature.outputs]]
        results = [
            f"jnp.where(holds, {r}, jnp.nan)" if is_float else r for r, is_float in zip(results, floats, strict=True)
        ]
    call = f"jax.jit({signature.function})" if _compiles(subject) else signature.function
    return Module(
        subject,
        signature,
        writer,
        results,
        ["JAX"],
        ["import sys", "", "import jax", "import jax.numpy as jnp", "import numpy as np"],
        ("jax.Array", "jax.Array"),
        argument="jax.typing.ArrayLike",
        remarks=_remarks(signature, bool(tests)),
        check={"argument": "jnp.asarray({})", "first": 'jax.config.update("jax_enable_x64", True)', "call": call},
        entrances=ENTRANCES,
    ).text(lambda leaves: _entered(signature, writer, leaves))


def _entered(signature: Signature, writer: ArrayWriter, leaves: Sequence[Leaf]) -> list[str]:
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
    nodes = signature.program.every_node
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
