"""A derivative that is kept sees what its function sees, after any change of it."""

import random

import pytest
from fuzzing import report, seeds
from outside_programs import SEEN, drawn_changes, stale


@pytest.mark.parametrize("kind", SEEN)
def test_each_change_alone(kind):
    found = {change: stale([kind], [(0, change)]) for change in SEEN[kind].changes}
    assert not any(found.values()), found


def test_changes_of_many_values():
    wrong = []
    for seed in seeds(0.2):
        r = random.Random(seed)
        kinds = r.sample(list(SEEN), r.randint(1, 4))
        changes = drawn_changes(r, kinds, r.randint(1, 5))
        if stale(kinds, changes):
            wrong.append(_smallest(kinds, changes))
    report("changed surroundings", len(seeds(0.2)), 0, wrong)
    assert not wrong, "\n".join(wrong)


def _smallest(kinds: list[str], changes: list[tuple[int, str]]) -> str:
    """One kind and one change that is not seen, where one alone is enough."""
    for at, change in changes:
        if message := stale([kinds[at]], [(0, change)]):
            return f"{kinds[at]}: {message}"
    return f"{kinds}, {changes}: {stale(kinds, changes)}"
