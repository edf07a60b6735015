"""Clipping, and the derivatives under the names of ops."""

import numpy as np
import pytest

import symgrad as ms
from symgrad import Tensor, ops


class TestGlobalNorm:
    def test_scales_all_by_one_factor(self):
        a, b = ops.clip_by_global_norm((np.array([3.0]), np.array([[4.0]])), clip_norm=2.5)
        np.testing.assert_allclose(a, [1.5])
        np.testing.assert_allclose(b, [[2.0]])

    def test_within_the_norm_nothing_changes(self):
        x = [np.array([0.3]), np.array([0.4])]
        assert ops.clip_by_global_norm(x) == x

    def test_zeros(self):
        np.testing.assert_array_equal(ops.clip_by_global_norm((np.zeros(3),))[0], np.zeros(3))

    def test_small_floats_do_not_overflow(self):
        (clipped,) = ops.clip_by_global_norm((np.full(4, 1e30, np.float32),))
        assert clipped.dtype == np.float32
        np.testing.assert_allclose(clipped, 0.5, rtol=1e-6)

    def test_tensors_and_dtypes_stay(self):
        out = ops.clip_by_global_norm((Tensor([3.0]), Tensor(np.array([4.0], np.float16))))
        assert [type(v) for v in out] == [Tensor, Tensor]
        assert [v.dtype for v in out] == [np.float32, np.float16]

    def test_inside_a_traced_function(self):
        f = lambda x: np.sum(ops.clip_by_global_norm((x,))[0] * np.array([1.0, 2.0]))  # noqa: E731
        x = np.array([3.0, 4.0])
        numeric = [(f(x + e) - f(x - e)) / 2e-6 for e in 1e-6 * np.eye(2)]
        np.testing.assert_allclose(ms.grad(f)(x), numeric, rtol=1e-6)
        assert np.isfinite(ms.grad(f)(np.zeros(2))).all()

    @pytest.mark.parametrize("norm", [0, -1.0, float("nan")])
    def test_bad_norm(self, norm):
        with pytest.raises(ValueError, match="clip_norm must be positive"):
            ops.clip_by_global_norm((np.ones(1),), norm)


class TestValue:
    def test_bounds(self):
        x = np.array([-2.0, 0.5, 2.0])
        np.testing.assert_array_equal(ops.clip_by_value(x, -1, 1), [-1, 0.5, 1])
        np.testing.assert_array_equal(ops.clip_by_value(x, clip_value_max=1), [-2, 0.5, 1])
        np.testing.assert_array_equal(ops.clip_by_value([x, x], 0)[1], [0, 0.5, 2])

    def test_gradient(self):
        np.testing.assert_array_equal(
            ms.grad(lambda x: ops.clip_by_value(x, -1, 1))(np.array([-2.0, 0.5, 2.0])), [0, 1, 0]
        )

    def test_no_bound(self):
        with pytest.raises(ValueError, match="clip_by_value"):
            ops.clip_by_value(np.ones(1))


def test_the_derivatives_are_those_of_symgrad():
    for name in (
        "GradOperation",
        "get_grad",
        "grad",
        "value_and_grad",
        "jacfwd",
        "jacrev",
        "jvp",
        "vjp",
        "stop_gradient",
    ):
        assert getattr(ops, name) is getattr(ops.functional, name) is getattr(ms, name)
