"""Which loops and functions are straight, and what they take from elsewhere."""

import ast

import pytest

from symgrad.tracing.straight import is_method, straight_file, straight_loop


def loop(head, *body):
    tree = ast.parse("\n".join([head, *("    " + line for statement in body for line in statement.split("\n"))]))
    (node,) = tree.body
    return straight_loop(node)


@pytest.mark.parametrize(
    "statement",
    [
        "h = np.tanh(A @ h + xs[t])",
        "h: float = -h",
        "h, (a, b) = h, (h, h)",
        "h += xs[t, 0] * xs[n - 1 - t]",
        "h = (h @ A).sum(axis=0).T",
        "h = np.where(h > 0, h, -h)",
        "h = np.concatenate([h, x[1:n]])",
        "pass",
        "'text'",
        "h = xs[2 * t + 1]",
    ],
)
def test_bodies_that_bind_names_to_what_they_compute_are_straight(statement):
    assert loop("for t in range(n):", statement) is not None


@pytest.mark.parametrize(
    "statement",
    [
        "if h > 0:\n    h = 1",
        "while h > 0:\n    h = 1",
        "for k in range(3):\n    h = 1",
        "with f() as h:\n    pass",
        "try:\n    h = 1\nexcept E:\n    pass",
        "out[t] = h",
        "self.h = h",
        "h[0] += 1",
        "out.append(h)",
        "del h",
        "break",
        "continue",
        "return h",
        "global h",
        "h = 1 if t else 2",
        "h = h and 1",
        "h = not h",
        "h = h is None",
        "h = h in xs",
        "h = 0 < h < 1",
        "h = [x for x in xs]",
        "h = lambda: t",
        "h = f'{t}'",
        "h = f(*xs)",
        "h = f(**xs)",
        "h = f(h, out=h)",
        "h = (yield h)",
        "h = (k := h)",
        "h = f(h)(h)",
        "h = (h @ A).sort()",
        "h = (h @ A).clip(0, 1, h)",
        "h = (h @ A).flat",
        "t = 1",
        "*h, k = h",
        "h = t",
        "h = 0.1 * t",
        "h = f(t)",
        "h = xs[perm[t]]",
        "h = xs[t // 2]",
        "h = xs[t % 2]",
        "h = xs[t * t]",
        "h = xs[t:]",
        "h = t.real",
        "h = f(h)[t]",
    ],
)
def test_others_are_not(statement):
    assert loop("for t in range(n):", statement) is None


def test_what_a_loop_takes():
    found = loop("for t in range(n):", "k = 0.5", "h, c = cell.step(h, xs[0][t], k)", "s += np.sum(c) * p.k")
    assert found.variable == "t"
    assert found.bound == ("k", "h", "c", "s")
    assert found.carried == ("h", "s")
    assert found.updated == ("s",)
    assert found.indexed == ("xs",)
    assert set(found.read) == {"h", "xs", "s", "c", "k", "p.k"}
    assert set(found.called) == {("cell.step", 3), ("np.sum", 1)}
    assert found.by_place


def test_rows_may_be_anything_and_targets_and_ends_may_not():
    assert not loop("for x in xs:", "h = h + f(x)").by_place
    assert loop("for a, b in xs:", "h = h + a") is None
    assert straight_loop(ast.parse("for t in xs:\n    h = h\nelse:\n    h = 1").body[0]) is None


def test_functions_of_a_file():
    text = """
def straight(h, x=0.1):
    'doc'
    made = np.tanh(h + x)
    return made
def updates(h):
    h += 1
    return h
def nothing(h):
    h = 1
def early(h):
    if h: return 1
    return h
def many(*h):
    return h
async def later(h):
    return h
f = lambda h: g(h)
a = lambda h: h, lambda h: 1
for t in range(3):
    h = straight(h)
"""
    found = straight_file(ast.parse(text))
    assert {name for name, _ in found.functions} == {"straight", "<lambda>"}
    assert {name for name, _ in found.closed} >= {"straight", "early"}
    assert found.functions["straight", 2].bound == ("h", "x", "made")
    (of_one,) = (own for (name, _), own in found.functions.items() if name == "<lambda>")  # of two in a line none
    assert of_one.called == (("g", 1),)
    assert [(first, last) for first, last, _ in found.loops] == [(20, 21)]


@pytest.mark.parametrize(
    ("name", "count", "is_one"),
    [("sum", 1, True), ("sum", 2, False), ("reshape", 3, True), ("round", 1, False), ("sort", 0, False)],
)
def test_methods_are_those_that_write_nowhere(name, count, is_one):
    assert is_method(name, count) is is_one


@pytest.mark.parametrize(
    "statement",
    [
        "x.a = 1",
        "x[0] = 1",
        "x[0] += 1",
        "del x.a",
        "global g",
        "f(x)",
        "print(x)",
        "yield x",
        "y = (g := x)",
        "for x.a in y: pass",
        "with f() as x.a: pass",
    ],
)
def test_functions_that_leave_something_behind_are_not_closed(statement):
    found = straight_file(ast.parse(f"def f(x):\n    {statement}\n    return x\ndef g(x):\n    y = f(x)\n    return y"))
    assert found.closed == {("g", 4)}
