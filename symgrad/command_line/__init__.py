"""The command line: derive, export, explain and check functions of a file.

``symgrad export model.py:loss --wrt w --at w=@weights.npy --at 'X=[[1, 2]]' --format c -o grad.c``
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ArgumentError, SymgradError
from ..exporters import FORMATS
from ..flags import FLAGS
from ..flags.derivative import argument_names
from ..flags.registry import derivative, derived_by, is_given, shown_by
from ..flags.shown import export_text
from ..loading import load
from ..named_dims import is_shapes
from ..testing import check_grads
from ..tracing.tree import tree_map
from ..transforms.derived import DerivedFunction
from ..version import VERSION
from .examples import examples
from .objects import Objects

_EXAMPLES = """examples:
  symgrad derive model.py:loss --wrt w --shape 'w=d' --shape 'X=n d'
  symgrad export model.py:loss --wrt w --at 'w=[0.1, 0.2]' --at X=@data.npy --format c -o grad_loss.c
  symgrad explain model.py:loss --at w=1.5
  symgrad check model.py:loss --at 'w=[0.1, 0.2]'
  symgrad export model.py:loss --args example --format jax -o grad_loss.py
  symgrad export model.py:net --weights all --args example --format torch -o grad_net.py
  symgrad check grad_loss.json
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 where all is well, 1 where a check fails, 2 for an error, said in one message."""
    options = _parser().parse_args(arguments)
    try:
        status = options.run(options)
        sys.stdout.flush()
        return status
    except SymgradError as error:
        failed = isinstance(error, AssertionError)
        print(f"symgrad: {error}", file=sys.stderr)
        return 1 if failed else 2
    except BrokenPipeError:  # who reads has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        print(f"symgrad: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="symgrad",
        description="Derivatives of NumPy functions: read them, take them away, check them.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"symgrad {VERSION}")
    commands = parser.add_subparsers(required=True, metavar="command")

    def command(name: str, run: Callable[[argparse.Namespace], int], about: str) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=about, description=about)
        made.set_defaults(run=run)
        made.add_argument(
            "function",
            help="FILE.py:NAME or package.module:NAME of a function, derivative or Cell; the file is run to define it",
        )
        made.add_argument(
            "--at",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help='an example argument: JSON such as 1.5, [[1, 2]] or {"w": [1, 2]}, @FILE.npy, @FILE.npz (a dict of '
            "arrays), or @FILE.py:NAME",
        )
        made.add_argument(
            "--shape",
            action="append",
            default=[],
            metavar="NAME=DIMS",
            help="in place of example arrays, the shape of an argument: 'X=n d' holds for all n and d; JSON of shapes "
            "for an argument that is nested",
        )
        made.add_argument(
            "--args",
            metavar="NAME",
            help="in place of --at, an object of FILE.py, or OTHER.py:NAME, that holds the example arguments: a tuple "
            "in their order, or a dict by name; or a function that gives one",
        )
        return made

    for name, run, about in (
        ("derive", _derive, "print the derivative: formulas, and the let-bound program"),
        ("export", _export, "write the derivative in another format"),
        ("explain", _explain, "print the derivation step by step, and how the derivative runs"),
    ):
        made = command(name, run, about)
        for flag in FLAGS.values():
            if flag.on_command_line and (flag.show is None or name != "export"):
                flag.add_to(made)
        if name == "export":
            made.add_argument("--format", choices=FORMATS, required=True, help="what to write")
            made.add_argument("-o", "--output", type=Path, help="the file to write (default: show the text)")
        if name != "explain":
            made.add_argument("--form", default="auto", help="auto, matrix, index or entries")
    checked = command(
        "check",
        _check,
        "compare the derivatives of a function with finite differences, or FILE.json with its own check",
    )
    FLAGS["wrt"].add_to(checked)
    return parser


# --- commands -----------------------------------------------------------------------------------------------------


def _derive(options: argparse.Namespace) -> int:
    derived, args, kwargs = _derivative(options)
    print(derived.export("text", *args, **kwargs))
    if options.form != "auto":
        print(derived.closed_form(*args, form=options.form, **kwargs))
    else:
        print(derived.formulas(*args, **kwargs))
    return _show(derived, args, kwargs, options)


def _export(options: argparse.Namespace) -> int:
    derived, args, kwargs = _derivative(options)
    print(export_text(derived, options.format, tuple(args), {"form": options.form, **kwargs}, options.output))
    return 0


def _explain(options: argparse.Namespace) -> int:
    derived, args, kwargs = _derivative(options)
    print(derived.steps(*args, **kwargs))
    print()
    print(derived.kernel(*args, **kwargs).explain())
    return _show(derived, args, kwargs, options)


def _show(derived: DerivedFunction, args: list[Any], kwargs: dict[str, Any], options: argparse.Namespace) -> int:
    """Print what flags show besides."""
    for thing in shown_by(derived, tuple(args), kwargs, vars(options)):
        print(f"\n{thing}")
    return 0


def _check(options: argparse.Namespace) -> int:
    if options.function.endswith(".json"):
        outcome = load(options.function).check()
        print(outcome)
        return 0 if outcome else 1
    objects = Objects()
    function = objects.function(options.function)
    if isinstance(function, DerivedFunction):
        function = function.underlying
    args, kwargs = examples(function, options, derivative(function, _chosen(function, options)), objects)
    if not args or is_shapes(args, kwargs):
        raise ArgumentError("a check needs numbers: give example arguments with --at or --args, not shapes.")
    args = tree_map(lambda v: np.float64(v) if type(v) is float else v, args)
    check_grads(function, args, kwargs)
    print(f"{options.function}: pass, forward and reverse mode agree with finite differences to second order")
    return 0


def _derivative(options: argparse.Namespace) -> tuple[DerivedFunction, list[Any], dict[str, Any]]:
    """The derivative that is asked for, and its arguments by position and by name: arrays, or shapes as text."""
    objects = Objects()
    function = objects.function(options.function)
    values = _chosen(function, options)
    if isinstance(function, DerivedFunction):
        own = {"sens"} if getattr(function, "takes_sens", False) else set()
        given = [f.typed[-1] for f in FLAGS.values() if f.chooses and f.name not in own and is_given(values[f.name])]
        if given:
            raise ArgumentError(f"{options.function} is a derivative already; leave out {', '.join(given)}.")
        derived = derived_by(function, values)
    else:
        derived = derivative(function, values)
        if options.order and options.order > 1:  # what the orders are, the shapes say
            derived = derivative(function, values, examples(function, options, derived, objects))
    return derived, *examples(function, options, derived, objects)


def _chosen(function: Callable, options: argparse.Namespace) -> dict[str, Any]:
    """The values of the flags; of a function that does not name its arguments the first is chosen by position."""
    values = {name: value for name, value in vars(options).items() if name in FLAGS}
    by_place = not argument_names(function) and not any(is_given(value) for value in values.values())
    return values | {"position": "0"} if by_place else values
