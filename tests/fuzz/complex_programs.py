"""Random programs in complex numbers: steps that each append a value made of those before it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Step = tuple[str, Callable[..., Any], tuple[int, ...]]

#: functions of one array that is not small, each by its source
_UNARY = {
    "np.exp(0.3 * {0})": lambda a: np.exp(0.3 * a),
    "np.sin({0})": lambda a: np.sin(a),
    "np.tanh(0.5 * {0})": lambda a: np.tanh(0.5 * a),
    "np.conj({0})": lambda a: np.conj(a),
    "{0} * 1j": lambda a: a * 1j,
    "(0.5 - 2j) - {0}": lambda a: (0.5 - 2j) - a,
    "{0}.real": lambda a: a.real,
    "{0}.imag + 0.3": lambda a: a.imag + 0.3,
    "np.abs({0})": lambda a: np.abs(a),
    "np.angle({0} + 4)": lambda a: np.angle(a + 4),
    "np.sign({0})": lambda a: np.sign(a),
    "{0} ** 2": lambda a: a**2,
    "{0} ** 3": lambda a: a**3,
    "np.sqrt({0} * {0} + 9)": lambda a: np.sqrt(a * a + 9),
    "np.log({0} + 5 + 1j)": lambda a: np.log(a + 5 + 1j),
    "1 / ({0} + 4j)": lambda a: 1 / (a + 4j),
    "np.fft.fft({0})": lambda a: np.fft.fft(a),
    "np.fft.ifft({0}, axis=0, norm='ortho')": lambda a: np.fft.ifft(a, axis=0, norm="ortho"),
    "np.fft.fft({0}, 5)": lambda a: np.fft.fft(a, 5),
    "np.fft.rfft({0}.real)": lambda a: np.fft.rfft(a.real),
    "np.fft.irfft({0}, 4)": lambda a: np.fft.irfft(a, 4),
    "np.fft.fftshift({0})": lambda a: np.fft.fftshift(a),
    "{0}[::-1]": lambda a: a[::-1],
    "{0}[1:]": lambda a: a[1:] if a.shape[0] > 2 else a * 2,
    "np.cumsum({0}, axis=0)": lambda a: np.cumsum(a, axis=0),
    "np.roll({0}, 1)": lambda a: np.roll(a, 1),
    "{0}.T": lambda a: a.T,
    "{0} - np.mean({0})": lambda a: a - np.mean(a),
    "np.where({0}.real > 0, {0}, -1j * {0})": lambda a: np.where(a.real > 0, a, -1j * a),
    "written({0})": lambda a: written(a),
    "looped({0})": lambda a: looped(a),
    "{0} / np.sqrt(np.sum(np.abs({0}) ** 2))": lambda a: a / np.sqrt(np.sum(np.abs(a) ** 2)),
}
_BINARY = {
    "{0} + {1}": lambda a, b: a + b,
    "{0} - 0.5 * {1}": lambda a, b: a - 0.5 * b,
    "{0} * {1}": lambda a, b: a * b,
    "{0} / ({1} * np.conj({1}) + 2)": lambda a, b: a / (b * np.conj(b) + 2),
    "np.sum(np.conj({0}) * {1}) * {0}": lambda a, b: np.sum(np.conj(a) * b) * a,
    "np.outer({0}, {1})[:3, :3]": lambda a, b: np.outer(a, b)[:3, :3],
    "np.stack([{0}, {1}])": lambda a, b: (
        np.stack([a, b]).reshape((-1, *a.shape[1:])) if a.ndim > 1 else np.stack([a, b])
    ),
    "np.where(np.abs({0}) > np.abs({1}), {0}, {1})": lambda a, b: np.where(np.abs(a) > np.abs(b), a, b),
    "np.maximum({0}.real, {1}.imag)": lambda a, b: np.maximum(a.real, b.imag),
}


def written(a: Any) -> Any:
    """Writes into an array and into its parts."""
    y = a * (1 + 0j)
    y[0] = y[-1] * 1j
    y.real[1:] = y.imag[:-1]
    return y


def looped(a: Any) -> Any:
    """A loop that is long enough to be found again."""
    x = a
    for _ in range(12):
        x = x * (0.6 + 0.3j) + 0.2 * np.conj(x) * np.abs(a) + 0.1 * np.exp(0.1j * x) - 0.05 * x.real + np.sin(0.1 * a)
    return x


class ComplexProgram:
    """A random function of two complex arrays that gives one real number."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.seed = seed
        shape = ((3,), (4,), (3, 3), (2, 3))[rng.integers(4)]
        self.point = [rng.normal(size=shape) + 1j * rng.normal(size=shape) for _ in range(2)]
        self.steps: list[Step] = []
        values = list(self.point)
        for _ in range(rng.integers(2, 8)):
            self._draw(rng, values)

    def _draw(self, rng: np.random.Generator, values: list) -> None:
        """Append a step that gives an array of moderate numbers."""
        for _ in range(20):
            table: dict[str, Callable] = _BINARY if rng.random() < 0.4 else _UNARY
            name = list(table)[rng.integers(len(table))]
            places = tuple(
                int(k) for k in rng.integers(max(0, len(values) - 4), len(values), size=(name.count("{1}") and 2) or 1)
            )
            if len(places) == 2 and values[places[0]].shape != values[places[1]].shape:
                continue
            with np.errstate(all="ignore"):
                made = table[name](*[values[k] for k in places])
            if made.ndim and made.shape[0] > 1 and np.all(np.isfinite(made)) and np.all(np.abs(made) < 50):
                self.steps.append((name, table[name], places))
                values.append(made)
                return

    def __call__(self, *values: Any) -> Any:
        made = list(values)
        for _, function, places in self.steps:
            made.append(function(*[made[k] for k in places]))
        weights = [np.cos(np.arange(v.size)).reshape(v.shape) for v in made[-2:]]
        return sum(np.sum(w * (v.real + v.real**2 - 0.5 * v.imag)) for w, v in zip(weights, made[-2:], strict=True))

    def of_parts(self, *parts: Any) -> Any:
        """The same as a function of the real and imaginary parts."""
        return self(*[a + 1j * b for a, b in zip(parts[:2], parts[2:], strict=True)])

    def __str__(self) -> str:
        lines = [
            f"v{k + 2} = {name.format(*[f'v{p}' for p in places])}" for k, (name, _, places) in enumerate(self.steps)
        ]
        return f"seed {self.seed}, arguments of shape {self.point[0].shape}\n" + "\n".join(lines)
