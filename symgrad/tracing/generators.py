"""What a run of a function moves, and how to see that: generators of random numbers, and caches of results."""

from __future__ import annotations

import functools
import pickle
import random
from typing import Any

import numpy as np

#: their types
GENERATORS = (
    *(np.random.Generator, np.random.BitGenerator, np.random.SeedSequence, np.random.RandomState),
    random.Random,
)
#: what ``functools.cache`` and ``lru_cache`` make of a function
CACHED = type(functools.cache(lambda: None))
#: those behind the functions of ``numpy.random`` and ``random``
GLOBAL_GENERATORS = (np.random.rand.__self__, random.random.__self__)
#: names with which code looks at the state of a generator without moving it
LOOKS_AT_STATE = frozenset(
    ("state", "bit_generator", "getstate", "get_state", "copy", "deepcopy", "dumps", "__getstate__")
)
#: names with which code puts it back, after which a generator is where it was
PUTS_STATE_BACK = frozenset(("setstate", "set_state"))


def state_of(generator: Any) -> Any:
    """All that the next numbers of a generator follow from; of a cache how many results it has computed."""
    if isinstance(generator, CACHED):
        return generator.cache_info().misses
    if isinstance(generator, random.Random):
        return generator.getstate()
    if type(generator) is np.random.RandomState:  # sooner than its pickle
        state = generator.get_state(legacy=False)
        if state["bit_generator"] == "MT19937":
            return state["state"]["key"].tobytes(), state["state"]["pos"], state["has_gauss"], state["gauss"]
    return pickle.dumps(generator)
