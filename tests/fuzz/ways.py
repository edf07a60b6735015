"""What a step of a rewritten program is; steps that write through views, and steps that held values decide."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """What is read and made, and how it is written."""

    reads: str
    makes: str
    ways: tuple[str, ...]


def step(signature: str, *ways: str) -> Step:
    reads, makes = signature.split("->")
    return Step(reads, makes, ways)


_SCALE_FIRST = step(
    "v->v",
    "{o} = {a} * np.array([{p}, 1.0, 1.0])",
    "{o} = {a}.copy()\n{o}[0] *= {p}",
    "{o} = {a} * 1.0\n{o}_v = {o}[:1]\n{o}_v *= {p}",
    "{o} = np.array({a})\n{o}[::-1][2] *= {p}",
    "{o} = np.zeros(3)\n{o}[:] = {a}\nnp.flip({o})[-1] *= {p}",
    "{o} = np.zeros(3)\n{o} += {a}\nnp.flipud({o})[2] *= {p}",
    "{o} = {a}.copy()\n{o}.reshape(3, 1)[0] *= {p}",
    "{o} = {a}.copy()\nnp.expand_dims({o}, 0)[0, 0] *= {p}",
    "{o} = np.array([*{a}])\n{o}_v, _ = np.split({o}, [1])\n{o}_v *= {p}",
    "{o} = {a}.copy()\nnp.array_split({o}, 3)[0][:] *= {p}",
    "{o} = {a}.copy()\nnp.atleast_2d({o})[0, 0] *= {p}",
    "{o} = {a}.copy()\nnp.ravel({o})[0] *= {p}",
    "{o} = {a}.copy()\nnp.squeeze({o}[None])[0] *= {p}",
    "{o} = np.array({a})\nnp.asarray({o})[0] *= {p}",
    "{o} = {a}.copy()\n{o}.T[0] *= {p}",
    "{o} = {a}.copy()\nnp.multiply({o}[:1], {p}, out={o}[:1])",
    "{o} = {a}.copy()\nnp.multiply.at({o}, [0], {p})",
    "{o}_m = np.zeros((2, 3))\n{o} = {o}_m[1]\n{o}[:] = {a}\n{o}_m[:, 0] *= {p}",
    "{o} = {a}.copy()\nfor k, t in enumerate({a}):\n    if k == 0:\n        {o}[k] = t * {p}",
)
_SCALE_ROW = step(
    "m->m",
    "{o} = {a} * np.array([[{p}], [1.0], [1.0]])",
    "{o} = {a}.copy()\n{o}[0] *= {p}",
    "{o} = np.array({a})\n{o}.T[:, 0] *= {p}",
    "{o} = {a} * 1.0\nnp.flipud({o})[2] *= {p}",
    "{o} = {a} * 1.0\nnp.fliplr({o})[0] *= {p}",
    "{o} = {a}.copy()\nnp.rot90({o}, 2)[2] *= {p}",
    "{o} = np.zeros((3, 3))\n{o}[:] = {a}\n{o}.reshape(9)[:3] *= {p}",
    "{o} = np.zeros((3, 3))\n{o} += {a}\n{o}.flat[:3] *= {p}",
    "{o} = {a} * 1.0\nnp.moveaxis({o}, 0, 1)[:, 0] *= {p}",
    "{o} = {a} * 1.0\nnp.rollaxis({o}, 1)[:, 0] *= {p}",
    "{o} = {a} * 1.0\n{o}.swapaxes(0, 1)[:, 0] *= {p}",
    "{o} = {a}.copy()\nnp.vsplit({o}, 3)[0][:] *= {p}",
    "{o} = {a}.copy()\nfor t in np.hsplit({o}, 3):\n    t[0] *= {p}",
    "{o} = {a}.copy()\n{o}_row, *_ = {o}\n{o}_row *= {p}",
    "{o} = {a}.copy()\nfor row in {o}[:1]:\n    row[:] = row * {p}",
    "{o} = np.array([row for row in {a}])\n{o}.ravel()[:3] *= {p}",
    "{o} = {a}.copy()\n{o}[:1, :][0, ...] *= {p}",
    "{o} = {a}.copy()\n{o}[np.array([True, False, False])] *= {p}",
    "{o} = {a}.copy()\n{o}[np.ix_([0], [0, 1, 2])] *= {p}",
    "{o} = {a}.copy()\nnp.transpose({o})[:, 0] *= {p}",
)

#: writes through views
SCALED = [_SCALE_FIRST, _SCALE_ROW]
#: what w, a vector that nothing is differentiated by, and n, a whole number, decide
HELD = [
    step("s->s", "{o} = {a} * np.where(np.sum(w) > 0, 2.0, 0.5)", "{o} = {a} * 2 if np.sum(w) > 0 else {a} * 0.5",
          "{o} = {a} * {{True: 2.0, False: 0.5}}[bool(w.sum() > 0)]", "{o} = [0.5, 2.0][int(sum(w) > 0)] * {a}",
          "{o} = {a} * 0.5\nif np.any(w) and not math.fsum(w) <= 0:\n    {o} = {a} * 2.0",
          "{o} = float({a})\nif float(np.mean(w)) > 0:\n    {o} *= 2\nelse:\n    {o} /= 2"),
    step("s->s", "{o} = {a} * n", "{o} = sum({a} for _ in range(n))", "{o} = sum([{a}] * n)",
          "{o} = 0.0\nfor _ in range(int(n)):\n    {o} += {a}", "{o} = math.fsum([{a} for k in range(n)])",
          "{o} = np.full(n, {a}).sum()", "{o}_t = np.zeros(n)\n{o}_t += {a}\n{o} = np.sum({o}_t)",
          "{o} = {a} * float(n)", "{o}, {o}_k = 0.0, 0\nwhile {o}_k < n:\n    {o} += {a}\n    {o}_k += 1",
          "{o} = {a} * len(np.arange(n))", "{o} = {a} * np.ones((n, n)).trace()"),
    step("v->s", "{o} = {a}[np.argmax(w)]", "{o} = {a}[int(np.argmax(w))]", "{o} = {a}[w.tolist().index(max(w))]",
          "{o} = max(zip(w, {a}), key=lambda t: t[0])[1]", "{o} = {a}[np.argsort(w)[-1]]",
          "{o} = [t for t, s in zip({a}, w) if s == max(w)][0]", "{o} = sorted(zip(w.tolist(), range(3)))[-1][1]\n"
          "{o} = {a}[{o}]", "{o}_best = -math.inf\nfor t, s in zip({a}, w):\n    if s > {o}_best:\n"
          "        {o}_best, {o} = s, t"),
    step("s->s", "{o} = {a} * np.log(1 + w[0] ** 2)", "{o} = {a} * math.log(1 + w[0] ** 2)",
          "{o} = {a} * math.log1p(float(w[0]) ** 2)", "{o} = float({a}) * math.log(1 + pow(w.item(0), 2))",
          "{o} = {a} * np.array([math.log(1 + t * t) for t in w])[0]",
          "{o}_t = np.zeros(3)\nfor k, t in enumerate(w):\n    {o}_t[k] = math.log(1 + t**2)\n{o} = {a} * {o}_t[0]"),
    step("v->v", "{o} = np.where(w > 0, {a}, 0.0)", "{o} = {a} * (w > 0)", "{o} = {a}.copy()\n{o}[w <= 0] = 0",
          "{o} = np.array([t if s > 0 else 0.0 for t, s in zip({a}, w)])", "{o} = np.zeros(3)\n{o}[w > 0] = {a}[w > 0]",
          "{o} = np.zeros(3)\nfor k in np.nonzero(w > 0)[0]:\n    {o}[k] = {a}[k]",
          "{o} = np.zeros(3)\nfor k in range(3):\n    if w[k] > 0:\n        {o}[k] = {a}[k]",
          "{o} = {a} * 1.0\n{o}[np.where(w <= 0)[0]] *= 0.0",
          "{o} = np.zeros(3)\n{o}_i = [k for k in range(3) if w[k] > 0]\n"
          "{o}[{o}_i] = {a}[{o}_i]"),
    step("v->v", "{o} = {a}[np.argsort(w)]", "{o} = np.array([{a}[k] for k in np.argsort(w)])",
          "{o} = np.array([t for _, t in sorted(zip(w, {a}), key=lambda s: s[0])])",
          "{o} = np.zeros(3)\nfor k, i in enumerate(sorted(range(3), key=lambda i: w[i])):\n    {o}[k] = {a}[i]",
          "{o} = np.take({a}, w.argsort())"),
    step("s->s", "{o} = {a} * np.maximum(np.ceil(np.log2(np.abs(w[1]) / 0.1)), 0.0)",
          "{o}, {o}_t = 0.0 * {a}, abs(w[1])\nwhile {o}_t > 0.1:\n    {o}_t = {o}_t / 2\n    {o} += {a}",
          "{o}_k, {o}_t = 0, float(w[1])\nwhile abs({o}_t) > 0.1:\n    {o}_t *= 0.5\n    {o}_k += 1\n{o} = {a} * {o}_k",
          "{o} = {a} * max(math.ceil(math.log2(math.fabs(w[1]) / 0.1)), 0)"),
]  # fmt: skip
