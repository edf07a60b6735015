"""The dialect of jax.numpy: NumPy's names, nothing is written into, and pieces are set and added through ``.at``."""

from __future__ import annotations

import math

from .dialect import ELSEWHERE, Dialect, divides_integers, dtypes_of, inverts_integers, puts_below

#: what jax.scipy.special has as SciPy has it
_SPECIAL = """
    beta betainc betaln boxcox boxcox1p dawsn entr erf erfc erfcx erfinv exp1 expi expit expn fresnel gamma gammainc
    gammaincc gammasgn hyp1f1 hyp2f1 i0 i0e i1 i1e kl_div loggamma logit ndtr ndtri owens_t poch rel_entr sici spence
    xlog1py xlogy
"""
JAX = Dialect(
    "jax",
    "jnp",
    special_from="jax.scipy",
    special_has=frozenset(_SPECIAL.split()),
    own={
        "argmax": "jnp.argmax({0}, axis={axis}).astype({dtype})",
        "argmin": "jnp.argmin({0}, axis={axis}).astype({dtype})",
        "argsort": "jnp.argsort({0}, axis={axis}).astype({dtype})",
        "cholesky": "jnp.linalg.cholesky({0}, symmetrize_input=False)",
        "cholesky_upper": "jnp.linalg.cholesky({0}.mT, symmetrize_input=False).mT",  # NumPy reads the upper triangle
        "copy": "jnp.asarray({0})",
        "expm": "jax.scipy.linalg.expm({0})",
        "eigh": "_below(*jnp.linalg.eigh({0}, symmetrize_input=False))",
        "eigvalsh": "jnp.linalg.eigvalsh({0}, symmetrize_input=False)",
        "scalar": "jnp.asarray({0}, {dtype})",
        "scatter": "jnp.zeros({shape}, {dtype}).at[{lead}{1}].add({0})",
        "searchsorted": 'jnp.searchsorted({0}, {1}, side="{side}").astype({dtype})',
        "stop_gradient": "jax.lax.stop_gradient({0})",
    },
    functions={
        **ELSEWHERE,
        "digamma": "jnp.where({0} == 0, -jnp.copysign(jnp.inf, {0}), special.digamma({0}))",  # infinite at zero
        "log_ndtr": "_log_ndtr({0})",
    },
    whole={"reciprocal": "_reciprocal({0})", "floor_divide": "_floor_divide({0}, {1})"},
    helpers={
        **puts_below("jnp.concatenate"),
        "_floor_divide": divides_integers("jnp", "floor_divide"),
        "_log_ndtr": '''
def _log_ndtr(x):
    """The logarithm of the normal distribution, to the last digits on the right too."""
    right = jnp.log1p(-0.5 * special.erfc(jnp.maximum(x, 0) * 0.5**0.5))
    return jnp.where(x > 0, right, special.log_ndtr(jnp.minimum(x, 0)))
''',
        "_reciprocal": inverts_integers("jnp", "astype"),
        "_on_diagonal": '''
def _on_diagonal(values, shape, spelled):
    """Zeros with values on the diagonals that repeated letters name."""
    full, own = spelled.split("->")
    places = jnp.ogrid[tuple(slice(n) for n in values.shape)]
    places = places if isinstance(places, (list, tuple)) else [places]
    return jnp.zeros(shape, values.dtype).at[tuple(places[own.index(i)] for i in full)].set(values)
''',
    },
    dtypes=dtypes_of("jnp", "bool_"),
    functional=True,
    scan="jax.lax.scan({step}, {begun}, {arrays}, length={length}, reverse={reverse})",
    freed_from=math.inf,
)
