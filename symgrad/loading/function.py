"""LoadedFunction: what ``symgrad.load`` returns; it runs, shows itself, and is differentiated as any function is."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..codec.limits import MAX_BYTES
from ..compiled import is_tracing
from ..errors import ArgumentError, MissingFile, UnreadableFile
from ..exporters import checked_format, export
from ..named_dims import Declaration, Placeholder, declared_like, is_shapes
from ..program.dims import is_concrete
from ..program.forks import cached_property
from ..program.node import Node
from ..trace_entry import Result, TraceEntry
from ..tracing.trace import Trace, as_node, running
from ..tracing.tracer import Tracer
from ..tracing.tree import unflatten
from ..transforms.derived import DerivedFunction
from ..transforms.subjects import subject_of
from .call_arguments import CallArguments
from .checking import CheckResult, checked
from .document import Document, read_document
from .emission import emitted


class _Source:
    """The function that a document computes, on traced values."""

    def __init__(self, document: Document, call: CallArguments) -> None:
        self._document = document
        self.__name__ = document.facts.function
        self.__signature__ = call.signature
        program = document.read.program
        pairs = zip(call.names, program.names, program.inputs, strict=True)
        shapes = {name: declared_like(label, n.shape) for name, label, n in pairs if not is_concrete(n.shape)}
        if shapes:
            self.declaration = Declaration(list(call.signature.parameters.values()), shapes)

    def _guarded(self) -> dict[str, Any]:
        return {}

    def __call__(self, *args: Any, own: bool = False) -> Any:
        """The result for traced values; ``own`` where they are inputs of a trace that is of this function alone."""
        document = self._document
        outputs = emitted(document, list(map(as_node, args)), running(), own)
        made = [Tracer(outputs[v]) if is_array else v for is_array, v in document.slots]
        return unflatten(document.structure, made)


class _Shown(Trace):
    """A trace to look at, in which every branch is taken as it was."""

    def guard(self, node: Node) -> Any:
        self.branches.append((node, np.True_))
        return np.True_


class LoadedFunction(DerivedFunction):
    """A derivative that was read from a document, made by ``symgrad.load``.

    It takes the arrays that it was exported for, one an argument, by position or by name, and returns what the exported
    derivative returns. ``program``, ``latex``, ``closed_form``, ``kernel`` and ``export`` need no arguments.
    """

    verb = "loaded"

    def __init__(self, document: Document, backend: str = "auto") -> None:
        self._document = document
        self._call_arguments = CallArguments(document)
        super().__init__(_Source(document, self._call_arguments), backend)
        self.__name__ = document.name
        self.__signature__ = self._call_arguments.signature
        self.__doc__ = f"{document.title[:1].upper()}{document.title[1:]}, of ({self._call_arguments.spelled})."

    def __reduce_ex__(self, protocol: Any) -> Any:
        return LoadedFunction, (self._document, self.backend)

    def _derive(self, args, kwargs, fresh):
        return self.fn(*args, own=fresh)

    def _argument_names(self, count, kwargs):
        return self._document.read.program.names

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        args = self._call_arguments.in_order(args, kwargs)
        if is_tracing(args):
            return self._derive(args, {}, fresh=False)
        return super().__call__(*self._call_arguments.arrays(args))

    def _entry(self, args: tuple, kwargs: dict[str, Any]) -> TraceEntry:
        if not args and not kwargs:
            return self._shown
        if is_shapes(args, kwargs):
            raise ArgumentError.here(
                f"{self.__name__} has the shapes that it was exported with; leave the arguments out."
            )
        return self._compiled.entry(*self._call_arguments.arrays(self._call_arguments.in_order(args, kwargs)))

    @cached_property
    def _shown(self) -> TraceEntry:
        """The Program as it was read, traced for no arguments in particular."""
        inputs = self._document.read.program.inputs
        made = [Placeholder(n.shape, n.dtype, n.weak) for n in inputs]
        return self._compiled._new_entry(made, {}, None, _Shown())

    def labels(self, entry: Result) -> list[str]:
        return list(self._document.labels)

    def check(self) -> CheckResult:
        """Run the check that the document carries: its inputs, and what they gave where it was exported.

        An ArgumentError where it carries none.
        """
        return checked(self._document, self)

    def export(
        self,
        format: str,
        *args: Any,
        path: str | Path | None = None,
        form: str = "auto",
        document: bool | None = None,
        **kwargs: Any,
    ) -> Any:
        """As ``export`` of any derivative; without arguments with the check that the document carries.

        ``export("json")`` gives the document again.
        """
        checked_format(format)
        arrays = self._call_arguments.arrays(self._call_arguments.in_order(args, kwargs)) if args or kwargs else ()
        own = self._document
        subject = subject_of(self, arrays, {}, path, form, path is not None if document is None else document)
        subject = replace(
            subject,
            name=own.name,
            title=own.title,
            stem=own.name if path is None else subject.stem,
            facts=own.facts,
            checked=subject.checked if arrays else lambda: own.check,
        )
        return export(subject, format, path)

    def __repr__(self) -> str:
        return f"<{self.__name__}({self._call_arguments.spelled}), loaded>"


def load(path: str | os.PathLike[str], *, backend: str = "auto") -> LoadedFunction:
    """The derivative that ``export("json", path=…)`` wrote to ``path``, as a function.

    It runs, ``check()`` compares it with what it computed where it was exported, and it can be differentiated and
    exported further. The file is data: it is checked in every particular, and nothing in it is executed or imported. A
    LoadError names the place of whatever is not as ``docs/program_schema.md`` says; of its kind are MissingFile (also a
    FileNotFoundError) and UnreadableFile (also an OSError). A MissingPart says that scipy is needed.

    >>> import numpy as np, symgrad, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "slope.json")
    >>> _ = symgrad.grad(lambda x: np.sum(np.sin(x) * x)).export("json", np.array([0.0, 1.0]), path=path)
    >>> slope = symgrad.load(path)
    >>> slope
    <grad_f(x: float64[2]), loaded>
    >>> slope(np.array([0.0, 1.0]))
    array([0.        , 1.38177329])
    >>> slope.check().passed
    True
    >>> symgrad.jacobian(slope)(np.array([0.0, 1.0]))[0]
    array([2., 0.])
    """
    try:
        with open(path, "rb") as file:
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise MissingFile(f"there is no file {os.fspath(path)!r}; export the derivative to it first.") from None
    except (OSError, ValueError) as error:  # the latter for a name that no file can have
        reason = getattr(error, "strerror", None) or error
        raise UnreadableFile(f"{os.fspath(path)!r} cannot be read: {reason}.") from None
    return LoadedFunction(read_document(content), backend)
