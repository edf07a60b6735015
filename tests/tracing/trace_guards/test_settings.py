"""Settings of Python and NumPy, what code says of itself, and what libraries open: the next call sees a change."""

import abc
import bz2
import codecs
import configparser
import dataclasses
import decimal
import gzip
import json
import logging
import lzma
import threading
import typing
import zipfile

import numpy as np
import pytest

import symgrad as sg


def served(function, *changes):
    """What two calls give, with changes between them, beside the function itself."""
    derivative = sg.value_and_grad(function)
    for change in (lambda: None, *changes):
        change()
        assert derivative(1.5)[0] == function(1.5)


def test_decimals_are_computed_as_the_context_says():
    with decimal.localcontext():
        served(
            lambda x: x * float(decimal.Decimal(1) / decimal.Decimal(3)),
            lambda: setattr(decimal.getcontext(), "prec", 3),
        )


def test_arrays_are_written_as_the_options_say():
    array = np.array([1.123456789])
    with np.printoptions():
        served(lambda x: x * len(str(array)), lambda: np.set_printoptions(precision=2))


def test_locks_and_levels():
    lock, log = threading.Lock(), logging.getLogger("of a test of settings")
    served(lambda x: x * (2.0 if lock.locked() else 3.0), lock.acquire, lock.release)
    try:
        served(lambda x: x * (2.0 if log.isEnabledFor(40) else 3.0), lambda: logging.disable(50))
    finally:
        logging.disable(0)


def test_classes_that_derive_from_one_and_that_are_registered():
    class Base:
        k = 1.0

    class One(Base):
        k = 2.0

    class Kind(abc.ABC):  # noqa: B024
        pass

    more = []
    served(
        lambda x: x * sum(c.k for c in Base.__subclasses__()),
        lambda: more.append(type("Two", (Base,), {"k": 7.0})),
    )
    one = One()
    served(lambda x: x * (2.0 if isinstance(one, Kind) else 3.0), lambda: Kind.register(One))


def test_what_functions_and_classes_say_of_themselves():
    class Model:
        rate: 2.0

    @dataclasses.dataclass
    class Held:
        mass: float = 2.0

    def helper(x):
        """Three."""
        return x

    served(lambda x: x * Model.__annotations__["rate"], lambda: Model.__annotations__.update(rate=9.0))
    served(lambda x: x * len(helper.__doc__), lambda: setattr(helper, "__doc__", "More."))
    served(lambda x: x * len(helper.__name__), lambda: setattr(helper, "__name__", "h"))
    served(
        lambda x: x * len(dataclasses.fields(Held)),
        lambda: Held.__dataclass_fields__.update(more=Held.__dataclass_fields__["mass"]),
    )
    served(lambda x: x * len(typing.get_type_hints(Held)), lambda: Held.__annotations__.update(more=int))


def _ini(path):
    parser = configparser.ConfigParser()
    parser.read(path)
    return float(parser["a"]["k"])


def _zip(path):
    return float(zipfile.ZipFile(path).read("k"))


def _write_zip(path, k):
    with zipfile.ZipFile(path, "w") as held:
        held.writestr("k", str(k))


def _packed(module):
    def write(path, k):
        with module.open(path, "wt") as file:
            file.write(str(k))

    return write, lambda path: float(module.open(path, "rt").read())


FILES = {
    "gzip": _packed(gzip),
    "bz2": _packed(bz2),
    "lzma": _packed(lzma),
    "zipfile": (_write_zip, _zip),
    "configparser": (lambda path, k: path.write_text(f"[a]\nk = {k}\n"), _ini),
    "codecs": (lambda path, k: path.write_text(str(k)), lambda path: float(codecs.open(path).read())),  # noqa: SIM115
    "json": (lambda path, k: path.write_text(str(k)), lambda path: json.loads(path.read_text())),
    "numpy": (lambda path, k: path.write_text(str(k)), lambda path: float(np.loadtxt(path))),
    "a folder": (lambda path, k: (path.parent / f"{k}").touch(), lambda path: float(len([*path.parent.iterdir()]))),
}


@pytest.mark.filterwarnings("ignore::symgrad.errors.TracedAgain", "ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("name", FILES)
def test_files_are_read_at_every_call(name, tmp_path):
    write, read = FILES[name]
    path = tmp_path / "k.txt"
    write(path, 2.0)
    served(lambda x: x * read(path), lambda: write(path, 5.0))


@pytest.mark.filterwarnings("ignore::symgrad.errors.TracedAgain")
def test_tables_of_pandas_are_read_at_every_call(tmp_path):
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "k.csv"
    path.write_text("k\n2.0\n")
    served(lambda x: x * pandas.read_csv(path)["k"][0], lambda: path.write_text("k\n5.0\n"))


def test_what_symgrad_opens_itself_is_no_file_of_the_function():
    gradient = sg.grad(lambda x: np.sum(np.linalg.solve(np.eye(2) * x, np.ones(2))))
    gradient(1.0)
    kernel = gradient.kernel()
    gradient(2.0)
    assert gradient.kernel() is kernel
