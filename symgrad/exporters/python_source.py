"""Parts of Python modules that several formats write: literals, nested results, arguments and their shapes."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

import numpy as np
import sympy

from ..emit.arrays.numbers import number, numpy_dtype, shape_text
from ..errors import ArgumentError, UnsupportedOperation
from ..program.dims import dim_source
from ..program.facts import HOLDS, spelled_fact
from ..program.node import Node
from ..program.program import Program
from . import plain_values

_WIDTH = 110
#: elements of a captured array that is still written into the source
MAX_CAPTURED = 10_000
_SIGNS = {"zero": "== 0", "nonnegative": ">= 0", "not zero": "!= 0"}
assert set(_SIGNS) == set(HOLDS)

#: the source of what an argument goes through before a function runs
SHAPE_OF = '''
def _shape_of(name, array, *expected):
    """The shape of an argument; a ValueError where it is not the ``expected`` one, in which names are any size."""
    sizes = {}
    fits = len(array.shape) == len(expected)
    if not fits or any(sizes.setdefault(e, n if isinstance(e, str) else e) != n for e, n in zip(expected, array.shape)):
        wanted = ", ".join(map(str, expected)) + ("," if len(expected) == 1 else "")
        raise ValueError(f"{name} has shape {tuple(array.shape)}, and ({wanted}) is expected")
    return array.shape
'''


def array(value: np.ndarray) -> str:
    """A NumPy array as source, in as few lines as it needs.

    >>> array(np.array([[1.0, np.inf]], np.float32)), array(np.zeros((0, 2), int))
    ('np.array([[1.0, np.inf]], np.float32)', 'np.zeros((0, 2), np.int64)')
    """
    kind = numpy_dtype(value.dtype)
    if value.size == 0:
        return f"np.zeros({value.shape}, {kind})"
    if value.size > 1 and np.all(value.reshape(-1)[0] == value):
        return f"np.full({value.shape}, {number(value.reshape(-1)[0])}, {kind})"
    texts = np.array([number(v) for v in value.reshape(-1)], object).reshape(value.shape)
    written = str(texts.tolist()).replace("'", "") if value.ndim else texts.item()
    if kind == "np.longdouble":
        written = str(texts.tolist()) if value.ndim else repr(texts.item())
        return f"np.array({written.replace('np.', '')}).astype({kind})"
    return f"np.array({written}, {kind})"


def wrapped(text: str, indent: str = "    ") -> list[str]:
    """A long line of numbers in several."""
    if len(text) <= _WIDTH:
        return [text]
    return textwrap.wrap(text, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def captured(node: Node) -> np.ndarray:
    """An array that the function reads from outside; an ArgumentError where it is too large for source."""
    value = np.asarray(node.params[0].value)
    if value.size > MAX_CAPTURED:
        raise ArgumentError(
            f"the function reads an array of shape {value.shape} from outside, too large to write into "
            "source; make it an argument of the function."
        )
    return value


_PYTHON_KINDS = {"f": "float", "c": "complex"}


def described(node: Node, dims: dict[sympy.Symbol, str]) -> str:
    """What an argument or a result is, in words."""
    if not node.shape:
        return (
            f"Python {_PYTHON_KINDS[node.dtype.kind]}"
            if node.weak and node.differentiable
            else f"{node.dtype.name} number"
        )
    return f"{node.dtype.name} array of shape {shape_text([dim_source(d, dims) for d in node.shape])}"


def dims_of(program: Program) -> list[sympy.Symbol]:
    """The named dims of a program in the order in which its inputs have them."""
    found: dict[sympy.Symbol, None] = {}
    for node in program.inputs:
        for d in node.shape:
            if isinstance(d, sympy.Basic):
                found.update(dict.fromkeys(sorted(d.free_symbols, key=str)))  # type: ignore[arg-type]
    return list(found)


def argument_checks(
    program: Program, names: Mapping[Node, str], dims: dict[sympy.Symbol, str], said: Mapping[Node, str] | None = None
) -> list[str]:
    """Lines that check the shapes of the arguments, which are ``said`` in messages, and name their sizes."""
    known: set[sympy.Symbol] = set()
    said = names if said is None else said
    lines, late = [], []
    for node in [n for n in program.inputs if not n.weak]:
        if any(isinstance(d, sympy.Basic) and not d.is_Symbol for d in node.shape):
            late.append(node)  # sizes that are made of others are compared when those are known
            continue
        lines.append(_entered(node, names[node], said[node], dims, known))
    lines += [_entered(node, names[node], said[node], dims, known) for node in late]
    for dim in dims:
        if dim not in known:
            raise UnsupportedOperation(f"the size {dim} is the size of no argument; pass an array that has it.")
    for fact, sign in program.graph.sizes.facts:
        if all(s in dims for s in fact.free_symbols):
            held = spelled_fact(fact, sign).replace("≥", ">=").replace("≤", "<=").replace("≠", "!=")
            lines.append(f"if not {dim_source(fact, dims)} {_SIGNS[sign]}:")
            lines.append(f'    raise ValueError("this derivation is for sizes with {held}")')
    return lines


def _entered(node: Node, name: str, said: str, dims: dict[sympy.Symbol, str], known: set[sympy.Symbol]) -> str:
    expected, targets = [], []
    for d in node.shape:
        new = isinstance(d, sympy.Symbol) and d not in known
        spelled = dim_source(d, dims)
        expected.append(f'"{spelled}"' if new else spelled)
        targets.append(spelled if new and spelled not in targets else "_")
    known.update(d for d in node.shape if isinstance(d, sympy.Symbol))
    call = f"_shape_of({', '.join([plain_values.quoted(said), name, *expected])})"
    if all(t == "_" for t in targets):
        return call
    return f"({targets[0]},) = {call}" if len(targets) == 1 else f"{', '.join(targets)} = {call}"
