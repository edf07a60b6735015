"""The mode and the device."""

import pytest

import symgrad as ms
import symgrad.context as context
from symgrad import errors


@pytest.fixture(autouse=True)
def _restored():
    yield
    context.set_context(mode=context.GRAPH_MODE, device_target="CPU", debug=False)


def test_settings():
    assert context.get_context("mode") == context.GRAPH_MODE == ms.GRAPH_MODE
    context.set_context(mode=context.PYNATIVE_MODE)
    assert ms.get_context("mode") == ms.PYNATIVE_MODE
    ms.set_context(device_target="Ascend")
    assert context.get_context("device_target") == "Ascend"
    assert context.get_context("mode") == context.PYNATIVE_MODE


def test_a_bad_setting_changes_nothing():
    with pytest.raises(errors.ArgumentError, match="device_target must be one of CPU, GPU, Ascend"):
        context.set_context(mode=context.PYNATIVE_MODE, device_target="TPU")
    assert context.get_context("mode") == context.GRAPH_MODE
    with pytest.raises(ValueError, match="mode must be"):
        context.set_context(mode=2)
    with pytest.raises(ValueError, match="there is no setting 'device'"):
        context.get_context("device")


def test_gradients_are_traced_at_each_call_in_pynative_mode(capsys):
    def f(x):
        print("run")
        return x * x

    gradient = ms.grad(f)
    assert [gradient(1.0), gradient(2.0)] == [2.0, 4.0]
    context.set_context(mode=context.PYNATIVE_MODE)
    assert [gradient(1.0), gradient(2.0)] == [2.0, 4.0]
    assert capsys.readouterr().out == 3 * "run\n"


def test_training_over_dask_is_set_like_the_mode():
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    try:
        with pytest.raises(errors.ArgumentError, match="one of stand_alone, data_parallel, got 'auto_parallel'"):
            ms.set_auto_parallel_context(gradients_mean=False, parallel_mode="auto_parallel")
        with pytest.raises(ValueError, match="gradients_mean must be True or False, got 1"):
            ms.set_auto_parallel_context(parallel_mode="stand_alone", gradients_mean=1)
        with pytest.raises(ValueError, match="there is no setting 'device_num'; there are parallel_mode, gradients_me"):
            ms.get_auto_parallel_context("device_num")
        assert ms.get_auto_parallel_context("parallel_mode") == "data_parallel"
        assert ms.get_auto_parallel_context("gradients_mean") is True
    finally:
        ms.reset_auto_parallel_context()
    assert context.get_auto_parallel_context("parallel_mode") == "stand_alone"
    assert context.get_auto_parallel_context("gradients_mean") is False
