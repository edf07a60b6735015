"""A small convolutional net, as NumPy's users write it, is told line by line in its own names and indices."""

import numpy as np
import pytest

import symgrad as sg


def net(images, labels, kernel, bias, W):
    windows = np.lib.stride_tricks.sliding_window_view(images, (3, 3), axis=(1, 2))
    z = np.einsum("nijuv,fuv->nfij", windows, kernel) + bias[:, None, None]
    a = np.maximum(z, 0)
    pooled = a.reshape(len(images), 2, 3, 2, 3, 2).max(axis=(3, 5))
    logits = pooled.reshape(len(images), -1) @ W
    logp = logits - np.log(np.sum(np.exp(logits), axis=1, keepdims=True))
    return -logp[np.arange(len(labels)), labels].mean()


RNG = np.random.default_rng(0)
ARGS = (
    RNG.normal(size=(5, 8, 8)),
    np.array([3, 0, 2, 3, 1]),
    RNG.normal(size=(2, 3, 3)),
    RNG.normal(size=2),
    RNG.normal(size=(18, 4)),
)
LINES = {
    "windows": "windows[i, j, k, l, m] = images[i, j + l, k + m]",
    "a": "a = relu(z)",
    "pooled": "pooled[i, j, k, l] = max(max(a[i, j, 2*k + m, 2*l + n] for n < 2) for m < 2)",
    "z̄": "z̄ = ā ⊙ [z > 0]",
    "k̅e̅r̅n̅e̅l̅": "k̅e̅r̅n̅e̅l̅[i, j, k] = Sum(v̄₁[l, i, m, n]*windows[l, m, n, j, k], (n, 0, 5), (m, 0, 5), (l, 0, 4))",
    "i̅m̅a̅g̅e̅s̅": "i̅m̅a̅g̅e̅s̅[i, j, k] = Sum(w̅i̅n̅d̅o̅w̅s̅[i, j - p, k - q, p, q], (p, Max(0, j - 5), Min(2, j)), "
    "(q, Max(0, k - 5), Min(2, k)))",
    "l̅o̅g̅p̅": "l̅o̅g̅p̅[i, j] = KroneckerDelta(j, Mod(labels[i], 4))*v̄₅[i]",
}


@pytest.fixture(scope="module")
def lines():
    steps = sg.grad(net, ("images", "kernel")).steps(*ARGS)
    return {s.name.text: s.text for s in steps}


@pytest.mark.parametrize("name", LINES)
def test_a_line_reads_as_a_textbook_has_it(lines, name):
    assert lines[name] == LINES[name]


def test_no_line_reads_a_table_of_places(lines):
    assert not [text for text in lines.values() if "c_" in text]


def test_an_expression_is_told_in_the_names_of_what_it_calls():
    whole = sg.grad(lambda images, labels, kernel, bias, W: net(images, labels, kernel, bias, W) / 2, "W")
    named = {s.name.text for s in whole.steps(*ARGS)}
    assert {"windows", "z", "a", "pooled", "logits", "logp"} <= named


def test_the_lines_compute_the_gradient():
    derived = sg.grad(net, ("images", "kernel"))
    values = derived.steps(*ARGS).values()
    by_images, by_kernel = derived(*ARGS)
    np.testing.assert_allclose(values["i̅m̅a̅g̅e̅s̅"], by_images, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(values["k̅e̅r̅n̅e̅l̅"], by_kernel, rtol=1e-12, atol=1e-14)
