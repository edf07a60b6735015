"""Tab completion on the lines of the magics: flags, their choices, and variables of the notebook."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from symgrad.nn import Cell

from .examples import is_example
from .options import Options, flag_names, flag_typed

_NEVER_LISTED = re.compile(r"_|In$|Out$")


def register(shell: Any) -> None:
    """Complete the lines that begin with one of the magics."""
    for key, complete in _COMPLETERS.items():
        shell.set_hook("complete_command", complete, str_key=key)


def unregister(shell: Any) -> None:
    """Take it back."""
    dispatcher = shell.strdispatchers.get("complete_command")
    if dispatcher is not None:
        for key in _COMPLETERS:
            dispatcher.strs.pop(key, None)


def _of_flags(calls: bool, shell: Any, event: Any) -> list[str]:
    """What may follow on the line of ``%%grad`` or, where the line ``calls`` a function, of ``%grad``."""
    words = event.text_until_cursor.split()[1:]
    before = words[:-1] if event.symbol else words
    flag = flag_typed(before[-1]) if before else None
    namespace = shell.user_ns
    if flag is not None and flag.choices:
        return _beginning(map(str, flag.choices), event.symbol)
    if flag is not None and flag.of_variables:
        return _beginning(_named(namespace, is_example), event.symbol)
    if event.symbol.startswith("-"):
        return _beginning(flag_names(), event.symbol)
    if not calls:
        return flag_names() if not event.symbol else []
    if any(w in namespace and _is_function(namespace[w]) for w in before):
        return _beginning(_named(namespace, is_example), event.symbol)
    return _beginning(_named(namespace, _is_function), event.symbol)


def _of_options(shell: Any, event: Any) -> list[str]:
    """The options of ``%symgrad``."""
    names = [f"{name}=" for name, trait in Options.class_own_traits().items() if trait.metadata.get("config")]
    return _beginning([*names, "--reset", "--traceback"], event.symbol)


def _is_function(value: Any) -> bool:
    return isinstance(value, Cell) or (callable(value) and not isinstance(value, type) and hasattr(value, "__name__"))


def _named(namespace: dict[str, Any], wanted: Callable[[Any], bool]) -> list[str]:
    return sorted(name for name, value in namespace.items() if not _NEVER_LISTED.match(name) and wanted(value))


def _beginning(names: Iterable[str], start: str) -> list[str]:
    return [name for name in names if name.startswith(start)]


_COMPLETERS = {
    "%%grad": partial(_of_flags, False),
    "%grad": partial(_of_flags, True),
    "%symgrad": _of_options,
}
