"""Calls of libraries that traced values are handed to: who was called, and what to write instead.

A library that computes with plain arrays asks a traced value for one, or stumbles over it, somewhere deep inside. What
helps is the name of what the user called, so it is read from their own line: Python keeps where in the source each
instruction stands.
"""

from __future__ import annotations

import ast
import builtins
import linecache
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice, takewhile
from types import CodeType, FrameType, ModuleType, TracebackType
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ..errors import (
    CONTRACT,
    ArgumentTypeError,
    DtypeError,
    SymgradError,
    TracingError,
    UnsupportedOperation,
    at_user_line,
    is_library,
    refusals,
    typed,
    user_frame,
)
from .trace import Trace, current, is_traced

#: the beginning of a name -> what to write instead; the longest that fits is said
_ADVICE = {
    "numba": "Call the Python function that numba compiles (its py_func)",
    "numpy.ma": "Write np.where(mask, 0.0, x * data) with mask = np.ma.getmaskarray(m) and data = m.filled(1.0)",
    "numpy.matrix": "Write it with np.asarray(m), and with @ for the * of a matrix",
    "numpy.polynomial": "Write it as sums of products, or with np.polyval",
    "numpy.random": "Draw standard numbers of a fixed shape, then scale and shift them",
    "numpy.vectorize": "Write it with NumPy functions of whole arrays, and np.where for choices between values",
    "scipy.fft": "Take the transforms of np.fft, which have rules",
    "scipy.integrate": "Take solve_ivp, odeint or quad, which have rules, or write the quadrature with NumPy",
    "scipy.optimize": "Take root, fsolve, minimize or least_squares, which have rules",
    "scipy.signal.convolve": "Write np.convolve",
    "scipy.sparse": "Write it with @, multiply, sums, parts and blocks of sparse matrices, or with a dense array",
    "scipy.sparse.linalg": "Take spsolve, splu, factorized or cg, which have rules, or np.linalg of A.toarray()",
    "scipy.stats": "Write its formula with NumPy and the ufuncs of scipy.special that have a rule",
}
#: how NumPy makes plain arrays, which is no computation
_CONVERSIONS = (
    *("array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "asarray_chkfinite", "fromiter"),
    *("ndarray", "lib"),
)
#: modules that stand between a function whose calls are followed and what it calls
HOOKS = (*(f"symgrad.tracing.{m}" for m in ("calls", "computed", "vectorizing")),)
#: packages whose functions are part of the language
_LANGUAGE = ("builtins", "math", "cmath", "symgrad")


class Step(NamedTuple):
    """A frame, and the instruction and the line where it is."""

    frame: FrameType
    instruction: int
    line: int

    @classmethod
    def of(cls, frame: FrameType) -> Step:
        """Where ``frame``, which runs, is."""
        return cls(frame, frame.f_lasti, frame.f_lineno)

    @property
    def file(self) -> str:
        """Where the code is."""
        return self.frame.f_code.co_filename

    @property
    def is_own(self) -> bool:
        """True for code of symgrad; NumPy's is a library here."""
        return str(self.frame.f_globals.get("__name__", "")).partition(".")[0] == "symgrad"

    @property
    def is_hook(self) -> bool:
        """True for what takes the calls of a function in hand."""
        return self.frame.f_globals.get("__name__") in HOOKS

    @property
    def is_named(self) -> bool:
        """False for a function inside of another."""
        return "<locals>" not in self.frame.f_code.co_qualname

    @property
    def name(self) -> str:
        """What the function is called by those who use it; of one inside of another its package alone."""
        module, code = str(self.frame.f_globals.get("__name__", "")), self.frame.f_code
        if not self.is_named:
            return _public(module)
        if code.co_varnames[:1] == ("self",):  # of the class that inherits it
            kind = type(self.frame.f_locals["self"])
            return _public(kind.__module__, f"{kind.__qualname__}.{code.co_name}")
        return _public(module, code.co_qualname)


def asks_to_follow(error: Exception) -> bool:
    """Whether a function that has raised this gets further where its calls are followed."""
    if isinstance(error, (ArgumentTypeError, DtypeError)):
        return False
    return isinstance(error, (TracingError, TypeError)) or _OF_NUMPY.match(str(error)) is not None


def refuse_without_source(error: Exception, codes: Collection[CodeType]) -> None:
    """An UnsupportedOperation where code of these, whose calls could not be followed, has raised the error."""
    code = next((step.frame.f_code for step in _steps(error.__traceback__) if step.frame.f_code in codes), None)
    if code is None:
        return
    what, _, where = str(error).partition("\n  at ")
    raise UnsupportedOperation(_unread(what, code) + (f"\n  at {where}" if where else "")) from error


def refuse_unread(what: str, code: CodeType) -> NoReturn:
    """An UnsupportedOperation of code whose calls cannot be followed, for ``what`` it does."""
    raise UnsupportedOperation.here(_unread(what, code))


def _unread(what: str, code: CodeType) -> str:
    return (
        f"{what} The calls in {code.co_name} are followed by its source, which it has not: define it in a file or "
        f"cell. {CONTRACT}"
    )


def note_refused(function: Any, error: Exception) -> None:
    """Note as refused what a function that knows no traced values raises of one: the user's code may catch it."""
    if not isinstance(error, SymgradError):
        refusals.latest = UnsupportedOperation.here(
            f"{called_by(function)} has no derivative rule in symgrad: {error}."
        )


def refuse_in_pandas() -> None:
    """An error where pandas is who asks a traced value what it is: it would keep the value as an array of its own."""
    if sys._getframe(2).f_globals.get("__name__", "").startswith("pandas."):
        raise TracingError.here(
            "a traced value is put into a DataFrame or a Series that is known. Write into one that the function has "
            "made and has a name for, df = df.copy() and df[…] = …, or take its values: df[…].to_numpy()."
        )


def refuse_library_call(rules: Mapping[Callable, Any], asked: Callable | None = None) -> None:
    """An UnsupportedOperation where the user's line has called a library that led here.

    ``rules`` are NumPy's functions that have one, ``asked`` is the one that was asked for.
    """
    frame, inside = sys._getframe(1), []
    users = user_frame()
    while frame is not users and frame is not None:
        inside.insert(0, Step.of(frame))
        frame = frame.f_back
    inside = [step for step in inside if not step.is_hook]
    if frame is None or is_library(frame.f_code.co_filename) or (asked is not None and inside and inside[0].is_own):
        return
    at = Step.of(frame)
    name = called(at, inside)
    if name is not None:
        error = UnsupportedOperation(without_rule(name, at, inside, rules))
        trace = current()
        if trace is not None:
            trace.refusal = at, error
        raise error


def without_rule(name: str, at: Step, inside: list[Step], rules: Mapping[Callable, Any]) -> str:
    """That what is called ``name`` computes with plain arrays, and the way out."""
    library, _, own = name.rpartition(".")
    names = (_library(inside), name)
    fitting = [_ADVICE[b] for b in sorted(_ADVICE) for n in names if f"{n}.".startswith(f"{b}.")]
    advice = fitting[-1] if fitting else "Write it with NumPy functions that have a rule"
    if library == "scipy.linalg" and getattr(np.linalg, own, None) in rules:
        advice = f"Write np.linalg.{own}, which has one"
    return at_user_line(
        f"{name} has no derivative rule in symgrad: it computes with plain arrays, and the derivative of a traced "
        f"value would be lost. {advice}, compute it outside the differentiated function and pass it in, or "
        f"{declared(name)}.",
        (at.file, at.line),
    )


def called_by(function: Any) -> str:
    """The name by which users call a function of a library."""
    return _public(
        getattr(function, "__module__", None) or "", getattr(function, "__qualname__", type(function).__name__)
    )


def is_users(error: Exception) -> bool:
    """Whether an error was raised in code of the user's, which a library has called."""
    return any(not is_library(step.file) for step in _steps(error.__traceback__))


@contextmanager
def said_of(function: Any) -> Iterator[None]:
    """Inside, where the code of a library is followed, what is refused is said of its ``function``, called by users."""
    try:
        yield
    except TracingError as error:
        what, _, where = str(error).partition("\n")
        name = called_by(function)
        if name in what or not at_user_line("").endswith(where):
            raise
        raise UnsupportedOperation.here(
            f"{name} has no derivative rule in symgrad for these arguments: inside of it {what} Else compute it "
            f"outside the differentiated function and pass it in, or {declared(name)}."
        ) from error


def declared(name: str) -> str:
    """How a function is given a derivative."""
    return f"say what its derivative is: symgrad.custom({name}, vjp=…)"


def called(at: Step, inside: list[Step]) -> str | None:
    """The library function that the user's line ``at`` calls; None where the line itself makes a plain array.

    ``inside`` is where the line has led to, step by step: to symgrad at once through a function that is written in C.
    """
    name, library = _callee(at), _library(inside)
    if library and (name is None or (name.startswith("numpy.") and not library.startswith("numpy"))):
        name = library
    top, _, rest = (name or "").partition(".")
    if top in _LANGUAGE or (top == "numpy" and rest.startswith(_CONVERSIONS)):
        return None
    return name if library or top in sys.modules else None


def _library(inside: list[Step]) -> str:
    """The name of the outermost function of a library; a decorator's is that of what it decorates."""
    steps = list(takewhile(lambda step: not step.is_own, inside))
    return next((step.name for step in steps if step.is_named), steps[0].name if steps else "")


#: what NumPy says where a traced value is put into an array of numbers
_OF_NUMPY = re.compile(r"Error setting single item|setting an array element|object __array__ method not producing")
#: what a library raises that stumbles over a traced value; others are its own
_STUMBLES = (TypeError, AttributeError, NotImplementedError, SystemError)


def refuse_untyped(error: Exception, trace: Trace) -> None:
    """Raise the error that stands behind or in place of ``error``, which has left the traced function.

    Nothing is raised where ``error`` is one of symgrad's, which gets the user's line where it has none, the user's own,
    or NumPy's about plain arrays.
    """
    steps = [step for step in _steps(error.__traceback__) if not step.is_hook]
    users = [k for k, step in enumerate(steps) if not is_library(step.file)]
    at = steps[users[-1]] if users else None
    if isinstance(error, SymgradError):
        if at is not None and len(error.args) == 1 and "\n  at " not in str(error):
            error.args = (at_user_line(str(error), (at.file, at.line)),)
        return
    inside = steps[users[-1] + 1 :] if users else steps
    behind = next((e for e in _causes(error) if isinstance(e, TracingError)), None)
    if behind is not None and (inside or type(error) in (ValueError, SystemError)):  # else raised by the user from it
        raise behind from None
    if trace.refusal is not None and at is not None and trace.refusal[0][:2] == at[:2]:  # code in C went on after it
        raise trace.refusal[1] from None
    where = None if at is None else (at.file, at.line)
    if not inside:
        if at is not None and type(error).__module__ == "ctypes":  # of an argument that C cannot be given
            raise UnsupportedOperation(without_rule(_callee(at) or "a function of C", at, inside, {})) from error
        text = re.sub(r"'?\bSparseTracer\b'?", "a sparse matrix", str(error))
        text = re.sub(r"'?\bTracer\b'?", "a traced value", text)
        if type(error) is TypeError and text != str(error) and trace.follow is not None:  # else it is tried again
            raise ArgumentTypeError.here(text, where) from None
    elif inside[0].is_own:
        instead = typed(error, where=where)
        if instead is not None:
            raise instead from error
    elif at is not None and _is_stumble(type(error)) and any(map(_holds_traced, inside)):
        raise UnsupportedOperation(without_rule(called(at, inside) or _library(inside), at, inside, {})) from error


def _is_stumble(kind: type) -> bool:
    return kind in _STUMBLES or kind.__module__.startswith("xarray.")


def _steps(trace: TracebackType | None) -> Iterator[Step]:
    while trace is not None:
        yield Step(trace.tb_frame, trace.tb_lasti, trace.tb_lineno)
        trace = trace.tb_next


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """What ``error`` was raised from, or while it was handled, and so on."""
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        error = error.__cause__ or error.__context__
        if error is not None:
            yield error


def _holds_traced(step: Step) -> bool:
    values = step.frame.f_locals.values()
    return any(is_traced(v) or (type(v) in (tuple, list) and any(map(is_traced, v))) for v in values)


def caching_function() -> str | None:
    """The name of the function that keeps its results which the user's line calls; None where it calls none."""
    frame = user_frame()
    found = None if frame is None else _looked_up(Step.of(frame))
    return found[1] if found is not None and not found[2] and hasattr(found[0], "cache_info") else None


def _callee(at: Step) -> str | None:
    """The name of what an instruction calls; None for an operator, or where the source is not at hand."""
    found = _looked_up(at)
    if found is None:
        return None
    value, path, attributes, is_plain = found
    if is_plain and hasattr(value, "__qualname__"):
        path = _named(value, path)
    elif is_plain and value is not None:
        path = _named(type(value), path)
    return ".".join([path, *reversed(attributes)])


def _looked_up(at: Step) -> tuple[Any, str, list[str], bool] | None:
    """What the name of what an instruction calls leads to, through modules; its path, and the attributes left.

    The last says whether it is the name of no module.
    """
    call = _expression(at)
    if not isinstance(call, ast.Call):
        return None
    attributes, root = [], call.func
    while isinstance(root, ast.Attribute):
        attributes.append(root.attr)
        root = root.value
    if not isinstance(root, ast.Name):
        return None
    names = (at.frame.f_locals, at.frame.f_globals, vars(builtins))
    value = next((space[root.id] for space in names if root.id in space), None)
    path = root.id
    while isinstance(value, ModuleType) and attributes:
        path = f"{value.__name__}.{attributes[-1]}"
        value = getattr(value, attributes.pop(), None)
    return value, path, attributes, path == root.id


def _named(value: Any, otherwise: str) -> str:
    """A function or a class by its public name, where it belongs to a library."""
    name, module = value.__qualname__, getattr(value, "__module__", None) or ""
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    return _public(module, name) if is_library(file) and "<locals>" not in name else otherwise


def _public(module: str, name: str = "") -> str:
    """The name in the outermost package that has it, or the public part of the module's."""
    parts = module.split(".")
    head = name.partition(".")[0]
    for k in range(1, len(parts) + 1):
        if head and hasattr(sys.modules.get(".".join(parts[:k])), head):
            return ".".join([*parts[:k], name])
    private = next((k for k, part in enumerate(parts) if part.startswith("_")), len(parts))
    return ".".join([*parts[:private], *([name] if name else [])])


def _expression(at: Step) -> ast.expr | None:
    """The source of an instruction."""
    place = next(islice(at.frame.f_code.co_positions(), at.instruction // 2, None), (None,) * 4)
    first, last, start, stop = place
    if first is None or last is None or start is None or stop is None:
        return None
    lines = [linecache.getline(at.file, n).encode() for n in range(first, last + 1)]
    lines[-1] = lines[-1][:stop]
    lines[0] = lines[0][start:]
    try:
        return ast.parse(b"(" + b"".join(lines) + b")", mode="eval").body
    except SyntaxError:
        return None
