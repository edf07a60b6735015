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
from .errors import ArgumentTypeError, DtypeError, ShapeError, TracingError, mistakes
from .tracing.array_methods import METHODS
from .tracing.plain_arrays import PLAIN_ARRAYS, checked_dtype, plain_array
from .tracing.trace import current
from .tracing.tracer import Tracer

#: the name of a Parameter that was given none; a Cell names such a one after its attribute
UNNAMED = "Parameter"


class Tensor(np.ndarray):
    """An ndarray with MindSpore's printing and methods; any NumPy function takes it as it is.

    ``Tensor(data, dtype=None)``: data is anything ``np.array`` takes, and is copied. Python floats
    become float32 where no dtype is given, as in MindSpore; arrays keep theirs. What NumPy computes from
    Tensors is a Tensor, of shape ``()`` too. Data that is not real and numeric raises a DtypeError.

    >>> Tensor(19, float32)
    Tensor(shape=[], dtype=Float32, value= 19)
    >>> Tensor([1.5, 2.5]).sum()
    Tensor(shape=[], dtype=Float32, value= 4)
    """

    def __new__(cls, input_data: Any, dtype: Any = None) -> Tensor:
        if isinstance(input_data, Tracer):
            return input_data if dtype is None else input_data.astype(dtype)  # type: ignore[return-value]
        data = plain_array(input_data, "the data of a Tensor")
        if dtype is None and not isinstance(input_data, (np.ndarray, np.generic)):
            dtype = float32 if data.dtype == np.float64 else None
        with mistakes("the data of a Tensor"):
            data = np.array(data, dtype=dtype)
        checked_dtype(data.dtype, "the data of a Tensor")
        return data.view(cls)

    def asnumpy(self) -> np.ndarray:
        """The same data as a plain ndarray; shares memory."""
        return self.view(np.ndarray)

    def __getitem__(self, index: Any) -> Any:
        return as_tensor(super().__getitem__(index))

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        result = super().__array_function__(func, types, args, kwargs)
        if isinstance(result, (tuple, list)) and any(isinstance(v, np.ndarray) for v in result):
            return type(result)(map(as_tensor, result)) if type(result) in (tuple, list) else result
        return as_tensor(result)

    def __repr__(self) -> str:
        head = f"Tensor(shape={list(self.shape)}, dtype={_dtype_name(self.dtype)}, value="
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


def _dtype_name(dtype: np.dtype) -> str:
    return dtype.name.capitalize().replace("Uint", "UInt")


def as_tensor(value: Any) -> Any:
    """A NumPy array or scalar as a Tensor that shares its memory; anything else as it is.

    >>> as_tensor(np.float32(2.0))
    Tensor(shape=[], dtype=Float32, value= 2)
    """
    return np.asarray(value).view(Tensor) if isinstance(value, (np.ndarray, np.generic)) else value


def _tensor_method(name: str) -> Any:
    array_method = getattr(np.ndarray, name)

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        return as_tensor(array_method(self, *args, **kwargs))

    method.__name__ = name
    method.__doc__ = f"``np.ndarray.{name}``, a Tensor."
    return method


for _name in ("argmax", "argmin", "argsort", "dot"):  # these give NumPy scalars or arrays of their own accord
    setattr(Tensor, _name, _tensor_method(_name))


class Parameter(Tensor):
    """A weight: a Tensor with a name that gradients can be taken by, and that a trace reads afresh at every call.

    ``Parameter(default_input, name="Parameter", requires_grad=True)``; the data is copied. Where no name is
    given, the Cell that holds it names it after the attribute. New values are written in place:
    ``p.set_data(v)``, ``p -= rate * g``, ``p[...] = v``; inside a traced function that is a TracingError,
    since it would happen once, while tracing, and not at the calls.

    >>> w = Parameter([1.0, 2.0], name="w")
    >>> w -= 0.5
    >>> w
    Parameter (name=w, shape=(2,), dtype=Float32, requires_grad=True)
    [0.5 1.5]
    """

    name: str
    requires_grad: bool

    def __new__(cls, default_input: Any, name: str = UNNAMED, requires_grad: bool = True) -> Parameter:
        self = Tensor(default_input).view(cls)
        self.name = name
        self.requires_grad = requires_grad
        return self

    def __array_finalize__(self, source: Any) -> None:
        if source is not None:
            self.name = getattr(source, "name", UNNAMED)
            self.requires_grad = getattr(source, "requires_grad", True)

    def __reduce__(self) -> Any:
        return Parameter, (self.view(np.ndarray), self.name, self.requires_grad)

    @property
    def _symgrad_node(self):
        trace = current()
        return None if trace is None else lambda: trace.parameter(self)

    def _guarded(self) -> dict[str, Any]:
        return {"name": self.name, "requires_grad": self.requires_grad}

    @property
    def data(self) -> Any:  # type: ignore[override]
        """The values as a Tensor that shares memory; inside a trace the traced input."""
        return self._self()

    def set_data(self, data: Any) -> Parameter:
        """Replace the values in place.

        The shape must be the same (ShapeError), and the dtype one that NumPy casts within its kind
        (DtypeError): float64 to float32, never float to int.
        """
        self._refuse_write()
        new = plain_array(data, "set_data: the data")
        if new.shape != self.shape:
            raise ShapeError(f"set_data: {self.name} has shape {self.shape}, the data has {new.shape}")
        if not np.can_cast(new.dtype, self.dtype, "same_kind"):
            raise DtypeError(f"set_data: {self.name} is {self.dtype}, the data is {new.dtype}; cast it first")
        self.view(np.ndarray)[...] = new
        return self

    def _self(self) -> Any:
        """What a read of the values gives: the traced input inside a trace, else the data."""
        return lifted(self) if current() is not None else self.view(Tensor)

    def _refuse_write(self) -> None:
        if current() is not None:
            raise TracingError.here(
                f"the parameter {self.name} is written to inside a traced function; it would happen once, while "
                "tracing, and not at the calls. Compute the new value, return it, and write it outside."
            )

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        out = kwargs.get("out", ())
        if current() is not None:
            if any(v is self for v in out):
                self._refuse_write()
            return lifted(self).__array_ufunc__(ufunc, method, *map(lifted, inputs), **kwargs)
        if out:
            kwargs["out"] = tuple(map(_plain, out))
        result = getattr(ufunc, method)(*map(_plain, inputs), **kwargs)
        return out[0] if len(out) == 1 else result

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if current() is not None:
            return lifted(self).__array_function__(func, types, args, kwargs)
        return super().__array_function__(func, types, args, kwargs)

    def __getitem__(self, index: Any) -> Any:
        return self._self()[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self._refuse_write()
        self.view(Tensor)[index] = value

    def __bool__(self) -> bool:
        return bool(self._self())

    def __float__(self) -> float:
        return float(self._self())

    def __int__(self) -> int:
        return int(self._self())

    def __complex__(self) -> complex:
        return complex(self._self())

    @property
    def T(self) -> Any:
        return self._self().T

    def __repr__(self) -> str:
        return (
            f"Parameter (name={self.name}, shape={self.shape}, dtype={_dtype_name(self.dtype)}, "
            f"requires_grad={self.requires_grad})\n{self}"
        )


def _parameter_method(name: str) -> Any:
    def method(self: Parameter, *args: Any, **kwargs: Any) -> Any:
        return getattr(self._self(), name)(*args, **kwargs)

    method.__name__ = name
    method.__doc__ = f"``{name}`` of the values; traced where a trace is running."
    return method


for _name in (*METHODS, "item", "tolist", "asnumpy"):
    setattr(Parameter, _name, _parameter_method(_name))


PLAIN_ARRAYS.update([Tensor, Parameter])


def lifted(value: Any) -> Any:
    """A Parameter as the traced input that stands for it; anything else as it is."""
    if isinstance(value, Parameter):
        trace = current()
        return value if trace is None else Tracer(trace.parameter(value))
    return value


def _plain(value: Any) -> Any:
    return value.view(Tensor) if isinstance(value, Parameter) else value


class ParameterTuple(tuple):
    """A tuple of Parameters, as ``GradOperation(get_by_list=True)`` takes it.

    Anything else in it is an ArgumentTypeError.

    >>> ParameterTuple([Parameter(1.0, name="a")])[0].name
    'a'
    """

    __slots__ = ()

    def __new__(cls, parameters: Iterable[Parameter]) -> ParameterTuple:
        with mistakes("ParameterTuple"):
            items = tuple(parameters)
        for item in items:
            if not isinstance(item, Parameter):
                raise ArgumentTypeError(f"ParameterTuple takes Parameters, got a {type(item).__name__}")
        return super().__new__(cls, items)
