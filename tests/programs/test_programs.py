"""Programs as people have them, in each spelling: values against the plain function, gradients against differences."""

from __future__ import annotations

import contextlib
import importlib
import inspect

import numpy as np
import pytest
import slopes
from IPython.utils.capture import capture_output
from spellings import SPELLINGS

import symgrad as sg
from symgrad.errors import SymgradError

#: item of what people write -> the modules of its programs
_ITEMS = {
    "made_arrays": ("mechanics", "constructors"),
    "writes": ("numerics", "algorithms", "places", "views"),
    "scalars": ("python_numbers", "formulas"),
    "constants": ("held_values",),
    "held_data": ("objects", "tables"),
    "constructs": ("of_python", "of_classes"),
}
_MODULES = [f"{item}.{module}" for item, modules in _ITEMS.items() for module in modules]
_cases = [
    pytest.param(module, spelling, name, id=f"{module}-{spelling}-{name}")
    for module in _MODULES
    for spelling in SPELLINGS
    if spelling != "without_source"
    for name in importlib.import_module(module).PROGRAMS
]


@pytest.mark.parametrize("item", [item for item in _ITEMS if item != "constructs"])
def test_there_are_enough(item):
    assert sum(len(importlib.import_module(f"{item}.{module}").PROGRAMS) for module in _ITEMS[item]) >= 40


@pytest.mark.parametrize("module", _MODULES)
def test_each_spelling_is_code_of_its_own(module, spelled):
    written = spelled(module, "as_written")
    for spelling in SPELLINGS:
        programs = spelled(module, spelling)
        assert list(programs) == list(written)
        for name, program in programs.items():
            code = program.function.__code__
            assert (code is written[name].function.__code__) == (spelling == "as_written")
            read = {*code.co_names, *code.co_freevars}
            if "import" not in inspect.getsource(written[name].function):  # within, which stays
                assert spelling != "imported_names" or not {"np", "math"} & read
                assert spelling != "starred_math" or "math" not in read
            assert spelling != "methods" or inspect.ismethod(program.function)
            assert spelling != "closures" or "np" not in code.co_names
            if spelling == "without_source":
                with pytest.raises(OSError, match="source"):
                    inspect.getsource(code)


@pytest.fixture(scope="module")
def spelled():
    """The programs of a module in a spelling, each made once."""
    made = {}

    def programs(module, spelling):
        if (module, spelling) not in made:
            made[module, spelling] = SPELLINGS[spelling](importlib.import_module(module))
        return made[module, spelling]

    return programs


@pytest.fixture(scope="module")
def differences():
    """Slopes of the programs as they are written, at each of their points; taken once for all spellings."""
    found = {}

    def at(module, name):
        if (module, name) not in found:
            program = importlib.import_module(module).PROGRAMS[name]
            found[module, name] = [slopes.gradients(program.function, args, program.wrt) for args in program.points]
        return found[module, name]

    return at


@pytest.mark.parametrize(("module", "spelling", "name"), _cases)
def test_program(module, spelling, name, spelled, differences):
    program = spelled(module, spelling)[name]
    derivative = sg.value_and_grad(program.function, program.wrt, backend="numpy")
    expect_right(derivative, program, differences(module, name))


def expect_right(derivative, program, slopes_wanted):
    for args, want in zip(program.points, slopes_wanted, strict=True):
        value, gradients = derivative(*args)
        plain = slopes.run(program.function, args)
        for got, expected in zip(slopes.leaves(value), slopes.leaves(plain), strict=True):
            assert got.shape == expected.shape
            np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-13)
        for got, expected in zip(floats(gradients), want, strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-6)


def floats(gradients):
    return [leaf for leaf in slopes.leaves(gradients) if leaf.dtype.kind == "f"]


@pytest.mark.parametrize("module", _MODULES)
def test_without_source(module, spelled, differences):
    """What has no source runs as it is; what would have to be followed is refused, and nothing is wrong."""
    programs = spelled(module, "without_source")
    for name, program in programs.items():
        derivative = sg.value_and_grad(program.function, program.wrt, backend="numpy")
        with contextlib.suppress(SymgradError):
            expect_right(derivative, program, differences(module, name))


def test_in_a_notebook(shell, differences):
    """Cells that define functions, of which a later one takes the derivative, redefinitions among them."""
    for module in _MODULES:
        source = inspect.getsource(importlib.import_module(module))
        shell.run_cell(source).raise_error()
        programs = shell.user_ns.pop("PROGRAMS")
        for name, program in programs.items():
            shell.user_ns["wrt"] = program.wrt
            shell.run_cell(f"import symgrad as sg\nd = sg.value_and_grad({name}, wrt, backend='numpy')").raise_error()
            expect_right(shell.user_ns["d"], program, differences(module, name))


#: programs of one array alone, that a cell shows too
_SHOWN = (
    ("made_arrays.mechanics", "spherical_to_cartesian"),
    ("made_arrays.constructors", "rosenbrock_residuals"),
    ("writes.places", "into_zeros"),
    ("writes.places", "leaky_relu"),
    ("writes.views", "through_reshape"),
    ("scalars.formulas", "rosenbrock_loop"),
    ("scalars.python_numbers", "float_of_elements"),
)


@pytest.mark.parametrize(("module", "name"), _SHOWN)
def test_a_grad_cell(module, name, shell, differences):
    program = importlib.import_module(module).PROGRAMS[name]
    [x] = program.args
    [parameter] = inspect.signature(program.function).parameters
    shell.user_ns[parameter] = x
    source = inspect.getsource(program.function)
    text = source[source.index("def ") :]
    shell.run_cell("import math\nimport numpy as np").raise_error()
    with capture_output():
        shell.run_cell(f"%%grad --at {parameter}={parameter} --name d\n{text}").raise_error()
    [want] = differences(module, name)[0]
    np.testing.assert_allclose(shell.user_ns["d"](x), want, rtol=1e-6, atol=1e-6)
