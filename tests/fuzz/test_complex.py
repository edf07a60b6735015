"""Random programs in complex numbers against NumPy and finite differences in both parts."""

import numpy as np
import pytest
from complex_programs import ComplexProgram
from fuzzing import report, seeds

import symgrad as sg
from symgrad.testing import CheckFailed


def _checked(program: ComplexProgram, check_arrays) -> bool:
    """Whether it was compared: there may be a kink near. Values are no bits here: vdot conjugates first."""
    parts = [v.real.copy() for v in program.point] + [v.imag.copy() for v in program.point]
    try:
        check_arrays(program.of_parts, parts)
    except CheckFailed as error:
        if "do not settle" in str(error):
            return False
        raise
    by_both = sg.grad(program, (0, 1))(*program.point)
    by_parts = sg.grad(program.of_parts, (0, 1, 2, 3), backend="numpy")(*parts)
    for k in range(2):
        np.testing.assert_allclose(by_both[k], by_parts[k] + 1j * by_parts[k + 2], rtol=1e-9, atol=1e-9)
    return True


def test_values_and_derivatives(check_arrays):
    skipped, wrong = 0, []
    for seed in seeds(0.1):
        program = ComplexProgram(seed)
        try:
            skipped += not _checked(program, check_arrays)
        except (AssertionError, sg.errors.SymgradError) as error:
            wrong.append(f"{program}\n{error}")
    report("complex", len(seeds(0.1)), skipped, wrong)
    if wrong:
        pytest.fail("\n\n".join(wrong[:3]), pytrace=False)
