"""Recurrent layers: RNN, LSTM and GRU, and their single steps.

A layer is one loop over the steps (``sg.scan``), whatever their number, and so is its derivative.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from .. import ops
from ..dtype import float32
from ..errors import ArgumentError, ShapeError
from ..tensor import Parameter
from ..transforms.loops import scan
from .cell import Cell
from .layers import Dropout

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNCell"]


Hidden = Any


def _rnn(x: Any, h: Any, activation: Any) -> Any:
    return activation(x + h)


def _lstm(x: Any, h: Any, c: Any) -> tuple[Any, Any]:
    entry, forget, new, out = np.split(x + h, 4, axis=-1)
    c = ops.sigmoid(forget) * c + ops.sigmoid(entry) * np.tanh(new)
    return ops.sigmoid(out) * np.tanh(c), c


def _gru(x: Any, of_h: Any, h: Any) -> Any:
    (xr, xz, xn), (hr, hz, hn) = np.split(x, 3, axis=-1), np.split(of_h, 3, axis=-1)
    new = np.tanh(xn + ops.sigmoid(xr + hr) * hn)
    return new + ops.sigmoid(xz + hz) * (h - new)


class _Recurrent(Cell):
    """What steps and layers share: how many parts of weights there are, and what a step computes."""

    #: the parts of the weights: one, or the gates and the new state
    parts: ClassVar[int] = 1
    #: whether the state is a pair
    is_pair: ClassVar[bool] = False

    def __init__(self, input_size: int, hidden_size: int, nonlinearity: str = "tanh") -> None:
        super().__init__()
        for what, size in (("input_size", input_size), ("hidden_size", hidden_size)):
            if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
                raise ArgumentError(f"{type(self).__name__}: {what} must be a positive int, got {size!r}.")
        if nonlinearity not in ("tanh", "relu"):
            raise ArgumentError(f"{type(self).__name__}: nonlinearity is 'tanh' or 'relu', got {nonlinearity!r}.")
        self.input_size, self.hidden_size, self.nonlinearity = int(input_size), int(hidden_size), nonlinearity

    def _add_weights(self, end: str, inputs: int, has_bias: bool, dtype: Any) -> None:
        bound, rows = 1 / math.sqrt(self.hidden_size), self.parts * self.hidden_size
        shapes = {"weight_ih": (rows, inputs), "weight_hh": (rows, self.hidden_size)}
        shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)} if has_bias else {}
        for name, shape in shapes.items():
            setattr(self, name + end, Parameter(np.random.uniform(-bound, bound, shape).astype(dtype)))

    def _products(self, end: str, x: Any, which: str) -> Any:
        """``x @ weightᵀ + bias`` of one kind."""
        y = np.matmul(x, np.swapaxes(getattr(self, f"weight_{which}{end}"), -1, -2))
        bias = getattr(self, f"bias_{which}{end}", None)
        return y if bias is None else y + bias

    def _step(self, end: str, x: Any, state: Hidden) -> tuple[Any, Hidden]:
        """The output and the state after a step; ``x`` is already multiplied by its weights."""
        h = state[0] if self.is_pair else state
        of_h = self._products(end, h, "hh")
        if self.is_pair:
            h, c = _lstm(x, of_h, state[1])
            return h, (h, c)
        h = _rnn(x, of_h, np.tanh if self.nonlinearity == "tanh" else ops.relu) if self.parts == 1 else _gru(x, of_h, h)
        return h, h

    def extend_repr(self) -> str:
        return f"input_size={self.input_size}, hidden_size={self.hidden_size}"


class _Step(_Recurrent):
    """One step: the weights are ``weight_ih``, ``weight_hh``, ``bias_ih`` and ``bias_hh``."""

    def __init__(self, input_size: int, hidden_size: int, has_bias: bool = True, dtype: Any = float32) -> None:
        super().__init__(input_size, hidden_size)
        self._add_weights("", self.input_size, has_bias, dtype)

    def construct(self, x, hx):
        if np.shape(x)[-1:] != (self.input_size,):
            raise ShapeError(
                f"{type(self).__name__}: the last axis of {np.shape(x)} has not {self.input_size} elements."
            )
        return self._step("", self._products("", x, "ih"), hx)[1]


class RNNCell(_Step):
    """One step ``h' = tanh(W x + b + V h + c)`` of ``(n, input_size)`` and ``(n, hidden_size)``.

    ``nonlinearity`` is "tanh" or "relu".

    >>> RNNCell(2, 3)(np.ones((1, 2), np.float32), np.zeros((1, 3), np.float32)).shape
    (1, 3)
    """

    def __init__(
        self, input_size: int, hidden_size: int, has_bias: bool = True, nonlinearity: str = "tanh", dtype: Any = float32
    ) -> None:
        _Recurrent.__init__(self, input_size, hidden_size, nonlinearity)
        self._add_weights("", self.input_size, has_bias, dtype)


class LSTMCell(_Step):
    """One step of an LSTM: the state ``(h, c)`` after ``x``; the gates are those of input, forgetting, new and output.

    Source: Hochreiter and Schmidhuber, Long short-term memory (1997), with the forget gate of Gers (2000).

    >>> h = np.zeros((1, 3), np.float32)
    >>> [s.shape for s in LSTMCell(2, 3)(np.ones((1, 2), np.float32), (h, h))]
    [(1, 3), (1, 3)]
    """

    parts, is_pair = 4, True


class GRUCell(_Step):
    """One step of a GRU: ``h' = n + z·(h - n)`` with ``n = tanh(W x + b + r·(V h + c))``; the gates are r and z.

    Source: Cho et al., Learning phrase representations using RNN encoder-decoder (2014).

    >>> GRUCell(2, 3)(np.ones((1, 2), np.float32), np.zeros((1, 3), np.float32)).shape
    (1, 3)
    """

    parts = 3


class _Layers(_Recurrent):
    """Layers of steps over a sequence, each over what the one before gives; with ``bidirectional`` backwards too."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        has_bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        dtype: Any = float32,
        nonlinearity: str = "tanh",
    ) -> None:
        super().__init__(input_size, hidden_size, nonlinearity)
        if isinstance(num_layers, bool) or not isinstance(num_layers, int) or num_layers < 1:
            raise ArgumentError(f"{type(self).__name__}: num_layers must be a positive int, got {num_layers!r}.")
        self.num_layers, self.batch_first, self.bidirectional = num_layers, batch_first, bidirectional
        self.dropout = Dropout(p=float(dropout))
        directions = 2 if bidirectional else 1
        for layer in range(num_layers):
            inputs = self.input_size if layer == 0 else directions * self.hidden_size
            for end in ("", "_reverse")[:directions]:
                self._add_weights(f"_l{layer}{end}", inputs, has_bias, dtype)

    def construct(self, x, hx=None, seq_length=None):
        if np.ndim(x) != 3 or np.shape(x)[-1] != self.input_size:
            raise ShapeError(
                f"{type(self).__name__} takes arrays of 3 axes, the last {self.input_size} long, got {np.shape(x)}."
            )
        x = np.swapaxes(x, 0, 1) if self.batch_first else x
        ends = [f"_l{k}{end}" for k in range(self.num_layers) for end in ("", "_reverse")[: 1 + self.bidirectional]]
        count = np.shape(x)[1]
        zeros = np.zeros((len(ends), 1, self.hidden_size), x.dtype) + np.zeros_like(x[:1, :, :1])
        begun = hx if hx is not None else ((zeros, zeros) if self.is_pair else zeros)
        for own in begun if self.is_pair else (begun,):
            if np.shape(own) != (len(ends), count, self.hidden_size):
                wanted = (len(ends), count, self.hidden_size)
                raise ShapeError(f"{type(self).__name__}: the state has shape {np.shape(own)}, it must be {wanted}.")
        last = []
        for layer in range(self.num_layers):
            if layer:
                x = self.dropout(x)
            made = []
            for k in range(1 + self.bidirectional):
                place = layer * (1 + self.bidirectional) + k
                state = (begun[0][place], begun[1][place]) if self.is_pair else begun[place]
                y, state = self._sequence(ends[place], x, state, seq_length, k == 1)
                made.append(y)
                last.append(state)
            x = made[0] if len(made) == 1 else np.concatenate(made, axis=-1)
        x = np.swapaxes(x, 0, 1) if self.batch_first else x
        if self.is_pair:
            return x, (np.stack([h for h, _ in last]), np.stack([c for _, c in last]))
        return x, np.stack(last)

    def _sequence(self, end: str, x: Any, state: Hidden, seq_length: Any, reverse: bool) -> tuple[Any, Hidden]:
        """The outputs of all steps and the last state; what is behind a sequence's end gives 0 and moves nothing."""
        products = self._products(end, x, "ih")
        if seq_length is None:
            state, y = scan(lambda s, p: _turned(self._step(end, p, s)), state, products, reverse=reverse)
            return y, state
        steps = np.arange(np.shape(x)[0])[:, None]
        inside = np.expand_dims(np.less(steps, seq_length), -1)

        def step(state: Hidden, given: tuple[Any, Any]) -> tuple[Hidden, Any]:
            product, counts = given
            y, after = self._step(end, product, state)
            pairs = zip(after, state, strict=True) if self.is_pair else [(after, state)]
            kept = [np.where(counts, a, b) for a, b in pairs]
            return (tuple(kept) if self.is_pair else kept[0]), np.where(counts, y, 0)

        state, y = scan(step, state, (products, inside), reverse=reverse)
        return y, state


def _turned(pair: tuple[Any, Any]) -> tuple[Any, Any]:
    return pair[1], pair[0]


class RNN(_Layers):
    """Layers of ``RNNCell``: ``(steps, n, input_size)`` gives all outputs, and the last state of each layer.

    ``hx`` is the state to begin with, of shape ``(layers · directions, n, hidden_size)``, zeros by default, and
    ``seq_length`` how many steps of each example count. ``batch_first`` has ``n`` first in the array. ``dropout``
    stands between layers, in training. The weights of layer k are ``weight_ih_lk``, ``weight_hh_lk``, ``bias_ih_lk``
    and ``bias_hh_lk``, those backwards with ``_reverse`` behind.

    >>> y, h = RNN(2, 3, num_layers=2, bidirectional=True)(np.ones((5, 1, 2), np.float32))
    >>> y.shape, h.shape
    ((5, 1, 6), (4, 1, 3))
    """


class LSTM(_Layers):
    """Layers of ``LSTMCell``, whose state is a pair; the options are those of ``RNN``.

    >>> y, (h, c) = LSTM(2, 3, batch_first=True)(np.ones((1, 5, 2), np.float32))
    >>> y.shape, h.shape, c.shape
    ((1, 5, 3), (1, 1, 3), (1, 1, 3))
    """

    parts, is_pair = 4, True


class GRU(_Layers):
    """Layers of ``GRUCell``; the options are those of ``RNN``.

    >>> y, h = GRU(2, 3)(np.ones((5, 1, 2), np.float32))
    >>> y.shape, h.shape
    ((5, 1, 3), (1, 1, 3))
    """

    parts = 3
