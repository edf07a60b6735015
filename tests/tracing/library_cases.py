"""Functions of SciPy that are its own code, traced (``library_code``), or rules by their names; and of ``math``.

A name stands here, with the cases that test it, once it has been tried: by its library's values and by finite
differences.
"""

from __future__ import annotations

import numpy as np

from symgrad.tracing.declare import Case, Given
from symgrad.tracing.decompositions import graded, spread
from symgrad.tracing.dispatch import NAMED_CASES


def _apart(x, *others):
    """An array whose elements are not near each other."""
    return (x + np.arange(x.size).reshape(x.shape) * 7 % 11, *others)


_FORWARD, _BACK = Given(np.array([0.13, 0.26, 0.13])), Given(np.array([1.0, -0.75, 0.27]))
_SECTIONS = Given(np.array([[0.2, 0.4, 0.2, 1.0, -0.67, 0.15], [1.0, 2.0, 1.0, 1.0, -0.9, 0.5]]))
_ROW, _IMAGE = Case((5,)), Case((4, 5))
_POSITIVE = [Case((5,), domain=(0.5, 2.0))]
_SYSTEM = [Case((2,), (3,), domain=(0.5, 1.0))]
_CONVOLVED = [Case((6,), (3,)), Case((4, 5), (2, 3), mode="same"), Case((5,), (3,), mode="valid")]
_SMOOTHED = [Case((4, 5), Given(0.8)), Case((5,), Given(0.6), mode="nearest")]
_CHOSEN = [Case((4, 5), Given(3), of=_apart)]
_SAMPLES = [_ROW, Case((3, 5), dx=0.5)]
_VECTORS = [Case((3,), (3,), domain=(0.3, 2.0)), Case((3,), (3,), (3,), domain=(0.3, 2.0))]
_OF_ROWS = [_ROW, Case((4, 3), axis=1)]
_PARTS = {"labels": np.array([[0, 1, 1], [2, 2, 1]]), "index": [1, 2]}

#: names without their module, those of the same cases beside each other
_SIGNAL: dict[str, list[Case]] = {
    "convolve correlate fftconvolve oaconvolve": _CONVOLVED,
    "convolve2d": [Case((4, 5), (2, 3)), Case((4, 5), (3, 3), mode="same", boundary="symm")],
    "correlate2d": [Case((4, 5), (2, 3), boundary="wrap")],
    "medfilt": [Case((7,))],
    "medfilt2d": [_IMAGE],
    "wiener": [Case((7,), Given(3))],
    "lfilter": [Case(_FORWARD, _BACK, (6,)), Case((3,), Given([1.0]), (2, 5))],
    "sosfilt": [Case(_SECTIONS, (4,))],
    "filtfilt": [Case(_FORWARD, _BACK, (6,), padlen=3)],
    "sosfiltfilt": [Case(_SECTIONS, (4,), padlen=2)],
    "savgol_filter": [
        Case((9,), Given(5), Given(2)),
        Case((9, 2), Given(4), Given(2), axis=0),
        Case((2, 9), Given(5), Given(2), deriv=1, mode="mirror"),
    ],
    "detrend": [Case((6,)), Case((8, 2), axis=0, bp=4), Case((2, 6), type="constant")],
    "resample": [Case((6,), Given(9)), Case((8,), Given(5))],
    "resample_poly": [Case((6,), Given(2), Given(3))],
    "upfirdn": [Case((4,), (7,), up=2, down=3)],
    "deconvolve": [Case((5,), (2,), domain=(0.5, 2.0))],
    "hilbert": [Case((6,)), Case((2, 5))],
    "hilbert2": [Case((3, 4))],
    "envelope": [Case((8,))],
    "spectrogram stft welch": [Case((16,), nperseg=8)],
    "csd coherence": [Case((16,), (16,), nperseg=8)],
    "periodogram": [Case((16,))],
    "istft": [Case((5, 5), nperseg=8)],
    "lombscargle": [Case((6,), (6,), Given(np.array([0.5, 1.0])))],
    "sawtooth": [Case((5,), domain=(0.1, 3.0))],
    "square": [Case((5,), domain=(0.1, 3.0))],
    "gausspulse": [_ROW],
    "sweep_poly": [Case((4,), (3,), domain=(-0.4, 0.4))],
    "freqs": [Case((3,), (2,), worN=np.array([0.5, 1.0]), domain=(0.5, 1.0))],
    "freqz": [Case((3,), (2,), worN=4, domain=(0.5, 1.0))],
    "gauss_spline": [Case((4,), Given(3))],
    "cspline1d": [Case((6,))],
    "qspline1d": [Case((6,))],
    "cspline1d_eval": [Case((4,), (2,), domain=(0.5, 2.5))],
    "zpk2tf": [Case((2,), (2,), ())],
    "tf2ss normalize lp2lp": _SYSTEM,
    "argrelmax argrelmin": [Case((7,))],
    "argrelextrema": [Case((7,), Given(np.greater))],
    "windows.gaussian": [Case(Given(5), (), domain=(0.5, 2.0))],
    "windows.general_gaussian": [Case(Given(5), (), (), domain=(0.5, 2.0))],
    "windows.general_hamming": [Case(Given(5), ())],
    "windows.general_cosine": [Case(Given(5), (3,))],
    "windows.exponential": [Case(Given(5), Given(None), (), domain=(0.5, 2.0))],
    "windows.tukey": [Case(Given(7), (), domain=(0.5, 0.9))],
    "windows.kaiser": [Case(Given(5), ())],
}
_NDIMAGE: dict[str, list[Case]] = {
    "correlate convolve": [
        Case((4, 5), (3, 2)),
        Case((4, 5), (2, 3), mode="wrap"),
        Case((5,), (3,), mode="constant", cval=0.5),
    ],
    "correlate1d convolve1d": [Case((4, 5), (3,), axis=0), Case((5,), (3,), mode="mirror")],
    "gaussian_filter gaussian_filter1d gaussian_laplace": _SMOOTHED,
    "gaussian_gradient_magnitude": _SMOOTHED[:1],
    "sobel prewitt laplace": [_IMAGE],
    "uniform_filter maximum_filter minimum_filter median_filter": _CHOSEN,
    "uniform_filter1d maximum_filter1d minimum_filter1d": _CHOSEN,
    "sum_labels variance standard_deviation median center_of_mass": [_IMAGE],
    "maximum minimum extrema maximum_position minimum_position": [_IMAGE],
    "rank_filter": [Case((4, 5), Given(2), Given(3)), Case((5,), Given(-1), Given(3))],
    "percentile_filter": [Case((4, 5), Given(20), Given(3))],
    "grey_erosion grey_dilation grey_opening grey_closing": [
        Case((4, 5), Given(3)),
        Case((4, 5), structure=np.array([[0.1, 0.3], [0.0, 0.2]])),
    ],
    "morphological_gradient morphological_laplace white_tophat black_tophat": [Case((4, 5), Given(3))],
    "fourier_gaussian fourier_uniform fourier_ellipsoid fourier_shift": [Case((3, 4), Given(0.7))],
    "spline_filter spline_filter1d": [_IMAGE, Case((5,), order=2, mode="reflect")],
    "map_coordinates": [
        *[Case((3, 4), (2, 5), order=k, mode="mirror", domain=(0.1, 2.9)) for k in (0, 1, 2, 3)],
        *[Case((4,), (1, 5), mode=mode) for mode in ("reflect", "wrap", "grid-wrap", "nearest")],
        Case((4,), (1, 3), order=2, cval=0.5),
        Case((4,), (1, 3), mode="grid-constant"),
    ],
    "shift": [Case((3, 4), (2,)), Case((5,), (), mode="reflect", order=2)],
    "zoom": [Case((3, 4), Given(1.7)), Case((4,), Given(2), order=1, mode="nearest")],
    "rotate": [Case((3, 4), Given(30.0), reshape=False, order=1)],
    "affine_transform": [Case((3, 4), (2, 2), (2,), domain=(0.1, 0.9)), Case((4,), (1,), mode="mirror", order=2)],
    "mean": [_IMAGE, Case((2, 3), **_PARTS)],
}
_INTEGRATE: dict[str, list[Case]] = {
    "trapezoid simpson": [*_SAMPLES, Case((5,), (5,), domain=(0.5, 2.0))],
    "cumulative_trapezoid cumulative_simpson": _SAMPLES,
    "romb": [_ROW],
}
_SMALL = [Case((2, 2), domain=(-0.5, 0.5))]
_LINALG: dict[str, list[Case]] = {
    "sinm cosm tanm sinhm coshm tanhm expm_cond": _SMALL,
    "expm_frechet": [Case((2, 2), (2, 2), domain=(-0.5, 0.5), compute_expm=False)],
    "svdvals": [Case((3, 3), of=graded), Case((4, 2), of=graded)],
    "eigvalsh": [Case((3, 3), of=spread), Case((3, 3), of=spread, subset_by_index=[0, 1], lower=False)],
    "subspace_angles": [Case((4, 1), (4, 2))],
    "solve_circulant": [Case((3,), (3,), domain=(0.5, 2.0))],
    "leslie": [Case((4,), (3,))],
    "fiedler": [_ROW],
    "fiedler_companion": [Case((4,), domain=(1.0, 2.0))],
    "convolution_matrix": [Case((4,), Given(3)), Case((4,), Given(3), Given("same"))],
    "khatri_rao": [Case((2, 3), (4, 3))],
    "companion": [Case((4,), domain=(1.0, 2.0))],
    "block_diag": [Case((2, 3), (1, 2)), Case((2,), (2, 2), ())],
    "matmul_toeplitz": [Case((3,), (3, 2))],
}
_DISTANCES: dict[str, list[Case]] = {
    "euclidean sqeuclidean cityblock chebyshev": _VECTORS,
    "cosine correlation canberra braycurtis": _VECTORS,
    "minkowski": [Case((3,), (3,), Given(3))],
    "seuclidean": _VECTORS[1:],
    "mahalanobis": [Case((2,), (2,), Given(np.array([[2.0, 0.5], [0.5, 1.0]])))],
    "jensenshannon": _VECTORS[:1],
    "cdist": [Case((3, 2), (4, 2)), Case((3, 2), (4, 2), metric="cityblock")],
    "pdist": [Case((4, 2)), Case((4, 2), metric="sqeuclidean")],
    "squareform": [Case((6,))],
}
_STATISTICS: dict[str, list[Case]] = {
    "zscore sem skew kurtosis": _OF_ROWS,
    "gmean hmean": _POSITIVE,
    "entropy": [Case((4,), (4,), domain=(0.5, 2.0))],
    "moment": [Case((5,), Given(2)), Case((4, 3), Given(3), axis=1)],
    "variation tmean tvar tstd iqr": [_ROW],
    "trim_mean": [Case((6,), Given(0.2))],
    "boxcox": [Case((4,), Given(0.5), domain=(0.5, 2.0))],
    "wasserstein_distance energy_distance": [Case((4,), (5,))],
    "linregress": [Case((6,), (6,))],
}
_FRACTION, _ABOVE_ONE = [Case((), domain=(-0.9, 0.9))], [Case((), domain=(1.1, 3.0))]
_TWO = Case((), (), domain=(0.5, 3.0))
_MATH: dict[str, list[Case]] = {
    "sin cos tan asin acos atan sinh cosh tanh asinh atanh exp exp2 expm1 erf erfc": _FRACTION,
    "fabs cbrt degrees radians ceil floor isfinite isinf isnan modf frexp": _FRACTION,
    "log log2 log10 log1p sqrt acosh gamma lgamma": _ABOVE_ONE,
    "atan2 copysign fmod hypot pow remainder isclose": [_TWO],
    "ldexp": [Case((), Given(2))],
    "prod": [Case((3,))],
}
for _module, _cases in (
    ("math", _MATH),
    ("scipy.signal", _SIGNAL),
    ("scipy.ndimage", _NDIMAGE),
    ("scipy.integrate", _INTEGRATE),
    ("scipy.linalg", _LINALG),
    ("scipy.spatial.distance", _DISTANCES),
    ("scipy.stats", _STATISTICS),
):
    NAMED_CASES.update({f"{_module}.{name}": cases for names, cases in _cases.items() for name in names.split()})
