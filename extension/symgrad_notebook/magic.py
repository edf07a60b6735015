"""The ``%%grad`` cell magic: a thin shell over ``gradient_of`` and ``show``."""

from __future__ import annotations

import argparse
import ast
import keyword
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

from symgrad.errors import ArgumentError

from .cell import defined_function
from .display import show
from .errors import GradCellError, shortened, syntax_error
from .examples import example_arguments, named_value
from .gradient import gradient_of


@magics_class
class SymgradMagics(Magics):
    """The magics that ``%load_ext symgrad`` registers."""

    @magic_arguments()
    @argument("--wrt", help="arguments or parameters to differentiate by, with commas: --wrt x,y (default: the first)")
    @argument("--position", help="the same by position, from 0: --position 0,1")
    @argument("--sens", help="the cotangent of the output: a variable or a literal; without it, of the summed output")
    @argument("--mode", choices=("forward", "reverse"), default="reverse", help="the sweep; the same numbers")
    @argument(
        "--at",
        help="example arguments, literals (numbers are read as floats) or variables: --at 'x=[1, 2], y=name'. "
        "Default: the argument's default, else the variable of the same name, else 1.0",
    )
    @argument("--name", help="what to call the gradient function (default: grad_<function>)")
    @argument("-h", "--help", action="store_true", help="show this help")
    @no_var_expand
    @cell_magic("grad")
    def grad(self, line: str, cell: str) -> None:
        """Run the cell, differentiate the last function or Cell it defines, show both and bind the gradient.

        Example:

            %%grad --wrt x
            def f(x, y):
                return np.sum(np.sin(x) * y)

        shows f, its gradient and their shapes, and makes ``grad_f(x, y)``.
        """
        __tracebackhide__ = True
        shell: Any = self.shell
        options = self._options(line)
        if options.help:
            print(str(SymgradMagics.grad.__doc__).replace("%grad [", "%%grad [", 1))
            return
        # the line of the magic itself counts, so that line numbers are those of the cell on the screen
        source = "\n" + shell.transform_cell(cell)
        self._run(source)
        assumed: list[str] = []
        try:
            self._differentiate(options, source, assumed)
        except Exception as error:
            raise shortened(error, shell, _stand_in(assumed)) from error

    def _options(self, line: str) -> argparse.Namespace:
        try:
            options = parse_argstring(self.grad, line.rstrip().rstrip(";"))
        except (UsageError, ValueError) as error:  # ValueError: a quotation mark that is not closed
            raise GradCellError(f"%%grad: {error}; see %%grad? for the options.") from None
        for name, value in vars(options).items():
            setattr(options, name, _unquoted(value))
        return options

    def _run(self, source: str) -> None:
        """Run the cell in the notebook's namespace as IPython would, and display its last expression."""
        __tracebackhide__ = True
        shell: Any = self.shell
        # the count in the shell is that of this cell or of the next, by IPython's version; the prompt's is this one's
        name = shell.compile.cache(source, shell.displayhook.prompt_count)
        try:
            tree = shell.transform_ast(shell.compile.ast_parse(source, filename=name))
            shown = tree.body[-1:] if tree.body and isinstance(tree.body[-1], ast.Expr) else []
            silent = ast.Module(tree.body[: len(tree.body) - len(shown)], tree.type_ignores)
            codes = [shell.compile(silent, name, "exec"), shell.compile(ast.Interactive(shown), name, "single")]
        except SyntaxError as error:
            raise syntax_error(error, shell) from None
        with shell.builtin_trap:
            for code in codes:
                exec(code, shell.user_global_ns, shell.user_ns)

    def _differentiate(self, options: argparse.Namespace, source: str, assumed: list[str]) -> None:
        """Show the gradient and bind it; ``assumed`` learns the arguments that had no value."""
        namespace = self.shell.user_ns  # type: ignore[union-attr]
        name, function = defined_function(source, namespace)
        bound = f"grad_{name}" if options.name is None else options.name
        if not bound.isidentifier() or keyword.iskeyword(bound):
            raise ArgumentError(f"--name {bound!r} is not a Python name.")
        gradient = gradient_of(
            function,
            options.wrt,
            position=options.position,
            takes_sens=options.sens is not None,
            mode=options.mode,
        )
        sens = {} if options.sens is None else {"sens": named_value(options.sens, namespace)}
        values, unknown = example_arguments(function, options.at, namespace, gradient.positions or ())
        assumed += unknown
        show(gradient, *values, name=bound, note=_stand_in(assumed), **sens)
        namespace[bound] = gradient


def _stand_in(assumed: list[str]) -> str:
    """What to say of arguments for which no value was found."""
    if not assumed:
        return ""
    return f'no value for {", ".join(assumed)} was found, so 1.0 stands in; give --at "{assumed[0]}=…"'


def _unquoted(value: Any) -> Any:
    """An option without the quotes that IPython leaves around it."""
    if isinstance(value, str) and len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    return value
