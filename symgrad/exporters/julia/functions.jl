# NaN where the root is no real number.
function sqrt_or_nan(x)
    return x < 0 ? oftype(x, NaN) : sqrt(x)
end

function log_or_nan(x)
    return x < 0 ? oftype(x, NaN) : log(x)
end

function log2_or_nan(x)
    return x < 0 ? oftype(x, NaN) : log2(x)
end

function log10_or_nan(x)
    return x < 0 ? oftype(x, NaN) : log10(x)
end

function log1p_or_nan(x)
    return x < -1 ? oftype(x, NaN) : log1p(x)
end

function sin_or_nan(x)
    return isinf(x) ? oftype(x, NaN) : sin(x)
end

function cos_or_nan(x)
    return isinf(x) ? oftype(x, NaN) : cos(x)
end

function tan_or_nan(x)
    return isinf(x) ? oftype(x, NaN) : tan(x)
end

function asin_or_nan(x)
    return abs(x) > 1 ? oftype(x, NaN) : asin(x)
end

function acos_or_nan(x)
    return abs(x) > 1 ? oftype(x, NaN) : acos(x)
end

function acosh_or_nan(x)
    return x < 1 ? oftype(x, NaN) : acosh(x)
end

function atanh_or_nan(x)
    return abs(x) > 1 ? oftype(x, NaN) : atanh(x)
end

# x^y, NaN where that is no real number.
function power_or_nan(x, y)
    if x < 0 && isfinite(y) && y != trunc(y)
        return isinf(x) ? abs(x)^y : oftype(x, NaN)
    end
    return x^y
end

# 1, -1, 0 or NaN.
function signum(x)
    return x > 0 ? one(x) : x < 0 ? -one(x) : abs(x)
end

# The larger one that is no NaN.
function larger(a, b)
    return a >= b || isnan(b) ? a : b
end

# The smaller one that is no NaN.
function smaller(a, b)
    return a <= b || isnan(b) ? a : b
end

# The whole steps of b in a, rounded down; 0 where b is.
function integer_floor_divide(a, b)
    return b == 0 ? zero(a) : b == -1 ? -a : fld(a, b)
end

# What is left of a after whole steps of b, of the sign of b; 0 where b is.
function integer_remainder(a, b)
    return b == 0 || b == -1 ? zero(a) : mod(a, b)
end

# What is left of a after whole steps of b, of the sign of a; 0 where b is.
function integer_fmod(a, b)
    return b == 0 || b == -1 ? zero(a) : rem(a, b)
end

# 1/x towards zero; where x is 0, what NumPy has.
function integer_reciprocal(x)
    return x != 0 ? div(one(x), x) : sizeof(x) < 4 ? zero(x) : typemin(x)
end

# The logarithm of the absolute value of the gamma function.
function gammaln(x)
    return x == -Inf ? x : first(logabsgamma(x))
end

# The elements of x in the order of rows, in an array of other dims.
function in_rows(x, dims...)
    rows = permutedims(x, ndims(x):-1:1)
    return permutedims(reshape(rows, reverse(dims)), length(dims):-1:1)
end

# How many sorted knots stand before a value; where also_equal, those that are equal to it count too. NaN comes last.
function count_before(knots, value, also_equal)
    first = 0
    last = length(knots)
    while first < last
        middle = div(first + last, 2)
        knot = knots[middle + 1]
        if also_equal
            before = !(value < knot || (knot != knot && value == value))
        else
            before = knot < value || (value != value && knot == knot)
        end
        if before
            first = middle + 1
        else
            last = middle
        end
    end
    return first
end

# How far elements in the order of rows are from the wanted ones, relative to the largest of these or 1.
function difference(got, step, want)
    largest = 1.0
    for k in 1:length(want)
        if isfinite(want[k])
            largest = max(largest, abs(want[k]))
        end
    end
    worst = 0.0
    for k in 1:length(want)
        mine = Float64(got[1 + (k - 1) * step])
        if mine != want[k] && !(isnan(mine) && isnan(want[k]))
            off = abs(mine - want[k]) / largest
            worst = max(worst, isnan(off) ? Inf : off)
        end
    end
    return worst
end

# Element k, counted from 1, of an argument that is too large to be written out: spread over the unit interval.
function drawn(k)
    return mod(k * GOLDEN, 1.0)
end
