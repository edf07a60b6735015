# the gradient of logistic, derived by symgrad 0.1.0
# function: logistic, SHA-256 of its source 3a388028a9cb3f10
# flags: grad_position=0, with_value=True, mode=auto
# inputs: w: float64[3], X: float64[6, 3], y: float64[6]
# outputs: float64, float64[3]
# operations: 2 add, 1 divide, 3 einsum, 2 exp, 1 log, 1 multiply, 2 negative
# check: 4 values to 1e-09; finite differences: off by 3e-16
# checks itself where it is run as a program

module GradLogistic

using Printf: @printf
export grad_logistic

"""
    grad_logistic(w, X, y)

The gradient of logistic.

- `w`: Float64 array of the size (3,)
- `X`: Float64 array of the size (6, 3)
- `y`: Float64 array of the size (6,)

Returns a tuple of these:

- `f`: Float64 number
- `df_dw`: Float64 array of the size (3,)
"""
function grad_logistic(w::AbstractVector{Float64}, X::AbstractMatrix{Float64}, y::AbstractVector{Float64})
    Base.require_one_based_indexing(w, X, y)
    size(w) == (3,) || throw(DimensionMismatch("w must have the size (3,)"))
    size(X) == (6, 3) || throw(DimensionMismatch("X must have the size (6, 3)"))
    size(y) == (6,) || throw(DimensionMismatch("y must have the size (6,)"))
    f = 0.0
    df_dw = Array{Float64}(undef, 3)
    v0 = zeros(Float64, 6)
    @inbounds for i in 1:3
        for j in 1:6
            v0[j] += w[i] * X[j, i]
        end
    end
    v1 = Array{Float64}(undef, 6)
    v7 = 0.0
    @inbounds for i in 1:6
        v2 = -y[i]
        v3 = v2 * v0[i]
        v4 = exp(v3)
        v5 = 1.0 + v4
        v6 = log_or_nan(v5)
        v7 += v6
        v8 = -v3
        v9 = exp(v8)
        v10 = 1.0 + v9
        v1[i] = 1.0 / v10
    end
    @inbounds for i in 1:3
        v11 = 0.0
        for j in 1:6
            v11 += X[j, i] * y[j] * v1[j]
        end
        df_dw[i] = -v11
    end
    f = v7
    return f, df_dw
end

# Compares with what the kernel of symgrad computed when this was written.
function self_check()
    given_1 = Float64[0.1, -0.2, 0.3]
    given_2 = reshape(Float64[-0.8019314252534474, 0.4204452380655215, -0.5526473205362324, 1.6347830429585775,
        -0.9582652054360887, -1.7321348424395848, -1.324358995628145, 1.1360465324896427, -0.7847803553442784,
        0.27276877584472176, 1.6000190889991115, -0.08369619281702581, -0.24836162209524854, 0.10970639932180819,
        0.7487457707345911, -1.2333286640307717, 0.2028824405086084, -1.1632259734447485], 6, 3)
    given_3 = Float64[1.0, 1.0, 1.0, -1.0, 1.0, 1.0]
    got_1, got_2 = grad_logistic(given_1, given_2, given_3)
    worst = 0.0
    worst = max(worst, difference([got_1], 1, Float64[4.389860136377025]))
    size(got_2) == (3,) || error("a result has another size")
    worst = max(worst, difference(got_2, 1, Float64[2.739320196080686, -0.42614960131661983,
        -0.18583316232731495]))
    verdict = worst <= 1e-09 ? "pass" : "FAIL"
    @printf("grad_logistic: %s (largest difference %.1e, allowed 1e-09)\n", verdict, worst)
    return worst <= 1e-09 ? 0 : 1
end

function log_or_nan(x)
    return x < 0 ? oftype(x, NaN) : log(x)
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

end # module GradLogistic

if abspath(PROGRAM_FILE) == @__FILE__
    exit(GradLogistic.self_check())
end
