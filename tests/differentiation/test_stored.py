"""What one process derives, another reads: the same programs, and the same numbers, without deriving anything."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import symgrad
from symgrad import disk_cache
from symgrad.differentiation import forward, reverse, stored
from symgrad.primitives.primitive import literal
from symgrad.transforms import jacobian as jacobians
from symgrad.transforms.loops import scan

X = np.array([0.4, 0.9, -0.3])
HELD = np.array([1.5, -0.5, 2.0])


def chain(x, depth=25):
    """No steps that repeat so often that they are a loop (the sequence of Thue and Morse)."""
    for k in range(depth):
        turn = (np.sin, np.cos)[k.bit_count() % 2]
        x = x + turn(x[::-1] * HELD) * (0.01 if k % 2 else -0.02)
    return x


def short(x):
    return chain(x, 1)


class Counted:
    """How often each way of deriving was gone, and how often the disk was touched."""

    def __init__(self, monkeypatch):
        self.counts = {}
        for module, name in (
            (reverse, "cotangents_of"),
            (forward, "pushed"),
            (jacobians, "dense_blocks"),
            (disk_cache, "load"),
            (disk_cache, "store"),
        ):
            self._watch(monkeypatch, module, name)

    def _watch(self, monkeypatch, module, name):
        plain = getattr(module, name)

        def counted(*args):
            if args[0] in ("native", "calibration"):  # the compiled backend keeps things of its own
                return plain(*args)
            self.counts[name] = self.counts.get(name, 0) + 1
            return plain(*args)

        monkeypatch.setattr(module, name, counted)

    def of(self, call):
        self.counts.clear()
        result = call()
        return result, dict(self.counts)


@pytest.fixture
def counted(tmp_path, monkeypatch):
    os.chmod(tmp_path, 0o700)
    monkeypatch.setenv("SYMGRAD_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(stored, "PAYS_FROM", 100)
    for module in (reverse, forward):
        monkeypatch.setattr(module, "pays", lambda nodes, batch: len(nodes) >= 100)
    return Counted(monkeypatch)


@pytest.fixture
def counted_where_it_pays(counted, monkeypatch):
    for module in (reverse, forward):
        monkeypatch.setattr(module, "pays", stored.pays)
    return counted


VERBS = {
    "grad": lambda fn: symgrad.grad(lambda x: np.sum(fn(x)), backend="numpy")(X),
    "value_and_grad": lambda fn: symgrad.value_and_grad(lambda x: np.sum(fn(x)), backend="numpy")(X)[1],
    "forward gradient": lambda fn: symgrad.grad(lambda x: np.sum(fn(x)), mode="forward", backend="numpy")(X),
    "jvp": lambda fn: symgrad.jvp(lambda x: fn(x), X, np.ones(3), backend="numpy")[1],
    "vjp": lambda fn: symgrad.vjp(lambda x: fn(x), X, backend="numpy")[1](np.ones(3))[0],
    "jacfwd": lambda fn: symgrad.jacfwd(fn, backend="numpy")(X),
    "jacrev": lambda fn: symgrad.jacrev(fn, backend="numpy")(X),
    "jacobian": lambda fn: symgrad.jacobian(fn, backend="numpy")(X),
    "hessian": lambda fn: symgrad.hessian(lambda x: np.sum(fn(x)), backend="numpy")(X),
    "hvp": lambda fn: symgrad.hvp(lambda x: np.sum(fn(x)), X, np.ones(3), backend="numpy"),
}
DERIVING = {"cotangents_of", "pushed", "dense_blocks"}


@pytest.mark.parametrize("verb", VERBS)
def test_what_was_derived_is_not_derived_again(counted, verb):
    first, counts = counted.of(lambda: VERBS[verb](chain))
    assert counts.keys() & DERIVING
    assert counts["store"]
    again, counts = counted.of(lambda: VERBS[verb](chain))
    assert not counts.keys() & (DERIVING | {"store"})
    assert counts["load"]
    np.testing.assert_array_equal(again, first)


def test_what_has_no_name_is_derived_inside_a_function_too(counted):
    """That it has none is no refusal of the function that is traced."""
    with_nan = lambda x: np.where(x < 9, chain(x), np.nan)  # noqa: E731
    weights = np.array([0.5, -1.0, 2.0])
    found = symgrad.symbolic(lambda x, w: symgrad.vjp(with_nan, x)[1](w)[0], backend="numpy")(X, weights)
    np.testing.assert_allclose(found, symgrad.vjp(chain, X)[1](weights)[0], rtol=1e-13)


@pytest.mark.parametrize("verb", ["grad", "value_and_grad", "jvp", "vjp"])
def test_a_plain_sweep_is_not_stored(counted_where_it_pays, verb):
    """It takes as long to read what it gives."""
    _, counts = counted_where_it_pays.of(lambda: VERBS[verb](chain))
    assert counts.keys() & DERIVING
    assert not counts.keys() & {"load", "store"}


@pytest.mark.parametrize("verb", ["forward gradient", "jacfwd", "jacrev", "hessian", "hvp"])
def test_what_takes_longer_than_reading_is_stored(counted_where_it_pays, verb):
    _, counts = counted_where_it_pays.of(lambda: VERBS[verb](chain))
    assert counts["store"]


@pytest.mark.parametrize("verb", VERBS)
def test_a_short_program_does_not_touch_the_disk(counted, verb):
    _, counts = counted.of(lambda: VERBS[verb](short))
    assert not counts.keys() & {"load", "store"}


def test_what_is_read_is_the_derivative(counted):
    value = lambda x: np.sum(chain(x) ** 2)  # noqa: E731
    for _ in range(2):
        found = symgrad.grad(value, backend="numpy")(X)
        np.testing.assert_allclose(found, numeric(value, X), rtol=1e-6)


def numeric(value, x, step=1e-6):
    """Central differences of the plain function."""
    unit = np.eye(len(x)) * step
    return np.array([(value(x + d) - value(x - d)) / (2 * step) for d in unit])


def test_another_captured_array_is_another_value_and_the_same_program(counted, monkeypatch):
    _, counts = counted.of(lambda: VERBS["grad"](chain))
    monkeypatch.setattr(sys.modules[__name__], "HELD", np.array([0.3, 0.2, -0.1]))
    found, counts = counted.of(lambda: VERBS["grad"](chain))
    assert not counts.keys() & DERIVING
    np.testing.assert_allclose(found, numeric(lambda x: np.sum(chain(x)), X), rtol=1e-6)


def test_another_literal_is_another_program(counted):
    VERBS["grad"](chain)
    other = lambda x: chain(x) * 2.0  # noqa: E731
    found, counts = counted.of(lambda: VERBS["grad"](other))
    assert counts["cotangents_of"]
    np.testing.assert_allclose(found, numeric(lambda x: np.sum(other(x)), X), rtol=1e-6)


def test_what_is_derived_of_one_program_is_kept_apart(counted):
    def both(x, y):
        return chain(x * y)

    weighed = lambda x, y: np.sum(both(x, y) * np.array([1.0, 2.0, 3.0]))  # noqa: E731
    y = np.array([1.1, 0.7, 1.3])
    by_x, by_y = numeric(lambda x: weighed(x, y), X), numeric(lambda y: weighed(X, y), y)
    for _ in range(2):
        for position, wanted in ((0, [by_x]), (1, [by_y]), ((0, 1), [by_x, by_y]), ((1, 0), [by_y, by_x])):
            for mode in ("reverse", "forward"):
                found = symgrad.grad(weighed, position, mode=mode, backend="numpy")(X, y)
                np.testing.assert_allclose(found if isinstance(position, tuple) else [found], wanted, rtol=1e-6)
        columns = np.stack([numeric(lambda x, k=k: both(x, y)[k], X) for k in range(3)])
        for verb in (symgrad.jacfwd, symgrad.jacrev, symgrad.jacobian):
            np.testing.assert_allclose(verb(both, backend="numpy")(X, y), columns, rtol=1e-6)
        for seed in np.eye(3):
            seen = symgrad.vjp(lambda x: both(x, y), X, backend="numpy")[1](seed)[0]
            np.testing.assert_allclose(seen, seed @ columns, rtol=1e-6)
            seen = symgrad.jvp(lambda x: both(x, y), X, seed, backend="numpy")[1]
            np.testing.assert_allclose(seen, columns @ seed, rtol=1e-6)


def test_a_graph_is_the_same_whether_it_derived_or_read(counted):
    graphs = []
    for _ in range(2):
        program = symgrad.trace(lambda x: np.sum(chain(x) / chain(x + 1.0)), X)
        with program.graph as graph:
            reverse.reverse_sweep(program.outputs, [literal(1.0)], program.inputs)
            graphs.append(list(map(repr, sorted(graph.table.values(), key=lambda n: n.serial))))
    assert counted.counts == {"load": 2, "cotangents_of": 1, "store": 1}
    assert graphs[0] == graphs[1]


def test_programs_are_the_same_to_the_letter(counted):
    gradient = lambda: symgrad.grad(lambda x: np.sum(chain(x)), backend="numpy")  # noqa: E731
    first, again = gradient(), gradient()
    first(X)
    again(X)
    assert str(again.program()) == str(first.program())
    assert again.kernel().source == first.kernel().source
    inner = symgrad.grad(lambda x: np.sum(chain(x)), backend="numpy")
    nested = lambda: symgrad.grad(lambda x: np.sum(inner(x) ** 2), backend="numpy")  # noqa: E731
    first, again = nested(), nested()
    first(X)
    _, counts = counted.of(lambda: again(X))
    assert not counts.keys() & DERIVING
    assert str(again.program()) == str(first.program())


def entries(folder):
    return sorted(folder.rglob("*.bin"))


@pytest.mark.parametrize("spoil", [lambda b: b[:-8], lambda b: b"", lambda b: b[:50] + b"\0" + b[51:]])
def test_a_damaged_entry_is_derived_anew(counted, tmp_path, spoil):
    first, _ = counted.of(lambda: VERBS["grad"](chain))
    for path in entries(tmp_path):
        path.write_bytes(spoil(path.read_bytes()))
    found, counts = counted.of(lambda: VERBS["grad"](chain))
    assert counts["cotangents_of"]
    np.testing.assert_array_equal(found, first)
    _, counts = counted.of(lambda: VERBS["grad"](chain))
    assert "cotangents_of" not in counts


def test_an_entry_that_is_no_program_is_derived_anew(counted, monkeypatch):
    """Its checksum is right, its content is not: as if another version had written it."""
    first, _ = counted.of(lambda: VERBS["grad"](chain))
    load = disk_cache.load
    for spoil in (lambda b: b[:-4], lambda b: b.replace(b'"cos"', b'"no"'), lambda b: b"{}"):
        monkeypatch.setattr(disk_cache, "load", lambda kind, key, spoil=spoil: spoil(load(kind, key) or b""))
        found, counts = counted.of(lambda: VERBS["grad"](chain))
        assert counts["cotangents_of"]
        np.testing.assert_array_equal(found, first)


def test_another_version_derives_anew(counted, monkeypatch):
    VERBS["grad"](chain)
    for module, name, value in (
        (stored, "_VERSIONS", "python 4"),
        (disk_cache, "FORMAT", disk_cache.FORMAT + 1),
        (disk_cache, "_source", lambda: "another text"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, value)
            _, counts = counted.of(lambda: VERBS["grad"](chain))
            assert counts["cotangents_of"], name


def test_without_a_cache_everything_is_derived(counted, monkeypatch, tmp_path):
    monkeypatch.setenv("SYMGRAD_CACHE_DIR", "")
    for _ in range(2):
        _, counts = counted.of(lambda: VERBS["grad"](chain))
        assert counts == {"cotangents_of": 1}
    assert not entries(tmp_path)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions of POSIX")
def test_a_folder_that_others_can_write_to_is_not_used(counted, monkeypatch, tmp_path):
    VERBS["grad"](chain)
    os.chmod(tmp_path, 0o777)
    _, counts = counted.of(lambda: VERBS["grad"](chain))
    assert counts == {"cotangents_of": 1}


def test_what_cannot_be_stored_is_derived(counted, monkeypatch):
    monkeypatch.setattr(disk_cache.os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
    for _ in range(2):
        _, counts = counted.of(lambda: VERBS["grad"](chain))
        assert counts["cotangents_of"] == 1


def test_the_users_own_rules_and_named_dims_are_derived(counted):
    class Tripled(symgrad.nn.Cell):
        def construct(self, x):
            return 3 * x

        def bprop(self, x, out, dout):
            return (3 * dout,)

    def named(x):
        for _ in range(40):
            x = np.sin(x) * 1.02 + x[::-1] * 0.1
        return np.sum(x)

    tripled = Tripled()
    for _ in range(2):
        found, counts = counted.of(lambda: symgrad.grad(lambda x: np.sum(tripled(chain(x))), backend="numpy")(X))
        assert counts == {"cotangents_of": 1}
        np.testing.assert_allclose(found, numeric(lambda x: np.sum(3 * chain(x)), X), rtol=1e-6)
        _, counts = counted.of(lambda: symgrad.grad(named).program("n"))
        assert counts == {"cotangents_of": 1}


def test_threads_read_and_write_at_once(counted):
    results, errors = [], []

    def work():
        try:
            for _ in range(3):
                results.append(VERBS["grad"](chain))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert len(results) == 12
    assert all(np.array_equal(r, results[0]) for r in results)


SCRIPT = """
import numpy as np, symgrad
from symgrad.differentiation import reverse
plain, calls = reverse.cotangents_of, []
def counted(*args):
    calls.append(args)
    return plain(*args)
reverse.cotangents_of = counted
def chain(x):
    for k in range(150):
        x = (np.sin, np.cos)[k.bit_count() % 2](x) * 1.01 + x[::-1] * 0.2
    return np.sum(x)
gradient = symgrad.grad(symgrad.grad(chain), backend="numpy")
print(gradient(np.array([0.4, 0.9, -0.3])).tobytes().hex(), hash(str(gradient.program())))
print(len(calls))
"""


def test_a_second_process_derives_no_gradient_of_a_gradient(tmp_path):
    os.chmod(tmp_path, 0o700)
    environment = {**os.environ, "SYMGRAD_CACHE_DIR": str(tmp_path), "PYTHONHASHSEED": "1"}
    run = [sys.executable, "-c", SCRIPT]
    first, second = (
        subprocess.run(run, env=environment, text=True, capture_output=True, check=True).stdout.split()
        for _ in range(2)
    )
    assert first[:2] == second[:2]
    assert (first[2], second[2]) == ("2", "1")  # the inner gradient is derived in no more time than it is read


def looping(x):
    def step(c, k):
        return chain(c) * k, np.sum(c)

    c, kept = scan(step, chain(x, 3), np.array([1.0, 0.9, 1.1]))
    return c * kept


@pytest.mark.parametrize("verb", VERBS)
def test_derivatives_of_loops_are_read_as_they_were(counted, verb):
    for fn in (looping, lambda x: chain(looping(x))):  # the body alone is long, then what stands around it too
        first, counts = counted.of(lambda fn=fn: VERBS[verb](fn))
        assert counts["store"]
        again, counts = counted.of(lambda fn=fn: VERBS[verb](fn))
        assert "store" not in counts
        assert sum(counts.get(name, 0) for name in DERIVING) <= 2 * (fn is looping)
        np.testing.assert_array_equal(again, first)


def test_what_is_read_of_a_loop_is_computed_together_with_it(counted):
    gradient = lambda: symgrad.value_and_grad(lambda x: np.sum(looping(x)), backend="numpy")  # noqa: E731
    programs = []
    for _ in range(2):
        made = gradient()
        made(X)
        programs.append(str(made.program()))
    assert programs[0] == programs[1]
    assert programs[0].count("= scan") == 2  # there and back


def test_a_loop_with_another_body_is_another_program(counted):
    def other(x, factor):
        return scan(lambda c, _: (chain(c) * factor, None), x, None, 3)[0]

    for factor in (1.0, 1.5):
        found = VERBS["grad"](lambda x, factor=factor: other(x, factor))
        np.testing.assert_allclose(found, numeric(lambda x, f=factor: np.sum(other(x, f)), X), rtol=1e-6)
