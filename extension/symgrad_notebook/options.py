"""The flags of ``%%grad`` and ``%grad``, and the options that ``%symgrad`` and configuration files set."""

from __future__ import annotations

import ast
import keyword
from collections.abc import Callable
from typing import Any

import traitlets
from IPython.core.error import UsageError
from IPython.core.magic_arguments import MagicArgumentParser
from traitlets.config import Configurable

from symgrad.closed_form.budget import BUDGET
from symgrad.closed_form.latex import MAX_CHARACTERS
from symgrad.context import set_context
from symgrad.errors import ArgumentError
from symgrad.flags import FLAGS, Flag
from symgrad.kernels.explanation import in_columns
from symgrad.kernels.kernel import BACKENDS
from symgrad.transforms.modes import MODES

from .errors import GradCellError

_AT = Flag(
    "at",
    "example arguments, literals (numbers are read as floats) or variables: --at 'x=[1, 2], y=name'. "
    "Default: the argument's default, else the variable of the same name",
    type=str,
    of_variables=True,
)


#: what each magic does, the beginning of its help
_ABOUT: dict[str, str | None] = {}


def documented(name: str) -> Callable:
    """Decorate a magic: its docstring becomes its help, with the flags."""

    def document(magic: Callable) -> Callable:
        _ABOUT[name] = magic.__doc__
        magic.__doc__ = help_of(name)
        return magic

    return document


def flag_names() -> list[str]:
    """Every flag as it is typed."""
    return sorted(text for flag in (_AT, *FLAGS.values()) if flag.in_magic for text in flag.typed)


def flag_typed(text: str) -> Flag | None:
    """The flag that is typed so."""
    return next((flag for flag in (_AT, *FLAGS.values()) if flag.in_magic and text in flag.typed), None)


def parser(name: str) -> MagicArgumentParser:
    """The parser of the flags that there are now, those from outside of the package too."""
    made = MagicArgumentParser(name[1:], description=_ABOUT.get(name))  # to which its help adds a sign again
    if name == "%grad":
        made.add_argument("call", nargs="*", help="a function or Cell of the notebook, and its arguments: f x y")
    else:
        _AT.add_to(made)
    for flag in FLAGS.values():
        if flag.in_magic:
            flag.add_to(made)
    return made


def help_of(name: str) -> str:
    """How a magic is called; IPython's mark of a literal block before it is for its own manual."""
    return parser(name).format_help().removeprefix("::\n\n")


def parsed(name: str, line: str) -> dict[str, Any]:
    """The values of the flags on a line, without the quotes that IPython leaves around them."""
    try:
        flags = parser(name).parse_argstring(line.rstrip().rstrip(";"))
    except (UsageError, ValueError) as error:  # ValueError: a quotation mark that is not closed
        raise GradCellError(f"{name}: {error}; {name} -h shows the options.") from None
    return {
        flag: [_unquoted(v) for v in value] if isinstance(value, list) else _unquoted(value)
        for flag, value in vars(flags).items()
    }


def _unquoted(value: Any) -> Any:
    if isinstance(value, str) and len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    return value


def checked_name(name: str) -> str:
    """``name`` where it can be assigned to."""
    if not name.isidentifier() or keyword.iskeyword(name):
        raise ArgumentError(f"--name {name!r} is not a Python name.")
    return name


#: how a switch may be written
_SWITCHED = {"on": "True", "off": "False", "true": "True", "false": "False"}
#: by name as they are when they are asked for, those from outside too
_NAMES_OF_BACKENDS: Any = BACKENDS


class Options(Configurable):
    """What ``%symgrad`` sets for the rest of the notebook, and ``c.SymgradMagics.… = …`` in a configuration file."""

    mode = traitlets.Enum(MODES, "auto", help="the sweep where --mode is not given").tag(config=True)
    backend = traitlets.Enum(
        _NAMES_OF_BACKENDS, "auto", help="what derivatives run on where --backend is not given"
    ).tag(config=True)
    budget = traitlets.Int(BUDGET, min=1, help="operations that a formula may have before it is let-bound").tag(
        config=True
    )
    fold = traitlets.Int(
        MAX_CHARACTERS, min=1, help="characters of LaTeX that a formula may have before it is folded"
    ).tag(config=True)
    annotate = traitlets.Bool(False, help="annotate every cell").tag(config=True)
    quiet = traitlets.Bool(False, help="bind derivatives and show nothing").tag(config=True)
    debug = traitlets.Bool(False, help="an error with its origin in place of NaN and infinities: sg.debug").tag(
        config=True
    )
    progress = traitlets.Float(0.5, help="seconds after which long work is reported; 0 for never").tag(config=True)

    @traitlets.observe("debug")
    def _debugs(self, change: Any) -> None:
        set_context(debug=change["new"])

    def option_names(self) -> list[str]:
        """The options in the order of the table."""
        return [name for name, trait in Options.class_own_traits().items() if trait.metadata.get("config")]

    def set_option(self, text: str) -> None:
        """``name=value``, or the name of a switch; an ArgumentError where there is no such option or value."""
        name, equals, value = text.partition("=")
        if isinstance(self.traits().get(name), traitlets.Bool):
            equals, value = "=", _SWITCHED.get(value.lower(), value) if equals else "True"
        if not equals and name.lower() in _SWITCHED:
            raise ArgumentError(f"{text!r} stands alone; write it behind the switch, as in debug={name}.")
        if not equals or name not in self.option_names():
            raise ArgumentError(
                f"{text!r} sets no option; write name=value with one of {', '.join(self.option_names())}."
            )
        try:
            setattr(self, name, _literal(value))
        except traitlets.TraitError:
            trait = self.traits()[name]
            wanted = "on or off" if isinstance(trait, traitlets.Bool) else trait.info()
            raise ArgumentError(f"{name} cannot be {value!r}; it is {wanted}.") from None

    def reset_options(self) -> None:
        """Every option as it is without ``%symgrad``."""
        for name in self.option_names():
            setattr(self, name, self.traits()[name].default())

    def option_table(self) -> str:
        """The options, their values and what they mean."""
        rows = [(name, str(getattr(self, name)), str(self.traits()[name].help)) for name in self.option_names()]
        return "\n".join(in_columns(rows))


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
