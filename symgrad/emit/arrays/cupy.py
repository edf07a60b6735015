"""The dialect of cupy: NumPy's calls, on the device where the arrays live."""

from __future__ import annotations

from .dialect import ELSEWHERE, NUMPY, Dialect, dtypes_of, inverts_integers, puts_below

#: what cupyx.scipy.special has as SciPy has it
_SPECIAL = """
    bdtr bdtrc bdtri beta betainc betaincinv betaln binom boxcox boxcox1p chdtr chdtrc chdtri cosdg cosm1 cotdg
    ellipeinc ellipj ellipk ellipkinc ellipkm1 entr erf erfc erfcinv erfcx erfinv exp1 exp10 expi expit
    expn exprel fdtr fdtrc fdtri gamma gammainc gammaincc gammainccinv gammaincinv gammasgn gdtr gdtrc huber i0
    i0e i1 i1e inv_boxcox inv_boxcox1p j0 j1 k0 k0e k1 k1e kl_div log_expit log_ndtr loggamma logit lpmv nbdtr
    nbdtrc nbdtri ndtr ndtri pdtr pdtrc pdtri poch pseudo_huber psi radian rel_entr rgamma shichi sici sindg tandg
    xlog1py xlogy y0 y1 yn zetac
"""
CUPY = Dialect(
    "cupy",
    "cp",
    special_from="cupyx.scipy",
    special_has=frozenset(_SPECIAL.split()),
    own={
        "cholesky_upper": "cp.linalg.cholesky({0}.mT).mT",  # NumPy reads the upper triangle
        "least_squares": "_least_squares(cp.linalg.pinv({0}, {rcond}) @ {1}, {0}, {1})",
        "least_squares_values": "cp.linalg.svd({0}, compute_uv=False)",
        "pseudo_inverse": "cp.linalg.pinv({0}, {rcond})",  # of a Hermitian matrix too
        "scalar": "cp.asarray({0}, {dtype})",
        "svdvals": "cp.linalg.svd({0}, compute_uv=False)",
    },
    functions=ELSEWHERE,
    whole={"reciprocal": "_reciprocal({0})"},
    helpers={
        **puts_below("cp.concatenate"),
        "_reciprocal": inverts_integers("cp", "astype"),
        **{name: NUMPY.helpers[name].replace("np.", "cp.") for name in ("_on_diagonal", "_scatter")},
    },
    dtypes=dtypes_of("cp", "bool_"),
)
