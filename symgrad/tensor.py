"""Tensor and Parameter: ndarrays that print as MindSpore's do, and weights that gradients are taken by.

>>> Tensor([[1, 2], [3, 4]], dtype=float32)
Tensor(shape=[2, 2], dtype=Float32, value=
[[ 1.00000000e+00,  2.00000000e+00],
 [ 3.00000000e+00,  4.00000000e+00]])
>>> print(Tensor([1.0, 2.0]) * 2)
[2. 4.]
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .dtype import float32
from .errors import ArgumentTypeError, ShapeError
from .tracing.trace import current
from .tracing.tracer import METHODS, Tracer


class Tensor(np.ndarray):
    """An ndarray with MindSpore's printing and methods; any NumPy function takes it as it is.

    ``Tensor(data, dtype=None)``: data is anything ``np.array`` takes, and is copied. Python floats
    become float32 where no dtype is given, as in MindSpore; arrays keep theirs.
    """

    def __new__(cls, input_data: Any = None, dtype: Any = None, shape: Any = None) -> Tensor:
        if isinstance(input_data, Tracer):
            return input_data if dtype is None else input_data.astype(dtype)  # type: ignore[return-value]
        if dtype is None and not isinstance(input_data, (np.ndarray, np.generic)):
            dtype = float32 if np.asarray(input_data).dtype == np.float64 else None
        return np.array(input_data, dtype=dtype, subok=False).view(cls)

    def asnumpy(self) -> np.ndarray:
        """The same data as a plain ndarray; shares memory."""
        return self.view(np.ndarray)

    def __repr__(self) -> str:
        name = self.dtype.name.capitalize()
        head = f"Tensor(shape={list(self.shape)}, dtype={name}, value="
        plain = self.view(np.ndarray)
        if self.ndim == 0:
            return f"{head} {plain[()]:g})" if self.dtype.kind == "f" else f"{head} {plain[()]})"
        text = np.array2string(plain, separator=", ", formatter=_FORMATTER if self.dtype.kind == "f" else None)
        return f"{head}\n{text})" if self.ndim > 1 else f"{head} {text})"

    def __str__(self) -> str:
        return str(self.view(np.ndarray))

    def __reduce__(self) -> Any:
        return Tensor, (self.view(np.ndarray),)


_FORMATTER: Any = {"float_kind": lambda v: f"{v: .8e}"}


class Parameter(Tensor):
    """A weight: a Tensor with a name that gradients can be taken by, and that a trace reads afresh at every call.

    ``Parameter(default_input, name="Parameter", requires_grad=True)``. ``set_data`` replaces the values.
    """

    name: str
    requires_grad: bool

    def __new__(cls, default_input: Any, name: str = "Parameter", requires_grad: bool = True) -> Parameter:
        self = Tensor(default_input).view(cls)
        self.name = name
        self.requires_grad = requires_grad
        return self

    def __array_finalize__(self, source: Any) -> None:
        if source is not None:
            self.name = getattr(source, "name", "Parameter")
            self.requires_grad = getattr(source, "requires_grad", True)

    @property
    def _symgrad_node(self):
        trace = current()
        return None if trace is None else lambda: trace.parameter(self)

    @property
    def data(self) -> Tensor:  # type: ignore[override]
        """The values; shares memory."""
        return self.view(Tensor)

    def set_data(self, data: Any, slice_shape: bool = False) -> Parameter:
        """Replace the values in place; the shape must be the same."""
        new = np.asarray(data)
        if new.shape != self.shape:
            raise ShapeError(f"set_data: {self.name} has shape {self.shape}, the data has {new.shape}")
        self.view(np.ndarray)[...] = new
        return self

    def _guarded(self) -> dict[str, Any]:
        return {}

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if current() is not None:
            return lifted(self).__array_ufunc__(ufunc, method, *map(lifted, inputs), **kwargs)
        return getattr(ufunc, method)(*map(_plain, inputs), **{k: _plain_out(v) for k, v in kwargs.items()})

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if current() is not None:
            return lifted(self).__array_function__(func, types, args, kwargs)
        return super().__array_function__(func, (Tensor,), args, kwargs)

    def __getitem__(self, index: Any) -> Any:
        return lifted(self)[index] if current() is not None else self.view(Tensor)[index]

    def __bool__(self) -> bool:
        return bool(lifted(self)) if current() is not None else super().__bool__()

    def __float__(self) -> float:
        return float(lifted(self)) if current() is not None else super().__float__()

    @property
    def T(self) -> Any:
        return lifted(self).T if current() is not None else self.view(Tensor).T

    def __repr__(self) -> str:
        shown = self.view(Tensor)
        return f"Parameter (name={self.name}, shape={self.shape}, dtype={self.dtype.name.capitalize()}, " + (
            f"requires_grad={self.requires_grad})\n{shown}"
        )


def _traced_method(name: str) -> Any:
    def method(self: Parameter, *args: Any, **kwargs: Any) -> Any:
        owner = lifted(self) if current() is not None else self.view(Tensor)
        return getattr(owner, name)(*args, **kwargs)

    method.__name__ = name
    method.__doc__ = f"``np.ndarray.{name}``; traced where a trace is running."
    return method


for _name in METHODS:
    setattr(Parameter, _name, _traced_method(_name))


def lifted(value: Any) -> Any:
    """A Parameter as the traced input that stands for it; anything else as it is."""
    if isinstance(value, Parameter):
        trace = current()
        return value if trace is None else Tracer(trace.parameter(value))
    return value


def _plain(value: Any) -> Any:
    return value.view(Tensor) if isinstance(value, Parameter) else value


def _plain_out(value: Any) -> Any:
    return tuple(map(_plain, value)) if isinstance(value, tuple) else value


class ParameterTuple(tuple):
    """A tuple of Parameters, as ``GradOperation(get_by_list=True)`` takes it."""

    def __new__(cls, parameters: Iterable[Parameter]) -> ParameterTuple:
        items = tuple(parameters)
        for item in items:
            if not isinstance(item, Parameter):
                raise ArgumentTypeError(f"ParameterTuple takes Parameters, got a {type(item).__name__}")
        return super().__new__(cls, items)


