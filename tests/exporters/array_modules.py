"""What the tests of the formats python, numexpr, jax and torch share: modules in this process, or alone in another."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import CASES
from exportables import Exportable, exportable, same, unchecked
from looping import LOOPING

import symgrad as sg
from symgrad.exporters import export, nesting
from symgrad.exporters.array_module import Signature
from symgrad.exporters.subject import Subject
from symgrad.transforms.loops import fori_loop

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
for name, (function, written, paths, runs) in json.load(open("modules.json")).items():
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            runpy.run_path(name + ".py", run_name="__main__")
    except SystemExit as end:
        said[name] = [end.code, out.getvalue()]
    call = around(runpy.run_path(name + ".py")[function])
    arrays = np.load(name + ".npz")
    for k, weak in enumerate(runs):
        given = [float(arrays[f"a{k}_{i}"]) if w else convert(arrays[f"a{k}_{i}"]) for i, w in enumerate(weak)]
        result = eval(written, {"call": call, "given": given})
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
        modules[name] = [
            subject.name,
            written_call(subject),
            nesting.paths(subject, "result"),
            [weak] * len(runs),
        ]
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


def written_call(subject: Subject) -> str:
    """The call of an exported function as Python: ``call`` with arguments made of ``given``, one an input."""
    return Signature.of(subject).call("call", [f"given[{k}]" for k in range(len(subject.program.inputs))])


class Exported:
    """A derivative as a module of a format, loaded into this process."""

    def __init__(self, library: Library, subject: Subject) -> None:
        self.library = library
        self.subject = subject
        self.text = export(self.subject, library.format)
        self.namespace: dict[str, Any] = {"__name__": "exported"}
        exec(compile(self.text, "<exported>", "exec"), self.namespace)
        own = [f for f in self.namespace.values() if getattr(f, "__module__", "") == "exported"]
        (self.function,) = [f for f in own if not f.__name__.startswith("_")]
        self.paths = nesting.paths(self.subject, "result")

    def __call__(self, inputs: Sequence[np.ndarray], around: Callable = lambda f: f) -> list[np.ndarray]:
        """The arrays of the result, by the function or what ``around`` makes of it."""
        nodes = self.subject.program.inputs
        given = [float(a) if n.weak else self.library.convert(a) for a, n in zip(inputs, nodes, strict=True)]
        result = eval(written_call(self.subject), {"call": around(self.function), "given": given})
        return [np.asarray(self.library.back(eval(path, {"result": result}))) for path in self.paths]


@dataclass(frozen=True)
class Library:
    """A format, and how its library takes and gives arrays."""

    format: str
    convert: Callable = np.asarray
    back: Callable = np.asarray

    #: what the function is called through
    around: Callable = lambda function: function

    def made(self, derived: Any, args: tuple) -> Exported:
        """The module of a derivative for these arguments or shapes."""
        return Exported(self, unchecked(derived, args))

    def compared(self, derived: Any, args: tuple) -> Exported:
        """The module of a derivative, which gives what the kernel gives."""
        return self.compare(exportable("", derived, args))

    def compare(self, exported: Exportable, what: Any = "", **options: Any) -> Exported:
        """The module of a derivative gives what the kernel gives."""
        made = Exported(self, exported.subject)
        exported.agrees(made(exported.inputs, self.around), what, **options)
        return made


def _mean_loss(w, X, t):
    return np.mean(np.log1p(np.exp(X @ w * t))) + np.sum((X[::-1] + X[:, ::-1]) ** 2) + np.sum(w**2)


def compare_named(library: Library, sizes: tuple[int, int]) -> None:
    """A module of named dims serves these sizes, and refuses arrays that do not fit together."""
    n, d = sizes
    random = np.random.default_rng(3)
    args = random.normal(size=d), random.normal(size=(n, d)), 0.5
    derived = sg.value_and_grad(sg.named(_mean_loss, w="d", X="n d"), (0, 1))
    made = library.compare(exportable("named", derived, args, ("d", "n d", "")))
    with pytest.raises(ValueError, match=r"X has shape .*, and \(n, \d\) is expected"):
        made([args[0], np.ones((n, d + 1)), np.asarray(0.5)])
    with pytest.raises(ValueError, match=r"w has shape \(1, 1\), and \(d,\) is expected"):
        made([np.ones((1, 1)), args[1], np.asarray(0.5)])


def compare_loop(library: Library, name: str, which: str, *signs: str) -> None:
    """A derivative of a function with loops, which the source writes as loops: one of these ``signs`` is in it."""
    case = LOOPING[name]
    made = library.compared(case.derivatives()[which], case.arguments)
    assert name in ("never", "once", "places") or any(sign in made.text for sign in signs)


def compare_loop_of_named_size(library: Library) -> None:
    """A derivative of a loop that carries an array of a named size."""

    def decay(x):
        return fori_loop(0, 3, lambda i, c: np.tanh(c) + 0.5 * c, x)

    x = np.linspace(-1, 1, 5)
    made = library.made(sg.jacobian(decay), ("n",))
    same(made([x])[0], sg.jacobian(decay)(x))


def compare_names_of_loops(library: Library) -> None:
    """A derivative by arguments that are called as what the source of a loop names."""

    def f(t, carry, step, x0, v0, elements):
        return fori_loop(0, 3, lambda i, c: np.sin(c) * t + carry * step, x0 * v0)

    args = (0.3, 0.4, 1.2, np.array([1.0, 2.0]), 0.9, 2.0)
    library.compared(sg.jacobian(f, tuple(range(5))), args)


def library_of(name: str) -> Library:
    """The format with how its library takes and gives arrays."""
    if name == "torch":
        import torch

        return Library("torch", lambda a: torch.from_numpy(np.array(a)), lambda t: t.detach().numpy())
    if name == "jax":
        import jax

        return Library("jax", jax.numpy.asarray, around=jax.jit)
    return Library(name)
