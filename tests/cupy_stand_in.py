"""What stands in for cupy where there is no device: arrays that NumPy computes with, and that go to it by name alone.

Where the package is installed it imports without a device too, so the names that are called are looked up in itself:
``tests/emit/arrays/test_dialect.py``.
"""

from __future__ import annotations

import contextlib
import sys
import types

import numpy as np
import scipy.special
from numpy.lib.mixins import NDArrayOperatorsMixin


class CUDARuntimeError(RuntimeError):
    """What CUDA raises."""


class ndarray(NDArrayOperatorsMixin):
    """An array on the device."""

    def __init__(self, held):
        self._held = held

    device = property(lambda self: contextlib.nullcontext())
    shape = property(lambda self: self._held.shape)
    ndim = property(lambda self: self._held.ndim)
    dtype = property(lambda self: self._held.dtype)
    T = property(lambda self: ndarray(self._held.T))
    mT = property(lambda self: ndarray(self._held.mT))
    real = property(lambda self: ndarray(self._held.real))
    imag = property(lambda self: ndarray(self._held.imag))

    def get(self):
        return self._held.copy()

    def astype(self, dtype, copy=True):
        return ndarray(self._held.astype(dtype, copy=copy))

    def reshape(self, *shape):
        return ndarray(self._held.reshape(*shape))

    def sum(self, axis=None):
        return _on_device(np.sum)(self, axis)

    def __getitem__(self, index):
        return ndarray(np.asarray(self._held[_held(index)]))

    def __setitem__(self, index, value):
        self._held[_held(index)] = _held(value)

    def __iter__(self):
        return map(ndarray, map(np.asarray, self._held))

    def __array__(self, dtype=None, copy=None):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    def __array_ufunc__(self, ufunc, method, *operands, **options):
        return _on_device(getattr(ufunc, method))(*operands, **options)


def _held(value):
    """What NumPy computes with for an argument; its own arrays are refused."""
    if isinstance(value, ndarray):
        return value._held
    if isinstance(value, np.ndarray):
        raise TypeError("Unsupported type <class 'numpy.ndarray'>")
    if isinstance(value, (tuple, list)):
        return type(value)(map(_held, value))
    return value


def _on_device(function):
    def call(*args, **options):
        with np.errstate(all="ignore"):
            made = function(*map(_held, args), **{name: _held(v) for name, v in options.items()})
        if isinstance(made, tuple):
            return tuple(ndarray(np.asarray(part)) for part in made)
        return ndarray(np.asarray(made)) if isinstance(made, (np.ndarray, np.generic)) else made

    if isinstance(function, np.ufunc):
        call.at = lambda held, index, values: function.at(_held(held), _held(index), _held(values))
    return call


class _Module(types.ModuleType):
    """A module whose functions are those of another one, of arrays on the device."""

    def __init__(self, name, of, without=()):
        super().__init__(name)
        self._of, self._without = of, without

    def __getattr__(self, name):
        if name in self._without or name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        found = getattr(self._of, name)
        return _on_device(found) if callable(found) and not isinstance(found, type) else found


def _pinv(a, rcond=1e-15):
    return np.linalg.pinv(a, rcond)


def _asarray(value, dtype=None):
    return value.astype(dtype, copy=False) if isinstance(value, ndarray) else ndarray(np.array(value, dtype))


def install(monkeypatch):
    """Have ``import cupy`` give what stands in for it; the module."""
    cupy = _Module("cupy", np)
    cupy.ndarray, cupy.asarray = ndarray, _asarray
    cupy.cuda = types.SimpleNamespace(runtime=types.SimpleNamespace(CUDARuntimeError=CUDARuntimeError))
    cupy.fft = _Module("cupy.fft", np.fft)
    cupy.linalg = _Module("cupy.linalg", np.linalg, without=("svdvals",))
    cupy.linalg.pinv = _on_device(_pinv)
    for name, module in (("cupy", cupy), ("cupyx.scipy.special", _Module("cupyx.scipy.special", scipy.special))):
        monkeypatch.setitem(sys.modules, name, module)
    return cupy
