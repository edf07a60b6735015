"""Special functions that C99 lacks, to about 1e-14; after Cephes and the series that their comments name."""

from __future__ import annotations

SPECIAL = {
    "erfcx": """
/* exp(x^2) erfc(x) */
static double erfcx_f64(double x)
{
    if (x > 20) { /* the asymptotic series */
        const double r = -1 / (2 * x * x);
        double term = 1, sum = 1;
        for (int k = 1; k <= 10; k++)
            sum += term *= (2 * k - 1) * r;
        return 0.564189583547756287 / x * sum;
    }
    const double square = x * x, rest = fma(x, x, -square);
    if (square > 700)
        return isnan(x) ? x : INFINITY;
    return exp(square) * (1 + rest) * erfc(x);
}
""",
    "gammaln": "static double gammaln_f64(double x)\n{\n    return isinf(x) ? x : lgamma(x);\n}",
    "digamma": """
static double digamma_f64(double x)
{
    static const double series[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                                    1.0 / 132, -691.0 / 32760, 1.0 / 12};
    if (isnan(x) || x == INFINITY)
        return x;
    if (x == 0)
        return copysign(INFINITY, -x);
    if (x < 0) { /* reflection */
        const double part = x - round(x); /* exact */
        return part == 0 ? NAN : digamma_f64(1 - x) - 3.14159265358979324 / tan(3.14159265358979324 * part);
    }
    double shift = 0;
    for (; x < 10; x++) /* recurrence */
        shift -= 1 / x;
    const double r = 1 / (x * x);
    double sum = 0;
    for (int k = 6; k >= 0; k--)
        sum = (sum + series[k]) * r;
    return shift + log(x) - 0.5 / x - sum;
}
""",
    "zeta": """
/* the sum of (q + k)^-x over k = 0, 1, ..., by Euler and Maclaurin */
static double zeta_f64(double x, double q)
{
    static const double series[] = {
        12.0, -720.0, 30240.0, -1209600.0, 47900160.0, -1.8924375803183791606e9, 7.47242496e10,
        -2.950130727918164224e12, 1.1646782814350067249e14, -4.5979787224074726105e15, 1.8152105401943546773e17,
        -7.1661652561756670113e18};
    if (isnan(x) || isnan(q))
        return NAN;
    if (x == 1)
        return INFINITY;
    if (x < 1)
        return NAN;
    if (q <= 0) {
        if (q == floor(q))
            return INFINITY;
        if (x != floor(x))
            return NAN;
    }
    if (q > 1e8)
        return (1 / (x - 1) + 1 / (2 * q)) * pow(q, 1 - x);
    double sum = pow(q, -x), a = q, b = 0;
    for (int i = 0; i < 9 || a <= 9; i++) {
        a += 1;
        b = pow(a, -x);
        sum += b;
        if (fabs(b / sum) < 1e-17)
            return sum;
    }
    sum += b * a / (x - 1) - b / 2;
    double factor = 1, k = 0;
    for (int i = 0; i < 12; i++) {
        factor *= x + k;
        b /= a;
        const double term = factor * b / series[i];
        sum += term;
        if (fabs(term / sum) < 1e-17)
            break;
        k += 1;
        factor *= x + k;
        b /= a;
        k += 1;
    }
    return sum;
}
""",
}
