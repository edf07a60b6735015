"""The magics: thin shells over ``derivative_of`` and ``show``."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable
from typing import Any

from IPython.core.magic import Magics, cell_magic, line_magic, magics_class, no_var_expand
from IPython.display import display

from symgrad.errors import ArgumentError
from symgrad.flags.registry import FLAGS, derivative, is_given, shown_by
from symgrad.transforms.derived import DerivedFunction

from . import errors, options
from .cell import defined_function, expression_function, first_statement
from .display import reported, show
from .examples import argument_values, example_arguments, given_names, named_function, named_value


@magics_class
class SymgradMagics(Magics, options.Options):
    """The magics that ``%load_ext symgrad`` registers."""

    @options.documented("%%grad")
    @no_var_expand
    @cell_magic("grad")
    def grad_cell(self, line: str, cell: str) -> None:
        """Run the cell, differentiate the function, Cell or expression it ends with, show both, bind the derivative.

        Examples:

            %%grad --wrt x
            def f(x, y):
                return np.sum(np.sin(x) * y)

        shows f, its gradient and their shapes, and makes ``grad_f(x, y)``.

            %%grad --wrt x --hessian --name H
            np.exp(-x @ x) * y

        takes the variables x and y of the notebook, and makes ``H(x, y)``.
        """
        __tracebackhide__ = True
        with self._short_errors():
            flags = options.parsed("%%grad", line)
            if flags["help"]:
                print(options.help_of("%%grad"))
                return
            # the line of the magic itself counts, so that line numbers are those of the cell on the screen
            tree, filename = self._parsed("\n" + self._shell.transform_cell(cell))
        wanted = given_names(flags["wrt"], flags["at"])
        found, before = self._run(tree, filename, wanted)
        with self._short_errors():
            if found is None:
                raise ArgumentError(
                    "the cell defines no function and no Cell, and does not end with an expression; write "
                    "`def f(x): …` in it."
                )
            name, function = found
            asked = self._derived(flags, function)
            by, along = getattr(asked, "positions", None) or (), getattr(asked, "takes_v", False)
            values, assumed = example_arguments(function, flags["at"], before, by, along)
            self._show(flags, name, function, values, _stand_in(assumed))

    @options.documented("%grad")
    @no_var_expand
    @line_magic("grad")
    def grad_line(self, line: str) -> None:
        """Differentiate a function of the notebook at these arguments, show both, bind the derivative.

        Example:

            %grad --wrt y f x 2.0

        shows f and its gradient by y at the variable x and 2.0, and makes ``grad_f(x, y)``.
        """
        __tracebackhide__ = True
        with self._short_errors():
            flags = options.parsed("%grad", line)
            if flags["help"]:
                print(options.help_of("%grad"))
                return
            if not flags["call"]:
                raise ArgumentError("name a function and its arguments: %grad f x y.")
            name, *texts = flags["call"]
            function = named_function(name, self._shell.user_ns)
            if function is None:
                raise ArgumentError(f"{name!r} is no function of the notebook; define it, or use %%grad above a cell.")
            by = getattr(self._derived(flags, function), "positions", None) or ()
            values = argument_values(function, texts, self._shell.user_ns, by)
            self._show(flags, name.rpartition(".")[2], function, values, "")

    @no_var_expand
    @line_magic("symgrad")
    def symgrad_line(self, line: str) -> None:
        """Show the options, or set them: ``%symgrad backend=numpy fold=2000``; ``%symgrad debug`` turns a switch on.

        ``%symgrad --reset`` puts them back, ``%symgrad --traceback`` shows the whole traceback of the latest error of
        ``%%grad`` or ``%grad``.
        """
        __tracebackhide__ = True
        with self._short_errors():
            words = line.split()
            if words in (["-h"], ["--help"]):
                print(SymgradMagics.symgrad_line.__doc__)
            elif words == ["--traceback"]:
                print(errors.whole_traceback(self._latest_error))
            elif words == ["--reset"]:
                self.reset_options()
            elif words:
                for word in words:
                    self.set_option(word)
            else:
                print(self.option_table())

    _latest_error: BaseException | None = None

    @property
    def _shell(self) -> Any:
        return self.shell

    def _short_errors(self) -> contextlib.AbstractContextManager[None]:
        def keep(error: BaseException) -> None:
            self._latest_error = error

        return errors.shortening(self._shell, keep)

    def _parsed(self, source: str) -> tuple[ast.Module, str]:
        """The cell as IPython would read it, and the name of its code."""
        shell = self._shell
        # the count in the shell is that of this cell or of the next, by IPython's version; the prompt's is this one's
        name = shell.compile.cache(source, shell.displayhook.prompt_count)
        tree = shell.transform_ast(shell.compile.ast_parse(source, filename=name))
        compile(tree, name, "exec")  # what parses may still be no program, such as a return outside of a function
        return tree, name

    def _run(
        self, tree: ast.Module, filename: str, wanted: list[str]
    ) -> tuple[tuple[str, Callable] | None, dict[str, Any]]:
        """Run the cell in the notebook's namespace as IPython would; gives what it says to differentiate.

        With it come the variables that are examples: those of an expression are as they were before what it needs ran.
        """
        __tracebackhide__ = True
        shell = self._shell
        last = tree.body[-1:] if tree.body and isinstance(tree.body[-1], ast.Expr) else []
        silent = tree.body[: len(tree.body) - len(last)]
        first = first_statement(silent, wanted)
        self._execute(silent[:first], filename)
        before = dict(shell.user_ns)
        self._execute(silent[first:], filename)
        with self._short_errors():
            found = defined_function(tree, shell.user_ns)
            if found is None and last:
                return expression_function(tree.body[first:], before, shell.user_ns, filename, wanted), before
        with shell.builtin_trap:  # IPython shows the last expression of a cell
            exec(shell.compile(ast.Interactive(last), filename, "single"), shell.user_global_ns, shell.user_ns)
        return found, shell.user_ns

    def _execute(self, statements: list[ast.stmt], filename: str) -> None:
        __tracebackhide__ = True
        shell = self._shell
        with shell.builtin_trap:
            exec(shell.compile(ast.Module(statements, []), filename, "exec"), shell.user_global_ns, shell.user_ns)

    def _derived(
        self, flags: dict[str, Any], function: Callable, at: tuple[list[Any], dict[str, Any]] | None = None
    ) -> DerivedFunction:
        for name in self.option_names():  # which stand for flags that are not written
            if name in flags and not is_given(flags[name]):
                flags[name] = getattr(self, name)
        return derivative(function, flags, at)

    def _show(self, flags: dict[str, Any], name: str, function: Callable, values: list[Any], note: str) -> None:
        """Show the derivative as the flags say, and bind it."""
        derived = self._derived(flags, function, (values, {}))
        bound = options.checked_name(flags["name"] or f"{derived.verb}_{name}")
        sens = {} if flags["sens"] is None else {"sens": named_value(flags["sens"], self._shell.user_ns)}
        with reported(self.progress):
            if any(FLAGS[name].reads_lines and is_given(value) for name, value in flags.items() if name in FLAGS):
                derived._recorded(tuple(values), sens)  # all else is read from this trace too
            if flags["quiet"]:
                derived.result_shapes(*values, **sens)  # what is wrong is said now, not at the first call
            else:
                show(derived, *values, name=bound, note=note, budget=self.budget, fold=self.fold, **sens)
            shown = shown_by(derived, tuple(values), sens, flags)
        self._shell.user_ns[bound] = derived
        for thing in shown:
            display(thing)


def _stand_in(assumed: list[str]) -> str:
    """What to say of arguments for which no value was found."""
    if not assumed:
        return ""
    return f'no value for {", ".join(assumed)} was found, so ones stand in; give --at "{assumed[0]}=…"'
