"""What comes from outside of Python: the environment, files, clocks, threads."""

import concurrent.futures
import contextlib
import contextvars
import copy
import logging
import os
import random
import sys
import threading
import time

import numpy as np
import pytest
from mutations import Cases, check

import symgrad as sg
from symgrad.errors import TracingError

case = Cases()
VARIABLE = contextvars.ContextVar("VARIABLE", default=2.0)


@case
def environment(world):
    world.patch.setenv("RATE_OF_THE_USER", "2.0")
    return (
        lambda x: float(os.environ["RATE_OF_THE_USER"]) * np.sum(x),
        lambda: world.patch.setenv("RATE_OF_THE_USER", "5.0"),
    )


@case
def environment_by_getenv(world):
    return lambda x: float(os.getenv("RATE_OF_THE_USER", "2")) * np.sum(x), lambda: world.patch.setenv(
        "RATE_OF_THE_USER", "5.0"
    )


@case
def environment_imported(world):
    from os import environ

    return lambda x: float(environ.get("RATE_OF_THE_USER", 2)) * np.sum(x), lambda: world.patch.setenv(
        "RATE_OF_THE_USER", "5.0"
    )


@case
def arguments_of_the_process(world):
    return lambda x: len(sys.argv) * np.sum(x), lambda: world.patch.setattr(sys, "argv", [*sys.argv, "one more"])


@case
def context_variable(world):
    VARIABLE.set(2.0)
    return lambda x: VARIABLE.get() * np.sum(x), lambda: VARIABLE.set(5.0)


@case
def list_in_a_context_variable(world):
    held = [2.0]
    variable = contextvars.ContextVar("held", default=held)
    return lambda x: variable.get()[0] * np.sum(x), lambda: held.__setitem__(0, 5.0)


@case
def value_of_a_thread(world):
    local = threading.local()
    local.k = 2.0
    return lambda x: local.k * np.sum(x), lambda: setattr(local, "k", 5.0)


@case
def file_on_disk(world):
    path = world.folder / "rate"
    path.write_text("2.0")

    def fn(x):
        with open(path) as file:
            return float(file.read()) * np.sum(x)

    return fn, lambda: path.write_text("5.0")


@case
def text_of_a_path(world):
    path = world.folder / "rate"
    path.write_text("2.0")
    return lambda x: float(path.read_text()) * np.sum(x), lambda: path.write_text("5.0")


@case
def table_on_disk(world):
    path = os.path.join(world.folder, "rate.npy")
    np.save(path, 2.0)
    return lambda x: np.load(path) * np.sum(x), lambda: np.save(path, 5.0)


@case
def whether_a_file_is_there(world):
    path = world.folder / "rate"
    return lambda x: (1.0 + os.path.exists(path)) * np.sum(x), lambda: path.write_text("5.0")


@case
def open_file(world):
    path = world.folder / "rate"
    path.write_text("2.0")
    file = world.opened(path)

    def fn(x):
        file.seek(0)
        return float(file.readline()) * np.sum(x)

    return fn, lambda: path.write_text("5.0")


@case
def mapped_memory(world):
    path = os.path.join(world.folder, "rate.bin")
    data = np.memmap(path, dtype=float, mode="w+", shape=2)
    data[:] = 2.0
    return lambda x: np.sum(data * x), lambda: data.__setitem__(0, 5.0)


@case
def working_folder(world):
    return lambda x: len(os.getcwd()) * np.sum(x), lambda: world.patch.chdir(world.folder)


@case
def clock_of_the_user(world):
    now = [2.0]
    world.patch.setattr(time, "time", lambda: now[0])
    return lambda x: time.time() * np.sum(x), lambda: now.__setitem__(0, 5.0)


@case
def level_of_a_logger(world):
    logger = logging.getLogger("symgrad.of_the_user")
    world.patch.setattr(logger, "level", logging.INFO)
    return (
        lambda x: (5.0 if logger.isEnabledFor(logging.DEBUG) else 2.0) * np.sum(x),
        lambda: logger.setLevel(logging.DEBUG),
    )


@case
def state_of_a_generator_that_is_copied(world):
    generator = np.random.default_rng(0)
    return lambda x: copy.deepcopy(generator).random() * np.sum(x), lambda: generator.random()


@case
def state_of_a_generator(world):
    generator = random.Random(0)
    return lambda x: float(generator.getstate()[1][0] % 1009) * np.sum(x), lambda: generator.random()


@case.each()
def test_a_change_is_seen(make, world):
    check(make, world)


def _in_a_thread(x):
    made = [x * 3]

    def work():
        with contextlib.suppress(Exception):
            made[0] = x * 5

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return made[0]


def _in_a_pool(x):
    with contextlib.suppress(Exception), concurrent.futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: x * 5).result()
    return x * 3


@pytest.mark.parametrize("fn", [_in_a_thread, _in_a_pool])
def test_other_threads_make_nothing_of_traced_values(fn):
    with pytest.raises(TracingError, match="another thread has used a traced value"):
        sg.grad(fn)(0.5)
