"""What a code object can read: the names in it, and the ways in which it may read by a name that it computes.

Names are over-approximated: those of code that never runs count, and so do strings that could be names, so that
``getattr(module, "rate")`` reads ``rate``. Nested functions are part of the code that they stand in.
"""

from __future__ import annotations

import dis
import functools
import inspect
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ..changing_methods import CHANGING_METHODS

#: what reads by a name that it is given, the place of that name among its arguments, and where it looks
_BY_NAME = {
    "getattr": (1, "attributes"),
    "hasattr": (1, "attributes"),
    "globals": (0, "globals"),
    "import_module": (0, "modules"),
    "__import__": (0, "modules"),
    "modules": (0, "modules"),
}
#: what reads by names that are no arguments of it
_BY_ANY_NAME = {
    "vars": "attributes",
    "dir": "attributes",
    "attrgetter": "attributes",
    "methodcaller": "attributes",
    "getmembers": "attributes",
    "__dict__": "attributes",
    "__getattribute__": "attributes",
    "eval": "globals",
    "exec": "globals",
    "__globals__": "functions",
    "f_globals": "functions",
}
#: what makes a random generator: the same one at every call where it is given a number
_SEEDED = frozenset(
    ("default_rng", "RandomState", "Random", "SeedSequence", "PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
)
_NOISE = ("CACHE", "PRECALL", "PUSH_NULL", "KW_NAMES", "NOP", "RESUME", "COPY_FREE_VARS", "MAKE_CELL")
_VARIABLES = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
_LOADS = (*_VARIABLES, "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF", "LOAD_FAST", "LOAD_CONST")
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")
#: what stores elsewhere than in local names and items, or hands over to others
_STORES = frozenset(
    (
        *("STORE_ATTR", "DELETE_ATTR", "STORE_GLOBAL", "DELETE_GLOBAL", "STORE_NAME", "DELETE_NAME"),
        *("BEFORE_WITH", "BEFORE_ASYNC_WITH", "LOAD_SPECIAL"),
    )
)
_CHANGES = frozenset(("STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE"))
_TEXT_MAKERS = frozenset(("str", "repr", "format", "array2string", "array_str", "array_repr", "join"))
_SUSPENDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR

Steps = list[dis.Instruction]


class CodeReads(NamedTuple):
    """``names`` are all of them, ``globals`` those of variables of the module, ``imports`` modules with their level.

    ``seeds`` are what makes generators of numbers only, or of variables of the module, which are named; of
    ``skipped`` the next item is taken and dropped; ``computed`` says where names are looked up that are not written
    down: in ``attributes``, the module's ``globals``, those of all ``functions``, or among the ``modules``. It
    ``constructs`` where it may make an instance of a class that it does not name, ``asks_truth`` where it compares with
    True or False by ``is``, ``asks_identity`` where it compares with what is no constant. It ``stores`` where it sets
    attributes or names of others, yields or enters a ``with``, and ``changes`` where it sets items or calls a method
    that changes what it is of. It ``handles`` errors where it stands in a ``try`` or ``with``, and ``makes_text`` where
    it may make some of an array.
    """

    names: frozenset[str]
    globals: frozenset[str]
    imports: frozenset[tuple[str, int]]
    seeds: Mapping[str, frozenset[str]]
    skipped: frozenset[str]
    computed: frozenset[str]
    constructs: bool
    asks_truth: bool
    asks_identity: bool
    stores: bool
    changes: bool
    handles: bool
    makes_text: bool

    def seeded(self, space: Mapping[str, Any]) -> set[str]:
        """What makes generators from numbers only, in a module with these variables."""
        return {name for name, given in self.seeds.items() if all(type(space.get(v)) is int for v in given)}


@functools.lru_cache(maxsize=4096)
def code_reads(code: types.CodeType) -> CodeReads:
    """What ``code`` reads besides its arguments."""
    codes = list(with_nested(code))
    runs = [[i for i in dis.get_instructions(c) if i.opname not in _NOISE] for c in codes]
    names = {name for c in codes for name in (*c.co_names, *_written(c.co_consts))}
    places = [(steps, k) for steps in runs for k in range(len(steps))]
    looked_up = [found for steps, k in places for found in _looked_up(steps, k)]
    variables = {steps[k].argval for steps, k in places if steps[k].opname in _VARIABLES}
    imports = {_import(steps, k) for steps, k in places if steps[k].opname == "IMPORT_NAME"}
    return CodeReads(
        frozenset(names),
        frozenset(variables.union(name for where, name in looked_up if name and where == "globals")),
        frozenset(imports.union((name, 0) for where, name in looked_up if name and where == "modules")),
        _seeds([(s, k) for s, k in places if s[k].argval in _SEEDED and s[k].opname != "LOAD_CONST"]),
        _always(_is_skipped, ((s, k) for s, k in places if s[k].opname in _LOADS and s[k].opname != "LOAD_CONST")),
        frozenset(where for where, name in looked_up if name is None),
        any("cls" in c.co_varnames for c in codes) or any(_constructs(steps, k) for steps, k in places),
        any(
            steps[k].opname == "IS_OP" and any(type(s.argval) is bool for s in steps[max(k - 2, 0) : k])
            for steps, k in places
        ),
        any(steps[k].opname == "IS_OP" and steps[k - 1].opname != "LOAD_CONST" for steps, k in places),
        any(map(_stores, codes, runs)),
        any(s[k].opname in _CHANGES or _is_changing_method(s[k]) for s, k in places),
        any(c.co_exceptiontable for c in codes),
        not _TEXT_MAKERS.isdisjoint(names) or any(s[k].opname.startswith("FORMAT_") for s, k in places),
    )


def _stores(code: types.CodeType, steps: Steps) -> bool:
    if code.co_flags & _SUSPENDS and code.co_name != "<genexpr>":
        return True
    of_cells = [i.argval for i in steps if i.opname in ("STORE_DEREF", "DELETE_DEREF")]
    return any(i.opname in _STORES for i in steps) or not set(code.co_freevars).isdisjoint(of_cells)


def _is_changing_method(step: dis.Instruction) -> bool:
    return step.opname in _ATTRIBUTES and step.argval in CHANGING_METHODS


def with_nested(code: types.CodeType) -> Iterator[types.CodeType]:
    """``code``, and that of the functions in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from with_nested(constant)


def _written(constants: Iterable[Any]) -> Iterator[str]:
    """The strings among constants that could be names."""
    for value in constants:
        if isinstance(value, str):
            parts = value.split(".")
            if all(map(str.isidentifier, parts)):
                yield from parts
        elif isinstance(value, (tuple, frozenset)):
            yield from _written(value)


def _always(holds: Callable[[Steps, int], bool], places: Iterable[tuple[Steps, int]]) -> frozenset[str]:
    """The names for which something holds wherever they occur."""
    found: dict[str, bool] = {}
    for steps, k in places:
        name = steps[k].argval
        found[name] = found.get(name, True) and holds(steps, k)
    return frozenset(name for name, is_so in found.items() if is_so)


def _seeds(places: Iterable[tuple[Steps, int]]) -> dict[str, frozenset[str]]:
    """The variables of the module with which generators are made; nothing of what is made of anything else."""
    found: dict[str, set[str] | None] = {}
    for steps, k in places:
        name, seed = steps[k].argval, _given(steps, k, 0)
        known = found.setdefault(name, set())
        if seed is not None and seed.opname in _VARIABLES and known is not None:
            known.add(seed.argval)
        elif seed is None or seed.opname != "LOAD_CONST" or not isinstance(seed.argval, int):
            found[name] = None
    return {name: frozenset(variables) for name, variables in found.items() if variables is not None}


def _is_skipped(steps: Steps, k: int) -> bool:
    """Whether this is the ``it`` of a statement ``next(it)``."""
    before, after = steps[max(k - 1, 0)], [i.opname for i in steps[k + 1 : k + 3]]
    return before.opname in _VARIABLES and before.argval == "next" and after == ["CALL", "POP_TOP"]


def _constructs(steps: Steps, k: int) -> bool:
    """Whether this step takes a class from an instance, other than for its name or to compare it; or copies one."""
    if steps[k].argval == "replace":
        return steps[k].opname != "LOAD_CONST"
    if steps[k].argval not in ("type", "__class__") or steps[k].opname == "LOAD_CONST":
        return False
    after = steps[k + 1 : k + 6]
    return not any(i.opname in ("IS_OP", "COMPARE_OP") or i.argval in ("__name__", "__qualname__") for i in after)


def _looked_up(steps: Steps, k: int) -> Iterator[tuple[str, str | None]]:
    """Where this step looks up a name, and the name where it is written down."""
    name = steps[k].argval
    if steps[k].opname not in _VARIABLES + _ATTRIBUTES:
        return
    if name in _BY_ANY_NAME:
        yield _BY_ANY_NAME[name], None
    elif name in _BY_NAME:
        place, where = _BY_NAME[name]
        after = [i.opname for i in steps[k + 1 : k + 3]]
        if after == ["CALL", "CONTAINS_OP"]:  # "name" in globals()
            written = steps[k - 1].argval if steps[k - 1].opname == "LOAD_CONST" else None
        else:
            written = _argument(steps, k + 1 if where == "globals" else k, place)  # globals()["name"]
        yield where, written if isinstance(written, str) else None


def _argument(steps: Steps, k: int, place: int) -> Any:
    """The constant that what step ``k`` loads is called or indexed with, None where it is something else."""
    step = _given(steps, k, place)
    return step.argval if step is not None and step.opname == "LOAD_CONST" else None


def _given(steps: Steps, k: int, place: int) -> dis.Instruction | None:
    """The step that loads what is loaded by step ``k`` is called or indexed with, where it does nothing else."""
    for at in range(k + 1, len(steps)):
        step = steps[at]
        if step.opname in _ATTRIBUTES:
            continue
        if step.opname not in _LOADS:
            return None
        if place == 0:
            use = next(i.opname for i in steps[at + 1 :] if i.opname not in _LOADS)
            return step if use in ("CALL", "CALL_KW", "BINARY_SUBSCR") else None
        place -= 1
    return None


def _import(steps: Steps, k: int) -> tuple[str, int]:
    level = steps[k - 2].argval
    return steps[k].argval, level if isinstance(level, int) else 0
