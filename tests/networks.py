"""What tests of networks share: slopes by differences, and the same call of torch."""

import numpy as np

import symgrad as sg


def check_slopes(fn, *args, wrt=None, rtol=1e-6, atol=1e-7, backend="auto"):
    """The gradient of a weighed sum of ``fn`` by its float arguments, against differences along two directions."""
    rng = np.random.default_rng(3)
    floats = [k for k, a in enumerate(args) if isinstance(a, np.ndarray) and a.dtype.kind == "f"]
    wrt = floats if wrt is None else wrt
    weights = rng.normal(size=np.shape(fn(*args)))

    def loss(*args):
        return np.sum(np.multiply(fn(*args), weights))

    gradients = sg.grad(loss, tuple(wrt), backend=backend)(*args)
    for k, gradient in zip(wrt, gradients if isinstance(gradients, tuple) else (gradients,), strict=True):
        assert gradient.shape == args[k].shape
        for _ in range(2):
            direction = rng.normal(size=args[k].shape)
            step = 1e-6 * direction
            ahead, behind = [[*args[:k], args[k] + s, *args[k + 1 :]] for s in (step, -step)]
            slope = (float(loss(*ahead)) - float(loss(*behind))) / 2e-6
            np.testing.assert_allclose(np.sum(gradient * direction), slope, rtol=rtol, atol=atol)


def check_torch(fn, other, *args, rtol=1e-9, atol=1e-10):
    """Value and gradients of ``fn`` against those of ``other``, torch's function of the same arguments."""
    import torch

    given = [torch.tensor(a, requires_grad=a.dtype.kind == "f") if isinstance(a, np.ndarray) else a for a in args]
    theirs = other(*given)
    np.testing.assert_allclose(np.asarray(fn(*args)), theirs.detach().numpy(), rtol=rtol, atol=atol)
    weights = np.random.default_rng(3).normal(size=tuple(theirs.shape))
    floats = [k for k, a in enumerate(args) if isinstance(a, np.ndarray) and a.dtype.kind == "f"]
    wanted = torch.autograd.grad(torch.sum(theirs * torch.tensor(weights)), [given[k] for k in floats])
    got = sg.grad(lambda *a: np.sum(np.multiply(fn(*a), weights)), tuple(floats))(*args)
    for own, want in zip(got if isinstance(got, tuple) else (got,), wanted, strict=True):
        np.testing.assert_allclose(own, want.numpy(), rtol=rtol, atol=atol)
