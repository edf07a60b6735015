"""The ``main`` that runs the C function on the inputs of a check and compares what comes out."""

from __future__ import annotations

import math

import numpy as np

from ...emit.c.printing import filled
from ...emit.c.spelling import literal, type_of
from ...emit.loops.language import Array, Name
from ..check import GOLDEN, Check, Given, Wanted
from ..subject import Subject
from .names import Names

_DRAWN = f"""
/* element k of an input that is too large to be written out, between low and high */
static double drawn(size_t k, double low, double high, bool whole)
{{
    const double u = fmod(((double)k + 1.0) * {GOLDEN!r}, 1.0);
    return whole ? low + floor((high - low + 1.0) * u) : low + (high - low) * u;
}}
"""
_OFF = """
/* how far got is from wanted; infinite where one of them alone is NaN or they are infinities that differ */
static double off(double got, double wanted)
{
    if (got == wanted || (isnan(got) && isnan(wanted)))
        return 0;
    const double difference = fabs(got - wanted);
    return isnan(difference) ? INFINITY : difference;
}
"""


def main(subject: Subject, names: Names) -> str:
    """The functions of the check."""
    check = subject.check
    if check is None:
        said = _text(f"{names.function}: no check ({subject.unchecked})")
        return f'int main(void)\n{{\n    puts("{said}");\n    return 0;\n}}'
    parts = []
    if any(g.values is None for g in check.given):
        parts.append(_DRAWN.strip())
    if any(w.values.size for w in check.wanted):
        parts.append(_OFF.strip())
    tables, body = [], _Body(check, names)
    for k, given in enumerate(check.given):
        if given.values is not None and given.shape:
            tables.append(_table(f"given_{k}", given.values))
    for k, wanted in enumerate(check.wanted):
        if wanted.values.size:
            tables.append(_table(f"wanted_{k}", wanted.values))
    parts += tables
    parts.append("\n".join(["int main(void)", "{", *[f"    {line}" for line in body.lines], "}"]))
    return "\n\n".join(parts)


def _text(text: str) -> str:
    """Text within a C string: what is neither harmless nor ASCII is left out."""
    return "".join(c if c.isascii() and c.isprintable() and c not in '"\\?%' else "_" for c in text)


def _table(name: str, values: np.ndarray) -> str:
    numbers = [literal(v, values.dtype) for v in values.ravel()] or ["0"]
    rows = filled(numbers, "    ")
    return "\n".join([f"static const {type_of(values.dtype)} {name}[{len(numbers)}] = {{", *rows, "};"])


class _Body:
    """The body of ``main``: memory for what is drawn and for the outputs, the call, the comparison."""

    def __init__(self, check: Check, names: Names) -> None:
        self.lines: list[str] = []
        self._made: list[str] = []
        routine = names.routine
        name, ok = names.function, names.statuses["ok"]
        arguments = [str(check.sizes[str(d)]) for d in routine.dims]
        arguments += [
            self._given(k, g, declared) for k, (g, declared) in enumerate(zip(check.given, routine.inputs, strict=True))
        ]
        for k, wanted in enumerate(check.wanted):
            self._allocate(f"got_{k}", wanted)
            arguments.append(f"got_{k}")
        if self._made:
            self._line(f"if ({' || '.join(f'!{m}' for m in self._made)}) {{")
            self._line(f'    puts("{name}: FAIL (there is not enough memory)");')
            self._line("    return 1;")
            self._line("}")
        for k, given in enumerate(check.given):
            if given.values is None:
                self._draw(k, given)
        self._line(f"const int status = {name}({', '.join(arguments)});")
        self._line(f"if (status != {ok}) {{")
        self._line(f'    printf("{name}: FAIL (status %d)\\n", status);')
        self._free()
        self._line("    return 1;")
        self._line("}")
        self._line("double worst = 0;")
        for k, wanted in enumerate(check.wanted):
            self._compare(k, wanted)
        self._line(f"const bool passed = worst <= {check.tolerance!r};")
        self._line(
            f'printf("{name}: %s (largest difference %.1e, allowed {check.tolerance:.0e})\\n", '
            'passed ? "pass" : "FAIL", worst);'
        )
        self._free("")
        self._line("return passed ? 0 : 1;")

    def _line(self, text: str) -> None:
        self.lines.append(text)

    def _given(self, k: int, given: Given, declared: Name | Array) -> str:
        if isinstance(declared, Name):
            return literal(given.array().item(), declared.dtype)
        if given.values is None:
            self._array(f"given_{k}", declared.dtype, math.prod(given.shape))
        return f"given_{k}"

    def _allocate(self, name: str, wanted: Wanted) -> None:
        self._array(name, wanted.dtype, math.prod(wanted.shape))

    def _array(self, name: str, dtype: np.dtype, count: int) -> None:
        self._line(f"{type_of(dtype)} *{name} = malloc({max(count, 1)} * sizeof *{name});")
        self._made.append(name)

    def _draw(self, k: int, given: Given) -> None:
        count, kind = math.prod(given.shape), type_of(given.dtype)
        low, high = float(given.low), float(given.high)
        if given.dtype.kind == "b":
            value = "drawn(k, 0.0, 1.0, false) >= 0.5"
        else:
            whole = "false" if given.dtype.kind == "f" else "true"
            value = f"({kind})drawn(k, {literal(low, np.dtype(float))}, {literal(high, np.dtype(float))}, {whole})"
        self._line(f"for (size_t k = 0; k < {count}; k++)")
        self._line(f"    given_{k}[k] = {value};")

    def _compare(self, k: int, wanted: Wanted) -> None:
        if not wanted.values.size:
            return
        values = wanted.values.astype(np.float64)
        largest = max(1.0, float(np.abs(values[np.isfinite(values)]).max(initial=0.0)))
        step = f"k * {wanted.step}" if wanted.step != 1 else "k"
        self._line(f"for (size_t k = 0; k < {values.size}; k++)")
        pair = f"(double)got_{k}[{step}], (double)wanted_{k}[k]"
        self._line(f"    worst = fmax(worst, off({pair}) / {literal(largest, values.dtype)});")

    def _free(self, indent: str = "    ") -> None:
        for name in reversed(self._made):
            self._line(f"{indent}free({name});")
