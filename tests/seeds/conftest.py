"""Printed results are compared as text: the same words and brackets, and the same numbers."""

import re

import numpy as np
import pytest

_NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:e[-+]?\d+)?")


def _parts(text):
    heads = re.sub(
        r"shape=\[[\d, ]*\]|Float\d+", lambda m: m.group().translate(str.maketrans("0123456789", "abcdefghij")), text
    )
    return re.sub(r"\s+", "", _NUMBER.sub("#", heads)), [float(n) for n in _NUMBER.findall(heads)]


@pytest.fixture
def prints_as():
    """``prints_as(value, text)``: ``print(value)`` gives ``text``, spaces aside, numbers to float32."""

    def check(value, text):
        words, numbers = _parts(str(value))
        wanted_words, wanted = _parts(text)
        assert words == wanted_words
        np.testing.assert_allclose(numbers, wanted, rtol=1e-6, atol=1e-7)

    return check
