"""The registry of flags: one record a flag, read by the magics, their completion, the panel and the command line."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import ArgumentError
from ..transforms.derived import DerivedFunction
from .derivative import derivative_of


@dataclass(frozen=True)
class Flag:
    """One flag. What it does is one of three: ``chooses``, ``derive`` or ``show``.

    ``name`` is its name in Python, typed as ``--get-all`` or as ``short``; ``help`` says in a line what it does.
    ``type`` reads the text that follows it; ``bool`` makes a switch, which nothing follows. ``choices`` are all values
    that it takes; ``many``: it may be given several times, and its value is a list; ``of_variables``: what follows it
    are variables of the notebook, which completion offers; ``of_arguments``: arguments of the cell's function.

    - ``chooses``: its value is the argument ``name`` of ``derivative_of``.
    - ``derive(derived, value)`` gives the derivative that takes the place of ``derived``.
    - ``show(derived, args, kwargs, value)`` gives what is shown of a derivative for these arguments, below the rest;
      where it ``reads_lines``, or names of locals, the trace that all is read from is recorded with them. One that is
      ``of_gradients`` shows no Hessian: order 2 is then a gradient of the sum of the gradient, whatever the shapes.

    ``in_magic`` and ``on_command_line`` say who has it. ``gloss``, a few words beside its control, puts it into the
    panel: a switch as a box to check, one with choices as buttons, others not; ``call`` is the public call that reads
    it there (``GradOperation`` or ``grad``; empty: all of them) and ``keyword`` what that calls it.
    """

    name: str
    help: str
    short: str = ""
    type: Callable[[str], Any] = bool
    choices: Iterable[Any] = ()
    metavar: str | None = None
    default: Any = None
    many: bool = False
    of_variables: bool = False
    of_arguments: bool = False
    chooses: bool = False
    derive: Callable[[DerivedFunction, Any], DerivedFunction] | None = None
    show: Callable[[DerivedFunction, tuple, dict[str, Any], Any], Any] | None = None
    reads_lines: bool = False
    of_gradients: bool = False
    in_magic: bool = True
    on_command_line: bool = True
    gloss: str = ""
    call: str = ""
    keyword: str = ""

    @property
    def typed(self) -> tuple[str, ...]:
        """How it is typed: its short form, if it has one, and its long form."""
        return (*([self.short] if self.short else []), "--" + self.name.replace("_", "-"))

    @property
    def is_switch(self) -> bool:
        """True where nothing follows it."""
        return self.type is bool and not self.choices

    @property
    def said(self) -> str:
        """What the public calls name it."""
        return self.keyword or self.name

    def add_to(self, parser: argparse.ArgumentParser) -> None:
        """Have ``parser`` read it."""
        options: dict[str, Any] = {"help": self.help.replace("%", "%%"), "dest": self.name}
        if self.is_switch:
            options["action"] = "store_true"
        else:
            options |= {
                "type": str if self.type is bool else self.type,
                "metavar": self.metavar,
                "default": self.default,
            }
            options |= {"choices": tuple(self.choices)} if self.choices and not self.metavar else {}
            options |= {"action": "append"} if self.many else {}
        parser.add_argument(*self.typed, **options)


#: every flag by its name, in the order in which help lists them
FLAGS: dict[str, Flag] = {}
#: how those are typed that symgrad itself brings, beginning with what a magic or a command reads besides flags
_OWN = {"--at", "--call", "--function", "--run", "--args", "--shape", "--format", "--form", "--output", "-o"}
_SHORT = re.compile(r"-[A-Za-z]")


def register(flag: Flag) -> Flag:
    """Add a flag: to ``%%grad`` and ``%grad``, their completion, the command line and, with a ``gloss``, the panel.

    Registering a name again replaces what it meant, as running a cell again does; symgrad's own flags are refused.
    ``symgrad.extend.flag("doubled", "the derivative …", derive=…)`` is the same call.

    >>> import symgrad
    >>> from symgrad.flags import Flag, register, unregister
    >>> doubled = register(Flag(
    ...     "doubled",
    ...     "the derivative of twice the function",
    ...     derive=lambda derived, value: symgrad.grad(lambda x: 2 * derived.fn(x)),
    ...     gloss="of twice the function",
    ... ))
    >>> doubled.typed
    ('--doubled',)
    >>> derivative(lambda x: x**2, {"doubled": True})(3.0)
    np.float64(12.0)
    >>> unregister("doubled")
    """
    if not (flag.name.isidentifier() and flag.name.isascii()) or flag.name.startswith("_"):
        raise ArgumentError(f"{flag.name!r} is no name of a flag; write a Python name, such as 'get_all'.")
    if flag.short and not _SHORT.fullmatch(flag.short):
        raise ArgumentError(f"{flag.short!r} is no short form of a flag; write one letter, such as '-a'.")
    if bool(flag.chooses) + (flag.derive is not None) + (flag.show is not None) > 1:
        raise ArgumentError(f"the flag {flag.name!r} does several things; give one of chooses, derive and show.")
    others = {text for other in FLAGS.values() if other.name != flag.name for text in other.typed}
    for text in flag.typed:
        if text in _OWN or text in others:
            raise ArgumentError(f"there is a flag {text} already; choose another name.")
    FLAGS[flag.name] = flag
    return flag


def bring(flags: Iterable[Flag]) -> None:
    """Register symgrad's own flags."""
    for flag in flags:
        _OWN.update(register(flag).typed)


def unregister(name: str) -> None:
    """Take the flag of this name back."""
    FLAGS.pop(name, None)


def derivative(
    function: Callable, values: Mapping[str, Any], at: tuple[Sequence[Any], Mapping[str, Any]] | None = None
) -> DerivedFunction:
    """The derivative of ``function`` that flags of these values ask for; ``at`` are example arguments of it.

    >>> derivative(lambda x, y: x * y, {"wrt": "y", "mode": "forward"})(2.0, 3.0)
    np.float64(2.0)
    """
    given = {name: value for name, value in values.items() if is_given(value)}
    at = None if any(FLAGS[n].of_gradients for n in given if n in FLAGS) else at
    derived = derivative_of(function, at=at, **{n: v for n, v in given.items() if n in FLAGS and FLAGS[n].chooses})
    return derived_by(derived, given)


def derived_by(derived: DerivedFunction, values: Mapping[str, Any]) -> DerivedFunction:
    """What the flags of these values make of a derivative."""
    for flag in FLAGS.values():
        if flag.derive is not None and is_given(values.get(flag.name)):
            derived = flag.derive(derived, values[flag.name])
    return derived


def shown_by(derived: DerivedFunction, args: tuple, kwargs: dict[str, Any], values: Mapping[str, Any]) -> list[Any]:
    """What the flags of these values show of a derivative for these arguments, in order."""
    made = []
    for flag in FLAGS.values():
        if flag.show is not None and is_given(given := values.get(flag.name)):
            for value in list(given) if flag.many and given else [given]:
                made.append(flag.show(derived, args, kwargs, value))
    return made


def is_given(value: Any) -> bool:
    """True for the value of a flag that was written down."""
    return value is not None and value is not False
