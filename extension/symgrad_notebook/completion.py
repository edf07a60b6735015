"""Tab completion on the lines of the magics: flags, their choices, and variables of the notebook."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult, context_matcher

from symgrad.nn import Cell

from .examples import is_example
from .options import Options, flag_names, flag_typed

_NAME = "symgrad"
_NEVER_LISTED = re.compile(r"_|In$|Out$")


def register(shell: Any) -> None:
    """Complete the lines that begin with one of the magics."""
    shell.Completer.custom_matchers.append(_matcher(shell))


def unregister(shell: Any) -> None:
    """Take it back."""
    kept = [m for m in shell.Completer.custom_matchers if getattr(m, "matcher_identifier", "") != _NAME]
    shell.Completer.custom_matchers[:] = kept


def _matcher(shell: Any) -> Callable[[CompletionContext], SimpleMatcherResult]:
    """What offers the rest of a magic's line, and keeps Python's own names away from it."""

    @context_matcher(identifier=_NAME)
    def match(context: CompletionContext) -> SimpleMatcherResult:
        line = context.text_until_cursor
        magic, *words = line.split() or [""]
        complete = _COMPLETERS.get(magic)
        if complete is None or context.cursor_line or (line.strip() == magic and not line[-1].isspace()):
            return SimpleMatcherResult(completions=[])
        typed = "" if line[-1].isspace() else words.pop()
        fragment = re.split(r"[,=]", typed)[-1] if not typed.startswith("-") else typed
        own = {name: value for name, value in shell.user_ns.items() if name not in shell.user_ns_hidden}
        found = complete(own, words, fragment, context.full_text)
        fitting = [SimpleCompletion(text=text) for text in found if text.startswith(fragment)]
        return SimpleMatcherResult(completions=fitting, matched_fragment=fragment, suppress=True)

    return match


def _of_flags(calls: bool, namespace: dict[str, Any], before: list[str], typed: str, cell: str) -> Iterable[str]:
    """What may follow on the line of ``%%grad`` or, where the line ``calls`` a function, of ``%grad``."""
    flag = flag_typed(before[-1]) if before else None
    if flag is not None and flag.choices:
        return map(str, flag.choices)
    if flag is not None and not flag.is_switch:
        names = _arguments(cell) if flag.of_arguments else []
        return names or (_named(namespace, is_example) if flag.of_variables else [])
    if typed.startswith("-"):
        return flag_names()
    if not calls:
        return flag_names() if not typed else []
    if any(w in namespace and _is_function(namespace[w]) for w in before):
        return _named(namespace, is_example)
    return _named(namespace, _is_function)


def _of_options(namespace: dict[str, Any], before: list[str], typed: str, cell: str) -> list[str]:
    """The options of ``%symgrad``."""
    names = [f"{name}=" for name, trait in Options.class_own_traits().items() if trait.metadata.get("config")]
    return [*names, "--reset", "--traceback"]


def _arguments(cell: str) -> list[str]:
    """The arguments of the functions that a cell defines below its first line."""
    try:
        statements = ast.parse(cell.partition("\n")[2]).body
    except (SyntaxError, ValueError):  # not written to its end
        return []
    found = [s.args for s in statements if isinstance(s, ast.FunctionDef)]
    return [a.arg for args in found for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)]


def _is_function(value: Any) -> bool:
    return isinstance(value, Cell) or (callable(value) and not isinstance(value, type) and hasattr(value, "__name__"))


def _named(namespace: dict[str, Any], wanted: Callable[[Any], bool]) -> list[str]:
    return sorted(name for name, value in namespace.items() if not _NEVER_LISTED.match(name) and wanted(value))


_COMPLETERS = {
    "%%grad": partial(_of_flags, False),
    "%grad": partial(_of_flags, True),
    "%symgrad": _of_options,
}
