"""The code that gives what a panel shows: lines to copy, the last of which is the call itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import symgrad
from symgrad.flags import FLAGS
from symgrad.nn import Cell
from symgrad.tensor import Parameter

from ..structure import visible
from .flags import Flags, Layer, layers
from .spelling import Spelling
from .subject import Subject


def code_lines(
    subject: Subject,
    flags: Flags,
    namespace: Mapping[str, Any] | None = None,
    *,
    args: Sequence[Any] | None = None,
    sens: Any = None,
    derived: Any = None,
) -> str:
    """Python that computes the derivative of the flags at ``args`` (the subject's own where None).

    ``namespace`` holds the user's variables, by whose names values are called; arguments that have none are written
    out. ``derived`` is a derivative of the function, through which an unnamed function can be reached.

    >>> def f(x, y):
    ...     return x * y
    >>> print(code_lines(Subject.of(f, (2.0, 3.0)), Flags(grad_position=(0, 1))))
    sg.grad(f, (0, 1))(x, y)
    >>> print(code_lines(Subject.of(f, (2.0, 3.0)), Flags("GradOperation", get_all=True), args=(2.0, 0.5)))
    sg.GradOperation(get_all=True)(f)(x, 0.5)
    """
    return _Code(subject, flags, namespace, derived).text(subject.args if args is None else tuple(args), sens)


class _Code:
    def __init__(self, subject: Subject, flags: Flags, namespace: Mapping[str, Any] | None, derived: Any) -> None:
        self.subject = subject
        self.flags = flags
        self.spelling = Spelling(namespace)
        self.sg = self.spelling.module(symgrad, "sg")
        self.function = self.spelling.called(subject.function, derived)
        self.taken = {self.sg, "np", self.function.split(".")[0]}
        self.weights: str | None = None
        self.lines: list[str] = []
        self.comments: list[str] = []
        if self.spelling.unknown is not None:
            self.comments.append(f"# {self.spelling.unknown}: the function that the panel was opened with")

    def text(self, args: tuple, sens: Any) -> str:
        arguments = self._arguments(args, sens)
        function = self._held() if self.flags.stopped else self.function
        for layer in layers(self.subject, self.flags):
            function = self._layer(layer, function)
        for name, value in self.flags.others:
            if FLAGS[name].derive is not None:
                self.spelling.imports += (
                    [line] if (line := "from symgrad.flags import FLAGS") not in self.spelling.imports else []
                )
                function = f"FLAGS[{name!r}].derive({function}, {value!r})"
        self.lines.append(f"{function}({', '.join(arguments)})")
        return "\n".join([*self.spelling.imports, *self.comments, *self.lines])

    # arguments

    def _arguments(self, args: tuple, sens: Any) -> list[str]:
        named: list[str | None] = []
        for value, own, name in zip(args, self.subject.args, self.subject.names, strict=True):
            named.append(self.spelling.name(value, name) if value is own else None)
        self.taken |= {name for name in named if name is not None}
        parts = [
            found or self._spelled(value, name)
            for found, value, name in zip(named, args, self.subject.names, strict=True)
        ]
        if self.flags.takes_sens:
            parts.append(self._sens(sens))
        return parts + [self._keyword(name, value) for name, value in self.subject.kwargs.items()]

    def _spelled(self, value: Any, name: str) -> str:
        """A value that no variable holds: numbers in place, arrays by a line of their own."""
        literal = self.spelling.literal(value)
        if literal is None:
            self.comments.append(f"# {name}: the argument that the panel was opened with")
            return name
        if isinstance(value, (np.ndarray, tuple, list, dict)):
            return self._assigned(name, literal)
        return literal

    def _assigned(self, name: str, literal: str) -> str:
        # a variable of the notebook may be what the function reads, or what another argument is
        while name in self.taken or name in (self.spelling.namespace or {}):
            name += "_"
        self.taken.add(name)
        self.lines.append(f"{name} = {literal}")
        return name

    def _sens(self, sens: Any) -> str:
        found = self.spelling.name(sens, "sens") if self.spelling.namespace is not None else None
        return found or self._spelled(sens, "sens")

    def _keyword(self, name: str, value: Any) -> str:
        spelled = self.spelling.name(value, name) or self.spelling.literal(value) or name
        return f"{name}={spelled}" if name.isidentifier() else f"**{{{name!r}: {spelled}}}"

    # the calls

    def _layer(self, layer: Layer, function: str) -> str:
        options = [f"{name}={value!r}" for name, value in layer.options.items()]
        weights = None if layer.weights is None else self._weights_once(layer.weights)
        if layer.call == "GradOperation":
            chosen = [] if weights is None else [f"{self.sg}.ParameterTuple({weights})"]
            return f"{self.sg}.GradOperation({', '.join(options)})({', '.join([function, *chosen])})"
        first = "" if layer.position == 0 else repr(layer.position)
        parts = [function, *([first] if first else []), *([f"weights={weights}"] if weights else []), *options]
        return f"{self.sg}.{layer.call}({', '.join(parts)})"

    def _weights_once(self, chosen: Sequence[Parameter]) -> str:
        """The parameters, under a name where several calls take them."""
        if self.flags.order == 1:
            return self._weights(chosen)
        if self.weights is None:
            self.weights = self._assigned("weights", self._weights(chosen))
        return self.weights

    def _weights(self, chosen: Sequence[Parameter]) -> str:
        """The parameters that gradients are taken by, and how to freeze the others for good."""
        cell, held = self._cell(chosen)
        if held is None:
            names = [self.spelling.name(p, "") for p in chosen]
            if all(names):
                return f"[{', '.join(map(str, names))}]"
            self._remark(f"# weights: the parameters {visible(repr([p.name for p in chosen]))}")
            return "weights"
        if [id(p) for p in chosen] == [id(p) for p in held.trainable_params()]:
            return f"{cell}.trainable_params()"
        paths = {id(p): f"{cell}.{path}" for path, p in held.parameters_and_names()}
        for p in held.get_parameters():
            wanted = any(p is c for c in chosen)
            if p.requires_grad != wanted and _is_path(paths[id(p)]):
                self._remark(f"# for good: {paths[id(p)]}.requires_grad = {wanted}")
        spelled = [paths[id(p)] for p in chosen]
        if all(map(_is_path, spelled)):
            return f"[{', '.join(spelled)}]"
        numbers = [k for k, p in enumerate(held.get_parameters()) if any(p is c for c in chosen)]
        return f"[p for k, p in enumerate({cell}.get_parameters()) if k in {numbers}]"

    def _remark(self, text: str) -> None:
        if text not in self.comments:
            self.comments.append(text)

    def _cell(self, chosen: Sequence[Parameter]) -> tuple[str, Cell | None]:
        """A Cell that holds all of these parameters, by name."""
        function = self.subject.function
        if isinstance(function, Cell):
            return self.function, function
        wanted = {id(p) for p in chosen}
        for name, value in (self.spelling.namespace or {}).items():
            mine = isinstance(value, Cell) and not name.startswith("_")
            if mine and wanted <= {id(p) for p in value.get_parameters()}:
                return name, value
        return "", None

    def _held(self) -> str:
        """The function with its stopped intermediates: what to write into it, and the same without touching it."""
        for name in self.flags.stopped:
            line = self.subject.stoppable[name]
            after = f"after line {line.number}" + (f", {visible(line.text)}" if line.text else "")
            after += ", and after every other line that binds it" if self.subject.is_bound_again(name) else ""
            self.comments.append(f"# in {self.function}:  {name} = {self.sg}.stop_gradient({name})  # {after}")
        self.comments.append("# or, as here, from outside:")
        return f"{self.sg}.stopping({self.function}, {list(self.flags.stopped)!r})"


def _is_path(text: str) -> bool:
    return all(part.isidentifier() for part in text.split("."))
