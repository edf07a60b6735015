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
