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
from ..loading import load
from ..named_dims import is_shapes, parameters_of
from ..nn import Cell
from ..tensor import Parameter
from ..testing import check_grads
from ..tracing.tree import tree_map
from ..transforms.derived import DerivedFunction
from ..transforms.gradient import grad, value_and_grad
from ..transforms.jacobian import hessian, jacobian
from ..version import VERSION
from .examples import examples
from .objects import Objects

_KINDS: dict[str, Callable] = {
    "grad": grad,
    "value_and_grad": value_and_grad,
    "jacobian": jacobian,
    "hessian": hessian,
}
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
        made.add_argument("--wrt", help="arguments to differentiate by, with commas (default: the first)")
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
        made.add_argument("--weights", help="weights of a Cell to differentiate by: all, or names with commas")
        made.add_argument("--kind", choices=_KINDS, default="grad", help="which derivative (default: grad)")
        if name == "export":
            made.add_argument("--format", choices=FORMATS, required=True, help="what to write")
            made.add_argument("-o", "--output", type=Path, help="the file to write (default: show the text)")
        if name != "explain":
            made.add_argument("--form", default="auto", help="auto, matrix, index or entries")
    command(
        "check",
        _check,
        "compare the derivatives of a function with finite differences, or FILE.json with its own check",
    )
    return parser


# --- commands -----------------------------------------------------------------------------------------------------


def _derive(options: argparse.Namespace) -> int:
    derived, args, kwargs = _derivative(options)
    print(derived.export("text", *args, **kwargs))
    if options.form != "auto":
        print(derived.closed_form(*args, form=options.form, **kwargs))
        return 0
    found = derived.formulas(*args, **kwargs)
    count = len(found.program.outputs)
    names = ["derivative"] if count == 1 else [f"derivative[{k}]" for k in range(count)]
    print("\n".join(found.text_rows(names)))
    return 0


def _export(options: argparse.Namespace) -> int:
    derived, args, kwargs = _derivative(options)
    made = derived.export(options.format, *args, path=options.output, form=options.form, **kwargs)
    if options.output is not None:
        print(f"written to {options.output}")
    elif isinstance(made, bytes):
        raise ArgumentError(f"{options.format} is no text; name a file with -o.")
    else:
        print(made)
    return 0


def _explain(options: argparse.Namespace) -> int:
    derived, args, kwargs = _derivative(options)
    print(derived.steps(*args, **kwargs))
    print()
    print(derived.kernel(*args, **kwargs).explain())
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
    args, kwargs = examples(function, options, _positions(function, options.wrt or "0"), objects)
    if not args or is_shapes(args, kwargs):
        raise ArgumentError("a check needs numbers: give example arguments with --at or --args, not shapes.")
    args = tree_map(lambda v: np.float64(v) if type(v) is float else v, args)
    check_grads(function, args, kwargs)
    print(f"{options.function}: pass, forward and reverse mode agree with finite differences to second order")
    return 0


# --- what is derived ----------------------------------------------------------------------------------------------


def _derivative(options: argparse.Namespace) -> tuple[DerivedFunction, list[Any], dict[str, Any]]:
    """The derivative that is asked for, and its arguments by position and by name: arrays, or shapes as text."""
    objects = Objects()
    function = objects.function(options.function)
    if isinstance(function, DerivedFunction):
        if options.wrt or options.weights or options.kind != "grad":
            raise ArgumentError(f"{options.function} is a derivative already; leave out --wrt, --weights and --kind.")
        return function, *examples(function, options, getattr(function, "positions", None) or (), objects)
    if options.weights is None:
        positions = _positions(function, options.wrt or "0")
        derived = _KINDS[options.kind](function, _bare(positions))
    else:
        if options.kind not in ("grad", "value_and_grad"):
            raise ArgumentError(f"--weights goes with --kind grad and value_and_grad, not with {options.kind}.")
        weights = _weights(function, options)
        positions = _positions(function, options.wrt) if options.wrt else ()
        derived = _KINDS[options.kind](function, _bare(positions) if positions else None, weights)
    args, kwargs = examples(function, options, positions, objects)
    return derived, args, kwargs


def _bare(positions: tuple[int, ...]) -> int | tuple[int, ...]:
    """One position by itself."""
    return positions[0] if len(positions) == 1 else positions


def _positions(function: Callable, wrt: str) -> tuple[int, ...]:
    names = [p.name for p in parameters_of(function)]
    positions = []
    for name in wrt.split(","):
        name = name.strip()
        if name in names:
            positions.append(names.index(name))
        elif name.isdecimal() and int(name) < max(len(names), 1):
            positions.append(int(name))
        else:
            raise ArgumentError(f"--wrt {name}: the function takes {', '.join(names) or 'no arguments by name'}.")
    return tuple(positions)


def _weights(function: Callable, options: argparse.Namespace) -> list[Parameter]:
    """The weights of a Cell that ``--weights`` names."""
    if not isinstance(function, Cell):
        raise ArgumentError(f"{options.function} has no weights; --weights goes with a Cell.")
    if options.weights == "all":
        return function.trainable_params()
    known = function.parameters_dict()
    names = [name.strip() for name in options.weights.split(",")]
    for name in names:
        if name not in known:
            raise ArgumentError(f"--weights {name}: the Cell has {', '.join(known) or 'none'}.")
    return [known[name] for name in names]
