"""Rewritten code is the user's own, with every call, attribute and operation handed to a hook."""

import linecache
import operator
import traceback
import types

import numpy as np
import pytest

from symgrad.tracing.rewriting import rewritten


class Recorder:
    """A hook that does what the code says, and keeps what it was handed."""

    def __init__(self):
        self.seen = []

    def call(self, function, /, *args, **kwargs):
        self.seen.append(("call", getattr(function, "__name__", str(function))))
        return function(*args, **kwargs)

    def indexed(self, value):
        self.seen.append(("indexed", type(value).__name__))
        return value

    def operate(self, operation, left, right):
        self.seen.append(("operate", operation))
        return getattr(operator, operation)(left, right)

    def negative(self, value):
        self.seen.append(("negative", "neg"))
        return -value

    def attribute(self, value, name):
        self.seen.append(("attribute", name))
        return getattr(value, name)

    def element(self, array, index):
        return array, index, array[index], operator.setitem

    def member(self, owner, name):
        return owner, name, getattr(owner, name), setattr

    def update(self, place, operation, value):
        self.seen.append(("update", operation))
        owner, name, found, put = place
        put(owner, name, getattr(operator, operation)(found, value))

    def store(self, value, array, index):
        array[index] = value

    def set(self, value, owner, name):
        self.seen.append(("set", name))
        setattr(owner, name, value)


def run(function, *args):
    """What the rewritten function gives, and what its hook was handed."""
    hook = Recorder()
    code = rewritten(function.__code__, hook)
    made = type(function)(code, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    return made(*args), hook.seen


def arithmetic(a, b):
    return -(a + b) * a @ b // 2**a % 3


def masked(a):
    a = a.copy()
    a[a < 0] *= 0.5
    a[0] += 1
    return np.r_[a, 1.0]


def members(owner):
    def doubled():
        owner.total *= 2.0
        return owner.total

    owner.total = 3.0
    owner.total += doubled()
    counts, k = [1.0, 2.0], 1

    def cleared():
        counts[k] = 0.0
        return 5.0

    counts[k] += cleared()
    return owner.total, counts[k]


def caught(a):
    try:
        return len(a)
    except TypeError:
        return abs(a)


def inner(a):
    return [(lambda v: max(v, k))(a) for k in range(2)]


class Base:
    def scale(self):
        return 2


class Derived(Base):
    __hidden = 3

    def scale(self):
        return super().scale() * self.__hidden


def test_calls_operations_attributes_and_updates_are_handed_over_in_order():
    a = np.array([1.0, -2.0])
    made, seen = run(masked, a)
    np.testing.assert_array_equal(made, masked(a))
    assert seen == [
        ("attribute", "copy"),
        ("call", "copy"),
        ("update", "mul"),
        ("attribute", "r_"),
        ("indexed", "RClass"),
    ]


def test_what_is_added_to_is_read_before_what_is_added_is_computed():
    made, seen = run(members, types.SimpleNamespace())
    assert made == members(types.SimpleNamespace()) == (9.0, 7.0)
    assert [s for s in seen if s[0] in ("set", "update")] == [
        ("set", "total"),
        ("update", "mul"),
        ("update", "add"),
        ("update", "add"),
    ]


def test_operations_have_the_names_of_the_operator_module():
    matrix = np.array([[1.0, 2.0], [0.5, 1.0]])
    made, seen = run(arithmetic, matrix, matrix)
    np.testing.assert_array_equal(made, arithmetic(matrix, matrix))
    assert [name for _, name in seen] == ["add", "neg", "mul", "matmul", "pow", "floordiv", "mod"]


def test_functions_inside_are_rewritten_with_their_closures():
    made, seen = run(inner, 1)
    assert made == [1, 1]
    assert [name for _, name in seen] == ["range", "<lambda>", "max", "<lambda>", "max"]


def test_methods_keep_super_and_private_names():
    hook = Recorder()
    code = rewritten(Derived.scale.__code__, hook)
    made = type(Derived.scale)(code, globals(), "scale", None, Derived.scale.__closure__)
    assert made(Derived()) == 6


def test_the_function_itself_stays_and_lines_and_columns_are_its_own():
    def failing(a):
        first = a + 1
        return first.missing

    before = failing.__code__
    hook = Recorder()
    made = type(failing)(rewritten(before, hook), globals(), "failing", None, None)
    assert failing.__code__ is before
    with pytest.raises(AttributeError) as raised:
        made(1)
    frame = next(
        f for f in traceback.extract_tb(raised.value.__traceback__) if f.filename == __file__ and f.name == "failing"
    )
    assert frame.lineno == before.co_firstlineno + 2
    assert frame.line == "return first.missing"


@pytest.mark.parametrize("statement_by_statement", [False, True])
def test_code_of_files_and_of_notebooks_is_found(statement_by_statement):
    text = "import numpy as np\ndef f(x):\n    return np.sin(x)\n"
    name = f"<cell {statement_by_statement}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space = {}
    if statement_by_statement:
        exec(compile("import numpy as np", name, "exec"), space)
        exec(compile("\ndef f(x):\n    return np.sin(x)\n", name, "exec"), space)
    else:
        exec(compile(text, name, "exec"), space)
    made, seen = run(space["f"], 0.0)
    assert made == 0.0
    assert ("call", "sin") in seen


def test_what_has_no_source_or_another_is_left():
    space = {}
    exec("def f(x):\n    return abs(x)\n", space)
    assert rewritten(space["f"].__code__, Recorder()) is None
    name = "<edited>"
    exec(compile("def f(x):\n    return abs(x)\n", name, "exec"), space)
    text = "def f(x):\n    return -abs(x)\n"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    assert rewritten(space["f"].__code__, Recorder()) is None
    linecache.cache[name] = (1, None, ["def (\n"], name)
    assert rewritten(space["f"].__code__, Recorder()) is None


def never_called(a):
    if False:
        print(sorted(a, key=lambda v: -v))
    return a


def test_code_that_can_never_run_hides_no_other():
    """Python drops the function in it from the one code, and keeps it in the other."""
    assert rewritten(arithmetic.__code__, Recorder()) is not None
    assert run(never_called, 2.0) == (2.0, [])
