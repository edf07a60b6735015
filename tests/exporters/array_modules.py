"""What the tests of the formats python, numexpr, jax and torch share: modules in this process, or alone in another."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import CASES
from operands import draw

import symgrad as sg
from symgrad.exporters import export, python_source
from symgrad.exporters.check import Wanted, agrees
from symgrad.exporters.subject import Subject
from symgrad.kernels.kernel import lower
from symgrad.primitives import special  # noqa: F401  declares its templates
from symgrad.primitives.elementwise import TEMPLATES
from symgrad.primitives.functions import DOMAINS
from symgrad.tracing.declare import CASES as FUNCTION_CASES
from symgrad.tracing.declare import Given as Held
from symgrad.tracing.tree import flatten
from symgrad.transforms.subjects import subject_of

#: runs modules where there is no symgrad: each as a program, then its function on arrays
_RUNNER = """
import importlib.abc, json, runpy, sys, contextlib, io, warnings
warnings.simplefilter("error")

class Blocked(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("symgrad", "sympy", "symgrad_notebook"):
            raise ImportError(name + " is not there")

sys.meta_path.insert(0, Blocked())
import numpy as np
{prepare}
said = {}
made = {}
for name, (function, paths, runs) in json.load(open("modules.json")).items():
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            runpy.run_path(name + ".py", run_name="__main__")
    except SystemExit as end:
        said[name] = [end.code, out.getvalue()]
    call = around(runpy.run_path(name + ".py")[function])
    arrays = np.load(name + ".npz")
    for k, weak in enumerate(runs):
        result = call(*[float(arrays[f"a{k}_{i}"]) if w else convert(arrays[f"a{k}_{i}"]) for i, w in enumerate(weak)])
        for i, path in enumerate(paths):
            made[f"{name}-{k}-{i}"] = back(eval(path, {"result": result}))
json.dump(said, open("said.json", "w"))
np.savez("made.npz", **made)
"""
PREPARE = {
    "numpy": "convert = back = np.asarray; around = lambda f: f",
    "jax": """
import jax, jax.numpy as jnp
jax.config.update("jax_enable_x64", True)
jax.config.update("jax_compilation_cache_dir", ".")  # the check and the runs compile the same
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
convert, back, around = jnp.asarray, np.asarray, jax.jit
""",
    "torch": """
import torch
convert, back, around = torch.from_numpy, lambda t: t.detach().numpy(), lambda f: f
""",
}


def run_alone(format: str, library: str, folder: Path) -> None:
    """Export every case, run the modules in a process without symgrad, and compare with the kernel."""
    modules, wanted = {}, {}
    for name, case in CASES.items():
        subject = case.subject()
        (folder / f"{name}.py").write_text(export(subject, format), encoding="utf-8")
        runs = [case.args, *case.others]
        inputs = [case.inputs(args) for args in runs]
        np.savez(folder / f"{name}.npz", **{f"a{k}_{i}": a for k, own in enumerate(inputs) for i, a in enumerate(own)})
        weak = [bool(n.weak) for n in subject.program.inputs]
        modules[name] = [subject.name, python_source.paths(subject, "result"), [weak] * len(runs)]
        for k, args in enumerate(runs):
            wanted |= {f"{name}-{k}-{i}": w for i, w in enumerate(case.expected(args))}
    (folder / "modules.json").write_text(json.dumps(modules))
    code = _RUNNER.replace("{prepare}", PREPARE[library])
    subprocess.run([sys.executable, "-I", "-c", code], cwd=folder, check=True, timeout=300)
    said = json.loads((folder / "said.json").read_text())
    assert said.keys() == CASES.keys()
    for code, text in said.values():
        assert code == 0, text
        assert ": pass (largest difference" in text
    made = np.load(folder / "made.npz")
    assert set(made.files) == wanted.keys()
    for name, want in wanted.items():
        same(made[name], want, name)


def same(got: Any, want: Any, what: Any = "") -> None:
    """Shapes and dtypes are alike, and values to the tolerance of the check."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype, (what, got.dtype, want.dtype)
    tolerance = {2: 2e-2, 4: 1e-4}.get(want.dtype.itemsize, 1e-9)
    assert agrees(got, Wanted(want.shape, want.dtype, 1, want.reshape(-1)), tolerance), (what, got, want)


def subject(derived: Any, args: tuple) -> Subject:
    """What an export is made of, without the check, which takes time."""
    return replace(subject_of(derived._readable(), args, {}, None, "auto", True), checked=lambda: "compared here")


class Exported:
    """A derivative as a module of a format, loaded into this process."""

    def __init__(self, library: Library, derived: Any, args: tuple) -> None:
        self.library = library
        self.subject = subject(derived, args)
        self.text = export(self.subject, library.format)
        self.namespace: dict[str, Any] = {"__name__": "exported"}
        exec(compile(self.text, "<exported>", "exec"), self.namespace)
        own = [f for f in self.namespace.values() if getattr(f, "__module__", "") == "exported"]
        (self.function,) = [f for f in own if not f.__name__.startswith("_")]
        self.paths = python_source.paths(self.subject, "result")

    def __call__(self, inputs: Sequence[np.ndarray], around: Callable = lambda f: f) -> list[np.ndarray]:
        """The arrays of the result, by the function or what ``around`` makes of it."""
        nodes = self.subject.program.inputs
        given = [float(a) if n.weak else self.library.convert(a) for a, n in zip(inputs, nodes, strict=True)]
        result = around(self.function)(*given)
        return [np.asarray(self.library.back(eval(path, {"result": result}))) for path in self.paths]


def called(derived: Any, args: tuple) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The arrays that an exported function takes for a call, and what the NumPy kernel gives."""
    entry, leaves = derived._readable()._compiled.served(*args)
    inputs = entry.arguments(leaves)
    with np.errstate(all="ignore"):
        wanted = [np.asarray(r) for r in lower(entry.readable, "numpy")(*inputs)]
    return [np.asarray(a) for a in inputs], wanted


@dataclass(frozen=True)
class Library:
    """A format, and how its library takes and gives arrays."""

    format: str
    convert: Callable = np.asarray
    back: Callable = np.asarray

    #: what the function is called through
    around: Callable = lambda function: function

    def compare(self, derived: Any, args: tuple, what: Any = "") -> Exported:
        """The module of a derivative gives what the kernel gives; ``what`` may say of each array what it is."""
        made = Exported(self, derived, args)
        inputs, wanted = called(derived, args)
        for k, (got, want) in enumerate(zip(made(inputs, self.around), wanted, strict=True)):
            same(got, want, what[k] if isinstance(what, list) else what)
        return made

    def compare_elementwise(self, names: Sequence[str], kinds: int | None = None) -> None:
        """Values and first derivatives of elementwise functions, in one module; then at odd values of many kinds."""
        random = np.random.default_rng(7)
        given = [_drawn(random, name) for name in names]
        functions = [TEMPLATES[name].ufunc if TEMPLATES[name].arity < 3 else np.where for name in names]
        self._compare_calls([(f, args, name) for f, args, name in zip(functions, given, names, strict=True)], True)
        for kind in range(kinds or 13):
            calls = [
                (f, made[kind], name)
                for f, name in zip(functions, names, strict=True)
                if kind < len(made := _edges(TEMPLATES[name].arity)) and _is_defined(f, made[kind], name)
            ]
            self._compare_calls(calls, False)

    def compare_functions(self, functions: Sequence[Callable], most: int | None = None) -> None:
        """Values and first derivatives of NumPy functions in one module, at the cases of their rule tests."""
        calls = []
        for function in functions:
            for case in FUNCTION_CASES[function][:most]:
                drawn = case.draw(np.random.default_rng(7))
                held = {k: a.value for k, a in enumerate(case.args) if isinstance(a, Held)}
                free = tuple(a for k, a in enumerate(drawn) if k not in held)
                call = partial(_filled, case.of_drawn(function), held, len(drawn), case.kwargs)
                calls.append((call, free, f"{function.__name__}: {case}"))
        self._compare_calls(calls, True)

    def _compare_calls(self, calls: Sequence[tuple[Callable, tuple, str]], derive: bool) -> None:
        """Functions of arguments of their own as one module, and another one for the gradient of all they give."""
        nests = [args for _, args, _ in calls]
        whats = [what for _, _, what in calls]

        def every(*nests):
            return [flatten(call(*args))[0] for (call, _, _), args in zip(calls, nests, strict=True)]

        made = sg.symbolic(every)
        counts = [len(results) for results in made(*nests)]
        self.compare(made, tuple(nests), [w for w, count in zip(whats, counts, strict=True) for _ in range(count)])
        smooth = [k for k, args in enumerate(nests) if _floats(args)]
        if derive and smooth:
            total = lambda *nests: sum(np.sum(leaf * 1.0) for own in every(*nests) for leaf in own)  # noqa: E731
            order = [what for k, what in enumerate(whats) for _ in flatten(nests[k])[0] if k in smooth]
            self.compare(sg.grad(total, tuple(smooth)), tuple(nests), order)


def _filled(call: Callable, held: dict, count: int, kwargs: dict, *args: Any) -> Any:
    left = iter(args)
    return call(*[held[k] if k in held else next(left) for k in range(count)], **kwargs)


def _floats(args: tuple) -> bool:
    leaves, _ = flatten(args)
    return bool(leaves) and all(np.asarray(a).dtype.kind == "f" for a in leaves)


def _drawn(random: np.random.Generator, name: str) -> tuple:
    """Operands of an elementwise function, of the kinds that it takes."""
    shapes = {1: [(2, 3)], 2: [(2, 3), (3,)], 3: [(2, 1), (3,), ()]}[TEMPLATES[name].arity]
    return tuple([draw(random, interval, shape) for interval, shape in zip(DOMAINS[name], shapes, strict=True)])


_ODD = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 1.5, 3.0, 7.25, -7.25, 1e-9, 1e9])
_WHOLE, _TRUTH = np.array([-7, -2, -1, 0, 1, 2, 5, 7]), np.array([True, False])


def _edges(arity: int) -> list[tuple]:
    single = _ODD.astype(np.float32)
    if arity == 1:
        return [(_ODD,), (_WHOLE,), (single,), (_TRUTH,), (_WHOLE.astype(np.int32),)]
    if arity == 2:
        pairs = [(_ODD, _ODD), (_WHOLE, _WHOLE), (single, _WHOLE), (single, single), (_TRUTH, _TRUTH), (_ODD, single)]
        made = [tuple(m.ravel() for m in np.meshgrid(*pair)) for pair in [*pairs, (_WHOLE, _TRUTH), (single, _TRUTH)]]
        return [*made, (single, 2.5), (2.0, single), (_WHOLE, 2), (_ODD, 2), (single, np.float64(2.0))]
    return [(_WHOLE > 0, _WHOLE, 0.5), (_WHOLE, single[:8], 0.5), (_TRUTH, 1.0, 2.0), (_ODD[:8] > 0, _ODD[:8], _WHOLE)]


def _is_defined(function: Callable, args: tuple, name: str) -> bool:
    """Whether NumPy has the function of these operands, and C leaves nothing of the result open."""
    try:
        with np.errstate(all="ignore"):
            function(*args)
    except (TypeError, ValueError):
        return False
    if name == "reciprocal":  # of 0 as an integer
        return np.asarray(args[0]).dtype.kind == "f"
    return True


def _mean_loss(w, X, t):
    return np.mean(np.log1p(np.exp(X @ w * t))) + np.sum((X[::-1] + X[:, ::-1]) ** 2) + np.sum(w**2)


def compare_named(library: Library, sizes: tuple[int, int]) -> None:
    """A module of named dims serves these sizes, and refuses arrays that do not fit together."""
    derived = sg.value_and_grad(sg.named(_mean_loss, w="d", X="n d"), (0, 1))
    made = Exported(library, derived, ("d", "n d", ""))
    n, d = sizes
    random = np.random.default_rng(3)
    args = random.normal(size=d), random.normal(size=(n, d)), 0.5
    inputs, wanted = called(derived, args)
    for got, want in zip(made(inputs, library.around), wanted, strict=True):
        same(got, want, sizes)
    with pytest.raises(ValueError, match=r"X has shape .*, and \(n, \d\) is expected"):
        made([args[0], np.ones((n, d + 1)), np.asarray(0.5)])
    with pytest.raises(ValueError, match=r"w has shape \(1, 1\), and \(d,\) is expected"):
        made([np.ones((1, 1)), args[1], np.asarray(0.5)])


def chunks(values: Sequence, size: int) -> list[Sequence]:
    """``values`` in pieces, each for one module."""
    return [values[k : k + size] for k in range(0, len(values), size)]


#: what is exported, by the registries
ELEMENTWISE = [name for name in TEMPLATES if name != "zeta"]  # comes in by derivatives alone
NO_ARRAYS = {np.result_type}
WHOLE_ARRAY = [f for f in FUNCTION_CASES if f not in NO_ARRAYS]


def library_of(name: str) -> Library:
    """The format with how its library takes and gives arrays."""
    if name == "torch":
        import torch

        return Library("torch", lambda a: torch.from_numpy(np.array(a)), lambda t: t.detach().numpy())
    if name == "jax":
        import jax

        return Library("jax", jax.numpy.asarray, around=jax.jit)
    return Library(name)
