"""The model of weak scaling, fitted to times that are known, and what binds."""

import pytest

pytest.importorskip("dask.array")
import scaling


def test_the_fit_finds_the_costs():
    times = {blocks: 2.0 + 0.003 * blocks for blocks in (4, 8, 32)}
    speed, own = scaling.fitted(times, 10.0)
    assert speed == pytest.approx(5.0)
    assert own == pytest.approx(0.003)


def test_what_binds():
    costs = {"size": 1e9, "speed": 5e9, "own": 1e-3, "central": 1e-3}
    assert scaling.model(1, 4, step=1e-3, **costs)[1] == "workers"
    assert scaling.model(1000, 4, step=1e-3, **costs)[1] == "scheduler"
    taken, binds, parts = scaling.model(1, 4, step=1.0, **costs)
    assert binds == "tree"
    assert taken == pytest.approx(parts["workers"] + parts["tree"])
