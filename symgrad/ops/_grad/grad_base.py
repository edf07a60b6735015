"""``bprop_getters``: the derivative of an operator, replaced by one that the user declares."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from ...errors import ArgumentError, ArgumentTypeError
from ...tracing.guards import outdate_traces
from ..operator import Operator


class BpropGetters:
    """The replaced derivatives, by operator class; they hold for the class and its function in ``ops``.

    A getter is called with the operator and returns ``bprop(*inputs, out, dout)``, which returns a tuple
    with one gradient for each input (None for zero). Every change makes traces that are cached start anew.

    >>> import numpy as np
    >>> from symgrad import grad, ops
    >>> def doubled(self):
    ...     def bprop(x, out, dout):
    ...         return (2 * dout * ops.cos(x),)
    ...     return bprop
    >>> with bprop_getters.replaced(ops.Sin, doubled):
    ...     grad(ops.Sin())(0.0)
    np.float64(2.0)
    >>> grad(ops.Sin())(0.0)
    np.float64(1.0)
    """

    def register(self, operator: type[Operator]) -> Callable[[Callable], Callable]:
        """A decorator that makes its function the getter of ``operator``, until ``unregister``."""
        _check(operator)

        def registered(getter: Callable) -> Callable:
            _set(operator, getter)
            return getter

        return registered

    def unregister(self, operator: type[Operator]) -> None:
        """Give ``operator`` its own derivative back; an ArgumentError where nothing replaced it."""
        if self.get(operator) is None:
            raise ArgumentError(f"no bprop is registered for {operator.__name__}.")
        _set(operator, None)

    def get(self, operator: type[Operator]) -> Callable | None:
        """The getter that replaces the derivative of ``operator``, if any."""
        _check(operator)
        return operator.bprop_getter

    @contextlib.contextmanager
    def replaced(self, operator: type[Operator], getter: Callable) -> Iterator[None]:
        """``getter`` in force inside a ``with`` block, and what was there before it afterwards."""
        before = self.get(operator)
        _set(operator, getter)
        try:
            yield
        finally:
            _set(operator, before)


def _check(operator: Any) -> None:
    if not (isinstance(operator, type) and issubclass(operator, Operator)):
        raise ArgumentTypeError(f"bprops are registered for operator classes such as ops.Sin, got {operator!r}.")


def _set(operator: type[Operator], getter: Callable | None) -> None:
    operator.bprop_getter = getter
    outdate_traces()


bprop_getters = BpropGetters()
