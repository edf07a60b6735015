"""Loss scaling."""

import numpy as np
import pytest

import symgrad as ms
from symgrad import Tensor, errors
from symgrad.amp import DynamicLossScaler, StaticLossScaler, all_finite


@pytest.mark.parametrize("scaler", [StaticLossScaler(1024.0), DynamicLossScaler(1024.0, 2, 10)])
class TestBoth:
    def test_structure_and_dtype_stay(self, scaler):
        inputs = (Tensor([1.0, 2.0]), [np.array(3.0), np.ones(2, np.float16)])
        scaled = scaler.scale(inputs)
        np.testing.assert_array_equal(scaled[0], [1024.0, 2048.0])
        assert isinstance(scaled[0], Tensor)
        assert [np.asarray(v).dtype for v in (scaled[0], *scaled[1])] == [np.float32, np.float64, np.float16]
        back = scaler.unscale(scaled)
        np.testing.assert_array_equal(back[0], [1.0, 2.0])
        np.testing.assert_array_equal(back[1][1], np.ones(2))

    def test_inside_a_gradient(self, scaler):
        gradient = ms.grad(lambda x: scaler.scale(x**2))
        np.testing.assert_array_equal(gradient(3.0), 6 * 1024.0)
        np.testing.assert_array_equal(scaler.unscale(gradient(3.0)), 6.0)


def test_static_stays():
    scaler = StaticLossScaler(8.0)
    assert scaler.adjust(False) is False
    assert scaler.scale_value == 8.0


def test_static_change_is_seen_by_a_cached_gradient():
    scaler = StaticLossScaler(8.0)
    gradient = ms.grad(lambda x: scaler.scale(x))
    assert gradient(1.0) == 8.0
    scaler.scale_value = 16.0
    assert gradient(1.0) == 16.0


def test_dynamic_grows_after_a_window_and_shrinks_at_overflow():
    scaler = DynamicLossScaler(1024.0, 2, 3)
    path = []
    for finite in (True, True, True, True, False, True, True, np.True_):
        assert scaler.adjust(finite) is True
        path.append(float(scaler.scale_value))
    assert path == [1024, 1024, 2048, 2048, 1024, 1024, 1024, 2048]


def test_dynamic_limits():
    low = DynamicLossScaler(1.5, 2, 1)
    low.adjust(False)
    assert low.scale_value == 1.0
    high = DynamicLossScaler(3e38, 2, 1)
    high.adjust(True)
    assert np.isfinite(high.scale_value)


def test_dynamic_needs_no_new_trace(capsys):
    scaler = DynamicLossScaler(2.0, 2, 1)

    def f(x):
        print("run")
        return scaler.scale(x)

    gradient = ms.grad(f)
    for wanted in (2.0, 4.0, 8.0):
        assert gradient(1.0) == wanted
        scaler.adjust(True)
    assert capsys.readouterr().out == "run\n"


def test_adjust_inside_a_trace():
    scaler = DynamicLossScaler(2.0, 2, 1)
    with pytest.raises(errors.TracingError, match="adjust was called inside"):
        ms.symbolic(lambda x: scaler.adjust(x > 0))(1.0)


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_all_finite(bad):
    assert all_finite((np.ones(2), [Tensor(1.0)]))
    assert all_finite(())
    assert not all_finite((np.ones(2), [Tensor([1.0, bad])]))
    assert isinstance(all_finite(np.ones(2)), Tensor)
    f = ms.symbolic(lambda x, y: all_finite((x, y)))
    assert f(np.ones(2), 1.0)
    assert not f(np.ones(2), bad)


@pytest.mark.parametrize(
    "make",
    [
        lambda: StaticLossScaler(0),
        lambda: StaticLossScaler(0.5),
        lambda: StaticLossScaler(np.inf),
        lambda: StaticLossScaler("1"),
        lambda: DynamicLossScaler(-1, 2, 3),
        lambda: DynamicLossScaler(0.5, 2, 3),
        lambda: DynamicLossScaler(1, 1, 3),
        lambda: DynamicLossScaler(1, 2, 0),
        lambda: DynamicLossScaler(1, 2, True),
    ],
)
def test_bad_numbers(make):
    with pytest.raises(ValueError, match="must be"):
        make()
