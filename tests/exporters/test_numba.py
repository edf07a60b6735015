"""The exported numba modules run in a process without symgrad, check themselves, and give what the kernel gives."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import golden
import loop_programs
import numpy as np
import pytest
from cases import CASES, GOLDEN
from loop_programs import Exportable, exportable, same

import symgrad as sg
from symgrad import Parameter, nn
from symgrad.errors import UnsupportedOperation
from symgrad.exporters import python_source
from symgrad.exporters.array_module import Signature
from symgrad.exporters.numba import module

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
for name, function, paths, weak, runs in json.load(open("modules.json")):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        scope = runpy.run_path(name + ".py")
        code = scope["_check"]()
    said[name] = [code, out.getvalue()]
    arrays = np.load(name + ".npz")
    for k in range(runs):
        given = [arrays[f"a{k}_{i}"] for i in range(len(weak))]
        try:
            result = scope[function](*[a.item() if w else a for a, w in zip(given, weak)])
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
            function = Signature.of(subject).function
            modules.append([subject.stem, function, python_source.paths(subject, "result"), weak, len(runs)])
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
            same(self.made[f"{e.subject.stem}-{run}-{i}"], want, f"{e.subject.stem}[{i}]")


def test_every_operation_and_its_derivative(tmp_path):
    exports = [*loop_programs.templates(1), *loop_programs.primitives(), loop_programs.integers(np.int64)]
    exports += [loop_programs.special_values()]
    ran = Ran(tmp_path, [(e, [e.inputs]) for e in exports])
    for e in exports:
        ran.agrees(e)


def test_benchmarks(tmp_path):
    exports = loop_programs.bench()
    ran = Ran(tmp_path, [(e, [e.inputs]) for e in exports])
    for e in exports:
        ran.agrees(e)


def test_every_case_checks_itself(tmp_path):
    exports, runs = [], []
    for name, case in CASES.items():
        subject = replace(case.subject(), stem=name)
        exports.append(Exportable(subject, case.inputs(), case.expected()))
        runs.append([case.inputs(args) for args in (case.args, *case.others)])
    stray = CASES["branches"].inputs((np.array([3.0, 1.0, 2.0]),))
    runs[list(CASES).index("branches")].append(stray)
    ran = Ran(tmp_path, list(zip(exports, runs, strict=True)))
    for e, (name, case) in zip(exports, CASES.items(), strict=True):
        code, text, *errors = ran.said[name]
        assert code == 0, text
        assert ": pass (largest difference" in text
        for k, args in enumerate((case.args, *case.others)):
            ran.agrees(e, k, case.expected(args))
        assert not errors or name == "branches"
    assert ran.said["branches"][2].startswith("ValueError: the arguments take another branch")


def test_named_dims_errors_and_random_programs(tmp_path):
    turned = sg.symbolic(lambda w, X: [X.T @ X, X[::-1], np.cumsum(X, 0), X.reshape(-1), w * X, np.argsort(X, 0)])
    exports = [(exportable("turned", turned, (np.ones(3), np.ones((4, 3))), ("d", "n d")), [])]
    for d, n in ((3, 4), (1, 1), (0, 3), (3, 0)):
        draw = np.random.default_rng(d)
        exports[0][1].append([draw.normal(size=d), draw.normal(size=(n, d))])
    x, m = np.array([1.0, 2.0, 3.0]), np.eye(3)
    refused = {
        "index": (sg.symbolic(lambda a, i: a[i]), (x, np.array([0, -3])), [x, np.array([0, 3])]),
        "singular": (sg.symbolic(np.linalg.solve), (m, x), [np.ones((3, 3)), x]),
        "indefinite": (sg.symbolic(np.linalg.cholesky), (m,), [-m]),
        "exponent": (sg.symbolic(lambda i, j: i**j), (np.array([2, 3]), np.array([2, 0])), [np.array([2, 3])] * 2),
        "shape": (sg.symbolic(lambda a: a * 2), (x,), [np.ones(4)]),
    }
    refused["exponent"][2][1] = np.array([2, -1])
    for name, (derived, args, wrong) in refused.items():
        e = exportable(name, derived, args)
        exports.append((e, [e.inputs, wrong]))
    exports += [(e, [e.inputs]) for e in loop_programs.random_programs([1, 2])]
    ran = Ran(tmp_path, exports)
    turned_export, sizes = exports[0]
    for k, inputs in enumerate(sizes):
        ran.agrees(turned_export, k, loop_programs.kernel_values(turned_export.subject, inputs))
    for e, _ in exports[1:]:
        ran.agrees(e)
    kinds = {name: said[2].split(":")[0] for name, said in ran.said.items() if len(said) > 2}
    assert kinds == {
        "index": "IndexError",
        "singular": "LinAlgError",
        "indefinite": "LinAlgError",
        "exponent": "ValueError",
        "shape": "ValueError",
    }


HOSTILE = ["λ", "int", "v0", "math", "njit", "range", "a.b", "a_b", '"""', "x\n    import os", "\\input{/etc/passwd}"]
HOSTILE += ["</script>", "'); drop", "i", "np", "class", "x" * 300, "1x", "float", "min", "_loops", "{x}", "%s"]


def test_hostile_names_are_names(tmp_path):
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
    (tmp_path / "net.py").write_text(derived.export("numba", np.ones(2)), encoding="utf-8")
    env = {**os.environ, "NUMBA_OPT": "0"}
    made = subprocess.run([sys.executable, "net.py"], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    assert "pass" in made.stdout


def test_what_numba_cannot_hold_is_refused():
    with pytest.raises(UnsupportedOperation, match="float16"):
        sg.symbolic(lambda x: x * x).export("numba", np.ones(2, np.float16))


@pytest.mark.parametrize("name", GOLDEN)
def test_golden(name):
    golden.check("numba", name, CASES[name].export("numba"))
