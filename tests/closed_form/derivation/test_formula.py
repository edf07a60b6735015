"""The formula of a line says all of its value, in the notation that its rank has."""

import numpy as np

import symgrad as sg


def test_arrays_of_three_axes_are_told_by_their_elements():
    def spread(X):
        differences = (X[:, None, :] - X[None, :, :]) ** 2
        return np.sum(np.exp(-np.sum(differences, axis=-1)))

    text = str(sg.grad(spread).steps("n d"))
    assert "[i, j, k] = (X[i, k] - X[j, k])**2" in text
    function, _ = text.split("Put together")
    assert "⊗" not in function
