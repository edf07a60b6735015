"""Optimizers: ``optimizer(gradients)`` moves parameters in place, outside of traced functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError, ArgumentTypeError, ShapeError, TracingError, mistakes
from ..tensor import Parameter
from ..tracing.trace import current

__all__ = ["SGD", "Adagrad", "Adam", "AdamWeightDecay", "Momentum", "Optimizer", "RMSProp"]


class Optimizer:
    """Base of the optimizers: ``parameters`` as ``trainable_params()`` gives them, and one gradient for each.

    ``weight_decay`` times the parameter is added to its gradient; gradients are divided by ``loss_scale``
    first. ``learning_rate`` may be set between steps. Numbers out of range, no parameters or a parameter twice
    are an ArgumentError, another number of gradients an ArgumentTypeError, another shape a ShapeError; nothing
    is moved then.
    """

    def __init__(
        self, params: Iterable[Parameter], learning_rate: float, weight_decay: float = 0.0, loss_scale: float = 1.0
    ) -> None:
        with mistakes(type(self).__name__):
            self.parameters = list(params)
        if not self.parameters or not all(isinstance(p, Parameter) for p in self.parameters):
            raise ArgumentError(f"{type(self).__name__} takes one Parameter or more, such as net.trainable_params().")
        if len({id(p) for p in self.parameters}) != len(self.parameters):
            raise ArgumentError(f"{type(self).__name__} was given a parameter twice.")
        self.learning_rate = _at_least_zero("learning_rate", learning_rate)
        self.weight_decay = _at_least_zero("weight_decay", weight_decay)
        self.loss_scale = _at_least_zero("loss_scale", loss_scale)
        if not self.loss_scale:
            raise ArgumentError(f"loss_scale must be positive, got {loss_scale!r}.")
        self.steps = 0

    def __call__(self, gradients: Sequence[Any]) -> None:
        """One step along ``gradients``, one for each parameter."""
        if current() is not None:
            raise TracingError.here(
                "an optimizer was called inside a traced function; it would step once, while tracing. Take the "
                "gradients with value_and_grad, and call the optimizer on them outside."
            )
        if not isinstance(gradients, (tuple, list)) or len(gradients) != len(self.parameters):
            got = len(gradients) if isinstance(gradients, (tuple, list)) else f"a {type(gradients).__name__}"
            raise ArgumentTypeError(f"the optimizer takes a tuple of {len(self.parameters)} gradients, got {got}.")
        for p, g in zip(self.parameters, gradients, strict=True):
            if np.shape(g) != p.shape:
                raise ShapeError(f"the gradient of {p.name} has shape {np.shape(g)}, the parameter {p.shape}.")
        self.steps += 1
        for k, (p, g) in enumerate(zip(self.parameters, gradients, strict=True)):
            scaled = np.asarray(g, p.dtype) / p.dtype.type(self.loss_scale)
            if self.weight_decay:
                scaled = scaled + p.dtype.type(self.weight_decay) * p.asnumpy()
            p -= self.step(k, scaled)

    def step(self, k: int, gradient: np.ndarray) -> np.ndarray:
        """What is taken off parameter ``k``."""
        raise NotImplementedError

    def _zeros(self) -> list[np.ndarray]:
        return [np.zeros(p.shape, p.dtype) for p in self.parameters]


class SGD(Optimizer):
    """``p -= rate·g``; with ``momentum`` ``v = momentum·v + (1 - dampening)·g`` takes the place of g.

    The first v is g itself. ``nesterov`` (with momentum, without dampening) steps along ``g + momentum·v``.

    >>> w = Parameter([1.0], name="w")
    >>> SGD([w], learning_rate=0.1)([np.array([2.0])])
    >>> print(w)
    [0.8]
    """

    def __init__(
        self,
        params: Iterable[Parameter],
        learning_rate: float = 0.1,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(params, learning_rate, weight_decay, loss_scale)
        self.momentum = _at_least_zero("momentum", momentum)
        self.dampening = _at_least_zero("dampening", dampening)
        self.nesterov = nesterov
        if nesterov and (not momentum or dampening):
            raise ArgumentError("nesterov=True needs a momentum above 0 and a dampening of 0.")
        self._velocity = self._zeros()

    def step(self, k: int, gradient: np.ndarray) -> np.ndarray:
        if self.momentum:
            v = self._velocity[k]
            v *= self.momentum
            v += gradient * (1.0 if self.steps == 1 else 1 - self.dampening)
            gradient = gradient + self.momentum * v if self.nesterov else v
        return self.learning_rate * gradient


class Momentum(SGD):
    """``v = momentum·v + g``, ``p -= rate·v``; ``use_nesterov`` steps along ``g + momentum·v``.

    >>> w = Parameter([1.0], name="w")
    >>> step = Momentum([w], learning_rate=0.1, momentum=0.5)
    >>> for _ in range(2):
    ...     step([np.array([1.0])])
    >>> print(w)
    [0.75]
    """

    def __init__(
        self,
        params: Iterable[Parameter],
        learning_rate: float,
        momentum: float,
        weight_decay: float = 0.0,
        loss_scale: float = 1.0,
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(params, learning_rate, momentum, 0.0, weight_decay, use_nesterov, loss_scale)


class Adam(Optimizer):
    """Steps along the running mean of gradients over the root of that of their squares, both debiased.

    >>> w = Parameter([1.0], name="w")
    >>> Adam([w], learning_rate=0.1)([np.array([5.0])])
    >>> print(w)
    [0.9]
    """

    def __init__(
        self,
        params: Iterable[Parameter],
        learning_rate: float = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(params, learning_rate, weight_decay, loss_scale)
        for name, beta in (("beta1", beta1), ("beta2", beta2)):
            if not 0 <= beta < 1:
                raise ArgumentError(f"{name} must be at least 0 and less than 1, got {beta!r}.")
        if not eps > 0:
            raise ArgumentError(f"eps must be positive, got {eps!r}.")
        self.beta1, self.beta2, self.eps = beta1, beta2, eps
        self._first, self._second = self._zeros(), self._zeros()

    def step(self, k: int, gradient: np.ndarray) -> np.ndarray:
        m, v = self._first[k], self._second[k]
        m += (1 - self.beta1) * (gradient - m)
        v += (1 - self.beta2) * (np.square(gradient) - v)
        root = np.sqrt(v / (1 - self.beta2**self.steps))
        return self.learning_rate / (1 - self.beta1**self.steps) * m / (root + self.eps)


class AdamWeightDecay(Adam):
    """``Adam`` without debiasing, whose weights also shrink by ``rate · weight_decay`` of what they are.

    Source: Loshchilov and Hutter, Decoupled weight decay regularization (2019).

    >>> w = Parameter([1.0], name="w")
    >>> AdamWeightDecay([w], learning_rate=0.1, weight_decay=0.5)([np.array([0.0])])
    >>> print(w)
    [0.95]
    """

    def __init__(
        self,
        params: Iterable[Parameter],
        learning_rate: float = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-6,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(params, learning_rate, beta1, beta2, eps)
        self.decay = _at_least_zero("weight_decay", weight_decay)

    def step(self, k: int, gradient: np.ndarray) -> np.ndarray:
        m, v = self._first[k], self._second[k]
        m += (1 - self.beta1) * (gradient - m)
        v += (1 - self.beta2) * (np.square(gradient) - v)
        return self.learning_rate * (m / (np.sqrt(v) + self.eps) + self.decay * self.parameters[k].asnumpy())


class Adagrad(Optimizer):
    """``s += g²``, ``p -= rate · g / √s``; ``accum`` is what each ``s`` begins with.

    Source: Duchi, Hazan and Singer, Adaptive subgradient methods (2011).

    >>> w = Parameter([1.0], name="w")
    >>> Adagrad([w], accum=0.0, learning_rate=0.5)([np.array([4.0])])
    >>> print(w)
    [0.5]
    """

    def __init__(
        self,
        params: Iterable[Parameter],
        accum: float = 0.1,
        learning_rate: float = 1e-3,
        loss_scale: float = 1.0,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(params, learning_rate, weight_decay, loss_scale)
        self._squares = [np.full_like(z, _at_least_zero("accum", accum)) for z in self._zeros()]

    def step(self, k: int, gradient: np.ndarray) -> np.ndarray:
        s = self._squares[k]
        s += np.square(gradient)
        return self.learning_rate * np.divide(gradient, np.sqrt(s), out=np.zeros_like(gradient), where=s > 0)


class RMSProp(Optimizer):
    """``s = decay·s + (1 - decay)·g²``, ``v = momentum·v + rate·g/√(s + epsilon)``, ``p -= v``.

    ``centered`` takes the square of the running mean of gradients off ``s``. Source: Hinton's lectures (2012).

    >>> w = Parameter([1.0], name="w")
    >>> RMSProp([w], learning_rate=0.1, decay=0.0)([np.array([4.0])])
    >>> print(w)
    [0.9]
    """

    def __init__(
        self,
        params: Iterable[Parameter],
        learning_rate: float = 0.1,
        decay: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-10,
        centered: bool = False,
        loss_scale: float = 1.0,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(params, learning_rate, weight_decay, loss_scale)
        self.decay, self.momentum = _at_least_zero("decay", decay), _at_least_zero("momentum", momentum)
        self.epsilon, self.centered = _at_least_zero("epsilon", epsilon), centered
        self._squares, self._means, self._velocity = self._zeros(), self._zeros(), self._zeros()

    def step(self, k: int, gradient: np.ndarray) -> np.ndarray:
        s, mean, v = self._squares[k], self._means[k], self._velocity[k]
        s += (1 - self.decay) * (np.square(gradient) - s)
        mean += (1 - self.decay) * (gradient - mean)
        spread = s - np.square(mean) if self.centered else s
        v *= self.momentum
        v += self.learning_rate * gradient / np.sqrt(spread + self.epsilon)
        return v


def _at_least_zero(name: str, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not value >= 0:
        raise ArgumentError(f"{name} must be a number of at least 0, got {value!r}.")
    return float(value)
