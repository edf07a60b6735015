"""Random programs of everything in the table of what is supported, against NumPy, SciPy and finite differences."""

import warnings

import numpy as np
import pytest
from fuzzing import report, seeds
from table_programs import TableProgram, table_program

from symgrad.testing import Call, CheckFailed
from symgrad.testing.check import Check

#: how far values of SciPy's functions may be from theirs, times the precision and relative to the largest
ROUNDING = 512


def checked(program: TableProgram) -> bool:
    """Whether it was compared: there may be a kink near, or no number that is differentiated."""
    check = Check(Call(program, program.point), program.seed, "table", 0.0 if program.is_exact else ROUNDING)
    try:
        check.values()
        check.derivatives(1)
    except CheckFailed as error:
        if "do not settle" in str(error):
            return False
        raise
    except np.linalg.LinAlgError:  # NumPy's own, of the plain function
        return False
    except ValueError as error:  # a result has another shape beside the point: as many elements as are nonzero, say
        if "could not be broadcast together" not in str(error):
            raise
        return False
    return check.smooth


def test_values_and_derivatives():
    skipped, wrong, drawn = 0, [], seeds(0.1)
    for seed in drawn:
        program = table_program(seed)
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                skipped += not checked(program)
        except Exception as error:
            wrong.append(f"{program}\n{type(error).__name__}: {error}")
    report("table", len(drawn), skipped, wrong)
    if wrong:
        pytest.fail("\n\n".join(wrong), pytrace=False)
