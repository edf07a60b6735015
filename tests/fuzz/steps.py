"""The steps of random programs: source with places for operands.

{a}, {b} and {c} stand for values, {w} for one that is written to, {z} for a number among them; {s} and {t} for numbers
as code has them; {x} for an axis, {i} for an index, {J} for positions along the first axis, {n} for an index that is a
value, {k} for a small integer, {shape} and {perm} for a shape and an order of axes; {o} for the name of what is made.
"""

ELEMENTWISE = [
    "np.sin({a})", "np.cos({a}) * {s}", "np.tanh({a})", "np.arctan({a})", "np.exp(-{a} * {a})", "np.exp({a} * 0.3)",
    "np.log1p({a} ** 2)", "np.log(1 + np.exp({a}))", "np.log({s} + {a} ** 2)", "np.sqrt(1.0 + {a} * {a})",
    "np.sqrt(1 + ({s} * {a}) ** 2)", "1 / (2 + np.cos({a}))", "1 / (1 + np.exp(-{a}))", "{a} ** 2", "{a} ** 3 * 0.1",
    "(0.1 + np.abs({a})) ** 1.5", "(1.5 + {a} * {a}) ** -0.5", "(2 + {a} ** 2) ** {a}", "np.square({a}) - {s}", "-{a}",
    "{s} - {a}", "{a} / {s}", "{a} * {s} + {t}", "({a} - {s}) / {t}", "np.abs({a})", "abs({a}) * {a}",
    "np.sign({a}) * {a}", "np.maximum({a}, 0)", "np.maximum({a}, {s})", "np.minimum({a}, {s}) * {t}",
    "np.clip({a}, -0.4, 0.6)", "np.where({a} > {s}, {a} * 2, np.sin({a}))", "np.where({a} < 0, 0.0, {a} ** 2)",
    "({a} > 0) * {a}", "np.floor({a}) + {a}", "np.cbrt({a} + 3)", "np.arcsinh({a})", "np.expm1({a} * 0.5)",
    "np.sinh({a} * 0.5)", "np.cosh({a} * 0.5)", "np.arcsin(np.tanh({a}) * 0.9)", "np.exp2({a} * 0.5)",
    "np.log2(2 + {a} ** 2)", "np.reciprocal(2 + {a} ** 2)", "np.float64(1.5) * {a}", "np.rint({a}) * {a}",
    "{a} % 1.7", "np.logaddexp({a}, 0)", "+{a}", "np.positive({a})", "np.true_divide({a}, {s})",
    "np.power(np.abs({a}) + 0.5, {s})", "np.deg2rad({a}) * 40", "np.nan_to_num({a})", "np.real({a})",
    "({a} * {a}) * ({a} * {a})", "np.heaviside({a}, 0.5) * {a}", "2 ** {a}",
]  # fmt: skip
BINARY = [
    "{a} + {b}", "{a} - {b}", "{a} * {b}", "{a} + {b}", "{a} * {b}", "{a} / (1.5 + {b} ** 2)", "{a} / {b}",
    "{a} * {s} - {b}", "({a} + {b}) * {s}", "np.maximum({a}, {b})", "np.minimum({a}, {b})",
    "np.arctan2({a}, 1.5 + {b} ** 2)", "np.hypot({a}, 1 + {b} ** 2)", "np.logaddexp({a}, {b})",
    "np.where({a} < {b}, {a} * {b}, {b})", "np.where({b} > {s}, {a}, {b})", "(1 + {a} ** 2) ** {b}",
    "np.power(np.abs({a}) + 0.5, {b})", "{a} * {b} * {a}", "{a} * np.sum({b})", "np.sum({a}) + {b}",
    "{a} * {b} + {c}", "({a} - {b}) * ({a} + {c})", "{a} * np.exp(-{b}) / (1 + {c} ** 2)",
    "np.where({a} > 0, {b}, {c})", "np.fmax({a}, {b})", "np.copysign({a}, {b})", "np.remainder({a}, 2 + {b} ** 2)",
    "np.sqrt({a} ** 2 + {b} ** 2 + 1)", "np.log(np.abs({a} / (2 + {b} ** 2)) + 1) ** 2",
    "np.multiply({a}, {b}) + {s}", "np.add({a}, {b}, dtype=np.float64)", "np.subtract({a}, {b})", "({a} > {b}) * {a}",
    "({a} - {b}) ** 2", "{a} * {a} / ({b} * {b} + 1)",
]  # fmt: skip
REDUCE = [
    "np.sum({a})", "np.sum({a}, axis={x})", "{a}.sum(axis={x}, keepdims=True)", "np.mean({a})", "{a}.mean(axis={x})",
    "{a} - {a}.mean(axis={x}, keepdims=True)", "np.max({a}, axis={x})", "{a}.max()",
    "np.min({a}, axis={x}, keepdims=True)", "np.prod({a}, axis={x})", "np.var({a}, axis={x})",
    "np.std({a} + np.arange({a}.shape[-1]), axis=-1)", "np.sum({a} * {a}, axis={x})", "np.linalg.norm({a})",
    "np.sqrt(np.sum({a} ** 2, axis={x}) + 1)", "np.log(np.sum(np.exp({a}), axis={x}))",
    "np.exp({a}) / np.sum(np.exp({a}), axis={x}, keepdims=True)", "np.sum({a}, axis={x}, dtype=np.float64)",
    "sum({a})", "np.average({a}, axis={x})", "np.ptp({a}, axis={x})", "np.add.reduce({a}, axis={x})",
    "np.nansum({a}, axis={x})", "np.max({a} * {b})", "np.sum({a} * {b}, axis={x})",
    "max({a}.ravel()[:3])",
]  # fmt: skip
SHAPE = [
    "{a}.T", "{a}.reshape(-1)", "{a}.reshape({shape})", "np.reshape({a}, {shape})",
    "np.reshape({a}, {shape}, order='F')", "{a}.ravel()", "np.ravel({a}, order='F')", "np.transpose({a}, {perm})",
    "{a}.transpose()", "np.swapaxes({a}, 0, -1)", "np.moveaxis({a}, 0, -1)", "np.expand_dims({a}, {x})",
    "np.squeeze({a})", "{a}[..., None]", "{a}[None]", "np.flip({a})", "np.flip({a}, {x})", "np.rot90({a})",
    "np.roll({a}, {k})", "np.roll({a}, {k}, axis={x})", "np.broadcast_to({a}, (2, *{a}.shape))", "np.tile({a}, 2)",
    "np.repeat({a}, 2, axis={x})", "np.pad({a}, 1)", "np.atleast_1d({a})", "np.atleast_2d({a})", "np.diag({a})",
    "np.diagonal({a})", "np.triu({a})", "np.tril({a}, {k})", "np.trace({a})", "np.concatenate([{a}, {a} * {s}])",
    "np.concatenate([{a}, {b}], axis={x})", "np.concatenate([{a}.ravel(), {b}.ravel()])", "np.stack([{a}, {b}])",
    "np.stack([{a}, {a} * 2], axis=-1)", "np.hstack([{a}, {b}])", "np.vstack([{a}, {b}])", "np.split({a}, [1, 2])[1]",
    "np.array_split({a}, 2)[0]", "np.block([[{a}, {a}], [{a}, {a}]])", "np.copy({a})", "{a}.copy()",
    "np.outer({a}, {b})", "{a}.flatten()", "np.column_stack([{a}, {b}])",
]  # fmt: skip
INDEX = [
    "{a}[{i}]", "{a}[{i}]", "{a}[{i}] * {s}", "np.take({a}, {J}, axis={x})", "{a}[{J}]", "{a}[..., {J}]",
    "{a}[1:] - {a}[:-1]", "np.diff({a}, axis={x})", "np.diff({a})", "{a}[::-1] * {a}", "{a}[{n}]", "{a}[{n}] * 2",
    "np.take_along_axis({a}, np.argsort({a}, axis=-1), -1)", "{a}.take({J})", "np.ix_(np.arange(1))[0] * {a}",
]  # fmt: skip
PRODUCT = [
    "{a} @ {b}", "{a} @ {b}.T", "{a}.T @ {b}", "np.dot({a}, {b})", "np.matmul({a}, np.swapaxes({b}, -1, -2))",
    "np.vdot({a}, {b})", "np.inner({a}, {b})", "np.einsum('...i,...i->...i', {a}, {b})",
    "np.einsum('...i,...i', {a}, {b})", "np.einsum('ij,kj->ik', {a}, {b})", "np.einsum('ij,jk->ki', {a}, {b})",
    "np.einsum('ij,ij->j', {a}, {b})", "np.einsum('i,j->ij', {a}, {b})", "np.einsum('ii->i', {a})",
    "np.tensordot({a}, {b}, axes=1)", "np.kron({a}, {b})", "np.cross({a}, {b})", "{a} @ {a}.T", "{a}.T @ {a} @ {b}",
    "np.convolve({a}, {b})", "np.linalg.multi_dot([{a}, {a}.T, {a}])", "np.trapezoid({a})",
    "np.interp({a}, [-1.0, 0.2, 1.0], [0.0, 1.0, -1.0])", "np.polyval([1.0, {s}, 0.5], {a})", "np.gradient({a})",
]  # fmt: skip
ORDER = [
    "np.sort({a})", "np.sort({a}, axis={x})", "np.cumsum({a})", "np.cumsum({a}, axis={x})",
    "np.cumprod({a} + 1, axis={x})", "np.cumsum({a}[::-1])", "np.median({a}, axis={x})", "np.argmax({a}, axis={x})",
    "np.argsort({a}, axis={x})", "{a}[np.argsort({a})]", "np.searchsorted([-0.5, 0.5], {a}) * {a}",
]  # fmt: skip
LINALG = [
    "np.linalg.solve({a} @ {a}.T + 2 * np.eye({a}.shape[0]), {a})",
    "np.linalg.inv({a} @ {a}.T + 2 * np.eye({a}.shape[0]))", "np.linalg.det({a} @ {a}.T + np.eye({a}.shape[0]))",
    "np.linalg.slogdet({a} @ {a}.T + np.eye({a}.shape[0]))[1]",
    "np.linalg.cholesky({a} @ np.swapaxes({a}, -1, -2) + np.eye({a}.shape[-2]))", "np.linalg.norm({a}, axis=-1)",
    "np.linalg.norm({a}, 'fro')", "np.linalg.matrix_power({a} @ {a}.T, 2)", "np.linalg.norm({a}, 1)",
    "np.linalg.norm({a}, np.inf)",
]  # fmt: skip
CONTROL = [
    "if np.sum({a}) > {s}:\n    {o} = {a} * 2\nelse:\n    {o} = np.sin({a})",
    "if {a}.ndim > 1 and np.max({a}) > {s}:\n    {o} = {a} * {b}\nelse:\n    {o} = {b} - {a}",
    "{o} = {a}\nfor k in range(3):\n    {o} = np.tanh({o}) * {s} + {b}",
    "{o} = {a}\nfor k in range({a}.shape[0]):\n    {o} = {o} + {a}[k] * k",
    "{o} = 0.0\nfor row in {a}:\n    {o} = {o} + row * row",
    "{o} = {a}\nwhile np.max(np.abs({o})) > 0.5:\n    {o} = {o} * 0.5", "{o} = sum(row * {s} for row in {a})",
    "{o} = np.stack([row - {s} for row in {a}])", "{o} = (lambda t: t * {b} + {s})({a})",
    "def inner(t, scale={s}):\n    return t * scale + {b}\n{o} = inner({a})",
    "{o} = functools.reduce(np.maximum, list({a}))", "{o} = [k * row for k, row in enumerate({a})][-1]",
    "{o} = {a} if {a}[0] < {a}[-1] else -{a}", "first, *rest = {a}\n{o} = first * {s} + sum(rest)",
]  # fmt: skip
SCALAR = [
    "max({z}, {s}) * {a}", "min({z}, {s}) + {z}", "{z} ** 2 * {a}", "{s} ** {z}", "abs({z}) * {z}",
    "np.float32(0.3) * {a}", "np.float32({s}) + {z}", "np.array({s}) * {a}", "np.int64(2) * {a}", "3 * {a}",
    "{a} * True", "np.arange(1, 1 + {a}.shape[0]) * {a}", "np.linspace({s}, 1, {a}.shape[-1]) * {a}",
    "{a} + np.float16(0.5)", "np.ones_like({a}) * {z}", "np.full_like({a}, {s}) + {a}", "np.eye({a}.shape[0]) * {a}",
    "{a} // 0.7 * {a}", "divmod({a}, 0.9)[1]", "np.int32(3) / (2 + {a} ** 2)", "np.arange(3) * {z}",
]  # fmt: skip
CAST = [
    "{a}.astype(np.float32)", "{a}.astype(np.float64)", "{a}.astype(bool) * {a}",
    "({a} > 0).astype(np.float32) * {a}", "{a}.astype(np.float16)", "np.sum({a}, dtype=np.float32)",
    "np.add({a}, {b}, dtype=np.float32)", "{a} * np.uint8(3)", "{a} * np.arange(3, dtype=np.int8)[0]",
    "np.multiply({a}, {s}, dtype=np.float32)",
]  # fmt: skip
WRITE = [
    "{w}[{i}] = {s}", "{w}[{i}] = {z}", "{w}[{i}] += {s}", "{w}[{i}] *= {s}", "{w} += {s}", "{w} *= {b}",
    "{w} -= {b}", "{w}[...] = {b} * 2", "{w}[0] = {w}[-1] * {s}", "{w}[1:] += {w}[:-1]", "{w}[::-1] *= {s}",
    "np.multiply({w}, {s}, out={w})", "np.sin({w}, out={w})", "np.add({w}, {b}, out={w})", "{w}[{w} < 0] = 0.0",
    "{w}[{w} > {s}] *= 0.5", "{w}.fill({s})", "{w}[{J}] = {s}", "{w}[{J}] += {s}",
    "for k in range({w}.shape[0]):\n    {w}[k] = {w}[k] * k + {s}", "{w}[0], {w}[-1] = {w}[-1], {w}[0]",
    "np.clip({w}, -0.5, 0.5, out={w})", "{w} **= 2", "{w} /= {s}", "np.negative({w}[1:], out={w}[1:])",
]  # fmt: skip
#: writes through a view of a value
VIEW_WRITE = [
    "{w}.T[0] = {s}", "{w}.reshape(-1)[0] = {s}", "{w}.ravel()[1:] *= {s}", "np.reshape({w}, (-1,))[0] = {s}",
    "np.ravel({w})[-1] = {z}", "np.transpose({w})[0] += {s}", "np.swapaxes({w}, 0, -1)[0] *= {s}",
    "np.flip({w})[0] = {s}", "np.atleast_2d({w})[0] = {s}", "np.squeeze({w})[0] = {s}",
    "np.expand_dims({w}, 0)[0] = {b}", "np.moveaxis({w}, 0, -1)[..., 0] = {s}", "np.rot90({w})[0] = {s}",
    "np.split({w}, [1])[0][:] = {s}", "{w}.astype({w}.dtype, copy=False)[0] = {s}", "np.real({w})[0] = {s}",
    "np.asarray({w})[0] = {s}", "np.diagonal({w}).copy()[0] = {s}", "{w}[1:][0] = {s}", "{w}[None][0] *= {s}",
    "np.broadcast_to({w}, {w}.shape).copy()[0] = {s}",
]  # fmt: skip
MAKE = [
    "{o} = np.zeros_like({a})\nfor k in range({a}.shape[0]):\n    {o}[k] = {a}[k] * k + {s}",
    "{o} = np.empty_like({a})\n{o}[:] = {a} * {s}", "{o} = np.zeros_like({a})\n{o}[1:] = {a}[:-1]",
    "{o} = {a} * 1.0\n{o}[0] = {s}", "{o} = {a}.copy()\n{o}[{i}] = {s}",
    "{o} = np.ones_like({a})\n{o}[::2] = {a}[::2] * {s}", "{o} = {a} + 0.0\n{o} *= {b}\n{o} -= {s}",
    "{o} = np.empty_like({a})\nnp.sin({a}, out={o})",
]  # fmt: skip

#: functions that run as they are, beside which others keep their slopes: ``kinds`` is tests/external_kinds.py
OUTSIDE = [
    text.replace("KIND", kind)
    for text in ("{a} * kinds.KIND(np.mean({a}))", "{a} + kinds.KIND(np.sum({a} * {b}) * 0.1) * {s}")
    for kind in (*("custom_jvp", "custom_vjp", "stopped", "random_draw", "batch_statistics") * 3,)
    + ("sparse_solve", "root", "minimum", "quadrature", "initial_values")
]

#: the families of steps, and how often each is drawn
FAMILIES: dict[str, tuple[int, list[str]]] = {
    "elementwise": (8, ELEMENTWISE),
    "binary": (8, BINARY),
    "reduce": (4, REDUCE),
    "shape": (5, SHAPE),
    "index": (3, INDEX),
    "product": (3, PRODUCT),
    "order": (2, ORDER),
    "linalg": (1, LINALG),
    "control": (2, CONTROL),
    "scalar": (3, SCALAR),
    "cast": (1, CAST),
    "make": (2, MAKE),
    "write": (2, WRITE),
    "view": (3, VIEW_WRITE),
    "outside": (6, OUTSIDE),
}
