"""Linear algebra in C: LU factors with row exchanges, and what follows from them; the Cholesky factor.

Matrices are square, in C order. The functions give a status.
"""

from __future__ import annotations

_DETERMINANT = """
/* %s */
static int %s_@s(size_t n, const @T *a, @T *result)
{
    @T *lu = array_of(n, n * sizeof *lu);
    size_t *rows = array_of(n, sizeof *rows);
    int status = @MEMORY;
    if (lu && rows) {
        const int parity = factorised_@s(n, a, lu, rows);
        @T made = %s;
        for (size_t i = 0; i < n; i++) {
            const @T pivot = lu[i * n + i];
            %s;
        }
        *result = made;
        status = @OK;
    }
    free(rows);
    free(lu);
    return status;
}
"""

MATRICES = {
    "factorised": """
/* the factors of a with its rows in the order rows: L below the diagonal, U above; gives the sign of that order */
static int factorised_@s(size_t n, const @T *a, @T *lu, size_t *rows)
{
    int parity = 1;
    if (n)
        memcpy(lu, a, n * n * sizeof *lu);
    for (size_t i = 0; i < n; i++)
        rows[i] = i;
    for (size_t k = 0; k < n; k++) {
        size_t best = k;
        for (size_t i = k + 1; i < n; i++)
            if (fabs@f(lu[i * n + k]) > fabs@f(lu[best * n + k]))
                best = i;
        if (best != k) {
            const size_t row = rows[k];
            rows[k] = rows[best];
            rows[best] = row;
            for (size_t j = 0; j < n; j++) {
                const @T held = lu[k * n + j];
                lu[k * n + j] = lu[best * n + j];
                lu[best * n + j] = held;
            }
            parity = -parity;
        }
        if (lu[k * n + k] == 0)
            continue;
        for (size_t i = k + 1; i < n; i++) {
            const @T factor = lu[i * n + k] /= lu[k * n + k];
            for (size_t j = k + 1; j < n; j++)
                lu[i * n + j] -= factor * lu[k * n + j];
        }
    }
    return parity;
}
""",
    "solve": """
/* x with a x = b, where b has so many columns; b NULL stands for the identity */
static int solve_@s(size_t n, size_t columns, const @T *a, const @T *b, @T *x)
{
    @T *lu = array_of(n, n * sizeof *lu);
    size_t *rows = array_of(n, sizeof *rows);
    int status = @MEMORY;
    if (lu && rows) {
        (void)factorised_@s(n, a, lu, rows);
        status = @OK;
        for (size_t i = 0; i < n; i++)
            if (lu[i * n + i] == 0)
                status = @SINGULAR;
    }
    if (status == @OK) {
        for (size_t i = 0; i < n; i++) {
            for (size_t c = 0; c < columns; c++)
                x[i * columns + c] = b ? b[rows[i] * columns + c] : rows[i] == c;
            for (size_t k = 0; k < i; k++)
                for (size_t c = 0; c < columns; c++)
                    x[i * columns + c] -= lu[i * n + k] * x[k * columns + c];
        }
        for (size_t i = n; i-- > 0;) {
            for (size_t k = i + 1; k < n; k++)
                for (size_t c = 0; c < columns; c++)
                    x[i * columns + c] -= lu[i * n + k] * x[k * columns + c];
            for (size_t c = 0; c < columns; c++)
                x[i * columns + c] /= lu[i * n + i];
        }
    }
    free(rows);
    free(lu);
    return status;
}
""",
    "inverse": """
static int inverse_@s(size_t n, const @T *a, @T *x)
{
    return solve_@s(n, n, a, NULL, x);
}
""",
    "determinant": _DETERMINANT % ("det(a)", "determinant", "(@T)parity", "made *= pivot"),
    "log_determinant": _DETERMINANT.replace("const int parity = ", "(void)")
    % ("log|det(a)|", "log_determinant", "0", "made += log@f(fabs@f(pivot))"),
    "determinant_sign": _DETERMINANT
    % (
        "the sign of det(a)",
        "determinant_sign",
        "(@T)parity",
        "made *= pivot > 0 ? 1 : pivot < 0 ? -1 : pivot",
    ),
    "cholesky": """
/* the lower triangle l with a = l l^T, of which the lower triangle is read */
static int cholesky_@s(size_t n, const @T *a, @T *l)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            @T rest = a[i * n + j];
            for (size_t k = 0; k < j; k++)
                rest -= l[i * n + k] * l[j * n + k];
            if (i == j && !(rest > 0))
                return @INDEFINITE;
            l[i * n + j] = i == j ? sqrt@f(rest) : rest / l[j * n + j];
        }
        for (size_t j = i + 1; j < n; j++)
            l[i * n + j] = 0;
    }
    return @OK;
}
""",
}
