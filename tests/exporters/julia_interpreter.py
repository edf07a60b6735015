"""An interpreter of the plain Julia that is exported, for its tests: there is no Julia compiler in Debian.

It reads the tree of tree-sitter's grammar, refuses every node that it does not know, keeps Julia's types and scopes,
and fails where Julia throws: an index out of bounds, a condition that is no Bool, a name that no scope has.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tree_sitter
import tree_sitter_julia
from julia_base import ABSTRACT, BINARY, FUNCTIONS, PACKAGES, TYPES, UNARY, JuliaError, convert, promoted, truth

_PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_julia.language()))
_ESCAPES = {"\\n": "\n", '\\"': '"', "\\\\": "\\", "\\$": "$"}
_COLON = object()


@dataclass(frozen=True)
class Tree:
    """A node of the syntax, without punctuation and comments."""

    type: str
    text: str
    parts: tuple[Tree, ...]


def parsed(source: str) -> Tree:
    """The tree of a source, which must be free of errors."""

    def made(node: Any) -> Tree:
        wrong = node.type == "ERROR" or node.is_missing
        assert not wrong, (node.start_point, node.text)
        parts = tuple(
            [made(c) for c in node.children if c.is_named and c.type not in ("line_comment", "block_comment")]
        )
        return Tree(node.type, node.text.decode(), parts)

    return made(_PARSER.parse(source.encode()).root_node)


class Return(Exception):
    def __init__(self, value: Any) -> None:
        self.value = value


@dataclass
class Scope:
    """Names of a function, or of one turn of a loop."""

    names: dict[str, Any]
    outer: Scope | None = None

    def find(self, name: str) -> dict[str, Any] | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names
            scope = scope.outer
        return None


@dataclass
class Module:
    """A module; ``call`` calls its functions with NumPy's numbers and arrays."""

    names: dict[str, Any] = field(default_factory=dict)
    functions: dict[str, Tree] = field(default_factory=dict)
    exported: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, source: str) -> Module:
        """The one module of a source."""
        module = cls()
        tree = parsed(source)
        (definition,) = [t for t in tree.parts if t.type == "module_definition"]
        module.exported = [i.text for t in definition.parts if t.type == "export_statement" for i in t.parts]
        for t in definition.parts[1:]:
            if t.type == "using_statement":
                package, *names = t.parts[0].parts
                module.names |= {n.text: PACKAGES[package.text][n.text] for n in names}
            elif t.type == "function_definition":
                name = t.parts[0].parts[0].parts[0].text
                assert name not in {**module.functions, **FUNCTIONS}, f"{name} is defined twice"
                module.functions[name] = t
        for t in definition.parts[1:]:
            if t.type == "const_statement":
                name, _, value = t.parts[0].parts
                module.names[name.text] = module.value(value, Scope({}))
            else:
                assert t.type in ("using_statement", "function_definition", "export_statement", "string_literal"), (
                    t.type
                )
        return module

    def call(self, name: str, *args: Any) -> Any:
        """The result of a function of the module."""
        signature, *body = self.functions[name].parts
        parameters = signature.parts[0].parts[1].parts
        names: dict[str, Any] = {}
        for k, p in enumerate(parameters):
            if p.type == "splat_expression":
                names[p.parts[0].text] = tuple(args[k:])
                break
            if k >= len(args) or (p.type == "typed_expression" and not _accepts(p.parts[1], args[k])):
                raise JuliaError("MethodError", f"{name}: {p.text}")
            names[p.parts[0].text if p.parts else p.text] = args[k]
        else:
            if len(args) != len(parameters):
                raise JuliaError("MethodError", name)
        try:
            self.run(tuple(body), Scope(names))
        except Return as returned:
            return returned.value

    def run(self, statements: tuple[Tree, ...], scope: Scope) -> None:
        for t in statements:
            self.execute(t, scope)

    def execute(self, t: Tree, scope: Scope) -> None:
        if t.type == "assignment":
            target, operator, value = t.parts
            assert operator.text == "="
            self.assign(target, self.value(value, scope), scope)
        elif t.type == "compound_assignment_expression":
            target, operator, value = t.parts
            with np.errstate(all="ignore"):
                made = BINARY[operator.text.removesuffix("=")](self.value(target, scope), self.value(value, scope))
            self.assign(target, made, scope)
        elif t.type == "for_statement":
            binding, *body = t.parts
            counter, _, span = binding.parts
            for k in self.value(span, scope):
                self.run(tuple(body), Scope({counter.text: k}, scope))
        elif t.type == "while_statement":
            condition, *body = t.parts
            while truth(self.value(condition, scope)):
                self.run(tuple(body), Scope({}, scope))
        elif t.type == "if_statement":
            self.branch(t, scope)
        elif t.type == "macrocall_expression" and t.parts[0].text == "@inbounds":
            self.run(t.parts[1].parts, scope)
        elif t.type == "return_statement":
            raise Return(self.value(t.parts[0], scope))
        else:
            self.value(t, scope)

    def branch(self, t: Tree, scope: Scope) -> None:
        """An ``if``, whose parts make no scope."""
        condition, *rest = t.parts
        own = [s for s in rest if s.type not in ("elseif_clause", "else_clause")]
        if truth(self.value(condition, scope)):
            return self.run(tuple(own), scope)
        for clause in rest[len(own) :]:
            if clause.type == "else_clause":
                return self.run(clause.parts, scope)
            if truth(self.value(clause.parts[0], scope)):
                return self.run(clause.parts[1:], scope)
        return None

    def assign(self, target: Tree, value: Any, scope: Scope) -> None:
        if target.type == "identifier":
            assert target.text not in self.names, f"{target.text} is a constant of the module"
            (scope.find(target.text) or scope.names)[target.text] = value
        elif target.type == "open_tuple":
            assert len(target.parts) == len(value)
            for t, v in zip(target.parts, value, strict=True):
                self.assign(t, v, scope)
        else:
            assert target.type == "index_expression", target.type
            array = self.value(target.parts[0], scope)
            place = self.place(array, target.parts[1], scope)
            if isinstance(value, np.ndarray):
                if array[place].shape != value.shape:
                    raise JuliaError("DimensionMismatch")
                array[place] = value
            else:
                array[place] = convert(array.dtype.type, value)

    def place(self, array: Any, indices: Tree, scope: Scope) -> Any:
        """Where NumPy finds what is indexed from 1."""
        found = [_COLON if i.text == ":" else self.value(i, scope) for i in indices.parts]
        if isinstance(array, np.ndarray) and array.ndim != len(found):
            raise JuliaError("BoundsError", "number of indices")
        shape = array.shape if isinstance(array, np.ndarray) else (len(array),)
        place: list[Any] = []
        for i, d in zip(found, shape, strict=True):
            if i is _COLON:
                place.append(slice(None))
                continue
            if not isinstance(i, np.integer):
                raise JuliaError("ArgumentError", f"invalid index: {i!r}")
            if not 1 <= i <= d:
                raise JuliaError("BoundsError", f"{i} of {d}")
            place.append(int(i) - 1)
        return tuple(place)

    def value(self, t: Tree, scope: Scope) -> Any:
        return getattr(self, t.type)(t, scope)

    # expressions, by the names of the grammar

    def identifier(self, t: Tree, scope: Scope) -> Any:
        for names in (scope.find(t.text), self.names, FUNCTIONS):
            if names is not None and t.text in names:
                return names[t.text]
        if t.text in self.functions:
            return lambda *args: self.call(t.text, *args)
        raise JuliaError("UndefVarError", t.text)

    def integer_literal(self, t: Tree, scope: Scope) -> Any:
        return np.int64(int(t.text))

    def float_literal(self, t: Tree, scope: Scope) -> Any:
        return np.float32(t.text.replace("f", "e")) if "f" in t.text else np.float64(t.text)

    def boolean_literal(self, t: Tree, scope: Scope) -> Any:
        return np.bool_(t.text == "true")

    def string_literal(self, t: Tree, scope: Scope) -> str:
        assert "$" not in t.text
        return "".join(_ESCAPES[p.text] if p.type == "escape_sequence" else p.text for p in t.parts)

    def quote_expression(self, t: Tree, scope: Scope) -> str:
        return t.parts[0].text

    def binary_expression(self, t: Tree, scope: Scope) -> Any:
        left, operator, right = t.parts
        if operator.text in ("&&", "||"):
            first = self.value(left, scope)
            if truth(first) == (operator.text == "||"):
                return first
            return self.value(right, scope)
        with np.errstate(all="ignore"):
            return BINARY[operator.text](self.value(left, scope), self.value(right, scope))

    def unary_expression(self, t: Tree, scope: Scope) -> Any:
        with np.errstate(all="ignore"):
            return UNARY[t.parts[0].text](self.value(t.parts[1], scope))

    def ternary_expression(self, t: Tree, scope: Scope) -> Any:
        condition, a, b = t.parts
        return self.value(a if truth(self.value(condition, scope)) else b, scope)

    def parenthesized_expression(self, t: Tree, scope: Scope) -> Any:
        return self.value(t.parts[0], scope)

    def tuple_expression(self, t: Tree, scope: Scope) -> tuple:
        return tuple([self.value(p, scope) for p in t.parts])

    open_tuple = tuple_expression

    def range_expression(self, t: Tree, scope: Scope) -> list:
        parts = t.parts
        if parts[0].type == "range_expression":  # first:step:last
            parts = (*parts[0].parts, parts[1])
        first, *step, last = [int(self.value(p, scope)) for p in parts]
        by = step[0] if step else 1
        return [np.int64(k) for k in range(first, last + (1 if by > 0 else -1), by)]

    def field_expression(self, t: Tree, scope: Scope) -> Any:
        return self.value(t.parts[0], scope)[t.parts[1].text]

    def vector_expression(self, t: Tree, scope: Scope) -> np.ndarray:
        values = [self.value(p, scope) for p in t.parts]
        return np.array(values, promoted(*values) if any(np.asarray(v).dtype != bool for v in values) else bool)

    def index_expression(self, t: Tree, scope: Scope) -> Any:
        head, indices = t.parts
        made = TYPES.get(head.text)
        if made is None:
            array = self.value(head, scope)
            place = self.place(array, indices, scope)
            found = array[place] if isinstance(array, np.ndarray) else array[place[0]]
            return found.copy() if isinstance(found, np.ndarray) else found
        if indices.type == "comprehension_expression":
            element, clause = indices.parts
            counter, _, span = clause.parts[0].parts
            values = [self.value(element, Scope({counter.text: k}, scope)) for k in self.value(span, scope)]
        else:
            values = [self.value(p, scope) for p in indices.parts]
        return np.array([convert(made, v) for v in values], made)

    def call_expression(self, t: Tree, scope: Scope) -> Any:
        head, given = t.parts
        args: list[Any] = []
        for p in given.parts:
            if p.type == "splat_expression":
                args += self.value(p.parts[0], scope)
            else:
                args.append(self.value(p, scope))
        with np.errstate(all="ignore"):
            if head.type == "parametrized_type_expression":
                return _undefined(TYPES[head.parts[1].parts[0].text], args)
            if head.type == "operator":
                return UNARY[head.text](*args)
            function = self.value(head, scope)
            return convert(function, args[0]) if isinstance(function, type) and head.text in TYPES else function(*args)

    def macrocall_expression(self, t: Tree, scope: Scope) -> Any:
        name, given = t.parts
        return self.names[name.text](*[self.value(p, scope) for p in given.parts])


def _undefined(made: Any, args: list) -> np.ndarray:
    """An array of anything: what is read before it is written shows."""
    anything = np.nan if np.dtype(made).kind == "f" else 77
    return np.full([int(d) for d in args[1:]], anything).astype(made)


def _accepts(declared: Tree, value: Any) -> bool:
    """Whether an argument is of a declared type."""
    if declared.type == "identifier":
        wanted: Any = ABSTRACT.get(declared.text) or TYPES[declared.text]
        return isinstance(value, wanted)
    kind, inner = declared.parts
    ranks = {"AbstractVector": 1, "AbstractMatrix": 2}
    rank = ranks.get(kind.text) or int(inner.parts[1].text)
    return isinstance(value, np.ndarray) and value.ndim == rank and value.dtype == TYPES[inner.parts[0].text]
