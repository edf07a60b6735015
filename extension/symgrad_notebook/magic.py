"""The ``%%grad`` cell magic: a thin shell over ``symgrad.grad`` and ``display.show``."""

from __future__ import annotations

import argparse
from typing import Any

from IPython.core.magic import Magics, cell_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

from symgrad.errors import ArgumentError, SymgradError
from symgrad.transforms.gradient import GradientFunction

from . import cell as reading
from .display import show


class GradCellError(SymgradError):
    """An error of a ``%%grad`` cell, shown as its message alone; the cell still fails."""

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()


@magics_class
class SymgradMagics(Magics):
    """The magics that ``%load_ext symgrad`` registers."""

    @magic_arguments()
    @argument("--wrt", help="arguments or parameters to differentiate by, with commas: --wrt x,y (default: the first)")
    @argument("--sens", help="the cotangent of the output: a variable or a literal; without it, of the summed output")
    @argument("--mode", choices=("forward", "reverse"), default="reverse", help="the sweep; the same numbers")
    @argument("--at", help="""example arguments: --at "x=[1.0, 2.0], y=name" (default: variables of the same name)""")
    @argument("--name", help="what to call the gradient function (default: grad_<function>)")
    @argument("-h", "--help", action="store_true", help="show this help")
    @no_var_expand
    @cell_magic("grad")
    def grad(self, line: str, cell: str) -> None:
        """Run the cell, differentiate the function or Cell it defines, show both and bind the gradient.

        Example:

            %%grad --wrt x
            def f(x, y):
                return np.sum(np.sin(x) * y)

        shows f, its gradient and their shapes, and makes ``grad_f(x, y)``.
        """
        try:
            options = self._options(line)
        except SymgradError as error:
            raise GradCellError(str(error)) from None
        if options.help:
            print(SymgradMagics.grad.__doc__)
            return
        namespace = self.shell.user_ns  # type: ignore[union-attr]
        source = self.shell.transform_cell(cell)  # type: ignore[union-attr]
        self._run(source)
        try:
            self._show(options, source, namespace)
        except SymgradError as error:
            raise GradCellError(f"{type(error).__name__}: {error}") from None

    def _options(self, line: str) -> argparse.Namespace:
        try:
            options = parse_argstring(self.grad, line.rstrip().rstrip(";"))
        except SystemExit:
            raise ArgumentError("%%grad: the options could not be read; see %%grad -h.") from None
        except Exception as error:
            raise ArgumentError(f"%%grad: {error}") from None
        for name, value in vars(options).items():
            setattr(options, name, _unquoted(value))
        return options

    def _run(self, source: str) -> None:
        """Run the cell in the notebook's namespace, its lines known to tracebacks."""
        shell: Any = self.shell
        name = shell.compile.cache(source, shell.execution_count)
        with shell.builtin_trap:
            exec(shell.compile(source, name, "exec"), shell.user_global_ns, shell.user_ns)

    def _show(self, options: argparse.Namespace, source: str, namespace: dict[str, Any]) -> None:
        name, function = reading.defined_function(source, namespace)
        positions, weights = reading.chosen(function, options.wrt)
        gradient = GradientFunction(
            function,
            positions,
            weights,
            bare_inputs=positions is not None and len(positions) == 1,
            bare_weights=False,
            takes_sens=options.sens is not None,
            mode=options.mode,
        )
        bound = options.name or f"grad_{name}"
        if not bound.isidentifier():
            raise ArgumentError(f"%%grad: --name {bound!r} is not a Python name.")
        arguments, assumed = reading.example_arguments(function, options.at, namespace)
        if options.sens is not None:
            arguments.append(reading.named_value(options.sens, namespace))
        note = f"no value for {', '.join(assumed)}: a scalar was assumed; give --at" if assumed else ""
        show(gradient, *arguments, name=bound, note=note)
        namespace[bound] = gradient


def _unquoted(value: Any) -> Any:
    """An option without the quotes that IPython leaves around it."""
    if isinstance(value, str) and len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    return value
