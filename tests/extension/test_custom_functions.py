"""Custom functions in notebook cells."""

from __future__ import annotations

import numpy as np
import pytest

CELL = """
import math
import numpy as np
import symgrad as sg

@sg.custom(vjp=lambda primals, ct: {factor} * ct * np.cos(primals[0]))
def flow(x):
    return np.array([math.sin(v) for v in x])
"""


@pytest.fixture
def x(shell):
    shell.user_ns["x"] = np.array([0.3, 0.7])
    return shell.user_ns["x"]


def test_a_cell_shows_its_name_and_its_derivative(run, shell, x):
    run(CELL.format(factor=1))
    shown = run("%%grad --name g\nnp.sum(flow(x) ** 2)\n")
    texts = "".join(str(o.data) for o in shown.outputs)
    assert "flow" in texts
    np.testing.assert_allclose(shell.user_ns["g"](x), 2 * np.sin(x) * np.cos(x))


def test_running_the_cell_again_replaces_the_rule(run, shell, x):
    run(CELL.format(factor=1))
    run("%%grad --name g\ndef loss(x):\n    return np.sum(flow(x))\n")
    np.testing.assert_allclose(shell.user_ns["g"](x), np.cos(x))
    run(CELL.format(factor=3))
    np.testing.assert_allclose(shell.user_ns["g"](x), 3 * np.cos(x))


def test_it_is_differentiated_itself(run, shell, x):
    run(CELL.format(factor=1))
    run("%grad flow x")
    run("%%grad --hessian --name h\nnp.sum(flow(x))\n")
    np.testing.assert_allclose(shell.user_ns["h"](x), np.diag(-np.sin(x)), atol=1e-15)


def test_a_cell_that_declares_one(run, shell, x):
    run("import numpy as np, symgrad as sg")
    run("%%grad\n@sg.custom(vjp=lambda p, ct: ct * np.cos(p[0]))\ndef flow(x):\n    return np.sin(x)\n")
    np.testing.assert_allclose(shell.user_ns["grad_flow"](x), np.cos(x))


def test_a_missing_derivative_is_one_message(run, shell, x):
    run("import numpy as np, symgrad as sg\nplain = sg.custom(np.sin, name='plain')")
    with pytest.raises(Exception, match="the derivative of plain is not declared"):
        run("%%grad\nnp.sum(plain(x))\n")


def test_the_picture_and_the_annotation_name_it(run, shell, x):
    run(CELL.format(factor=1))
    run("%%grad --name g\nnp.sum(flow(x) ** 2)\n")
    g = shell.user_ns["g"]
    assert "flow" in g.picture(x).svg
    assert "flow" in str(g.annotate(x))
