"""Steps of programs, each with the ways in which people write it: all of them mean the same.

{a}, {b} and {c} stand for operands, {o} for the name of what is made, {p} for a number, {k} for an index of three.
What a step reads and makes are numbers (s), vectors of three (v) and matrices of three by three (m). The first way is
the plainest one; names that begin with ``{o}_`` are the step's own.
"""

from __future__ import annotations

from ways import HELD, SCALED, Step
from ways import step as _step

_VECTOR = _step(
    "sss->v",
    "{o} = np.stack([{a}, {b}, {c}])",
    "{o} = np.array([{a}, {b}, {c}])",
    "{o} = np.asarray(({a}, {b}, {c}), dtype=float)",
    "{o} = np.asanyarray([{a}, {b}, {c}])",
    "{o} = np.ascontiguousarray([{a}, {b}, {c}])",
    "{o} = np.r_[{a}, {b}, {c}]",
    "{o} = np.c_[{a}, {b}, {c}][0]",
    "{o} = np.hstack([{a}, {b}, {c}])",
    "{o} = np.block([{a}, {b}, {c}])",
    "{o} = np.concatenate([[{a}], [{b}], [{c}]])",
    "{o} = np.append(np.array([{a}, {b}]), {c})",
    "{o} = np.insert(np.array([{a}, {c}]), 1, {b})",
    "{o} = np.fromiter((t for t in ({a}, {b}, {c})), float)",
    "{o} = np.zeros(3)\n{o}[0] = {a}\n{o}[1] = {b}\n{o}[2] = {c}",
    "{o} = np.empty(3)\n{o}[2], {o}[1], {o}[0] = {c}, {b}, {a}",
    "{o} = np.full(3, {c})\n{o}[:2] = [{a}, {b}]",
    "{o} = np.ones(3)\n{o} *= np.array([{a}, {b}, {c}])",
    "{o} = np.zeros(3)\nnp.put({o}, [2, 0, 1], [{c}, {a}, {b}])",
    "{o} = np.zeros(3)\n{o}[[0, 2]] = {a}, {c}\n{o}[np.array([False, True, False])] = {b}",
    "{o}_t = np.zeros((1, 3))\n{o}_row = {o}_t[0]\n{o}_row[0] = {a}\n{o}_row[1:] = {b}, {c}\n{o} = {o}_t.ravel()",
    "{o}_t = np.zeros((3, 1))\n{o}_t.T[0] = [{a}, {b}, {c}]\n{o} = {o}_t.reshape(-1)",
    "{o}_l = []\nfor t in ({a}, {b}, {c}):\n    {o}_l.append(t)\n{o} = np.array({o}_l)",
    "{o} = np.array([])\nfor t in [{a}, {b}, {c}]:\n    {o} = np.append({o}, t)",
    "{o} = np.array([[float({a}), {b}], [{c}, 0.0]]).ravel()[:3]",
)


def _function(name: str, of_math: str = "") -> Step:
    """A function of each element of a vector."""
    scalar = of_math or f"math.{name}"
    return _step(
        "v->v",
        f"{{o}} = np.{name}({{a}})",
        f"{{o}} = np.zeros(3)\nfor k in range(3):\n    {{o}}[k] = {scalar}({{a}}[k])",
        f"{{o}} = np.array([{scalar}(t) for t in {{a}}])",
        f"{{o}} = np.array([{scalar}(float(t)) for t in {{a}}])",
        f"{{o}} = np.vectorize(lambda t: {scalar}(t))({{a}})",
        f"{{o}} = np.frompyfunc(lambda t: {scalar}(t), 1, 1)({{a}}).astype(float)",
        f"{{o}} = np.array(list(map({scalar}, {{a}})))",
        f"{{o}} = np.fromiter(map({scalar}, {{a}}), float)",
        f"{{o}} = np.empty(3)\nnp.{name}({{a}}, out={{o}})",
        f"{{o}} = {{a}}.copy()\nnp.{name}({{o}}, {{o}})",
        f"{{o}} = {{a}} * 1.0\nfor k in range(len({{o}})):\n    {{o}}[k] = {scalar}({{o}}[k])",
        f"{{o}} = np.apply_along_axis(lambda t: np.{name}(t), 0, {{a}})",
        f"{{o}}_l = {{a}}.tolist()\n{{o}} = np.array([{scalar}({{o}}_l[0]), *map({scalar}, {{o}}_l[1:])])",
        f"{{o}} = np.array({{a}})\n{{o}}[:2] = np.{name}({{o}}[:2])\n{{o}}[2] = {scalar}({{o}}[2])",
    )


_FUNCTIONS = [
    _function("sin"),
    _function("cos"),
    _function("tanh"),
    _function("arctan", "math.atan"),
    _function("expm1"),
    _function("arcsinh", "math.asinh"),
]


def _binary(sign: str, name: str) -> Step:
    return _step(
        "vv->v",
        f"{{o}} = {{a}} {sign} {{b}}",
        f"{{o}} = np.zeros(3)\nfor k in range(3):\n    {{o}}[k] = {{a}}[k] {sign} {{b}}[k]",
        f"{{o}} = np.array([s {sign} t for s, t in zip({{a}}, {{b}})])",
        f"{{o}} = {{a}}.copy()\n{{o}} {sign}= {{b}}",
        f"{{o}} = np.zeros(3)\n{{o}} += {{a}}\nfor k in range(3):\n    {{o}}[k] {sign}= {{b}}[k]",
        f"{{o}} = np.empty(3)\nnp.{name}({{a}}, {{b}}, out={{o}})",
        f"{{o}} = np.zeros(3)\nnp.copyto({{o}}, {{a}})\nnp.{name}({{o}}[1:], {{b}}[1:], out={{o}}[1:])\n"
        f"{{o}}[0] = {{o}}[0] {sign} {{b}}[0]",
        f"{{o}} = np.array({{a}})\nnp.{name}.at({{o}}, [0, 1, 2], {{b}})",
        f"{{o}}_m = np.zeros((2, 3))\n{{o}}_m[0] = {{a}}\n{{o}}_m[1] = {{b}}\n{{o}}_m[0] {sign}= {{o}}_m[1]\n"
        f"{{o}} = {{o}}_m[0]",
        f"{{o}} = np.vectorize(lambda s, t: s {sign} t)({{a}}, {{b}})",
        f"{{o}} = np.asarray([float(s) {sign} t for s, t in zip({{a}}.tolist(), {{b}})])",
    )


_SUM = _step(
    "v->s",
    "{o} = np.sum({a})",
    "{o} = 0.0\nfor t in {a}:\n    {o} += t",
    "{o} = sum({a})",
    "{o} = sum(t for t in {a})",
    "{o} = math.fsum({a})",
    "{o} = float(np.sum({a}))",
    "{o} = {a}.sum().item()",
    "{o} = np.add.reduce({a})",
    "{o}_t = np.zeros(1)\nfor k in range(3):\n    {o}_t[0] += {a}[k]\n{o} = {o}_t[0]",
    "{o}_t = np.zeros(2)\nnp.add.at({o}_t, [1, 1, 1], {a})\n{o} = {o}_t[1]",
    "{o} = functools.reduce(operator.add, {a})",
    "{o} = np.cumsum({a})[-1]",
    "{o} = np.dot({a}, np.ones(3))",
    "{o} = np.array({a})[0] + np.asarray({a})[1:].sum()",
)
_DOT = _step(
    "vv->s",
    "{o} = {a} @ {b}",
    "{o} = sum(s * t for s, t in zip({a}, {b}))",
    "{o} = 0\nfor k in range(len({a})):\n    {o} += {a}[k] * {b}[k]",
    "{o} = np.dot({a}, {b})",
    "{o} = float(np.inner({a}, {b}))",
    "{o} = math.fsum(s * t for s, t in zip({a}, {b}))",
    "{o}_t = np.empty(3)\nnp.multiply({a}, {b}, out={o}_t)\n{o} = {o}_t.sum()",
    "{o}_t = {a}.copy()\n{o}_t *= {b}\n{o} = sum({o}_t)",
    "{o} = np.einsum('i,i', {a}, {b})",
    "{o} = (np.array([{a}]) @ np.array([[t] for t in {b}]))[0, 0]",
)
_ELEMENT = _step(
    "v->s",
    "{o} = {a}[{k}]",
    "{o} = float({a}[{k}])",
    "{o} = {a}.tolist()[{k}]",
    "{o} = list({a})[{k}]",
    "{o} = {a}.item({k})",
    "{o} = {a}[{k}].item()",
    "{o} = np.take({a}, {k})",
    "{o}_0, {o}_1, {o}_2 = {a}\n{o} = ({o}_0, {o}_1, {o}_2)[{k}]",
    "{o} = {a}.reshape(3, 1)[{k}, 0]",
    "{o} = {a}[::-1][2 - {k}]",
    "{o} = np.array({a})[{k}]",
    "{o} = [t for t in {a}][{k}] + 0",
    "{o}_t = np.zeros(1)\n{o}_t[0] = {a}[{k}]\n{o} = {o}_t[0]",
    "{o} = next(t for k, t in enumerate({a}) if k == {k})",
)
_SCALAR = [
    _step("s->s", f"{{o}} = np.{name}({{a}})", f"{{o}} = {own}({{a}})", f"{{o}} = {own}(float({{a}}))",
          f"{{o}} = np.{name}(np.array([{{a}}]))[0]", f"{{o}} = float(np.{name}({{a}}))",
          f"{{o}}_t = np.zeros(2)\n{{o}}_t[1] = {own}({{a}})\n{{o}} = {{o}}_t[1]",
          f"{{o}} = float(np.vectorize({own})({{a}}))", f"{{o}} = [*map({own}, [{{a}}])][0]")
    for name, own in (("sin", "math.sin"), ("exp", "math.exp"), ("tanh", "math.tanh"), ("arctan", "math.atan"))
]  # fmt: skip
_POWERS = [
    _step("s->s", "{o} = {a} ** 2", "{o} = pow({a}, 2)", "{o} = {a} * {a}", "{o} = math.pow({a}, 2)",
          "{o} = np.power({a}, 2)", "{o} = np.square({a})", "{o} = float({a}) ** 2", "{o} = np.prod([{a}, {a}])",
          "{o} = math.prod([{a}, {a}])", "{o}_t = np.ones(1)\n{o}_t *= {a}\n{o}_t **= 2\n{o} = {o}_t[0]"),
    _step("s->s", "{o} = np.sqrt(1 + {a} * {a})", "{o} = math.sqrt(1 + {a} * {a})", "{o} = math.hypot(1, {a})",
          "{o} = (1 + {a} ** 2) ** 0.5", "{o} = np.hypot({a}, 1.0)", "{o} = pow(1 + {a} * {a}, 0.5)",
          "{o} = np.linalg.norm([1.0, {a}])", "{o} = math.sqrt(math.dist([{a}], [0]) ** 2 + 1)"),
    _step("s->s", "{o} = np.abs({a})", "{o} = abs({a})", "{o} = math.fabs({a})", "{o} = {a} if {a} > 0 else -{a}",
          "{o} = max({a}, -{a})", "{o} = math.copysign({a}, 1.0)", "{o} = np.array([{a}, -{a}]).max()",
          "{o}_t = np.array([{a}])\n{o}_t[{o}_t < 0] *= -1\n{o} = {o}_t[0]", "{o} = math.sqrt({a} * {a})"),
    _step("s->s", "{o} = {a} * {p} + 1", "{o} = float({a}) * {p} + 1", "{o} = np.float64({p}) * {a} + 1.0",
          "{o} = np.polyval([{p}, 1.0], {a})", "{o} = 1\n{o} += {p} * {a}", "{o} = math.fsum([{p} * {a}, 1])",
          "{o}_t = np.array([1.0])\n{o}_t += {p} * {a}\n{o} = {o}_t[0]", "{o} = sum([{a} * {p}], 1)",
          "{o} = operator.add({a} * {p}, 1)"),
    _step("s->s", "{o} = {a} - np.floor({a})", "{o} = {a} - math.floor({a})", "{o} = {a} % 1", "{o} = {a} % 1.0",
          "{o} = divmod({a}, 1)[1]", "{o} = {a} - {a} // 1", "{o} = np.mod({a}, 1.0)",
          "{o} = {a} - int(math.floor({a}))"),
]  # fmt: skip
_PAIRS = [
    _step("ss->s", "{o} = np.maximum({a}, {b})", "{o} = max({a}, {b})", "{o} = {a} if {a} > {b} else {b}",
          "{o} = sorted([{a}, {b}])[1]", "{o} = np.array([{a}, {b}]).max()", "{o} = max([{b}, {a}])",
          "{o} = np.max([{a}, {b}])", "{o} = -min(-{a}, -{b})", "{o} = max(({a}, {b}), key=lambda t: t)"),
    _step("ss->s", "{o} = {a} * {b}", "{o} = np.prod([{a}, {b}])", "{o} = math.prod(({a}, {b}))",
          "{o} = float({a}) * {b}", "{o} = {a}\n{o} *= {b}", "{o} = np.multiply({a}, {b})",
          "{o}_t = np.ones(1)\nfor t in ({a}, {b}):\n    {o}_t *= t\n{o} = {o}_t[0]", "{o} = operator.mul({a}, {b})",
          "{o} = functools.reduce(lambda s, t: s * t, [{a}, {b}])"),
    _step("ss->s", "{o} = np.arctan2({a}, 2 + {b} * {b})", "{o} = math.atan2({a}, 2 + {b} ** 2)",
          "{o} = math.atan({a} / (2 + pow({b}, 2)))", "{o} = np.arctan2([{a}], [2 + {b} * {b}])[0]"),
    _step("ss->s", "{o} = np.log(np.exp({a}) + np.exp({b}))", "{o} = math.log(math.exp({a}) + math.exp({b}))",
          "{o} = np.logaddexp({a}, {b})", "{o} = np.log(np.sum(np.exp([{a}, {b}])))",
          "{o} = max({a}, {b})\n{o} += math.log(sum(math.exp(t - {o}) for t in ({a}, {b})))",
          "{o} = np.log(sum(map(math.exp, [{a}, {b}])))"),
]  # fmt: skip
_LEAKY = _step(
    "v->v",
    "{o} = np.where({a} < 0, {a} * {p}, {a})",
    "{o} = {a}.copy()\n{o}[{o} < 0] *= {p}",
    "{o} = np.zeros(3)\nfor k, t in enumerate({a}):\n    {o}[k] = t if t >= 0 else t * {p}",
    "{o} = np.array([t * {p} if t < 0 else t for t in {a}])",
    "{o} = np.maximum({a}, 0) + {p} * np.minimum({a}, 0)",
    "{o} = np.array({a})\nnp.putmask({o}, {o} < 0, {o} * {p})",
    "{o} = np.array({a})\nnp.copyto({o}, {p} * {a}, where={a} < 0)",
    "{o} = np.vectorize(lambda t: max(t, 0.0) + {p} * min(t, 0.0))({a})",
    "{o} = {a} + 0.0\n{o}_i = np.nonzero({a} < 0)[0]\n{o}[{o}_i] = {p} * {a}[{o}_i]",
    "{o} = np.empty(3)\n{o}[:] = {a}\n{o}[np.array([bool(t < 0) for t in {a}])] *= {p}",
)
_SHIFT = _step(
    "v->v",
    "{o} = np.roll({a}, 1)",
    "{o} = np.zeros(3)\nfor k in range(3):\n    {o}[(k + 1) % 3] = {a}[k]",
    "{o} = np.r_[{a}[-1], {a}[:-1]]",
    "{o} = np.concatenate([{a}[-1:], {a}[:2]])",
    "{o} = np.append({a}[-1], {a}[:-1])",
    "{o} = np.insert({a}[:-1], 0, {a}[-1])",
    "{o} = np.empty(3)\n{o}[1:] = {a}[:-1]\n{o}[0] = {a}[-1]",
    "{o}_l = list({a})\n{o}_l.insert(0, {o}_l.pop())\n{o} = np.array({o}_l)",
    "{o} = {a}[[2, 0, 1]]",
    "{o} = {a}.copy()\n{o}[0], {o}[1], {o}[2] = {a}[2], {a}[0], {a}[1]",
)
_CUMSUM = _step(
    "v->v",
    "{o} = np.cumsum({a})",
    "{o} = np.zeros(3)\n{o}_t = 0.0\nfor k in range(3):\n    {o}_t += {a}[k]\n    {o}[k] = {o}_t",
    "{o} = np.array([sum({a}[: k + 1]) for k in range(3)])",
    "{o} = {a}.copy()\nfor k in range(1, 3):\n    {o}[k] += {o}[k - 1]",
    "{o} = np.array(list(itertools.accumulate({a})))",
    "{o} = np.empty(3)\nnp.cumsum({a}, out={o})",
    "{o} = np.add.accumulate({a})",
    "{o} = np.zeros(3)\nfor k in range(3):\n    {o}[k:] += {a}[k]",
)
_SORT = _step(
    "v->v",
    "{o} = np.sort({a})",
    "{o} = np.array(sorted({a}))",
    "{o} = {a}.copy()\n{o}.sort()",
    "{o} = {a}[np.argsort({a})]",
    "{o} = {a}.copy()\nfor i in range(3):\n    for j in range(2 - i):\n        if {o}[j] > {o}[j + 1]:\n"
    "            {o}[j], {o}[j + 1] = {o}[j + 1], {o}[j]",
    "{o}_l = {a}.tolist()\n{o}_l.sort()\n{o} = np.array({o}_l)",
    "{o} = np.array([min({a}), sum({a}) - min({a}) - max({a}), max({a})])",
)
_SCATTER = _step(
    "v->v",
    "{o} = np.array([[1.0, 0.0, 1.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]) @ {a}",
    "{o} = np.zeros(3)\nnp.add.at({o}, [0, 2, 0], {a})",
    "{o} = np.zeros(3)\nfor i, t in zip([0, 2, 0], {a}):\n    {o}[i] += t",
    "{o} = np.bincount([0, 2, 0], weights={a}, minlength=3)",
    "{o} = np.array([{a}[0] + {a}[2], 0.0, {a}[1]])",
)
_OUTER = _step(
    "vv->m",
    "{o} = np.outer({a}, {b})",
    "{o} = {a}[:, None] * {b}",
    "{o} = np.zeros((3, 3))\nfor i in range(3):\n    for j in range(3):\n        {o}[i, j] = {a}[i] * {b}[j]",
    "{o} = np.array([[s * t for t in {b}] for s in {a}])",
    "{o} = np.zeros((3, 3))\n{o}_f = {o}.reshape(-1)\nfor k in range(9):\n    {o}_f[k] = {a}[k // 3] * {b}[k % 3]",
    "{o} = np.empty((3, 3))\nfor row, s in zip({o}, {a}):\n    row[:] = s * {b}",
    "{o} = np.zeros((3, 3))\n{o}_t = {o}.T\nfor j in range(3):\n    {o}_t[j] = {a} * {b}[j]",
    "{o} = np.block([[{b} * {a}[0]], [{b} * {a}[1]], [{b} * {a}[2]]])",
    "{o} = np.c_[{a} * {b}[0], {a} * {b}[1], {a} * {b}[2]]",
    "{o} = np.vstack([s * {b} for s in {a}])",
    "{o} = np.ones((3, 3))\n{o} *= {b}\n{o} *= {a}.reshape(3, 1)",
    "{o} = np.apply_along_axis(lambda t: t * {b}, 1, {a}[:, None])",
)
_MATVEC = _step(
    "mv->v",
    "{o} = {a} @ {b}",
    "{o} = np.zeros(3)\nfor i in range(3):\n    for j in range(3):\n        {o}[i] += {a}[i, j] * {b}[j]",
    "{o} = np.array([row @ {b} for row in {a}])",
    "{o} = np.array([sum(s * t for s, t in zip(row, {b})) for row in {a}.tolist()])",
    "{o} = np.empty(3)\nnp.dot({a}, {b}, out={o})",
    "{o} = np.apply_along_axis(np.dot, 1, {a}, {b})",
    "{o} = np.zeros(3)\nfor j in range(3):\n    {o} += {a}[:, j] * {b}[j]",
)
_DIAGONAL = _step(
    "mv->m",
    "{o} = {a} * (1 - np.eye(3)) + np.diag({b})",
    "{o} = {a}.copy()\nnp.fill_diagonal({o}, {b})",
    "{o} = {a}.copy()\n{o}[range(3), range(3)] = {b}",
    "{o} = np.array({a})\n{o}.flat[::4] = {b}",
    "{o} = np.zeros((3, 3))\n{o}[:] = {a}\n{o}.reshape(9)[::4] = {b}",
    "{o} = {a} * 1.0\nfor k in range(3):\n    {o}[k, k] = {b}[k]",
    "{o} = {a}.copy()\n{o}[np.diag_indices(3)] = {b}",
    "{o} = np.array([[{b}[i] if i == j else {a}[i, j] for j in range(3)] for i in range(3)])",
    "{o} = {a}.copy()\n{o}[np.eye(3) > 0] = {b}",
)
_SWAP = _step(
    "m->m",
    "{o} = {a}[[1, 0, 2]]",
    "{o} = {a}.copy()\n{o}[[0, 1]] = {o}[[1, 0]]",
    "{o} = np.array({a})\n{o}_t = {o}[0].copy()\n{o}[0] = {o}[1]\n{o}[1] = {o}_t",
    "{o} = np.vstack([{a}[1], {a}[0], {a}[2:]])",
    "{o} = np.array([{a}[k] for k in (1, 0, 2)])",
    "{o} = np.zeros_like({a})\nfor k, i in enumerate((1, 0, 2)):\n    {o}[k] = {a}[i]",
    "{o} = np.take({a}, [1, 0, 2], axis=0)",
    "{o} = {a} * 1.0\n{o}[:2] = {a}[1::-1]",
)
_TRANSPOSE = _step(
    "m->m",
    "{o} = {a}.T",
    "{o} = np.transpose({a}).copy()",
    "{o} = np.zeros((3, 3))\nfor i in range(3):\n    {o}[i] = {a}[:, i]",
    "{o} = np.array(list(zip(*{a})))",
    "{o} = np.empty((3, 3))\n{o}.T[:] = {a}",
    "{o} = np.column_stack(list({a}))",
    "{o} = np.ascontiguousarray(np.swapaxes({a}, 0, 1))",
)
_COLUMNS = _step(
    "m->v",
    "{o} = np.sum({a}, axis=0)",
    "{o} = np.zeros(3)\nfor row in {a}:\n    {o} += row",
    "{o} = sum({a})",
    "{o} = np.array([sum(column) for column in zip(*{a})])",
    "{o} = np.apply_along_axis(np.sum, 0, {a})",
    "{o} = np.empty(3)\nnp.sum({a}, axis=0, out={o})",
    "{o} = functools.reduce(np.add, list({a}))",
    "{o} = np.add.reduce({a})",
)
_DIAGONAL_OF = _step(
    "m->v",
    "{o} = np.diagonal({a}) * 1.0",
    "{o} = np.diag({a}).copy()",
    "{o} = np.array([{a}[k, k] for k in range(3)])",
    "{o} = {a}.reshape(-1)[::4].copy()",
    "{o} = {a}[range(3), range(3)]",
    "{o} = np.zeros(3)\nfor k in range(3):\n    {o}[k] = {a}[k][k]",
)

STEPS: tuple[Step, ...] = (
    *[_VECTOR] * 6, *_FUNCTIONS, _binary("+", "add"), _binary("-", "subtract"), *[_binary("*", "multiply")] * 2,
    *[_SUM] * 2, _DOT, *[_ELEMENT] * 5, *_SCALAR, *_POWERS, *_PAIRS, *[_LEAKY] * 2, _SHIFT, _CUMSUM, _SORT, _SCATTER,
    *[_OUTER] * 3, *[_MATVEC] * 2, *[_DIAGONAL] * 2, _SWAP, _TRANSPOSE, _COLUMNS, _DIAGONAL_OF,
    *SCALED * 3, *HELD * 2,
)  # fmt: skip
