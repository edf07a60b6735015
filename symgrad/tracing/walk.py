"""Walk: from a function to all that it can read, along the names in its code.

What is met is remembered by guards, as it is: names in modules, members of containers, attributes of objects, elements
of arrays. A method is followed where its name occurs in code that is, or where Python calls it without a name. What
can neither be remembered nor compared is reported: clocks, files, iterators.
"""

from __future__ import annotations

import abc
import builtins
import collections
import contextvars
import datetime
import decimal
import functools
import importlib.util
import io
import logging
import operator
import os
import re
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import sympy

from . import walked_values
from .bytecode.reads import code_reads
from .effects import computes, holds_none
from .generators import CACHED, GENERATORS, GLOBAL_GENERATORS, LOOKS_AT_STATE, PUTS_STATE_BACK, state_of
from .guards import Guards, cell_content
from .instances import hides_content, is_used_up, read_slot, slots
from .labels import is_index, names_of
from .libraries import (
    changing,
    changing_methods,
    is_asked,
    is_foreign,
    is_library,
    is_library_file,
    is_of_library,
    is_plain_base,
    solvers,
)
from .stand_ins import own_members
from .straight import changes_its_own
from .tracer import Tracer
from .walked_values import Changing

#: types without content that could change; what is derived from them may have attributes
_ATOMS = frozenset(
    (
        *(type(None), type(...), type(NotImplemented), bool, int, float, complex, str, bytes, range, slice, object),
        *(decimal.Decimal, datetime.date, datetime.time, datetime.datetime, datetime.timedelta, datetime.timezone),
        *(re.Pattern, types.CodeType, types.GenericAlias, types.UnionType, types.GetSetDescriptorType),
        *(types.MemberDescriptorType, types.WrapperDescriptorType, types.MethodDescriptorType),
        *(types.ClassMethodDescriptorType, type(threading.RLock()), np.ufunc),
    )
)
_NUMBERS_AND_TEXT = (bool, int, float, complex, str, bytes)
_METHODS = (types.FunctionType, classmethod, staticmethod, property, functools.cached_property, functools.partialmethod)
#: methods that make an instance, so that those which exist do not read what these read
_CONSTRUCTORS = frozenset(("__init__", "__new__", "__post_init__", "__init_subclass__", "__set_name__"))
#: methods that symgrad calls
_CALLED = frozenset(("construct", "bprop"))
#: members of a class that say nothing of what it does
_DESCRIBING = frozenset(
    (
        *("__doc__", "__module__", "__qualname__", "__annotations__", "__slots__", "__match_args__", "_abc_impl"),
        *("__dataclass_fields__", "__dataclass_params__", "__abstractmethods__", "__orig_bases__", "__parameters__"),
    )
)
#: functions that read such a member
_READERS = {
    "__dataclass_fields__": ("fields", "asdict", "astuple", "replace"),
    "__annotations__": ("get_type_hints", "get_annotations", "signature"),
}
#: what says of a function what it is called
_OF_FUNCTIONS = frozenset(("__name__", "__qualname__", "__doc__", "__annotations__", "__module__"))
#: what users change in modules of Python
_DATA = {"os": {"environ", "environb"}, "sys": {"argv"}}
_LINKS = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, type)
_READS_ENVIRONMENT = (os.getenv, os.getenvb, os.path.expandvars)
#: what tells a traced value from what it stands for, or moves elements where no operation sees it; so do min and max
_ASKING = frozenset(
    ("hasattr", "type", "Iterable", "Sized", "Sequence", "Container", "Collection", "Iterator", "shuffle")
)
_LOOKS_UP = (getattr, hasattr, vars, dir, eval, exec, globals, __import__)


class Walk:
    """A walk from a function and its static arguments to all that they can read.

    It fills ``guards``. ``changing`` says what no guard can see, ``generators`` are those of random numbers with their
    state, ``weights`` the arrays that may be inputs of the trace, ``classes`` those of which the code may make
    instances (True) or meet some, ``names`` all that occur in it. ``is_followed`` where calls are to be followed from
    the start, ``has_effects`` where a run may change what outlives it, ``asks_identity`` where the
    function itself compares by ``is``.
    """

    def __init__(self, guards: Guards) -> None:
        self.guards = guards
        self.changing: set[str] = set()
        self.generators: list[tuple[Any, Any]] = []
        self.weights: list[np.ndarray] = []
        self.is_followed = self.has_effects = self.asks_identity = self._makes_text = False
        self._catches = False
        self.pending: list[Any] = []
        self._seen: dict[int, Any] = {}  # holds the values, so that no id is used again
        self.names: set[str] = set()
        self._computed: set[str] = set()
        self._constructs = False
        self._namespaces: dict[int, tuple[Mapping[str, Any], set[str]]] = {}
        self._spaces: dict[int, dict[str, Any]] = {}
        self._whole: set[int] = set()
        self._modules: list[tuple[types.ModuleType, set[str]]] = []
        self._by_name: list[tuple[str, Any]] = []
        self.classes: dict[type, bool] = {}

    @property
    def caught(self) -> str | None:
        """An error of NumPy's calculations that is raised by its settings now, and that the code catches."""
        return "FloatingPointError" if self._catches and "raise" in np.geterr().values() else None

    def run(self, function: Callable, arguments: Iterable[Any]) -> None:
        """Look at all that can be reached."""
        self.pending += arguments
        if type(function) is types.FunctionType:  # nobody but itself and others that it calls can read its attributes
            self._code(function, is_traced=True)
        else:
            self.pending.append(function)
        while self.pending:
            while self.pending:
                value = self.pending.pop()
                if type(value) not in _ATOMS and id(value) not in self._seen:
                    self._seen[id(value)] = value
                    try:
                        self._look(value)
                    except Exception:  # whatever the user's own code raises when its object is looked at
                        self.changing.add(f"a {type(value).__name__} that cannot be looked at")
            self._follow_names()
        self._settings()
        for namespace, names in self._namespaces.values():
            self.guards.watch_names(namespace, sorted(names))
        if not self.names.isdisjoint(LOOKS_AT_STATE):
            for generator, _ in self.generators:
                self.guards.watch_content(state_of, generator)
        if not self.names.isdisjoint(PUTS_STATE_BACK):
            for generator in GLOBAL_GENERATORS:
                self.guards.watch_content(state_of, generator)

    def _settings(self) -> None:
        """What code of the user's and of libraries reads by no name of its own."""
        if "__subclasses__" in self.names:
            for cls in self.classes:
                self.guards.watch_content(walked_values.subclasses, cls)
        if any(isinstance(cls, abc.ABCMeta) for cls in self.classes):
            self.guards.watch_content(walked_values.registrations, None)
        if any(cls.__module__ in ("decimal", "_decimal") for cls in self.classes):
            self.guards.watch_content(walked_values.decimal_context, None)
        if self._makes_text:
            self.guards.watch_content(walked_values.print_options, None)
        self.guards.watch_about_functions(_OF_FUNCTIONS & self.names)

    def _look(self, value: Any) -> None:
        """Remember ``value``, and put what it leads to on the list."""
        kind = type(value)
        guarded = getattr(kind, "_guarded", None)
        self.has_effects |= not (guarded or holds_none(value, not is_library(kind.__module__)))
        if guarded is not None:
            self.pending += self.guards.watch_members_of(guarded, value)
            self.note_class(kind)
            if isinstance(value, np.ndarray):
                self.weights.append(value)
            return
        if is_index(kind):
            return self.guards.watch_content(names_of, value)
        for kinds, look in _WHOLE:
            if isinstance(value, kinds):
                return look(self, value)
        for kinds, look in _PARTS:
            if isinstance(value, kinds):
                look(self, value)
                break
        else:
            if hides_content(kind):
                walked_values.hidden(self, value)
        if kind.__module__ != "builtins":
            self._attributes(value)

    # code

    def _function(self, function: types.FunctionType) -> None:
        if not is_library_file(function.__code__.co_filename):
            self._code(function)
            self.pending += self.guards.watch_members(vars(function))
        elif is_library(function.__module__):
            self.look_at_callable(function)
        else:  # a library has wrapped a function of the user
            self.pending += [*map(cell_content, function.__closure__ or ()), *vars(function).values()]

    def _code(self, function: types.FunctionType, is_traced: bool = False) -> None:
        self.guards.watch_function(function)
        reads, space = code_reads(function.__code__), function.__globals__
        seeded = reads.seeded(space)
        self.names |= reads.names - seeded
        read = {*reads.globals, *reads.names, *function.__code__.co_freevars}
        asking = _ASKING & read or {"min", "max"} & reads.globals or solvers() & read
        self.is_followed |= bool(asking) or reads.asks_truth or reads.handles
        self.has_effects |= reads.stores or (reads.changes and not changes_its_own(function.__code__, is_traced))
        self._makes_text |= reads.makes_text
        self.asks_identity |= is_traced and reads.asks_identity
        self._catches |= "FloatingPointError" in reads.globals
        self._computed |= reads.computed
        self._constructs |= reads.constructs
        self._spaces[id(space)] = space
        if "globals" in reads.computed:
            self._watch_whole(space)
        if "modules" in reads.computed:
            self.pending.append(Changing("a module imported by a computed name"))
        found = {name: space[name] for name in reads.globals if name in space}
        built_in = (reads.globals - found.keys()) & vars(builtins).keys()
        self._watch_names(space, reads.globals)
        if built_in:
            self._watch_names(vars(builtins), built_in)
            self.pending += [v for name in built_in if not _is_one_of(v := vars(builtins)[name], _LOOKS_UP)]
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        found.update({name: self.guards.watch_cell(cell) for name, cell in cells})
        self.pending += [v for n, v in found.items() if n not in seeded and not (n in reads.skipped and is_used_up(v))]
        self._imports(reads.imports, space)
        if function.__kwdefaults__ is not None:
            self.pending += self.guards.watch_members(function.__kwdefaults__)
        self.pending.append(function.__defaults__)

    def _imports(self, imports: Iterable[tuple[str, int]], space: Mapping[str, Any]) -> None:
        for name, level in imports:
            if level:
                package = space.get("__package__") or space.get("__name__", "").rpartition(".")[0]
                try:
                    name = importlib.util.resolve_name("." * level + name, package)
                except ImportError:  # so it will say itself
                    continue
            while name:
                if not is_library(name):
                    self._watch_names(sys.modules, (name,))
                self.pending.append(sys.modules.get(name))
                name = name.rpartition(".")[0]

    def look_at_callable(self, function: Any) -> None:
        """A function of a library, or of C."""
        self.has_effects |= not computes(function)
        what = changing(function)
        if what is not None:
            self.pending.append(Changing(what))
        elif _is_one_of(function, _READS_ENVIRONMENT):
            self.pending.append(os.environ)
        elif _is_one_of(function, _LOOKS_UP):
            self.pending.append(Changing(f"{function.__name__} by another name"))
        elif isinstance(function, (operator.attrgetter, operator.methodcaller)):
            self.names.update(part for name in function.__reduce__()[1] for part in str(name).split("."))
        held = [getattr(function, name, None) for name in ("__self__", "__wrapped__", "py_func")]
        self.pending += [value for value in held if not isinstance(value, types.ModuleType)]

    # names

    def _watch_names(self, namespace: Mapping[str, Any], names: Iterable[str]) -> None:
        self._namespaces.setdefault(id(namespace), (namespace, set()))[1].update(names)

    def _watch_whole(self, namespace: Mapping[str, Any]) -> None:
        if id(namespace) not in self._whole:
            self._whole.add(id(namespace))
            self.pending += self.guards.watch_members(namespace)

    def _follow_names(self) -> None:
        """Put on the list what the names met so far lead to in the modules and classes met so far."""
        everything = "attributes" in self._computed
        for module, done in self._modules:
            members, is_library_module = vars(module), is_of_library(module)
            if everything and not is_library_module:
                self._watch_whole(members)
                continue
            asked = members.keys() if everything and is_asked(module.__name__) else ()
            names = {*self.names, *asked, *(() if is_library_module else ("__getattr__",))} - done
            done |= names
            if is_library_module:
                found = [members[name] for name in names if name in members]
                self.has_effects |= not all(map(computes, found))
                self.pending += filter(_leads_on, found)
                names &= _DATA.get(module.__name__, set())
            self._watch_names(members, names)
            self.pending += [members[name] for name in names if name in members]
        if "functions" in self._computed:
            for space in [*self._spaces.values()]:
                self._watch_whole(space)
        reached = [everything or name in self.names for name, _ in self._by_name]
        self.pending += [v for (_, v), is_reached in zip(self._by_name, reached, strict=True) if is_reached]
        self._by_name = [m for m, is_reached in zip(self._by_name, reached, strict=True) if not is_reached]
        if self._constructs:
            for cls in [c for c, constructed in self.classes.items() if not constructed]:
                self._construct(cls)

    def _module(self, module: types.ModuleType) -> None:
        self._modules.append((module, set()))

    # values

    def _attributes(self, value: Any) -> None:
        members = getattr(value, "__dict__", None)
        python = members.get("py_func") if isinstance(members, dict) else None
        if isinstance(python, types.FunctionType):  # numba's: what is beside it is the compiler's own
            self.pending.append(python)
            return
        self.note_class(type(value))
        if isinstance(members, dict):
            self.guards.watch_members(members)
            self._held(value, members)
        places = slots(type(value))
        if places:
            self._held(value, {name: self.guards.watch_read(read_slot, value, slot) for name, slot in places.items()})
        if not is_library(type(value).__module__):
            self.guards.watch_read(getattr, value, "__class__")

    def _held(self, holder: Any, members: Mapping[str, Any]) -> None:
        """What an instance holds: of what is a library's own it matters only where its name is used."""
        by_name = not is_library(type(holder).__module__)
        for name, value in members.items():
            if by_name and (is_used_up(value) or is_foreign(type(value))):
                self._by_name.append((name, value))
            else:
                self.pending.append(value)

    # classes

    def _type(self, cls: type) -> None:
        """A class that code can reach, and so make instances of."""
        self.has_effects |= is_library(cls.__module__) and not computes(cls)
        self.note_class(cls)
        self._construct(cls)
        what = changing(cls)
        if what is not None:
            self.pending.append(Changing(what))

    def note_class(self, cls: type) -> None:
        """What the methods read that are called with an instance; some methods are called without being named."""
        if cls in self.classes:
            return
        self.classes[cls] = False
        self._by_name += [(name, Changing(what)) for name, what in changing_methods(cls.__mro__).items()]
        own = [c for c in cls.__mro__ if not is_library(c.__module__)]
        if own:
            self.guards.watch_read(getattr, cls, "__mro__")
            self.note_class(type(cls))
        all_called = any(c not in own and not is_plain_base(c) for c in cls.__mro__)
        for c in own:
            for name, member in self.guards.watch_class(c).items():
                if name in _DESCRIBING:
                    self._by_name += [(reader, member) for reader in (name, *_READERS.get(name, ()))]
                    continue
                called = all_called or name in _CALLED or (name.startswith("__") and name.endswith("__"))
                if isinstance(member, _METHODS) and (name in _CONSTRUCTORS or not called):
                    self._by_name.append((name, member))
                else:
                    self.pending.append(member)

    def _construct(self, cls: type) -> None:
        self.classes[cls] = True
        own = [own_members(c) for c in cls.__mro__ if not is_library(c.__module__)]
        self.pending += [members[name] for members in own for name in _CONSTRUCTORS & members.keys()]


_Look = Callable[[Walk, Any], None]


def _nothing(walk: Walk, value: Any) -> None:
    """A value that leads nowhere; a tracer is of another trace, and refused where it is used."""


def _changing(walk: Walk, value: Changing) -> None:
    walk.changing.add(value.what)


#: how values of a type are looked at, where that is all that they hold
_WHOLE: tuple[tuple[Any, _Look], ...] = (
    (Changing, _changing),
    ((Tracer, sympy.Basic), _nothing),
    (types.FunctionType, Walk._function),
    (types.MethodType, walked_values.method),
    (types.BuiltinFunctionType, Walk.look_at_callable),
    (CACHED, walked_values.cached),
    (types.ModuleType, Walk._module),
    (type, Walk._type),
    ((classmethod, staticmethod, property), walked_values.descriptor),
    (contextvars.ContextVar, walked_values.context_variable),
    (threading.local, walked_values.thread_local),
    ((threading.Event, threading.Condition, threading.Semaphore, threading.Barrier), walked_values.signal),
    (logging.Logger, walked_values.logger),
    (type(threading.Lock()), walked_values.lock),
    (io.IOBase, walked_values.file),
    ((type({}.keys()), type({}.values()), type({}.items())), walked_values.view),
    (np.generic, walked_values.scalar),
)
#: where what is derived from the type may hold more
_PARTS: tuple[tuple[Any, _Look], ...] = (
    (np.ndarray, walked_values.array),
    (GENERATORS, walked_values.generator),
    ((dict, types.MappingProxyType), walked_values.mapping),
    ((tuple, frozenset), walked_values.fixed_items),
    ((list, set, collections.deque), walked_values.items),
    (functools.partial, walked_values.partial),
    (weakref.ref, walked_values.reference),
    (_NUMBERS_AND_TEXT, _nothing),
)


def _is_one_of(value: Any, values: tuple) -> bool:
    return any(value is v for v in values)


def _leads_on(member: Any) -> bool:
    """Whether a member of a library's module may lead to what changes."""
    return isinstance(member, _LINKS) or (callable(member) and changing(member) is not None)
