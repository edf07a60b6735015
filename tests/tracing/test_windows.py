"""Filters of scipy.ndimage and scipy.signal: scipy's value, and the derivative by differences."""

import numpy as np
import pytest
import scipy.ndimage as ndimage
import scipy.signal as signal

import symgrad as sg
from symgrad.errors import UnsupportedOperation
from symgrad.testing import check_grads

RNG = np.random.default_rng(7)
IMAGE = RNG.permutation(42).reshape(6, 7) / 10 - 2.05  # no two are near each other
KERNEL, ROW, TAPS = RNG.normal(size=(3, 4)), RNG.normal(size=9), RNG.normal(size=3)
B, A = signal.butter(2, 0.3)
SOS = signal.butter(4, 0.3, output="sos")
ENDS = ("reflect", "nearest", "mirror", "wrap", "constant", "grid-wrap")


def check(fn, *args):
    got, want = sg.symbolic(fn, backend="numpy")(*args), fn(*args)
    np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-14)
    check_grads(lambda *xs: fn(*[x.astype(float) for x in xs]), args, order=1)  # scipy has no more digits


OF_IMAGES = {
    "correlate1d": lambda x, w, m: ndimage.correlate1d(x, w[0], axis=0, mode=m, cval=0.3, origin=1),
    "convolve1d": lambda x, w, m: ndimage.convolve1d(x, w[0], mode=m, origin=-1),
    "correlate": lambda x, w, m: ndimage.correlate(x, w, mode=m, cval=0.3, origin=(1, -1)),
    "convolve": lambda x, w, m: ndimage.convolve(x, w, mode=m, origin=(-1, 1)),
}
CHOSEN = {
    "gaussian_filter": lambda x, m: ndimage.gaussian_filter(x, 0.8, order=(0, 1), mode=m),
    "uniform_filter": lambda x, m: ndimage.uniform_filter(x, (3, 4), mode=m),
    "sobel": lambda x, m: ndimage.sobel(x, mode=m) + ndimage.prewitt(x, axis=0, mode=m),
    "laplace": lambda x, m: ndimage.laplace(x, mode=m) + ndimage.gaussian_laplace(x, 0.6, mode=m),
    "extrema": lambda x, m: ndimage.maximum_filter(x, (2, 3), mode=m) - ndimage.minimum_filter1d(x, 3, mode=m),
    "median_filter": lambda x, m: ndimage.median_filter(x, footprint=np.array([[0, 1, 0], [1, 1, 1]]), mode=m),
}


@pytest.mark.parametrize("mode", ENDS)
def test_images(mode):
    for fn in OF_IMAGES.values():
        check(lambda x, w, fn=fn: fn(x, w, mode), IMAGE, KERNEL)
    for fn in CHOSEN.values():
        check(lambda x, fn=fn: fn(x, mode), IMAGE)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_convolutions(mode):
    for name in ("convolve", "correlate", "fftconvolve", "oaconvolve"):
        check(lambda x, w, n=name: getattr(signal, n)(x, w, mode), ROW, TAPS)
        check(lambda x, w, n=name: getattr(signal, n)(x, w, mode), IMAGE, KERNEL)
    for name, boundary in (("convolve2d", "wrap"), ("correlate2d", "symm"), ("convolve2d", "fill")):
        check(lambda x, w, n=name, b=boundary: getattr(signal, n)(x, w, mode, boundary=b, fillvalue=2.0), IMAGE, KERNEL)
    check(lambda x, w: signal.convolve(x, w, mode), TAPS, ROW)


FILTERS = {
    "lfilter": lambda x: signal.lfilter(B, A, x),
    "lfilter along": lambda x: signal.lfilter(B, A, np.stack([x, x[::-1]]), axis=0),
    "lfilter without feedback": lambda x: signal.lfilter([1.0, 2.0, 0.5], [2.0], x) + signal.lfilter([2.0], [1.0], x),
    "lfilter going on": lambda x: signal.lfilter(B, A, x[2:], zi=x[:2])[1] * signal.lfilter(B, 1.0, x, zi=x[:2])[1],
    "sosfilt": lambda x: signal.sosfilt(SOS, x) + signal.sosfilt(SOS, x, zi=signal.sosfilt_zi(SOS) * x[0])[0],
    "filtfilt": lambda x: signal.filtfilt(B, A, x, padlen=4) + signal.sosfiltfilt(SOS, x, padlen=5),
    "savgol_filter": lambda x: signal.savgol_filter(x, 5, 2, mode="mirror"),
    "medfilt": lambda x: signal.medfilt(x, 3),
    "wiener": lambda x: signal.wiener(x, 3),
    "resample_poly": lambda x: signal.resample_poly(x, 2, 3),
    "upfirdn": lambda x: signal.upfirdn(x[:4], x, 2, 3),
    "constant detrend": lambda x: signal.detrend(x, type="constant"),
    "windowed": lambda x: signal.windows.hann(9) * x,
    "chirp": lambda x: signal.chirp(x, 1.0, 2.0, 3.0) + signal.gausspulse(x),
}


@pytest.mark.parametrize("name", FILTERS)
def test_signals(name):
    check(FILTERS[name], ROW)


def test_filters_by_their_coefficients():
    check(lambda b, a: signal.lfilter(b, a, ROW), B, A)
    check(lambda b: signal.lfilter(b, [1.0], ROW), TAPS)


def test_what_computes_in_c_is_refused_by_name():
    for fn, name in [
        (lambda x: ndimage.geometric_transform(x.reshape(3, 3), lambda at: at), "geometric_transform"),
        (lambda x: signal.peak_prominences(x, [2])[0], "peak_prominences"),
        (lambda x: ndimage.median_filter(x.reshape(3, 3), 3, axes=(0,)), "median_filter"),
    ]:
        with pytest.raises(UnsupportedOperation, match=f"{name}.* has no"):
            sg.grad(lambda x, fn=fn: np.sum(fn(x)))(ROW)
