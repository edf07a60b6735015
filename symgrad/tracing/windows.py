"""``scipy.ndimage`` and ``scipy.signal`` of traced arrays: filters, each a sum or a choice over windows.

A window is gathered by an index of places along each axis, which says where the elements beyond the ends come from. So
filters are contractions and sorts; what scipy composes of them in Python is its own code, which is traced.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError, ShapeError, UnsupportedOperation
from .dispatch import answers_for
from .given_arrays import floats
from .local_array import holds_traced
from .making import array_of
from .reductions import normalized_axes, normalized_axis
from .tracer import Tracer

#: what lies beyond the ends, as scipy calls it -> as np.pad does
_BEYOND = {
    "reflect": "symmetric",
    "grid-mirror": "symmetric",
    "mirror": "reflect",
    "nearest": "edge",
    "wrap": "wrap",
    "grid-wrap": "wrap",
    "symm": "symmetric",
    "constant": None,
    "grid-constant": None,
    "fill": None,
}


def _places(count: int, wanted: np.ndarray, mode: str) -> np.ndarray:
    """Where elements at ``wanted`` places of an axis come from; ``count`` is what fills it."""
    beyond = _BEYOND.get(mode, mode)
    if mode not in _BEYOND:
        raise ArgumentError.here(f"mode={mode!r} is none of {[*_BEYOND]}")
    if beyond is None:
        return np.where((wanted >= 0) & (wanted < count), wanted, count)
    before, after = max(0, -int(wanted.min(initial=0))), max(0, int(wanted.max(initial=0)) - count + 1)
    return np.pad(np.arange(count), (before, after), mode=beyond)[wanted + before]  # type: ignore[call-overload]


def _windows(x: Any, places: Sequence[tuple[int, np.ndarray]], fill: Any = 0.0) -> Any:
    """The windows at each place: ``places`` are axes in their order, each with an index ``[place, within]``.

    The axes within stand behind all others.
    """
    for axis, index in places:
        if index.size and index.max() == x.shape[axis]:
            rim = np.full_like(np.take(x, [0], axis), fill)
            x = np.concatenate([x, rim], axis)
        x = np.moveaxis(np.take(x, index, axis), axis + 1, -1)
    return x


def _correlated(x: Tracer, weights: Any, places: Sequence[tuple[int, np.ndarray]], fill: Any = 0.0) -> Any:
    w = floats(weights)
    return np.tensordot(_windows(x, places, fill), w.astype(x.dtype) if w.dtype != x.dtype else w, w.ndim)


def written(output: Any, made: Any) -> Any:
    """The result of a filter: in an array that it was given, or in the dtype that it was asked for."""
    if output is None:
        return made
    if isinstance(output, np.ndarray):
        output[...] = made
        return output
    return made.astype(output)


def _around(count: int, size: int, origin: int, mode: str) -> np.ndarray:
    """The window of ``size`` places around each place of an axis."""
    if not -(size // 2) <= origin <= (size - 1) // 2:
        raise ArgumentError.here(f"an origin of {origin} is outside of a window of {size}")
    return _places(count, np.arange(count)[:, None] + np.arange(size) - size // 2 - origin, mode)


def _each(value: Any, count: int) -> list[Any]:
    return list(value) if isinstance(value, (tuple, list)) else [value] * count


# scipy.ndimage


@answers_for("scipy.ndimage.correlate1d")
def _correlate1d(input, weights, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    x, w = floats(input), floats(weights)
    k = normalized_axis(axis, x.ndim)
    places = [(k, _around(x.shape[k], w.shape[0], origin, mode))]
    return written(output, _correlated(x, w, places, cval))


@answers_for("scipy.ndimage._correlate_or_convolve")
def _correlate(input, weights, output, mode, cval, origin, convolution, axes=None):
    x, w = floats(input), floats(weights)
    own, origins = normalized_axes(axes, x.ndim), _each(origin, w.ndim)
    if w.ndim != len(own):
        raise ShapeError.here(f"scipy.ndimage: weights of {w.ndim} axes do not fit an array of {x.ndim}")
    if convolution:
        w, origins = np.flip(w), [-o - (size % 2 == 0) for o, size in zip(origins, w.shape, strict=True)]
    given = zip(own, w.shape, origins, _each(mode, w.ndim), strict=True)
    places = [(k, _around(x.shape[k], size, o, m)) for k, size, o, m in given]
    return written(output, _correlated(x, w, places, cval))


@answers_for("scipy.ndimage.uniform_filter1d")
def _uniform_filter1d(input, size, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    return _correlate1d(input, np.full(size, 1.0 / size), axis, output, mode, cval, origin)


def _extremum1d(choose: Callable) -> Callable:
    def answer(input, size, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
        x = floats(input)
        k = normalized_axis(axis, x.ndim)
        places = [(k, _around(x.shape[k], size, origin, mode))]
        return written(output, choose(_windows(x, places, cval), axis=-1))

    return answer


answers_for("scipy.ndimage.maximum_filter1d")(_extremum1d(np.max))
answers_for("scipy.ndimage.minimum_filter1d")(_extremum1d(np.min))


def _chosen(choose: Callable, x: Tracer, size: Any, footprint: Any, mode: Any, cval: Any, origin: Any) -> Any:
    """What ``choose`` takes of the window around each place, along a last axis."""
    if footprint is None and size is None:
        raise ArgumentError.here("a filter takes size or footprint")
    chosen = np.ones(_each(size, x.ndim), bool) if footprint is None else np.asarray(footprint, bool)
    given = zip(range(x.ndim), chosen.shape, _each(origin, x.ndim), _each(mode, x.ndim), strict=True)
    places = [(k, _around(x.shape[k], n, o, m)) for k, n, o, m in given]
    return choose(_windows(x, places, cval).reshape((*x.shape, chosen.size))[..., np.flatnonzero(chosen)])


@answers_for("scipy.ndimage._min_or_max_filter")
def _min_or_max_filter(input, size, footprint, structure, output, mode, cval, origin, minimum, axes=None):
    """What the filters of grey morphology are made of."""
    if axes is not None and normalized_axes(axes, np.ndim(input)) != tuple(range(np.ndim(input))):
        raise UnsupportedOperation.here("scipy.ndimage: filters with axes= have no rule; loop over the others.")
    heights = None if structure is None else np.asarray(structure, float)
    if footprint is None and heights is not None:
        footprint = np.ones(heights.shape, bool)
    choose, sign = (np.min, -1) if minimum else (np.max, 1)

    def chosen(windows: Any) -> Any:
        added = 0 if heights is None else sign * heights[np.asarray(footprint, bool)]
        return choose(windows + added, axis=-1)

    x = floats(input)
    return written(output, _chosen(chosen, x, size, footprint, mode, cval, origin).astype(x.dtype))


@answers_for("scipy.ndimage._rank_filter")
def _rank_filter(
    input, rank, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0, operation="", axes=None
):
    """What filters by rank are made of, the median among them: the element at a place of each sorted window."""
    if axes is not None or holds_traced(rank):
        raise UnsupportedOperation.here("scipy.ndimage: filters with axes=, or by their rank, have no derivative rule.")

    def chosen(windows: Any) -> Any:
        count = windows.shape[-1]
        share = min(int(count * (rank + 100 * (rank < 0)) / 100.0), count - 1)
        place = {"median": count // 2, "percentile": share}.get(operation, int(rank) + (count if rank < 0 else 0))
        return np.sort(windows, axis=-1)[..., place]

    return written(output, _chosen(chosen, floats(input), size, footprint, mode, cval, origin))


def _of_frequencies(name: str) -> None:
    """A filter that multiplies a transform by weights, which are what it makes of ones."""

    def answer(input, parameter, n=-1, axis=-1, output=None):
        if holds_traced(parameter):
            raise UnsupportedOperation.here(f"scipy.ndimage.{name} has no derivative rule by its parameter.")
        x = array_of(input)
        real, dtype = name != "fourier_shift", x.dtype
        if dtype not in ((np.float32, np.complex64, np.complex128) if real else (np.complex64, np.complex128)):
            dtype = np.dtype(float if real else complex)
        ones = np.ones(x.shape, float if real else complex)
        made = (getattr(sys.modules["scipy.ndimage"], name)(ones, parameter, n, axis) * x).astype(dtype)
        return written(output, made)

    answers_for(f"scipy.ndimage.{name}")(answer)


for _name in ("fourier_gaussian", "fourier_uniform", "fourier_ellipsoid", "fourier_shift"):
    _of_frequencies(_name)


# scipy.signal


def _full_places(count: int, size: int, first: int, length: int, mode: str = "fill") -> np.ndarray:
    """Which elements count for each place of a convolution, from ``first`` on, the window turned round."""
    return _places(count, first + np.arange(length)[:, None] - np.arange(size), mode)


def _promoted(*arrays: Any) -> list[Any]:
    """The arrays in the dtype of the result, which scipy.signal computes in."""
    dtype = np.result_type(*[v.dtype for v in arrays])
    return [v.astype(dtype) for v in arrays]


def _convolved(x: Any, w: Any, mode: str, beyond: str = "fill", fill: Any = 0.0) -> Any:
    x, w = _promoted(x, w)
    if x.ndim != w.ndim:
        raise ShapeError.here(f"scipy.signal: arrays of {x.ndim} and {w.ndim} axes are not convolved")
    if mode not in ("full", "same", "valid"):
        raise ArgumentError.here(f"scipy.signal: mode={mode!r} is none of 'full', 'same', 'valid'")
    if mode == "valid" and any(n < m for n, m in zip(x.shape, w.shape, strict=True)):
        if any(n > m for n, m in zip(x.shape, w.shape, strict=True)):
            raise ShapeError.here("scipy.signal: for mode='valid' one array must be as large along every axis")
        x, w = w, x
    places = []
    for k, (n, m) in enumerate(zip(x.shape, w.shape, strict=True)):
        first, length = {"full": (0, n + m - 1), "same": ((m - 1) // 2, n), "valid": (m - 1, n - m + 1)}[mode]
        places.append((k, _full_places(n, m, first, length, beyond)))
    return _correlated(x, w, places, fill)


@answers_for("scipy.signal.convolve", "scipy.signal.fftconvolve", "scipy.signal.oaconvolve")
def _signal_convolve(in1, in2, mode="full", method="auto", axes=None):
    if axes is not None:
        raise UnsupportedOperation.here("scipy.signal: convolving along some axes= has no rule; loop over rows.")
    return _convolved(floats(in1), floats(in2), mode)


@answers_for("scipy.signal.correlate")
def _signal_correlate(in1, in2, mode="full", method="auto"):
    return _convolved(floats(in1), np.flip(floats(in2)), mode)


@answers_for("scipy.signal.convolve2d")
def _convolve2d(in1, in2, mode="full", boundary="fill", fillvalue=0):
    return _convolved(floats(in1), floats(in2), mode, boundary, fillvalue)


@answers_for("scipy.signal.correlate2d")
def _correlate2d(in1, in2, mode="full", boundary="fill", fillvalue=0):
    x, w = _promoted(floats(in1), np.flip(floats(in2)))
    if mode == "same":
        places = [
            (k, _full_places(n, m, m // 2, n, boundary)) for k, (n, m) in enumerate(zip(x.shape, w.shape, strict=True))
        ]
        return _correlated(x, w, places, fillvalue)
    return _convolved(x, w, mode, boundary, fillvalue)


@answers_for("scipy.signal.medfilt", "scipy.signal.medfilt2d")
def _medfilt(volume, kernel_size=3):
    return _rank_filter(volume, 0, 3 if kernel_size is None else kernel_size, mode="constant", operation="median")


@answers_for("scipy.signal.lfilter")
def _lfilter(b, a, x, axis=-1, zi=None):
    """Direct form II transposed, as scipy steps; a loop over the samples."""
    top, bottom, signal = _promoted(floats(np.atleast_1d(b)), floats(np.atleast_1d(a)), floats(x))
    order = max(top.shape[0], bottom.shape[0]) - 1
    scaled = [np.concatenate([v / bottom[0], np.zeros(order + 1 - v.shape[0], v.dtype)]) for v in (top, bottom)]
    k = normalized_axis(axis, signal.ndim)
    if bottom.shape[0] == 1 and zi is None:  # without feedback it is a convolution
        n = signal.shape[k]
        return _correlated(signal, scaled[0], [(k, _full_places(n, order + 1, 0, n))])
    rows = np.moveaxis(signal, k, 0)
    state: Any = np.zeros((order, *rows.shape[1:]), rows.dtype) if zi is None else np.moveaxis(floats(zi), k, 0)
    made, state = _filtered(scaled[0], scaled[1], rows, [state[i] for i in range(order)])
    made = np.moveaxis(made, 0, k)
    return made if zi is None else (made, np.moveaxis(np.stack(state), 0, k))


def _filtered(b: Any, a: Any, rows: Any, state: list[Any]) -> tuple[Any, list[Any]]:
    made, order = [], len(state)
    for n in range(rows.shape[0]):
        x = rows[n]
        y = state[0] + b[0] * x if order else b[0] * x
        rest = [*state[1:], 0.0]
        state = [rest[i] + x * b[i + 1] - y * a[i + 1] for i in range(order)]
        made.append(y)
    return np.stack(made), state


@answers_for("scipy.signal.sosfilt")
def _sosfilt(sos, x, axis=-1, zi=None):
    sections, signal = _promoted(floats(sos), floats(x))
    k = normalized_axis(axis, signal.ndim)
    rows = np.moveaxis(signal, k, 0)
    states = (
        np.zeros((sections.shape[0], 2, *rows.shape[1:]), rows.dtype)
        if zi is None
        else np.moveaxis(floats(zi), k + 1, 1)
    )
    last = []
    for s in range(sections.shape[0]):
        rows, state = _filtered(sections[s, :3], sections[s, 3:], rows, [states[s][0], states[s][1]])
        last.append(np.stack(state))
    made = np.moveaxis(rows, 0, k)
    return made if zi is None else (made, np.moveaxis(np.stack(last), 1, k + 1))


@answers_for("scipy.signal.upfirdn")
def _upfirdn(h, x, up=1, down=1, axis=-1, mode="constant", cval=0):
    if mode != "constant" or cval:
        raise UnsupportedOperation.here(f"scipy.signal.upfirdn with mode={mode!r} has no rule; pad the signal.")
    taps, signal = _promoted(floats(h), floats(x))
    k = normalized_axis(axis, signal.ndim)
    n, m = signal.shape[k], taps.shape[0]
    length = -(-((n - 1) * up + m) // down)
    place = np.arange(length)[:, None] * down - np.arange(n) * up
    matrix = np.concatenate([taps, np.zeros(1, taps.dtype)])[np.where((place >= 0) & (place < m), place, m)]
    return np.moveaxis(np.tensordot(matrix, signal, ([1], [k])), 0, k)
