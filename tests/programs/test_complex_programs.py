"""Programs of people who compute with complex numbers, written as they write them."""

import numpy as np
import pytest

import symgrad as sg

RNG = np.random.default_rng(11)


def by_differences(f, x, step=1e-6):
    """The gradient of a real function by central differences in every entry, of complex entries in both parts."""
    gradient = np.zeros(x.shape, x.dtype)
    for place in np.ndindex(x.shape):
        for direction in (1, 1j)[: 1 + np.iscomplexobj(x)]:
            up, down = x.copy(), x.copy()
            up[place] += step * direction
            down[place] -= step * direction
            gradient[place] += direction * (f(up) - f(down)) / (2 * step)
    return gradient


def kuramoto_sivashinsky(u0):
    """A pseudo-spectral solver: linear terms in Fourier space, the nonlinear one where it is a product."""
    n, length, dt = u0.size, 22.0, 0.05
    k = 2 * np.pi * np.fft.fftfreq(n, d=length / n)
    linear = k**2 - k**4
    v = np.fft.fft(u0)
    for _ in range(12):
        u = np.real(np.fft.ifft(v))
        v = (v - dt * 0.5j * k * np.fft.fft(u**2)) / (1 - dt * linear)
    return np.sum(np.real(np.fft.ifft(v)) ** 2)


def schroedinger(potential):
    """Split steps of a wave packet in a potential: what passes to the right half."""
    n = potential.size
    x = np.linspace(-5, 5, n, endpoint=False)
    k = 2 * np.pi * np.fft.fftfreq(n, d=x[1] - x[0])
    psi = np.exp(-((x + 2) ** 2)) * np.exp(1.5j * x)
    half, kinetic = np.exp(-0.5j * 0.05 * potential), np.exp(-0.5j * 0.05 * k**2)
    for _ in range(15):
        psi = half * np.fft.ifft(kinetic * np.fft.fft(half * psi))
    return np.sum(np.abs(psi[n // 2 :]) ** 2)


X_GATE = np.array([[0, 1], [1, 0]])
Z_GATE = np.array([[1, 0], [0, -1]])
Y_GATE = np.array([[0, -1j], [1j, 0]])


def rotation(gate, angle):
    return np.cos(angle / 2) * np.eye(2) - 1j * np.sin(angle / 2) * gate


def circuit(angles):
    """The energy of two qubits after rotations and a controlled not."""
    state = np.array([1, 0, 0, 0], complex)
    controlled = np.eye(4)[[0, 1, 3, 2]]
    for a, b, c in angles.reshape(-1, 3):
        state = np.kron(rotation(X_GATE, a), rotation(Y_GATE, b)) @ state
        state = controlled @ state
        state = np.kron(rotation(Z_GATE, c), np.eye(2)) @ state
    energy = np.kron(Z_GATE, Z_GATE) + 0.5 * np.kron(X_GATE, np.eye(2))
    return np.real(np.conj(state) @ energy @ state)


def filtered(taps):
    """How far the response of a filter is from what is wanted, in decibels."""
    w = np.linspace(0.1, 3.0, 16)
    response = np.exp(-1j * np.outer(w, np.arange(taps.size))) @ taps
    return np.sum((20 * np.log10(np.abs(response)) + 3.0 * w) ** 2)


def impedance(values):
    """The power in a load behind a ladder of resistors, coils and capacitors at one frequency."""
    r, inductance, c = values
    w = 2.0
    z = 0.0
    for _ in range(3):
        z = 1 / (1 / (z + r + 1j * w * inductance) + 1j * w * c)
    return abs(z / (z + 1)) ** 2


def periodogram(signal):
    """The spectral entropy of a real signal."""
    power = np.abs(np.fft.rfft(signal * np.hanning(signal.size))) ** 2
    p = power / np.sum(power)
    return -np.sum(p * np.log(p))


def convolved(kernel):
    """A blur by the convolution theorem, compared with a picture."""
    image = np.outer(np.arange(6.0), np.ones(5)) % 4
    blurred = np.fft.irfft2(np.fft.rfft2(image) * np.fft.rfft2(kernel, s=image.shape), s=image.shape)
    return np.sum((blurred - image[::-1]) ** 2)


def phase_retrieval(z):
    """Amplitudes measured of a random map of an unknown complex vector (Wirtinger flow)."""
    a = np.random.default_rng(2).normal(size=(8, z.size, 2)) @ np.array([1, 1j])
    return np.mean((np.abs(a @ z) ** 2 - 1.0) ** 2)


def beamforming(weights):
    """The output power of an array of antennas against that of its noise."""
    steering = np.exp(1j * np.pi * np.arange(weights.size) * np.sin(0.3))
    return -(np.abs(np.vdot(weights, steering)) ** 2) / np.real(np.vdot(weights, weights))


COMPLEX = RNG.normal(size=4) + 1j * RNG.normal(size=4)
PROGRAMS = {
    kuramoto_sivashinsky: np.cos(np.arange(16) * 0.8),
    schroedinger: RNG.normal(size=16),
    circuit: RNG.normal(size=6),
    filtered: RNG.normal(size=5),
    impedance: np.array([0.5, 0.2, 0.3]),
    periodogram: RNG.normal(size=17),
    convolved: RNG.normal(size=(3, 2)),
    phase_retrieval: COMPLEX,
    beamforming: COMPLEX,
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_gradient(program):
    x = PROGRAMS[program]
    value, gradient = sg.value_and_grad(program, backend="numpy")(x)
    np.testing.assert_allclose(value, program(x), rtol=1e-12)
    np.testing.assert_allclose(gradient, by_differences(program, x), rtol=1e-5, atol=1e-6)


@pytest.mark.needs("native")
@pytest.mark.parametrize("program", [circuit, filtered, impedance])
def test_compiled_in_parts(program):
    """No complex number is left to NumPy where arguments and results are real."""
    x = PROGRAMS[program]
    gradient = sg.grad(program, backend="native")
    np.testing.assert_allclose(gradient(x), sg.grad(program, backend="numpy")(x), rtol=1e-10, atol=1e-12)
    assert "complex" not in gradient.export("c", x)
    assert "np.exp" not in gradient.kernel(x).source
