"""The dialect of torch: tensors are made on the device of the arguments, and written into only where they are new."""

from __future__ import annotations

import numpy as np

from .dialect import ELSEWHERE, Dialect, divides_integers, inverts_integers, puts_below

_DTYPES = (
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "bool",
)
_DIVISIONS = ("floor_divide", "remainder", "fmod")

#: what torch.special has as SciPy has it
_SPECIAL = (
    "entr erf erfc erfcx erfinv expit gammainc gammaincc gammaln i0 i0e i1 i1e log_ndtr logit ndtri xlog1py xlogy"
)

TORCH = Dialect(
    "torch",
    "torch",
    "torch.special",
    special_from="",
    special_has=frozenset(_SPECIAL.split()),
    own={
        "expm": "torch.linalg.matrix_exp({0})",
        "argmax": "torch.argmax({0}, dim={axis})",
        "argmin": "torch.argmin({0}, dim={axis})",
        "argsort": "torch.argsort({0}, dim={axis}, stable=True)",
        "cast": "{0}.to({dtype})",
        "cholesky_upper": "torch.linalg.cholesky({0}.mT).mT",  # NumPy reads the upper triangle
        "concatenate": "torch.cat([{all}], dim={axis})",
        "convolve": "_convolve({0}, {1})",
        "copy": "{0}.clone()",
        "fourier": 'torch.fft.{name}({0}, {count}dim={axis}, norm="{norm}")',
        "cumprod": "torch.cumprod({0}, dim={axis})",
        "cumsum": "torch.cumsum({0}, dim={axis})",
        "from_end": "torch.flip(torch.{name}(torch.flip({0}, ({axis},)), dim={axis}), ({axis},))",
        "full": "torch.full({shape}, {0}, dtype={dtype}, device=device)",
        "full_of": "torch.broadcast_to({0}, {shape}).clone()",
        "gather": "{0}[{lead}{1}]",
        "max": "torch.amax({0}{over})",
        "min": "torch.amin({0}{over})",
        "scalar": "torch.tensor({0}, dtype={dtype}, device=device)",
        "searchsorted": 'torch.searchsorted({0}.contiguous(), {1}.contiguous(), side="{side}")',
        "stop_gradient": "{0}.detach()",
        "transpose": "torch.permute({0}, {axes})",
        "zeros": "torch.zeros({shape}, dtype={dtype}, device=device)",
    },
    functions={
        **ELSEWHERE,
        "power": "torch.pow({0}, {1})",
        "radians": "torch.deg2rad({0})",
        "degrees": "torch.rad2deg({0})",
        "absolute": "torch.abs({0})",
        "conjugate": "torch.conj_physical({0})",
        "fabs": "torch.abs({0})",
        "rint": "torch.round({0})",
        "invert": "torch.bitwise_not({0})",
        "digamma": "torch.special.digamma({0})",
        "ndtr": "0.5 * torch.special.erfc({0} * -(0.5**0.5))",  # to the last digits on the left too
        "sign": "torch.where(torch.isnan({0}), {0}, torch.sign({0}))",
        **{name: f"torch.special.bessel_{name}({{0}})" for name in ("j0", "j1", "y0", "y1")},
        **{name: f"torch.special.modified_bessel_{name}({{0}})" for name in ("k0", "k1")},
        **{f"{name}e": f"torch.special.scaled_modified_bessel_{name}({{0}})" for name in ("k0", "k1")},
        **dict.fromkeys(("cbrt", "special_cbrt"), "_cbrt({0})"),
        "heaviside": "_heaviside({0}, {1})",
        "ldexp": "_ldexp({0}, {1})",
    },
    whole={
        "reciprocal": "_reciprocal({0})",
        **{name: f"_{name}({{0}}, {{1}})" for name in _DIVISIONS},
        "sign": "torch.sign({0})",
        "floor": "{0}",
        "ceil": "{0}",
        "trunc": "{0}",
    },
    truth={"absolute": "{0}"},
    of_complex={"sign": "torch.sgn({0})"},
    helpers={
        **puts_below("torch.cat"),
        **{f"_{name}": divides_integers("torch", name) for name in _DIVISIONS},
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
        "_reciprocal": inverts_integers("torch", "to"),
    },
    dtypes={name: f"torch.{name}" for name in _DTYPES},
    index=np.dtype(np.int64),
    axis="dim",
    constant="{}.to(device)",
    takes_numbers=False,
    steps_back=False,
    stacks=True,
    one_axis=("prod",),
)
