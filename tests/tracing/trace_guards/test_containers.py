"""Containers, arrays and memory."""

import array
import collections
import ctypes
import decimal
import io
import types
from fractions import Fraction

import numpy as np
import scipy.sparse
from mutations import Cases, check

case = Cases()


@case
def proxy_of_a_mapping(world):
    table = {"k": 2.0}
    proxy = types.MappingProxyType(table)
    return lambda x: proxy["k"] * np.sum(x), lambda: table.update(k=5.0)


@case
def views_of_a_mapping(world):
    table = {"k": 2.0}
    values = table.values()
    return lambda x: next(iter(values)) * np.sum(x), lambda: table.update(k=5.0)


@case
def chain_of_mappings(world):
    table = {"k": 2.0}
    chain = collections.ChainMap({}, table)
    return lambda x: chain["k"] * np.sum(x), lambda: table.update(k=5.0)


@case
def counter(world):
    count = collections.Counter(k=2)
    return lambda x: count["k"] * np.sum(x), lambda: count.update(k=3)


@case
def queue_of_both_ends(world):
    queue = collections.deque([2.0])
    return lambda x: queue[0] * np.sum(x), lambda: queue.appendleft(5.0)


@case
def bytes_that_change(world):
    data = bytearray([2])
    return lambda x: data[0] * np.sum(x), lambda: data.__setitem__(0, 5)


@case
def array_of_python(world):
    data = array.array("d", [2.0])
    return lambda x: data[0] * np.sum(x), lambda: data.__setitem__(0, 5.0)


@case
def view_of_memory(world):
    data = bytearray([2])
    view = memoryview(data)
    return lambda x: view[0] * np.sum(x), lambda: data.__setitem__(0, 5)


@case
def number_of_c(world):
    number = ctypes.c_double(2.0)
    return lambda x: number.value * np.sum(x), lambda: setattr(number, "value", 5.0)


@case
def structure_of_c(world):
    class S(ctypes.Structure):
        _fields_ = (("k", ctypes.c_double),)

    held = S(2.0)
    return lambda x: held.k * np.sum(x), lambda: setattr(held, "k", 5.0)


@case
def pointer_of_c(world):
    number = ctypes.c_double(2.0)
    pointer = ctypes.pointer(number)
    return lambda x: pointer.contents.value * np.sum(x), lambda: setattr(number, "value", 5.0)


@case
def array_of_objects(world):
    data = np.array([2.0, None], dtype=object)
    return lambda x: data[0] * np.sum(x), lambda: data.__setitem__(0, 5.0)


@case
def list_in_an_array_of_objects(world):
    data = np.empty(1, dtype=object)
    data[0] = [2.0]
    return lambda x: data[0][0] * np.sum(x), lambda: data[0].__setitem__(0, 5.0)


@case
def array_of_records(world):
    data = np.array([(2.0, 1)], dtype=[("k", float), ("n", int)])
    return lambda x: data["k"][0] * np.sum(x), lambda: data["k"].__setitem__(0, 5.0)


@case
def record(world):
    data = np.array([(2.0, 1)], dtype=[("k", float), ("n", int)])[0]
    return lambda x: data["k"] * np.sum(x), lambda: data.__setitem__("k", 5.0)


@case
def sign_of_zero_in_a_large_strided_array(world):
    data = np.zeros((200, 200))[:, ::2]
    return lambda x: (3.0 + np.copysign(1.0, data[3, 3])) * np.sum(x), lambda: data.__setitem__((3, 3), -0.0)


@case
def array_of_columns(world):
    data = np.asfortranarray(np.ones((200, 200)))
    return lambda x: data[3, 5] * np.sum(x), lambda: data.__setitem__((3, 5), 5.0)


@case
def sparse_matrix(world):
    data = scipy.sparse.csr_array(np.diag([2.0, 3.0]))
    return lambda x: data.data[0] * np.sum(x), lambda: data.data.__setitem__(0, 5.0)


@case
def fraction_and_decimal(world):
    rates = [Fraction(1, 2), decimal.Decimal("2")]
    return lambda x: float(rates[0] * int(rates[1])) * np.sum(x), lambda: rates.__setitem__(0, Fraction(5, 2))


@case
def text_in_memory(world):
    text = io.StringIO("2.0")
    return lambda x: float(text.getvalue()) * np.sum(x), lambda: (text.seek(0), text.write("5.0"))


@case.each()
def test_a_change_is_seen(make, world):
    check(make, world)
