"""MatrixForm: an output of a Program in matrix notation, printed and evaluated."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import ClosedFormTooLarge
from ...program.forks import cached_property
from ...program.node import Node
from ...program.program import Program
from ..budget import without_loops
from ..symbols import captured_names, safe_names
from .algebra import Algebra
from .code import Code
from .evaluation import Evaluation, Writing
from .expression import Expression, leaf, product, replaced, transpose, vec
from .latex import Latex
from .naming import named_parts, reads_given
from .printing import Text
from .reading import Reader
from .terms import NotExpressible, Poly
from .translation import WAYS, Translation, has_density, wide

#: bindings of a program, and letters of a form, beyond which nobody reads it
MAX_BINDINGS, MAX_LETTERS = 400, 600


class MatrixForm:
    """One output as a matrix expression in the inputs, ``where`` naming what occurs more than once.

    A gradient has the shape of its input. An array of rank three or four is shown as a matrix, its first
    ``rows`` axes the rows and the others the columns, both counted row by row; so ``A ⊗ B`` has the
    elements ``J[i, j, k, l] = A[i, k] · B[j, l]``, and ``vec`` reads a matrix row by row.
    """

    def __init__(
        self,
        program: Program,
        node: Node,
        expression: Expression,
        rows: int,
        guarded: Sequence[Expression],
        taken: Collection[str] = (),
        given: Mapping[Expression, str] | None = None,
    ) -> None:
        """``taken`` are names that stand beside the form, which no part of it is given, but for what has them there."""
        self._made_of = program, node
        self._taken = taken
        self.expression = expression
        self.shape = node.shape
        self.rows = rows
        self._guarded = guarded
        dims = {str(d) for n in program.inputs for d in n.shape if not isinstance(d, int)}
        units = {"e"} if any(e.op == "unit" for e in expression.walk()) else set()
        inputs, captured = safe_names(program.names), captured_names(program)
        self._own = {*inputs, *captured.values(), *dims}
        if units & {re.split(r"[^A-Za-z]", name)[0] for name in (*self._own, *taken)}:  # e₁ is theirs
            self._own |= units
        self._names = named_parts(expression, self._own | units | {"I", "K", *taken}, given or {})
        self._inputs = dict(zip(inputs, zip(program.names, program.inputs, strict=True), strict=True))
        held = {name: n.params[0].value for n, name in captured.items()}
        self._constants = {name: value.reshape(wide(value.shape)) for name, value in held.items()}
        #: arrays that the code made on its way, and has no name for
        self._unnamed = {name: held[name] for n, name in captured.items() if not n.params[0].label and held[name].size}

    def with_parts(self, parts: Mapping[Expression, Expression]) -> MatrixForm:
        """The form with some of its parts written otherwise."""
        return MatrixForm(*self._made_of, replaced(self.expression, parts), self.rows, self._guarded, self._taken)

    def beside(self, given: Mapping[Expression, str]) -> MatrixForm:
        """The form beside others that have given these names to parts."""
        return MatrixForm(*self._made_of, self.expression, self.rows, self._guarded, self._taken, given)

    @property
    def names(self) -> Mapping[Expression, str]:
        """The parts that it has given names to."""
        return self._names

    @cached_property
    def text(self) -> str:
        """The formula as Unicode text."""
        return Text(self._names, self._own)(self.expression, opened=True)

    @cached_property
    def where(self) -> list[str]:
        """What the formula leaves unsaid: lines ``name = formula``, each in terms of the ones above it.

        Further lines say what K is, and which quotients count as 0 where the formula divides by 0.
        """
        return self._where(Text(self._names, self._own))

    @cached_property
    def latex(self) -> str:
        """The formula as LaTeX."""
        return Latex(self._names, self._own)(self.expression, opened=True)

    @cached_property
    def latex_where(self) -> list[str]:
        """The lines of ``where`` as LaTeX."""
        return self._where(Latex(self._names, self._own))

    @property
    def latex_line(self) -> str:
        """The formula and what it leaves unsaid, in one line of LaTeX."""
        return r",\quad ".join([self.latex, *self.latex_where])

    @cached_property
    def written_out(self) -> tuple[str, str]:
        """The formula in one line, as text and as LaTeX, in which no part is given a name."""
        printers = (Text({}, self._own), Latex({}, self._own))
        text, latex = ([p(self.expression, opened=True), *self._said(p)] for p in printers)
        return ", ".join(text), r",\quad ".join(latex)

    @cached_property
    def numpy(self) -> str | None:
        """The formula as NumPy code in the names of the inputs, parts first.

        None with captured arrays, axes of length one, or functions that NumPy has not.
        """
        used = {e.data for x in (self.expression, *self._names) for e in x.walk() if e.op == "leaf"}
        shapes = [node.shape for name, (_, node) in self._inputs.items() if name in used]
        if any(1 in shape for shape in (self.shape, *shapes)) or used & {"np", *self._constants}:
            return None
        sizes = [(d, f"{n}.shape[{k}]") for n, (_, node) in self._inputs.items() for k, d in enumerate(node.shape)]
        dims = {d: spelled for d, spelled in reversed(sizes) if not isinstance(d, int)}
        writing = Writing(dims)
        lines = [f"# {line}" for line in self.where[len(self._names) :]]
        try:
            for part, name in self._names.items():
                lines.append(f"{name} = {writing(part)}")
                writing.known[part] = Code(name, is_scalar=part.is_scalar)
            code = writing(self.expression)
        except NotExpressible:
            return None
        if len(self.shape) > 2:
            code = np.reshape(code, tuple(map(writing.size, self.shape)))
        return "\n".join([*lines, str(code)])

    @property
    def length(self) -> int:
        """How long it reads: letters, and arrays once more."""
        leaves = sum(x.leaves for x in (self.expression, *self._names))
        return len(self.text) + sum(map(len, self.where)) + leaves

    def _where(self, printer: Text) -> list[str]:
        return [
            *(f"{printer.name(name)} = {printer(part, opened=True)}" for part, name in self._names.items()),
            *self._said(printer),
        ]

    def _said(self, printer: Text) -> list[str]:
        """What K is, and which quotients count as 0."""
        lines = []
        turns = [e for e in self.expression.walk() if e.op == "commutation"]
        if turns:
            v = leaf("V", *turns[0].data)
            lines.append(f"{printer(product([turns[0], vec(v)]))} = {printer(vec(transpose(v)))}")
        used = {e.data for e in self.expression.walk() if e.op == "leaf"}
        unnamed = [(name, value) for name, value in self._unnamed.items() if name in used]
        lines += [f"{printer.name(name)} = {printer.contents(value)}" for name, value in unnamed]
        reciprocals = [printer.fraction("1", printer.denominator(x)) for x in self._guarded]
        return lines + [printer.convention(r, printer(x)) for r, x in zip(reciprocals, self._guarded, strict=True)]

    def evaluate(self, arrays: Mapping[str, Any]) -> np.ndarray:
        """The value for these inputs, by their names, computed from the formula itself."""
        values, dims = dict(self._constants), {}
        for name, (label, node) in self._inputs.items():
            if label in arrays:
                value = np.asarray(arrays[label], dtype=np.float64)
                pairs = list(zip(node.shape, value.shape, strict=True))
                values[name] = np.reshape(value, [n for d, n in pairs if d != 1])
                dims |= {d: n for d, n in pairs if not isinstance(d, int)}
        evaluation = Evaluation(values, dims, self._guarded)
        with np.errstate(all="ignore"):
            made = evaluation(self.expression)
        return np.reshape(made, [evaluation.size(d) for d in self.shape])

    def __str__(self) -> str:
        lines = [("where " if k == 0 else "      ") + line for k, line in enumerate(self.where)]
        return "\n".join([self.text, *lines])

    __repr__ = __str__

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {self.latex_line}$"


def matrix_forms(program: Program, taken: Collection[str] = ()) -> list[MatrixForm | None]:
    """The matrix form of each output; None for one that has none, or one too large to read.

    ``taken`` are names that no part of them is given.

    >>> import symgrad
    >>> program = symgrad.trace(lambda X, w, y: X.T @ (X @ w - y), "n d", "d", "n")
    >>> matrix_forms(program)
    [Xᵀ(Xw − y)]
    """
    try:
        program = without_loops(program)
    except ClosedFormTooLarge:
        return [None] * len(program.outputs)
    if len(program.bindings) > MAX_BINDINGS:
        return [None] * len(program.outputs)
    found: list[MatrixForm | None] = [None] * len(program.outputs)
    is_normal = has_density(program)
    for way in WAYS:
        algebra = Algebra(is_normal)
        polys = Translation(program, way, algebra).polys
        for k, node in enumerate(program.outputs):
            poly = polys[node]
            if poly is None:
                continue
            for rows in _splits(program, node):
                form = _form(program, node, poly, algebra, rows, taken)
                best = found[k]
                if form is not None and (best is None or form.length < best.length):
                    found[k] = form
    return side_by_side([f if f is not None and f.length <= MAX_LETTERS else None for f in found])


def side_by_side(forms: Sequence[MatrixForm | None]) -> list[Any]:
    """Forms in which a name has one meaning, and a part one name."""
    given: dict[Expression, str] = {}
    made: list[MatrixForm | None] = []
    for form in forms:
        made.append(form.beside(given) if form is not None and form.names and given else form)
        given |= made[-1].names if made[-1] is not None else {}
    for k, form in enumerate(made):  # what a later one has a name for is called so before it too
        if form is not None and reads_given(form.expression, form.names, given):
            made[k] = again = form.beside(given)
            given |= again.names
    return made


def required_forms(program: Program) -> list[MatrixForm]:
    """The matrix form of every output; a ClosedFormTooLarge with the way out where one has none."""
    forms = matrix_forms(program)
    for node, form in zip(program.outputs, forms, strict=True):
        if form is None:
            raise ClosedFormTooLarge(
                f"the array of shape {node.shape} has no matrix notation, or one too long to read. "
                'form="index" gives its element at any indices; .program() has the let-bound form.'
            )
    return [f for f in forms if f is not None]


def _form(
    program: Program, node: Node, poly: Poly, algebra: Algebra, rows: int, taken: Collection[str]
) -> MatrixForm | None:
    try:
        reader = Reader(algebra)
        expression = reader.output(poly, rows)
        guarded = reader.guarded(poly)
    except NotExpressible:
        return None
    if len(wide(node.shape)) == 1 and len(node.shape) > 1 and node.shape[-1] != 1:
        expression = transpose(expression)
    return MatrixForm(program, node, expression, rows, guarded, taken)


def _splits(program: Program, node: Node) -> list[int]:
    """How many axes may be those of the function's output: the others have the shape of an input."""
    shape = wide(node.shape)
    if len(shape) <= 2:
        return [0]
    if len(shape) == 4:
        return [2]
    shapes = {wide(n.shape) for n in program.inputs}
    fitting = [k for k in (2, 1) if shape[k:] in shapes]
    return fitting if len(shape) == 3 else []
