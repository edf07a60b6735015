"""The text of the functions of ``library``: NumPy's rules for numbers, memory, order."""

from __future__ import annotations

from .matrices import MATRICES
from .special import SPECIAL

MEMORY = {
    "array_of": """
/* memory for an array; NULL where there is not so much */
static void *array_of(size_t count, size_t size)
{
    if (size && count > PTRDIFF_MAX / size)
        return NULL;
    return malloc(count && size ? count * size : 1);
}
""",
    "times": """
/* a product, SIZE_MAX where it is larger than that */
static size_t times(size_t a, size_t b)
{
    return b && a > SIZE_MAX / b ? SIZE_MAX : a * b;
}
""",
}

_ARITHMETIC = """
static @T %s_@s(@T x, @T y)
{
    return (@T)((uint64_t)x %s (uint64_t)y);
}
"""
_CHOICE = """
static @T %s_@s(@T x, @T y)
{
    return x %s y ? x : y;
}
"""

#: functions of integers; arithmetic wraps
INTEGERS = {
    "add": _ARITHMETIC % ("add", "+"),
    "subtract": _ARITHMETIC % ("subtract", "-"),
    "multiply": _ARITHMETIC % ("multiply", "*"),
    "negative": "static @T negative_@s(@T x)\n{\n    return (@T)(0 - (uint64_t)x);\n}",
    "absolute": "static @T absolute_@s(@T x)\n{\n    return x < 0 ? (@T)(0 - (uint64_t)x) : x;\n}",
    "sign": "static @T sign_@s(@T x)\n{\n    return (@T)((x > 0) - (x < 0));\n}",
    "invert": "static @T invert_@s(@T x)\n{\n    return (@T)~x;\n}",
    "maximum": _CHOICE % ("maximum", ">"),
    "minimum": _CHOICE % ("minimum", "<"),
    "reciprocal": "static @T reciprocal_@s(@T x)\n{\n    return x == 0 ? @least : (@T)(1 / x);\n}",
    "floor_divide": """
/* the quotient rounded down, 0 for a zero divisor */
static @T floor_divide_@s(@T x, @T y)
{
    if (y == 0)
        return 0;
    if (y == (@T)-1)
        return (@T)(0 - (uint64_t)x);
    const @T down = (@T)(x / y);
    return x % y != 0 && (x < 0) != (y < 0) ? (@T)(down - 1) : down;
}
""",
    "remainder": """
/* the remainder with the sign of the divisor, 0 for a zero divisor */
static @T remainder_@s(@T x, @T y)
{
    if (y == 0 || y == (@T)-1)
        return 0;
    const @T rest = (@T)(x % y);
    return rest != 0 && (rest < 0) != (y < 0) ? (@T)(rest + y) : rest;
}
""",
    "fmod": "static @T fmod_@s(@T x, @T y)\n{\n    return y == 0 || y == (@T)-1 ? 0 : (@T)(x % y);\n}",
    "power": """
/* x to a power that is not negative */
static @T power_@s(@T x, @T y)
{
    uint64_t product = 1, factor = (uint64_t)x;
    for (; y > 0; y = (@T)(y / 2)) {
        if (y % 2)
            product *= factor;
        factor *= factor;
    }
    return (@T)product;
}
""",
}

FLOATS = {
    "reciprocal": "static @T reciprocal_@s(@T x)\n{\n    return 1 / x;\n}",
    "sign": "static @T sign_@s(@T x)\n{\n    return x > 0 ? 1 : x < 0 ? -1 : x == 0 ? 0 : x;\n}",
    "maximum": "static @T maximum_@s(@T x, @T y)\n{\n    return x > y || isnan(x) ? x : y; /* NaN stays */\n}",
    "minimum": "static @T minimum_@s(@T x, @T y)\n{\n    return x < y || isnan(x) ? x : y; /* NaN stays */\n}",
    "fmax": "static @T fmax_@s(@T x, @T y)\n{\n    return x > y || isnan(y) ? x : y;\n}",
    "fmin": "static @T fmin_@s(@T x, @T y)\n{\n    return x < y || isnan(y) ? x : y;\n}",
    "ldexp": """
static @T ldexp_@s(@T x, int64_t power)
{
    return ldexp@f(x, power > 10000 ? 10000 : power < -10000 ? -10000 : (int)power);
}
""",
    **SPECIAL,
    **MATRICES,
}

#: functions of integers without a sign, where they differ
UNSIGNED = {
    "sign": "static @T sign_@s(@T x)\n{\n    return x > 0;\n}",
    "floor_divide": "static @T floor_divide_@s(@T x, @T y)\n{\n    return y == 0 ? 0 : (@T)(x / y);\n}",
    "remainder": "static @T remainder_@s(@T x, @T y)\n{\n    return y == 0 ? 0 : (@T)(x % y);\n}",
    "fmod": "static @T fmod_@s(@T x, @T y)\n{\n    return y == 0 ? 0 : (@T)(x % y);\n}",
}

#: functions of any numbers
ANY = {
    "before": """
/* the order of sorting: NaN is last */
static bool before_@s(@T x, @T y)
{
    return x < y || (y != y && x == x);
}
""",
    "search_left": """
/* how many of the sorted knots come before x */
static int64_t search_left_@s(size_t n, const @T *knots, @T x)
{
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (before_@s(knots[middle], x))
            low = middle + 1;
        else
            high = middle;
    }
    return (int64_t)low;
}
""",
    "search_right": """
/* how many of the sorted knots do not come after x */
static int64_t search_right_@s(size_t n, const @T *knots, @T x)
{
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (before_@s(x, knots[middle]))
            high = middle;
        else
            low = middle + 1;
    }
    return (int64_t)low;
}
""",
    "argsort": """
/* the places of x in order, equal ones as they stand; merged from runs of 1, 2, 4, ... */
static int argsort_@s(size_t n, const @T *x, int64_t *places)
{
    if (n == 0)
        return @OK;
    int64_t *other = array_of(n, sizeof *other);
    if (!other)
        return @MEMORY;
    for (size_t i = 0; i < n; i++)
        places[i] = (int64_t)i;
    for (size_t run = 1; run < n; run *= 2) {
        for (size_t start = 0; start < n; start += 2 * run) {
            const size_t middle = n - start < run ? n : start + run;
            const size_t stop = n - start < 2 * run ? n : start + 2 * run;
            size_t i = start, j = middle;
            for (size_t k = start; k < stop; k++) {
                if (i < middle && (j >= stop || !before_@s(x[places[j]], x[places[i]])))
                    other[k] = places[i++];
                else
                    other[k] = places[j++];
            }
        }
        memcpy(places, other, n * sizeof *other);
    }
    free(other);
    return @OK;
}
""",
}
#: their form for integers and truth values, where it differs
WHOLE = {"before": "static bool before_@s(@T x, @T y)\n{\n    return x < y;\n}"}
