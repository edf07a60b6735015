"""The exported numba modules run in a process without symgrad, check themselves, and give what the kernel gives."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import exportables
import golden
import loop_programs
import numpy as np
import pytest
from array_modules import written_call
from cases import CASES, GOLDEN
from exportables import Exportable, exportable, kernel_values, same

import symgrad as sg
from symgrad import Parameter, nn
from symgrad.errors import UnsupportedOperation
from symgrad.exporters import nesting
from symgrad.exporters.array_module import Signature
from symgrad.exporters.numba import module
from symgrad.transforms.subjects import subject_of

if not os.environ.get("CI"):
    pytest.importorskip("numba")

#: runs modules one after the other: as programs where they check themselves, then their functions on arrays
_RUNNER = """
import contextlib, importlib.abc, io, json, runpy, sys

class Blocked(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("symgrad", "sympy"):
            raise ImportError(name + " is not there")

sys.meta_path.insert(0, Blocked())
import numpy as np

said, made = {}, {}
for name, function, written, paths, weak, runs in json.load(open("modules.json")):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        scope = runpy.run_path(name + ".py")
        code = scope["_check"]()
    said[name] = [code, out.getvalue()]
    arrays = np.load(name + ".npz")
    for k in range(runs):
        given = [arrays[f"a{k}_{i}"] for i in range(len(weak))]
        try:
            given = [a.item() if w else a for a, w in zip(given, weak)]
            result = eval(written, {"call": scope[function], "given": given})
        except Exception as error:
            said[name].append(f"{type(error).__name__}: {error}")
            continue
        for i, path in enumerate(paths):
            made[f"{name}-{k}-{i}"] = np.asarray(eval(path, {"result": result}))
json.dump(said, open("said.json", "w"))
np.savez("made.npz", **made)
"""


class Ran:
    """Exports, each with inputs for some calls, and what became of them."""

    def __init__(self, folder: Path, exports: list[tuple[Exportable, list]]) -> None:
        modules = []
        for e, runs in exports:
            subject = e.subject
            (folder / f"{subject.stem}.py").write_text(module(subject), encoding="utf-8")
            arrays = {f"a{k}_{i}": a for k, own in enumerate(runs) for i, a in enumerate(own)}
            np.savez(folder / f"{subject.stem}.npz", **arrays)
            weak = [bool(n.weak) for n in subject.program.inputs]
            function, paths = Signature.of(subject).function, nesting.paths(subject, "result")
            modules.append([subject.stem, function, written_call(subject), paths, weak, len(runs)])
        (folder / "modules.json").write_text(json.dumps(modules))
        options = {"NUMBA_OPT": "0", "NUMBA_NUM_THREADS": "1"}  # half the time goes into LLVM's optimiser
        made = subprocess.run(
            [sys.executable, "-I", "-c", _RUNNER],
            cwd=folder,
            env={**os.environ, **options},
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert made.returncode == 0, made.stderr[-4000:]
        self.said = json.loads((folder / "said.json").read_text())
        self.made = np.load(folder / "made.npz")

    def agrees(self, e: Exportable, run: int = 0, wanted=None) -> None:
        """The results of a call are the wanted ones."""
        for i, want in enumerate(e.wanted if wanted is None else wanted):
            what = f"{e.subject.stem}[{i}] {e.of[i] if e.of else ''}"
            same(self.made[f"{e.subject.stem}-{run}-{i}"], want, what)


def left_out(call):
    """LLVM takes long: it gets one broadcast of each, floats and integers of eight bytes; and no half floats."""
    if call.kind == "limits" and call.operation == "ldexp":
        return True  # it takes the lower half of an exponent
    return call.nth > 0 or call.is_composed or "float16" in call.dtypes


@dataclass(frozen=True)
class Part:
    """Exports with inputs for some calls, and what is asked of the results."""

    runs: list[tuple[Exportable, list]]
    asked: Callable[[Ran], None]


def _compared(exports: Sequence[Exportable]) -> Part:
    """Exports that give what the kernel gives."""

    def asked(ran):
        for e in exports:
            ran.agrees(e)

    return Part([(e, [e.inputs]) for e in exports], asked)


def _cases() -> Part:
    """The cases, which check themselves; one is called for another branch."""
    exports, runs = [], []
    for name, case in CASES.items():
        subject = replace(case.subject(), stem=name)
        exports.append(Exportable(subject, case.inputs(), case.expected()))
        runs.append([case.inputs(args) for args in (case.args, *case.others)])
    stray = CASES["branches"].inputs((np.array([3.0, 1.0, 2.0]),))
    runs[list(CASES).index("branches")].append(stray)

    def asked(ran):
        for e, (name, case) in zip(exports, CASES.items(), strict=True):
            code, text, *errors = ran.said[name]
            assert code == 0, text
            assert ": pass (largest difference" in text
            for k, args in enumerate((case.args, *case.others)):
                ran.agrees(e, k, case.expected(args))
            assert not errors or name == "branches"
        assert ran.said["branches"][2].startswith("ValueError: the arguments take another branch")

    return Part(list(zip(exports, runs, strict=True)), asked)


def _named_dims() -> Part:
    """One module for every size."""
    turned = sg.symbolic(lambda w, X: [X.T @ X, X[::-1], np.cumsum(X, 0), X.reshape(-1), w * X, np.argsort(X, 0)])
    e = exportable("turned", turned, (np.ones(3), np.ones((4, 3))), ("d", "n d"))
    sizes = []
    for d, n in ((3, 4), (1, 1), (0, 3), (3, 0)):
        draw = np.random.default_rng(d)
        sizes.append([draw.normal(size=d), draw.normal(size=(n, d))])

    def asked(ran):
        for k, inputs in enumerate(sizes):
            ran.agrees(e, k, kernel_values(e.subject, inputs))

    return Part([(e, sizes)], asked)


def _refusals() -> Part:
    """What goes wrong is an exception."""
    x, m = np.array([1.0, 2.0, 3.0]), np.eye(3)
    bases, exponents = np.array([2, 3]), np.array([2, 0])
    refused = {
        "index": (sg.symbolic(lambda a, i: a[i]), (x, np.array([0, -3])), [x, np.array([0, 3])], "IndexError"),
        "singular": (sg.symbolic(np.linalg.solve), (m, x), [np.ones((3, 3)), x], "LinAlgError"),
        "indefinite": (sg.symbolic(np.linalg.cholesky), (m,), [-m], "LinAlgError"),
        "exponent": (sg.symbolic(lambda i, j: i**j), (bases, exponents), [bases, exponents - 1], "ValueError"),
        "shape": (sg.symbolic(lambda a: a * 2), (x,), [np.ones(4)], "ValueError"),
    }
    exports = [exportable(name, derived, args) for name, (derived, args, _, _) in refused.items()]

    def asked(ran):
        for e, (*_, error) in zip(exports, refused.values(), strict=True):
            ran.agrees(e)
            assert ran.said[e.subject.stem][2].startswith(f"{error}: ")

    return Part([(e, [e.inputs, wrong]) for e, (_, _, wrong, _) in zip(exports, refused.values(), strict=True)], asked)


def _edges() -> Part:
    """Where NumPy and numba could differ: unsigned numbers, zero divisors, NaN among numbers and in matrices."""
    largest = np.iinfo(np.uint64).max
    pairs = [
        m.ravel() for m in np.meshgrid(np.array([0, 1, 7, largest], np.uint64), np.array([0, 3, largest], np.uint64))
    ]
    of_pairs = (np.floor_divide, np.remainder, np.fmod, np.maximum, np.add, np.multiply)
    x = np.array([3, np.nan, 1, -0.0, 0.0, np.nan, -np.inf, np.inf, 1])
    matrix = np.array([[1.0, np.nan], [2.0, 3.0]])
    exports = [
        exportable("unsigned", sg.symbolic(lambda u, v: [f(u, v) for f in of_pairs]), tuple(pairs)),
        exportable("sign", sg.symbolic(lambda u: [np.sign(u), -u, ~u, u**2]), (pairs[0],)),
        exportable("order", sg.symbolic(lambda x: [np.argsort(x, kind="stable"), np.sort(x)]), (x,)),
        exportable("search", sg.symbolic(lambda k, v: [np.searchsorted(k, v, s) for s in SIDES]), (np.sort(x), x)),
        exportable("matrix", sg.symbolic(lambda a: [np.linalg.det(a), np.linalg.inv(a)]), (matrix,)),
    ]
    return _compared(exports)


SIDES = ("left", "right")
HOSTILE = ["λ", "int", "v0", "math", "njit", "range", "a.b", "a_b", '"""', "x\n    import os", "\\input{/etc/passwd}"]
HOSTILE += ["</script>", "'); drop", "i", "np", "class", "x" * 300, "1x", "float", "min", "_loops", "{x}", "%s"]


def _hostile() -> Part:
    """Names of users are names."""

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            for k, name in enumerate(HOSTILE):
                setattr(self, f"p{k}", Parameter(np.ones(2), name=name))

        def construct(self, x):
            return sum((getattr(self, f"p{k}") * x for k in range(len(HOSTILE))), 0.0 * x)

    Net.__name__ = '"""\nimport os'
    net = Net()
    derived = sg.value_and_grad(net, None, net.trainable_params())
    made = subject_of(derived._readable(), (np.ones(2),), {}, None, "auto", True)
    e = exportable("", derived, (np.ones(2),))
    e = replace(e, subject=replace(made, stem="hostile"))

    def asked(ran):
        ran.agrees(e)
        code, text = ran.said["hostile"]
        assert code == 0
        assert "pass" in text

    return Part([(e, [e.inputs])], asked)


def test_exports_run_alone_check_themselves_and_agree_with_the_kernel(tmp_path):
    """All in one process, and so in one test: numba compiles arrays and linear algebra anew in every process."""
    operations = exportables.programs_of(("elementwise", "odd", "limits"), left_out)
    parts = [
        _compared([*operations, *loop_programs.primitives(), *exportables.bench()]),
        _compared(loop_programs.random_programs([1, 2])),
        *[_cases(), _named_dims(), _refusals(), _edges(), _hostile()],
    ]
    ran = Ran(tmp_path, [run for part in parts for run in part.runs])
    for part in parts:
        part.asked(ran)


def test_what_numba_cannot_hold_is_refused():
    with pytest.raises(UnsupportedOperation, match="float16"):
        sg.symbolic(lambda x: x * x).export("numba", np.ones(2, np.float16))


@pytest.mark.parametrize("name", GOLDEN)
def test_golden(name):
    golden.check("numba", name, CASES[name].export("numba"))
