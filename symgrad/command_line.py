"""The command line: derive, export, explain and check functions of a file.

``symgrad export model.py:loss --wrt w --at w=@weights.npy --at 'X=[[1, 2]]' --format c -o grad.c``
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import inspect
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .errors import ArgumentError, SymgradError
from .exporters import FORMATS
from .loading import load
from .named_dims import Array, declaration_of, parameters_of
from .testing import check_grads
from .tracing.tree import tree_map
from .transforms.derived import DerivedFunction
from .transforms.gradient import grad, value_and_grad
from .transforms.jacobian import hessian, jacobian
from .version import VERSION

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
  symgrad check grad_loss.json
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 where all is well, 1 where a check fails, 2 for an error, said in one message."""
    options = _parser().parse_args(arguments)
    try:
        return options.run(options)
    except SymgradError as error:
        failed = isinstance(error, AssertionError)
        print(f"symgrad: {error}", file=sys.stderr)
        return 1 if failed else 2
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
        made.add_argument("function", help="FILE.py:NAME or package.module:NAME; the file is run to define it")
        made.add_argument("--wrt", help="arguments to differentiate by, with commas (default: the first)")
        made.add_argument(
            "--at",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="an example argument: JSON such as 1.5 or [[1, 2]], or @FILE.npy",
        )
        made.add_argument(
            "--shape",
            action="append",
            default=[],
            metavar="NAME=DIMS",
            help="in place of example arrays, the shape of an argument: 'X=n d' holds for every n and d",
        )
        return made

    for name, run, about in (
        ("derive", _derive, "print the derivative: formulas, and the let-bound program"),
        ("export", _export, "write the derivative in another format"),
        ("explain", _explain, "print the derivation step by step, and how the derivative runs"),
    ):
        made = command(name, run, about)
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
    derived, args = _derivative(options)
    print(derived.export("text", *args))
    if options.form != "auto":
        print(derived.closed_form(*args, form=options.form))
        return 0
    found = derived.formulas(*args)
    count = len(found.program.outputs)
    names = ["derivative"] if count == 1 else [f"derivative[{k}]" for k in range(count)]
    print("\n".join(found.text_rows(names)))
    return 0


def _export(options: argparse.Namespace) -> int:
    derived, args = _derivative(options)
    made = derived.export(options.format, *args, path=options.output, form=options.form)
    if options.output is not None:
        print(f"written to {options.output}")
    elif isinstance(made, bytes):
        raise ArgumentError(f"{options.format} is no text; name a file with -o.")
    else:
        print(made)
    return 0


def _explain(options: argparse.Namespace) -> int:
    derived, args = _derivative(options)
    print(derived.steps(*args))
    print()
    print(derived.kernel(*args).explain())
    return 0


def _check(options: argparse.Namespace) -> int:
    if options.function.endswith(".json"):
        outcome = load(options.function).check()
        print(outcome)
        return 0 if outcome else 1
    function = _function(options.function)
    if isinstance(function, DerivedFunction):
        function = function.underlying
    args = _arguments(function, options, _positions(function, options.wrt))
    if any(isinstance(a, (str, Array)) for a in args):
        raise ArgumentError("a check needs numbers: give example arguments with --at, not shapes.")
    args = tree_map(lambda v: np.float64(v) if type(v) is float else v, args)
    check_grads(function, args)
    print(f"{options.function}: pass, forward and reverse mode agree with finite differences to second order")
    return 0


# --- what is derived ----------------------------------------------------------------------------------------------


def _derivative(options: argparse.Namespace) -> tuple[DerivedFunction, list[Any]]:
    """The derivative that is asked for, and its arguments: arrays, or shapes as text."""
    function = _function(options.function)
    if isinstance(function, DerivedFunction):
        if options.wrt or options.kind != "grad":
            raise ArgumentError(f"{options.function} is a derivative already; leave out --wrt and --kind.")
        return function, _arguments(function, options, getattr(function, "positions", None) or ())
    positions = _positions(function, options.wrt)
    by = positions[0] if len(positions) == 1 else positions
    return _KINDS[options.kind](function, by), _arguments(function, options, positions)


def _function(spelled: str) -> Callable:
    """The function that ``FILE.py:NAME`` or ``package.module:NAME`` names."""
    where, colon, name = spelled.rpartition(":")
    if not colon or not name:
        raise ArgumentError(f"{spelled!r} names no function; write FILE.py:NAME or package.module:NAME.")
    module = _module_of_file(Path(where)) if where.endswith(".py") else _module_named(where)
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise ArgumentError(f"{where} has no {name}; it has {', '.join(_functions(module)) or 'no functions'}.")
        found = getattr(found, part)
    if not callable(found):
        raise ArgumentError(f"{spelled} is a {type(found).__name__}, not a function.")
    return found


def _module_of_file(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # as an import would: pickles and dataclasses look it up
    sys.path.insert(0, str(path.parent.resolve()))
    spec.loader.exec_module(module)
    return module


def _module_named(name: str) -> Any:
    sys.path.insert(0, "")
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        raise ArgumentError(f"there is no module {name}; a file is named with its .py.") from None


def _functions(module: Any) -> list[str]:
    return [n for n, v in vars(module).items() if inspect.isfunction(v) and v.__module__ == module.__name__]


def _positions(function: Callable, wrt: str | None) -> tuple[int, ...]:
    names = [p.name for p in parameters_of(function)]
    positions = []
    for name in (wrt or "0").split(","):
        name = name.strip()
        if name in names:
            positions.append(names.index(name))
        elif name.isdecimal() and int(name) < max(len(names), 1):
            positions.append(int(name))
        else:
            raise ArgumentError(f"--wrt {name}: the function takes {', '.join(names) or 'no arguments by name'}.")
    return tuple(positions)


def _arguments(function: Callable, options: argparse.Namespace, positions: Sequence[int]) -> list[Any]:
    """A value or a shape for each argument that has no default; none where the function declares its shapes."""
    names = [p.name for p in parameters_of(function)]
    values = {name: _value(name, text) for name, text in _named(options.at, names, "--at")}
    shapes = dict(_named(options.shape, names, "--shape"))
    if not values and not shapes and declaration_of(function) is not None:
        return []
    if values and shapes:
        raise ArgumentError("--at and --shape do not go together: give every argument a value, or every one a shape.")
    given: dict[str, Any] = values or shapes
    made = []
    for k, parameter in enumerate(parameters_of(function)):
        if parameter.name in given:
            value = given[parameter.name]
            made.append(tree_map(_floating, value) if k in positions else value)
        elif parameter.default is parameter.empty:
            raise ArgumentError(
                f"the argument {parameter.name} has no value; add --at {parameter.name}=…, or --shape "
                f"'{parameter.name}=…' for every argument ('' is a number)."
            )
        else:
            break
    return made


def _named(given: Sequence[str], names: Sequence[str], flag: str) -> list[tuple[str, str]]:
    pairs = []
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or name not in names:
            raise ArgumentError(f"{flag} {text}: write NAME=… with one of {', '.join(names) or 'no names'}.")
        pairs.append((name, value))
    return pairs


def _value(name: str, text: str) -> Any:
    """JSON, arrays for lists; or what a .npy file holds."""
    if text.startswith("@"):
        try:
            return np.load(text[1:], allow_pickle=False)
        except ValueError as error:
            raise ArgumentError(f"--at {name}={text}: {error}") from None
    try:
        value = json.loads(text)
    except ValueError:
        raise ArgumentError(
            f"--at {name}={text} is no JSON; write numbers and lists, such as 0.5 or [[1, 2]]."
        ) from None
    try:
        array = np.array(value) if isinstance(value, list) else value
    except ValueError:
        raise ArgumentError(
            f"--at {name}={text}: the rows differ in length; an array needs rows of one length."
        ) from None
    if isinstance(array, np.ndarray) and array.dtype.kind not in "bif":
        raise ArgumentError(f"--at {name}={text} is no array of numbers.")
    return array


def _floating(value: Any) -> Any:
    """A whole number as a float: what is differentiated by."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "i":
        return value.astype(float)
    return float(value) if type(value) is int else value
