"""Derivatives of random programs, first and second order in every mixture of modes, against differences."""

import random
import warnings
from dataclasses import replace

import external_kinds as kinds
from checks import derivatives, rules
from extreme_points import extreme, random_chain
from fuzzing import expect_right, report, seeds
from random_programs import OUTSIDE, SMOOTH, TIED
from spectral_programs import random_spectral, wrong_with

#: chains of functions in one program
_TOGETHER = 16


def test_derivatives_are_those_of_differences():
    expect_right(derivatives, 0.15, SMOOTH)


def test_beside_functions_that_run_as_they_are():
    expect_right(derivatives, 0.15, OUTSIDE)


def test_at_zeros_equal_values_and_coincident_points():
    expect_right(derivatives, 0.25, TIED, most_skipped=0.6)


def test_far_out_and_at_the_ends_of_floats():
    count, wrong = 0, []
    for seed in seeds(0.02):
        r = random.Random(seed)
        dtype, beside = r.choice(("float64", "float64", "float32")), r.choice(list(kinds.KINDS))
        chains = [random_chain(_TOGETHER * seed + k, dtype, beside) for k in range(_TOGETHER)]
        count += len(chains)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of values that overflow
            wrong += [f"{chain}: {message}" for chain, message in extreme(chains).items()]
    report("extreme points", count, 0, wrong)
    assert not wrong, "\n".join(wrong)


def test_matrices_with_equal_eigenvalues():
    wrong = []
    for seed in seeds(0.03):
        program = random_spectral(seed)
        message = wrong_with(program)
        wrong += [f"seed {seed}: {message}\n" + "\n".join(program.text)] if message else []
    report("equal eigenvalues", len(seeds(0.03)), 0, wrong)
    assert not wrong, "\n\n".join(wrong)


def test_every_backend_precision_and_layout():
    """Not of products: the last digit of one depends on how its operands lie in memory."""
    families = tuple(f for f in SMOOTH.families if f not in ("product", "linalg"))
    expect_right(rules, 0.05, replace(SMOOTH, families=families, exact=True, transposed=True))
