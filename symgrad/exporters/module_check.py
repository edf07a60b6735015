"""The part of an exported Python module that compares the module with what the kernel computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from . import arguments, nesting, plain_values, python_source
from .check import GOLDEN, SPARSE_PARTS, Check
from .subject import Subject

_DRAWN = f'''
def _drawn(shape, dtype, low, high):
    """An argument that is too large to be written out: its elements spread evenly from low to high."""
    u = np.mod((np.arange(np.prod(shape, dtype=np.int64)) + 1.0) * {GOLDEN!r}, 1.0)
    if dtype == np.bool_:
        return (u >= 0.5).reshape(shape)
    floats = np.issubdtype(dtype, np.floating)
    values = low + (high - low) * u if floats else low + np.floor((high - low + 1) * u)
    return values.astype(dtype).reshape(shape)
'''

_OFF = '''
def _off(got, shape, step, wanted):
    """How far every so manyth element is from the wanted one, relative to the largest of these or 1."""
    if got.shape != shape:
        return np.inf
    kind = np.result_type(got, wanted, np.float64)
    got, wanted = got.reshape(-1)[::step].astype(kind), wanted.astype(kind)
    with np.errstate(all="ignore"):
        off = np.where((got == wanted) | (np.isnan(got) & np.isnan(wanted)), 0.0, np.abs(got - wanted))
        off = off / max(1.0, np.max(np.abs(wanted[np.isfinite(wanted)]), initial=0.0))
    return float(np.max(np.where(np.isnan(off), np.inf, off), initial=0.0))
'''

#: names that these lines define in the module; they begin with an underscore, as no name of a user does
MAIN = ['if __name__ == "__main__":', "    sys.exit(_check())"]


def lines(
    subject: Subject,
    *,
    argument: str = "{}",
    result: str = "np.asarray({})",
    function: str | None = None,
    first: str = "",
    call: str | None = None,
    written: Callable[[str, Sequence[str]], str] | None = None,
) -> list[str]:
    """The check of a module that imports ``numpy as np`` and ``sys``, and the lines that run it as a program.

    ``function`` is what the module calls its function, if not ``subject.name``; ``argument`` says how that takes a
    NumPy array, ``result`` how NumPy takes what it gives. ``first`` is a line that the check begins with,
    ``call`` what is called in place of the function itself. ``written`` writes a call of it with the arguments that
    are made of these arrays, where it takes them nested.
    """
    name = function or subject.name
    check = subject.check
    if check is None:
        said = ascii(f"{name}: no check ({subject.unchecked})")
        return [
            "",
            "",
            "def _check():",
            '    """Say why there is nothing to compare with."""',
            f"    print({said})",
            "    return 0",
            "",
            "",
            *MAIN,
        ]
    given = [f"arguments[{k}]" for k in range(len(subject.program.inputs))]
    flat = f"{call or name}({', '.join(given)})"
    called = flat if written is None else written(call or name, given)
    called = f"{call or name}(*arguments)" if called == flat else called
    body = _body(subject, check, called, written is not None, argument, result)
    if first:
        body = [first, *body]
    drawn = any(g.values is None for g in check.given)
    return [
        *(["", "", *_DRAWN.strip().splitlines()] if drawn else []),
        "",
        "",
        *_OFF.strip().splitlines(),
        "",
        "",
        "def _check():",
        '    """Compare with what the kernel of symgrad computed when this module was written; the exit status."""',
        *[f"    {line}" for line in body],
        f"    passed = off <= {check.tolerance!r}",
        f"    print(f\"{name}: {{'pass' if passed else 'FAIL'}} "
        f'(largest difference {{off:.1e}}, allowed {check.tolerance:.0e})")',
        "    return 0 if passed else 1",
        "",
        "",
        *MAIN,
    ]


def _body(subject: Subject, check: Check, called: str, is_nested: bool, argument: str, result: str) -> list[str]:
    rows = ["arguments = ["]
    inputs = subject.program.inputs
    weights = [None] * (len(inputs) - len(subject.weights)) + [*subject.weights]
    for node, given, weight in zip(inputs, check.given, weights, strict=True):
        if is_nested and weight is not None and given.values is not None and arguments.are_written(subject):
            made = f"{arguments.VALUES}[{plain_values.literal(weight)}]"
            rows.append(f"    {argument.format(made)},")
            continue
        if given.values is None:
            kind = python_source.numpy_dtype(given.dtype)
            made = f"_drawn({given.shape}, {kind}, {given.low!r}, {given.high!r})"
        elif node.weak:
            made = python_source.number(given.values.item())
        else:
            made = python_source.array(given.values)
        rows += [f"    {row}" for row in python_source.wrapped(f"{made if node.weak else argument.format(made)},")]
    rows += ["]", "wanted = [  # shape, the distance of the elements that were kept, these"]
    for wanted in check.wanted:
        made = f"({wanted.shape}, {wanted.step}, {python_source.array(wanted.values)}),"
        rows += [f"    {row}" for row in python_source.wrapped(made)]
    rows += ["]", f"result = {called}"]
    got = []
    for outcome, path in zip(subject.outcomes, nesting.paths(subject, "result"), strict=True):
        parts = [path] if isinstance(outcome, int) else [f"{path}.{part}" for part in SPARSE_PARTS]
        got += [result.format(part) for part in parts]
    rows += ["got = [", *[f"    {g}," for g in got], "]"]
    rows.append("off = max([_off(g, *w) for g, w in zip(got, wanted)], default=0.0)")
    return rows
