"""Blocks that do not fit."""

import numpy as np
import pytest

import symgrad as sg
from symgrad.errors import ShapeError


def test_blocks_that_do_not_fit_are_refused():
    with pytest.raises(ShapeError, match="nested equally deep"):
        sg.symbolic(lambda x: np.block([[x, x], x]))(np.ones(2))
    with pytest.raises(ShapeError, match="concatenate"):
        sg.symbolic(lambda x: np.block([[x, x[:1]], [x, x]]))(np.ones((2, 2)))
