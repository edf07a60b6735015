"""Tensor and Parameter: printing, arithmetic, interchange with ndarrays, reads and writes."""

import copy
import pickle

import numpy as np
import pytest

import symgrad as ms
from symgrad import Parameter, ParameterTuple, Tensor, errors


@pytest.mark.parametrize(
    ("tensor", "text", "printed"),
    [
        (Tensor(20, ms.float32), "Tensor(shape=[], dtype=Float32, value= 20)", "20.0"),
        (Tensor(True), "Tensor(shape=[], dtype=Bool, value= True)", "True"),
        (Tensor([21.5359993]), "Tensor(shape=[1], dtype=Float32, value= [ 2.15359993e+01])", "[21.536]"),
        (Tensor([1, -2]), "Tensor(shape=[2], dtype=Int64, value= [ 1, -2])", "[ 1 -2]"),
        (Tensor([1], ms.uint8), "Tensor(shape=[1], dtype=UInt8, value= [1])", "[1]"),
        (
            Tensor([[4, -6]], ms.float64),
            "Tensor(shape=[1, 2], dtype=Float64, value=\n[[ 4.00000000e+00, -6.00000000e+00]])",
            "[[ 4. -6.]]",
        ),
    ],
)
def test_text(tensor, text, printed):
    assert repr(tensor) == text
    assert str(tensor) == printed


def test_construction():
    assert Tensor([1.0]).dtype == np.float32
    assert Tensor(np.ones(1)).dtype == np.float64
    assert Tensor([1], dtype=ms.float16).dtype == np.float16
    source = np.ones(2)
    Tensor(source)[0] = 5
    np.testing.assert_array_equal(source, np.ones(2))
    for bad in (None, "a", [[1], [1, 2]]):
        with pytest.raises((TypeError, ValueError)):
            Tensor(bad)


A, S = Tensor([1.0, 2.0]), Tensor(3.0)


@pytest.mark.parametrize(
    "result",
    [
        *(A + A, 2 * A, A - np.ones(2), S * S, -S, S / 2, 2**S, A @ A, A > 1, S == S, abs(S)),
        *(A[0], A[0:1], A[np.array([0])], A[A > 1], A.T, A.sum(), A.mean(), A.max(), A.argmax(), A.dot(A), A.squeeze()),
        *(A.reshape(2, 1), A.astype(np.float64), A.copy(), A.ravel(), A.cumsum(), A.clip(0, 1)),
        *(np.sin(A), np.sum(A), np.dot(A, A), np.where(A > 1, A, 0), np.concatenate([A, A]), np.stack([A, A])),
        *(np.linalg.norm(A), np.einsum("i,i", A, A), np.split(A, 2)[0], np.maximum(S, 0), np.var(A)),
    ],
)
def test_what_comes_of_tensors_is_a_tensor(result):
    assert type(result) is Tensor


def test_interchange():
    assert type(A.asnumpy()) is np.ndarray
    assert np.shares_memory(A.asnumpy(), A)
    assert float(S) == 3.0
    assert S.item() == 3.0
    assert [10, 20][Tensor(1)] == 20
    assert [float(v) for v in A] == [1.0, 2.0]
    np.testing.assert_array_equal(ms.grad(np.sin)(A), ms.grad(np.sin)(A.asnumpy()))
    assert np.allclose(A, [1, 2]) is True


def test_copies():
    for other in (copy.deepcopy(A), pickle.loads(pickle.dumps(A))):
        assert type(other) is Tensor
        np.testing.assert_array_equal(other, A)


class TestParameter:
    def test_text(self):
        text = "Parameter (name=w, shape=(1,), dtype=Float32, requires_grad=True)\n[1.]"
        assert repr(Parameter([1.0], name="w")) == text

    def test_what_comes_of_it_is_a_tensor(self):
        p = Parameter([1.0, 2.0])
        for value in (p + 1, p[0], p.T, p.sum(), p.data, np.sin(p), np.tile(p, 2), np.sum(p), p @ p):
            assert type(value) is Tensor

    def test_in_place(self):
        p = q = Parameter([1.0, 2.0], name="w")
        p -= 0.5
        p *= 2
        p[0] = 7.0
        np.add(p, 1, out=p)
        assert p is q
        np.testing.assert_array_equal(q, [8.0, 4.0])
        assert q.name == "w"

    def test_set_data(self):
        p = Parameter([1.0, 2.0], name="w")
        assert p.set_data(np.array([3.0, 4.0])) is p
        np.testing.assert_array_equal(p, [3.0, 4.0])
        with pytest.raises(errors.ShapeError, match=r"w has shape \(2,\), the data has \(1,\)"):
            p.set_data([1.0])
        with pytest.raises(errors.DtypeError, match="w is float32, the data is complex128"):
            p.set_data([1j, 2j])
        with pytest.raises(errors.DtypeError, match="int64"):
            Parameter([1, 2]).set_data([1.5, 2.5])

    def test_copies_keep_name_and_flag(self):
        p = Parameter([1.0], name="w", requires_grad=False)
        for other in (copy.deepcopy(p), pickle.loads(pickle.dumps(p))):
            assert type(other) is Parameter
            assert (other.name, other.requires_grad) == ("w", False)
            assert not np.shares_memory(other, p)

    @pytest.mark.parametrize(
        "read",
        [
            lambda p: p * 1,
            lambda p: p[...],
            lambda p: p.data * 1,
            lambda p: p.reshape(2),
            lambda p: np.stack([p[0], p[1]]),
            lambda p: np.asarray(2.0) * p,
            lambda p: np.where(True, p, 0),
            lambda p: list(p),
            lambda p: p.T,
            lambda p: p.tolist(),
            lambda p: [float(p[0]), p[1].item()],
            lambda p: np.array([p[0], p[1]]),
        ],
    )
    def test_no_read_loses_the_gradient(self, read):
        p = Parameter([1.0, 2.0], name="w")
        total = lambda: sum(np.sum(v) for v in read(p))  # noqa: E731
        assert (np.asarray(ms.grad(total, None, p)()) > 0).all()

    def test_reads_that_would_lose_it_are_refused(self):
        p = Parameter(2.0, name="w")
        with pytest.raises(errors.TracingError):
            ms.symbolic(lambda: p.asnumpy())()
        p.asnumpy()

    def test_a_branch_on_a_parameter_is_guarded(self):
        p = Parameter(1.0, name="w")
        f = ms.symbolic(lambda x: x if p > 0 else -x)
        assert f(2.0) == 2.0
        p.set_data(-1.0)
        assert f(2.0) == -2.0


def test_parameter_tuple():
    p = Parameter([1.0], name="a")
    assert ParameterTuple([p])[0] is p
    assert isinstance(ParameterTuple(iter([p])), tuple)
    with pytest.raises(TypeError, match="ParameterTuple takes Parameters, got a ndarray"):
        ParameterTuple([np.ones(1)])


def test_data_that_is_no_array_of_numbers_is_refused_by_symgrad_itself():
    for data in ("float32", object(), [[1.0], [1.0, 2.0]], {"a": 1}):
        with pytest.raises(errors.SymgradError, match="data of a Tensor"):
            Tensor(data, dtype=ms.float32)
    for parameters in (3, np.array(1.0), None):
        with pytest.raises(errors.ArgumentTypeError, match="ParameterTuple"):
            ParameterTuple(parameters)


def test_traced_values_in_the_data_of_a_tensor_say_what_is_wrong_with_them():
    with pytest.raises(errors.TracingError, match="derivative"):
        ms.grad(lambda x: np.sum(Tensor([x[0], 1.0])))(np.ones(2))
