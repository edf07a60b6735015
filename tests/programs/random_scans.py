"""Loops at random: what they carry, what they keep, what a step does, loops inside."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.transforms.loops import scan

SHAPES = [(), (3,), (1,), (2, 3), (3, 2), (4, 1)]
LENGTHS = [0, 1, 2, 3, 7, 40]


class RandomLoop:
    """A function of arrays with a loop, and arrays for it."""

    def __init__(self, seed: int) -> None:
        self.chance = chance = random.Random(seed)
        numbers = np.random.default_rng(seed)
        self.length = chance.choice(LENGTHS)
        self.reverse = chance.random() < 0.4
        self.carries = [chance.choice(SHAPES) for _ in range(chance.randint(1, 3))]
        self.elements = [chance.choice(SHAPES) for _ in range(chance.randint(0, 2))]
        self.constants = [chance.choice(SHAPES) for _ in range(chance.randint(0, 2))]
        self.kept = chance.randint(0, 3)
        shapes = [*self.carries, *((self.length, *s) for s in self.elements), *self.constants]
        self.arrays = [np.asarray(numbers.normal(size=s)) for s in shapes]
        self.arrays = [turned(a) if chance.random() < 0.3 else a for a in self.arrays]
        self.counts = chance.random() < 0.3
        self.single = chance.random() < 0.15
        self.seed = seed

    def __call__(self, *arrays: Any) -> list[Any]:
        count, wide = len(self.carries), len(self.carries) + len(self.elements)
        begin, xs, constants = list(arrays[:count]), list(arrays[count:wide]), arrays[wide:]
        if self.single:
            begin = [np.asarray(c, np.float32) if k == 0 else c for k, c in enumerate(begin)]
        if self.counts:
            begin += [np.int64(1), np.array([True, False])]

        def step(carry: Any, x: Any) -> Any:
            return self._step(random.Random(self.seed), carry, list(x or ()), constants, True)

        carry, kept = scan(step, begin, xs or None, None if xs else self.length, reverse=self.reverse)
        return [*carry, *kept]

    def _step(self, chance: random.Random, carry: list, xs: list, constants: Any, nests: bool) -> tuple[list, list]:
        own = carry[: len(self.carries)]
        known = [*own, *xs, *constants]
        after = [self._value(chance, known, np.shape(c), own, nests) for c in own]
        if self.single:
            after[0] = np.asarray(after[0], np.float32)
        if self.counts:
            number, truths = carry[len(own) :]
            chosen = np.where(truths, number, 2)
            after += [number * 3 - chosen[0], np.logical_xor(truths, np.sum(own[0]) > 0.1)]
            known.append(number * 0.01)
        pool = [*own, *xs, *after, *constants, 2.5]
        pool += [
            view(x) for x, view in zip(pool, (np.transpose, np.ravel, lambda x: np.reshape(x, (1, -1))), strict=False)
        ]
        kept = [
            chance.choice(pool)
            if chance.random() < 0.4
            else self._value(chance, known, chance.choice(SHAPES), own, nests)
            for _ in range(self.kept)
        ]
        return after, kept

    def _value(self, chance: random.Random, known: list, shape: tuple, own: list, nests: bool) -> Any:
        """Something of this shape, no larger than what it is made of."""
        like = [c for c in own if np.shape(c) == shape]
        draw = chance.random()
        if like and draw < 0.12:
            return chance.choice(like)  # goes on as it is, or changes places with another
        if draw < 0.15:
            return np.full(shape, 0.5)
        if nests and draw < 0.3:
            return self._nested(chance, known, shape)
        total = np.zeros(shape)
        for _ in range(chance.randint(1, 3)):
            total = total + self._term(chance, chance.choice(known), shape)
        return np.tanh(total) if chance.random() < 0.6 else 0.3 * total

    def _term(self, chance: random.Random, value: Any, shape: tuple) -> Any:
        value = UNARY[chance.randrange(len(UNARY))](value)
        for fits in chance.sample(FITTED, len(FITTED)):
            made = fits(value, shape)
            if made is not None:
                return made
        return np.sum(value) * np.ones(shape)

    def _nested(self, chance: random.Random, known: list, shape: tuple) -> Any:
        seed, length, reverse = chance.random(), chance.choice([0, 1, 2, 5]), chance.random() < 0.5

        def step(carry: Any, _: Any) -> Any:
            again = random.Random(seed)
            made = self._value(again, [*known, carry], shape, [carry], False)
            return made, self._value(again, [*known, carry], (3,), [carry], False)

        begin = self._term(chance, chance.choice(known), shape) * 0.5 + np.zeros(
            shape
        )  # in the dtype of a step's result
        last, kept = scan(step, begin, None, length, reverse=reverse)
        return last + 0.1 * np.sum(kept)


def turned(a: np.ndarray) -> np.ndarray:
    """The same numbers otherwise in memory."""
    wide = np.repeat(a, 2, axis=-1) if a.ndim else a
    return wide[..., ::2] if a.ndim == 1 else np.asfortranarray(a)


def _repeated(x: Any, shape: tuple) -> Any:
    own = np.shape(x)
    fits = len(own) <= len(shape) and all(d in (1, e) for d, e in zip(own[::-1], shape[::-1], strict=False))
    return x + np.zeros(shape) if fits else None


def _shortened(x: Any, shape: tuple) -> Any:
    return np.sum(x, axis=0) if np.ndim(x) and np.shape(x)[1:] == shape else None


def _turned(x: Any, shape: tuple) -> Any:
    return np.transpose(x) if np.ndim(x) > 1 and np.shape(x)[::-1] == shape else None


def _rolled(x: Any, shape: tuple) -> Any:
    return np.roll(x, 1, axis=-1) if shape and np.shape(x) == shape else None


def _flat(x: Any, shape: tuple) -> Any:
    return np.reshape(x, shape) if np.size(x) == int(np.prod(shape)) else None


def _multiplied(x: Any, shape: tuple) -> Any:
    if np.ndim(x) != 2 or len(shape) != 2 or np.shape(x)[0] != shape[0]:
        return None
    return x @ np.linspace(-1, 1, np.shape(x)[1] * shape[1]).reshape(np.shape(x)[1], shape[1])


def _running(x: Any, shape: tuple) -> Any:
    return np.cumsum(x, axis=0) if shape and np.shape(x) == shape else None


VIEWS: list[Callable[[Any], Any]] = [np.transpose, np.ravel, lambda x: np.reshape(x, (1, -1))]
FITTED: list[Callable[[Any, tuple], Any]] = [_repeated, _shortened, _turned, _rolled, _flat, _multiplied, _running]
UNARY: list[Callable[[Any], Any]] = [
    np.sin,
    np.tanh,
    lambda x: x * 0.7,
    lambda x: np.where(x > 0, x, 0.1 * x),
    lambda x: np.maximum(x, -0.2),
    lambda x: np.exp(-x * x),
    lambda x: x * np.max(x) * 0.2,
    lambda x: x,
]
