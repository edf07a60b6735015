"""Pages of the site that follow from the code: derivatives beside a textbook, and the public names by role."""

from __future__ import annotations

import ast
import builtins
import doctest
import importlib
import inspect
import itertools
import pathlib
from collections.abc import Iterable, Mapping

#: the public names of symgrad by role: the title of a page, what it says, and its names
ROLES: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "derivatives": (
        "Derivatives",
        "What makes a derivative of a function. Each gives a function that takes the same arguments.",
        ("grad", "value_and_grad", "jacobian", "jacfwd", "jacrev", "hessian", "GradOperation", "get_grad"),
    ),
    "products": (
        "Products and directions",
        "Derivatives times vectors, along directions and curves, and what holds a value constant.",
        ("jvp", "vjp", "hvp", "directional", "jet", "taylor", "stop_gradient", "intermediates", "stopping"),
    ),
    "fields": ("Fields", "Derivatives of scalar and vector fields.", ("laplacian", "divergence", "curl")),
    "functions": (
        "Functions, loops and formulas",
        "What functions are traced, mapped, repeated and made with.",
        (
            *("symbolic", "trace", "vmap", "scan", "fori_loop", "while_loop", "cond", "checkpoint"),
            *("custom", "named", "Array", "from_sympy", "from_latex", "load"),
        ),
    ),
    "optimization": (
        "With scipy.optimize",
        "SciPy's functions with all derivatives filled in.",
        ("minimize", "least_squares", "root", "curve_fit"),
    ),
    "settings": (
        "Settings",
        "How functions run, what is said while they do, and whether symgrad sees all of one.",
        (
            "check",
            "set_context",
            "get_context",
            "debug",
            "progress",
            "set_auto_parallel_context",
            "get_auto_parallel_context",
            "reset_auto_parallel_context",
        ),
    ),
    "networks": (
        "Tensors and parameters",
        "What networks in the style of MindSpore are made of; `symgrad.nn` and `symgrad.ops` have the layers.",
        ("Tensor", "Parameter", "ParameterTuple"),
    ),
}
#: what a derivative offers besides being called
METHODS = (
    *("latex", "closed_form", "entry", "formulas", "steps", "agreement", "equals", "conditions", "export"),
    *("program", "kernel", "provenance", "result_shapes", "plot", "panel", "picture", "annotate"),
)
OF_JACOBIANS = ("sparsity", "explain", "contributions", "explore")
#: modules with a page of their own, whose names are all on it
MODULES = ("extend", "testing", "errors", "amp", "nn", "ops")


#: names that are not listed in an import any more
_MANY = 15
#: what examples call modules
_MODULES = {"np": "numpy", "sg": "symgrad", "symgrad": "symgrad"}


def signatures(folder: pathlib.Path) -> None:
    """A page for each role, and for each module that has one."""
    import symgrad
    from symgrad.transforms.derived import DerivedFunction
    from symgrad.transforms.jacobian import JacobianFunction

    folder.mkdir(exist_ok=True)
    names = [*ROLES, "methods", *MODULES]
    listed = "\n".join(names)
    _write(
        folder / "index.md",
        "# The interface\n\nEvery public name by what it is for; all are tested to be here.\n\n"
        f"```{{toctree}}\n{listed}\n```\n",
    )
    for role, (title, said, functions) in ROLES.items():
        entries = [_entry("autofunction" if f[0].islower() else "autoclass", f"symgrad.{f}") for f in functions]
        head = imports([getattr(symgrad, f) for f in functions])
        _write(folder / f"{role}.md", "\n".join([f"# {title}\n", f"{said}\n", head, *entries]))
    owners = {DerivedFunction: METHODS, JacobianFunction: OF_JACOBIANS}
    methods = [(owner, name) for owner, names in owners.items() for name in names]
    entries = [_entry("automethod", f"{owner.__module__}.{owner.__name__}.{name}") for owner, name in methods]
    said = "What every derivative offers besides being called: `sg.grad(f)`, `sg.hessian(f)` and so on."
    head = imports([getattr(owner, name) for owner, name in methods])
    _write(folder / "methods.md", "\n".join(["# What derivatives offer\n", f"{said}\n", head, *entries]))
    for name in MODULES:
        _write(folder / f"{name}.md", _of_module(f"symgrad.{name}"))


def _of_module(name: str) -> str:
    module = importlib.import_module(name)
    members = [m for m in getattr(module, "__all__", vars(module)) if not m.startswith("_")]
    own = [m for m in members if _is_of(getattr(module, m), name)]
    kinds = ["autoclass" if isinstance(getattr(module, m), type) else "autofunction" for m in own]
    entries = [_entry(kind, f"{name}.{m}") for kind, m in zip(kinds, own, strict=True)]
    head = f"# {name}\n\n```{{eval-rst}}\n.. automodule:: {name}\n   :no-members:\n```\n"
    return "\n".join([head, imports([module, *(getattr(module, m) for m in own)], name), *entries])


def imports(documented: Iterable[object], module: str = "symgrad") -> str:
    """The imports that the examples of a page need, as a block of code; of ``module`` before those of symgrad."""
    needed = set().union(*(unknown_names(each.docstring) for o in documented for each in _docstrings(o)))
    lines = {f"import {_MODULES[n]}" + f" as {n}" * (n != _MODULES[n]) for n in needed if n in _MODULES}
    homes = [module, "symgrad"]
    found: dict[str, list[str]] = {}
    for name in sorted(needed - _MODULES.keys()):
        home = next(h for h in homes if hasattr(importlib.import_module(h), name))
        found.setdefault(home, []).append(name)
    lines |= {f"from {h} import {', '.join(names) if len(names) < _MANY else '*'}" for h, names in found.items()}
    block = "".join(f">>> {line}\n" for line in sorted(lines))
    return f"The examples of this page begin with\n\n```python\n{block}\n```\n" if lines else ""


def _docstrings(documented: object) -> list[doctest.DocTest]:
    """The examples of an object, and of its methods."""
    return doctest.DocTestFinder(recurse=not inspect.ismodule(documented)).find(documented, "it")


def unknown_names(text: str | None) -> set[str]:
    """The names in examples that neither they nor Python define."""
    examples = doctest.DocTestParser().get_examples(text or "")
    nodes = [n for e in examples for n in ast.walk(ast.parse(e.source))]
    read = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    bound = {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    bound |= {n.name for n in nodes if isinstance(n, (ast.FunctionDef, ast.ClassDef, ast.ExceptHandler)) and n.name}
    bound |= {n.arg for n in nodes if isinstance(n, ast.arg)}
    imported = [a for n in nodes if isinstance(n, (ast.Import, ast.ImportFrom)) for a in n.names]
    bound |= {(a.asname or a.name).partition(".")[0] for a in imported}
    return read - bound - set(vars(builtins))


def _is_of(member: object, name: str) -> bool:
    """Whether a member of a module is documented there: a function or class that it does not merely import."""
    home = getattr(member, "__module__", None) or ""
    is_class = isinstance(member, type)
    wanted = is_class if name == "symgrad.errors" else is_class or inspect.isfunction(member)
    return wanted and (home == name or home.startswith(f"{name}."))


def _entry(kind: str, name: str) -> str:
    return f"```{{eval-rst}}\n.. {kind}:: {name}\n```\n"


def textbook(page: pathlib.Path) -> None:
    """The derivatives of the tests as textbooks print them, each beside what is shown here."""
    from textbook import BOOK  # tests/closed_form

    import symgrad

    lines = [
        "# Beside the textbook",
        "",
        f"{len(BOOK)} derivatives with their functions, each as `.latex(…)` shows it and as a textbook prints it. The",
        "tests check two things: that the formula has the kernel's values, and that it is about as short as the",
        "textbook's.",
    ]
    for field, group in itertools.groupby(BOOK.items(), lambda item: item[1].field):
        lines += ["", f"## {field[0].upper()}{field[1:]}", ""]
        for name, book in group:
            rows: list[str] = []
            for shown in (symgrad.symbolic(book.derived.fn), book.derived):
                found = shown.formulas(*book.args)
                if found.kind not in ("let-bound", "recurrence") or shown is book.derived:
                    rows += found.latex_rows(shown.labels(shown._readable()._entry(book.args, {})))
            shown = r" \\[1ex] ".join(dict.fromkeys(rows))  # what both have a name for is said once
            lines += [f"### {name}", "", "$$", r"\begin{aligned}", shown, r"\end{aligned}", "$$", "", "Textbook:", ""]
            lines += ["$$", r",\qquad ".join(book.textbook), "$$", ""]
    _write(page, "\n".join(lines) + "\n")


def _write(page: pathlib.Path, text: str) -> None:
    """The page, touched only where it has changed, so that the site is built anew in part."""
    if not page.exists() or page.read_text("utf-8") != text:
        page.write_text(text, "utf-8")
