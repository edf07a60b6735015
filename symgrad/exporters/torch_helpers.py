"""What torch has not, or has with another meaning than NumPy, as functions of an exported module."""

from __future__ import annotations

#: functions that arguments go through, by name
ENTRANCES = {
    "_tensor": '''
def _tensor(name, given, dtype, device=None):
    """An argument as a tensor of the dtype; an error that names it where it is none."""
    if not isinstance(given, torch.Tensor):
        try:
            given = torch.as_tensor(np.require(np.asarray(given), requirements="CW"))
        except (TypeError, ValueError, RuntimeError) as error:
            raise ValueError(f"{name} is no tensor: {error}") from None
    if given.numel() and not torch.can_cast(given.dtype, dtype):
        raise TypeError(f"{name} holds {given.dtype}, and {dtype} is expected")
    return given.to(device=device, dtype=dtype)
''',
}

#: name -> source
HELPERS = {
    "_on_diagonal": '''
def _on_diagonal(values, shape, spelled):
    """Zeros with values on the diagonals that repeated letters name."""
    full, own = spelled.split("->")
    places = torch.meshgrid(*[torch.arange(n, device=values.device) for n in values.shape], indexing="ij")
    made = torch.zeros(shape, dtype=values.dtype, device=values.device)
    return made.index_put(tuple(places[own.index(i)] for i in full), values)
''',
    "_scatter": '''
def _scatter(values, index, axis, size):
    """Zeros with the values added along an axis where the index says."""
    rows = torch.where(index < 0, index + size, index).reshape(-1)
    values = values.flatten(axis, axis + index.ndim - 1) if index.ndim else values.unsqueeze(axis)
    shape = (*values.shape[:axis], size, *values.shape[axis + 1 :])
    return torch.zeros(shape, dtype=values.dtype, device=values.device).index_add(axis, rows, values)
''',
    "_convolve": '''
def _convolve(a, v):
    """The convolution of two vectors in full."""
    a, v = (a, v) if len(a) >= len(v) else (v, a)
    rest = len(v) - 1
    return torch.nn.functional.pad(a, (rest, rest)).unfold(0, len(v), 1) @ torch.flip(v, (0,))
''',
    "_sign": '''
def _sign(x):
    """The sign, NaN of NaN."""
    return torch.where(torch.isnan(x), x, torch.sign(x))
''',
    "_cbrt": '''
def _cbrt(x):
    """The cube root: a power, and one step of Newton's method where that is not exact."""
    size = torch.where((x == 0) | torch.isinf(x) | torch.isnan(x), 1, torch.abs(x))
    root = size ** (1 / 3)
    root = root - (root - size / (root * root)) / 3
    return torch.where((x == 0) | torch.isinf(x) | torch.isnan(x), x, torch.sign(x) * root)
''',
    "_heaviside": '''
def _heaviside(x, value):
    """0 below zero, 1 above, the value at zero, NaN of NaN."""
    step = torch.where(x > 0, torch.ones_like(x), torch.zeros_like(x))
    return torch.where(torch.isnan(x), x, torch.where(x == 0, value, step))
''',
    "_ldexp": '''
def _ldexp(x, power):
    """x times a power of two, in two steps that do not overflow before the result does."""
    half = torch.div(power, 2, rounding_mode="floor")
    return x * torch.exp2(half.to(x.dtype)) * torch.exp2((power - half).to(x.dtype))
''',
    "_gammaln": '''
def _gammaln(x):
    """The logarithm of the absolute gamma function, at minus infinity as SciPy has it."""
    return torch.where(x == -torch.inf, x, torch.special.gammaln(x))
''',
    "_ndtr": '''
def _ndtr(x):
    """The normal distribution, to the last digits on the left too."""
    return 0.5 * torch.special.erfc(x * -(0.5**0.5))
''',
    "_reciprocal": '''
def _reciprocal(x):
    """The reciprocal as integers have it."""
    return torch.where(torch.abs(x) == 1, x, torch.where(x == 0, torch.iinfo(x.dtype).min, 0)).to(x.dtype)
''',
    "_floor_divide": '''
def _floor_divide(a, b):
    """The quotient of integers, 0 where the divisor is."""
    return torch.where(b == 0, 0, torch.floor_divide(a, torch.where(b == 0, 1, b)))
''',
    "_remainder": '''
def _remainder(a, b):
    """The remainder of integers, with the sign of the divisor, 0 where that is."""
    return torch.where(b == 0, 0, torch.remainder(a, torch.where(b == 0, 1, b)))
''',
    "_fmod": '''
def _fmod(a, b):
    """The remainder of integers, with the sign of the dividend, 0 where the divisor is."""
    return torch.where(b == 0, 0, torch.fmod(a, torch.where(b == 0, 1, b)))
''',
}
