"""Loops written out compute what the loops do: values to the bit, derivatives to rounding."""

import numpy as np
import pytest
from looping import CASES, LOOPING

import symgrad as sg
from symgrad.errors import UnsupportedOperation
from symgrad.kernels.kernel import lower
from symgrad.passes.unrolling import has_loops, steps_in, unrolled
from symgrad.program.verify import verify
from symgrad.transforms.loops import fori_loop, scan


@pytest.mark.parametrize(("name", "which"), CASES)
def test_steps_give_what_the_loop_gives(name, which):
    case = LOOPING[name]
    derived = case.derivatives()[which]
    entry, arrays = derived._served(case.arguments, {})
    for program in (entry.program, entry.readable):
        straight = unrolled(program)
        assert not has_loops(verify(straight))
        for got, want in zip(*[lower(p, "numpy")(*arrays) for p in (straight, program)], strict=True):
            # passes see more of steps than of a loop, and put products in another order
            np.testing.assert_allclose(got, want, rtol=0 if which == "value" else 1e-13, atol=0, strict=True)


def test_a_program_without_loops_is_as_it_was():
    program = sg.trace(np.sin, 1.0)
    assert unrolled(program) is program


def test_operations_grow_with_the_steps():
    def program(n):
        return sg.trace(lambda x: fori_loop(0, n, lambda i, c: np.sin(c) * i, x), 1.0)

    assert [steps_in(program(n)) - steps_in(program(0)) for n in (1, 10, 100)] == [2, 20, 200]
    assert len(unrolled(program(20_000)).nodes) < 70_000


def test_more_steps_than_can_be_written_are_refused():
    many = sg.trace(lambda x: scan(lambda c, _: (np.sin(c), None), x, None, 10**9)[0], 1.0)
    with pytest.raises(
        UnsupportedOperation, match="written out step by step the loops of this program are 1000000003 "
    ):
        unrolled(many)
