"""Indices that a function knows beforehand: in a formula they are places on the axes that the user's code has."""

import numpy as np

import symgrad as sg


def index_form(fn, *args):
    (row,) = sg.symbolic(fn).formulas(*args).text_rows(["f"])
    return row


def test_windows_begin_where_they_lie():
    def windows(x):
        return np.lib.stride_tricks.sliding_window_view(x, (2, 3), axis=(1, 2)) ** 2

    assert index_form(windows, np.ones((5, 6, 7))) == "f[i, j, k, l, m] = x[i, j + l, k + m]**2"


def test_one_of_each_row():
    labels = np.array([3, 0, 3, 1, 2, 4, 0, 1, 2])
    assert index_form(lambda z: np.exp(z[np.arange(9), labels]), np.ones((9, 5))) == "f[i] = exp(z[i, c_0[i] % 5])"
    backwards = index_form(lambda z: np.exp(z[np.arange(9)[::-1], np.arange(9)]), np.ones((9, 9)))
    assert backwards == "f[i] = exp(z[8 - i, i])"
