"""The flags of ``%%grad`` and ``%grad``, and the options that ``%symgrad`` and configuration files set."""

from __future__ import annotations

import argparse
import ast
import keyword
from collections.abc import Callable
from typing import Any

import traitlets
from IPython.core.error import UsageError
from IPython.core.magic_arguments import argument, parse_argstring
from traitlets.config import Configurable

from symgrad.closed_form.budget import BUDGET
from symgrad.closed_form.latex import MOST_CHARACTERS
from symgrad.errors import ArgumentError
from symgrad.kernels.kernel import BACKENDS
from symgrad.transforms.modes import MODES

from .errors import GradCellError

#: flags that cell and line magic have in common, as IPython's ``magic_arguments`` takes them
_FLAGS = [
    argument("--wrt", help="arguments or parameters to differentiate by, with commas: --wrt x,y (default: the first)"),
    argument("--position", help="the same by position, from 0: --position 0,1"),
    argument("--weights", help="parameters of a Cell to differentiate by: --weights z,b, or all"),
    argument("--get-all", action="store_true", help="by every argument, as a tuple"),
    argument("--by-list", action="store_true", help="by every trainable parameter of the Cell, as a tuple"),
    argument("--sens", help="the cotangent of the output, a variable or a literal; without it, of the summed output"),
    argument("--has-aux", action="store_true", help="differentiate the first output only, and return the others too"),
    argument("--mode", choices=MODES, help="the sweep; all give the same numbers"),
    argument("--order", type=int, default=1, help="derive so often: --order 2"),
    argument("--jacobian", action="store_true", help="every output by every input, in place of the gradient"),
    argument("--hessian", action="store_true", help="the second derivatives of the summed output"),
    argument("--sparse", action="store_true", help="the Jacobian or Hessian as scipy.sparse"),
    argument("--backend", choices=BACKENDS, help="what the derivative runs on"),
    argument("--name", help="what to call the derivative (default: grad_<function>)"),
    argument(
        "--export",
        metavar="FORMAT[:FILE]",
        action="append",
        help="show the derivative in this format, or write it to the file; may be given several times",
    ),
    argument("-a", "--annotate", action="store_true", help="the source, with what each line and its derivative cost"),
    argument("--steps", action="store_true", help="the derivation: the chain rule, one step a line"),
    argument("--panel", action="store_true", help="switches and sliders below the formulas"),
    argument("-q", "--quiet", action="store_true", help="bind the derivative and show nothing"),
    argument("-h", "--help", action="store_true", help="show this help"),
]
_AT = argument(
    "--at",
    help="example arguments, literals (numbers are read as floats) or variables: --at 'x=[1, 2], y=name'. "
    "Default: the argument's default, else the variable of the same name, else 1.0",
)
_CALL = argument("call", nargs="*", help="a function or Cell of the notebook, and its arguments: f x y")


def cell_flags(magic: Callable) -> Callable:
    """Declare the flags of the cell magic."""
    return _declared(magic, [_AT, *_FLAGS])


def line_flags(magic: Callable) -> Callable:
    """Declare the flags of the line magic."""
    return _declared(magic, [_CALL, *_FLAGS])


def _declared(magic: Callable, flags: list[Any]) -> Callable:
    for flag in reversed(flags):
        magic = flag(magic)
    return magic


def flag_names() -> list[str]:
    """Every flag as it is typed."""
    return sorted({name for flag in (_AT, *_FLAGS) for name in flag.args})


def parsed(magic: Callable, line: str, name: str) -> argparse.Namespace:
    """The flags of a line, without the quotes that IPython leaves around values."""
    try:
        flags = parse_argstring(magic, line.rstrip().rstrip(";"))
    except (UsageError, ValueError) as error:  # ValueError: a quotation mark that is not closed
        raise GradCellError(f"{name}: {error}; see {name}? for the options.") from None
    for flag, value in vars(flags).items():
        setattr(flags, flag, [_unquoted(v) for v in value] if isinstance(value, list) else _unquoted(value))
    return flags


def _unquoted(value: Any) -> Any:
    if isinstance(value, str) and len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    return value


def checked_name(name: str) -> str:
    """``name`` where it can be assigned to."""
    if not name.isidentifier() or keyword.iskeyword(name):
        raise ArgumentError(f"--name {name!r} is not a Python name.")
    return name


class Options(Configurable):
    """What ``%symgrad`` sets for the rest of the notebook, and ``c.SymgradMagics.… = …`` in a configuration file."""

    mode = traitlets.Enum(MODES, "auto", help="the sweep where --mode is not given").tag(config=True)
    backend = traitlets.Enum(BACKENDS, "auto", help="what derivatives run on where --backend is not given").tag(
        config=True
    )
    budget = traitlets.Int(BUDGET, min=1, help="operations that a formula may have before it is let-bound").tag(
        config=True
    )
    fold = traitlets.Int(MOST_CHARACTERS, min=1, help="characters of LaTeX that a formula may have before").tag(
        config=True
    )
    annotate = traitlets.Bool(False, help="annotate every cell").tag(config=True)
    quiet = traitlets.Bool(False, help="bind derivatives and show nothing").tag(config=True)
    progress = traitlets.Float(0.5, help="seconds after which long work is reported; 0 for never").tag(config=True)

    def option_names(self) -> list[str]:
        """The options in the order of the table."""
        return [name for name, trait in Options.class_own_traits().items() if trait.metadata.get("config")]

    def set_option(self, text: str) -> None:
        """``name=value``; an ArgumentError where there is no such option or value."""
        name, equals, value = text.partition("=")
        if not equals or name not in self.option_names():
            raise ArgumentError(
                f"{text!r} sets no option; write name=value with one of {', '.join(self.option_names())}."
            )
        try:
            setattr(self, name, _literal(value))
        except traitlets.TraitError:
            trait = self.traits()[name]
            raise ArgumentError(f"{name} cannot be {value!r}; it is {trait.info()}.") from None

    def reset_options(self) -> None:
        """Every option as it is without ``%symgrad``."""
        for name in self.option_names():
            setattr(self, name, self.traits()[name].default())

    def option_table(self) -> str:
        """The options, their values and what they mean."""
        rows = [(name, str(getattr(self, name)), str(self.traits()[name].help)) for name in self.option_names()]
        widths = [max(len(row[k]) for row in rows) for k in range(2)]
        return "\n".join(f"{name.ljust(widths[0])}  {value.ljust(widths[1])}  {text}" for name, value, text in rows)


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
