"""Is this derivative right? Checks of values and derivatives against NumPy and finite differences.

``check_grads(fn, args)`` checks the derivatives of a function at one point, ``check_backends`` that every backend
gives the same, ``check_rule(fn, args)`` all that is promised of an operation: the value is NumPy's to the bit,
both modes and the second order agree with finite differences, every backend, float32, strided inputs. No derivative is
compared with another analytic one: the reference is the plain function, evaluated by NumPy in ``np.longdouble``.

>>> import numpy as np
>>> check_grads(lambda x: np.sum(np.sin(x) * x), [np.array([0.5, 1.0])])
>>> try:
...     check_grads(np.floor, [np.array([1.0])])
... except CheckFailed as error:
...     print(error)
check_grads(floor): forward mode, output 0: finite differences do not settle here (a kink, ...
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from ..kernels.kernel import BACKENDS
from .check import Call, Check, CheckFailed, Tolerance, on_backends

__all__ = ["Call", "CheckFailed", "Tolerance", "check_backends", "check_grads", "check_rule"]


def check_grads(
    fn: Callable, args: Sequence[Any], kwargs: dict[str, Any] | None = None, *, order: int = 2, seed: int = 0
) -> None:
    """Check the derivatives of ``fn(*args, **kwargs)`` by every float array (or NumPy float) in ``args``.

    Forward mode is compared with central finite differences along a random direction, reverse mode with
    forward mode through ``⟨w, J v⟩ = ⟨Jᵀ w, v⟩``, and with ``order=2`` every mixture of the modes with
    mixed second differences, and the Hessian with its transpose. Python scalars, integers and keyword
    arguments are held as they are. Raises CheckFailed.

    >>> import numpy as np
    >>> check_grads(np.matmul, [np.ones((2, 3)), np.ones(3)])
    """
    Check(Call(fn, args, kwargs), seed, "check_grads").derivatives(order)


def check_backends(*calls: Call, order: int = 2, seed: int = 0, backends: Collection[str] = BACKENDS) -> None:
    """Check that ``backends`` give the numpy backend's values of ``calls`` and their derivatives.

    The derivatives are those of both modes and, with ``order=2``, a second one. Calls that are checked together are
    built by one run of the compiler; where there is none, ``"native"`` is left out. Raises CheckFailed.

    >>> import numpy as np
    >>> check_backends(Call(np.sin, [np.ones(3)]), Call(np.sum, [np.ones((2, 3))], {"axis": 1}), backends=["numexpr"])
    """
    on_backends([Check(call, seed, "check_backends") for call in calls], order, backends)


def check_rule(
    fn: Callable,
    args: Sequence[Any],
    kwargs: dict[str, Any] | None = None,
    *,
    held: Sequence[int] = (),
    order: int = 2,
    seed: int = 0,
    backends: Collection[str] = BACKENDS,
    rounding: float = 0.0,
) -> None:
    """Check all that symgrad promises of ``fn(*args, **kwargs)``: what ``check_grads`` checks, and

    - the value is what NumPy computes, bit for bit, in float64, float32 and float16 (or refused, where NumPy
      refuses the dtype), also for strided and transposed inputs, which are left as they were;
    - ``backends`` give the same value and derivatives, as ``check_backends`` says;
    - gradients keep the dtype and the shape of what they are taken by;
    - every Program on the way passes the verifier.

    Arguments whose positions are in ``held`` are not differentiated by. With ``rounding``, values may differ from those
    of ``fn`` by so many times the precision, relative to the largest: where other code computes the same.

    >>> import numpy as np
    >>> check_rule(np.sum, [np.ones((2, 3))], {"axis": 1})
    """
    check = Check(Call(fn, args, kwargs, held), seed, "check_rule", rounding)
    check.values()
    check.derivatives(order)
    check.layouts()
    on_backends([check], order, backends)
    check.precisions()
