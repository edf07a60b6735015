# the gradient of ridge, derived by symgrad 0.1.0
# function: ridge, SHA-256 of its source 4649bca8a82978c0
# flags: grad_position=(0, 3), with_value=True, mode=auto
# inputs: w: float64[d], X: float64[n, d], y: float64[n], lam: float
# outputs: float64, float64[d], float64
# operations: 2 add, 5 einsum, 1 multiply, 2 square, 1 subtract
# check: 4 values at d = 2, n = 4 to 1e-09; finite differences: off by 1e-16
# checks itself where it is run as a program

module GradRidge

using Printf: @printf
export grad_ridge

"""
    grad_ridge(w, X, y, lam)

The gradient of ridge.

- `w`: Float64 array of the size (d,)
- `X`: Float64 array of the size (n, d)
- `y`: Float64 array of the size (n,)
- `lam`: Float64 number

Returns a tuple of these:

- `f`: Float64 number
- `df_dw`: Float64 array of the size (d,)
- `df_dlam`: Float64 number
"""
function grad_ridge(w::AbstractVector{Float64}, X::AbstractMatrix{Float64}, y::AbstractVector{Float64}, lam::Real)
    lam = Float64(lam)
    Base.require_one_based_indexing(w, X, y)
    d = size(w, 1)
    n = size(X, 1)
    size(w) == (d,) || throw(DimensionMismatch("w must have the size (d,)"))
    size(X) == (n, d) || throw(DimensionMismatch("X must have the size (n, d)"))
    size(y) == (n,) || throw(DimensionMismatch("y must have the size (n,)"))
    f = 0.0
    df_dw = Array{Float64}(undef, d)
    df_dlam = 0.0
    v1 = 0.0
    @inbounds for i in 1:d
        v0 = w[i] * w[i]
        v1 += v0
    end
    v2 = zeros(Float64, n)
    @inbounds for i in 1:d
        for j in 1:n
            v2[j] += w[i] * X[j, i]
        end
    end
    v3 = Array{Float64}(undef, n)
    v6 = 0.0
    @inbounds for i in 1:n
        v4 = v2[i] - y[i]
        v3[i] = v4
        v5 = v4 * v4
        v6 += v5
    end
    v7 = lam * v1
    v8 = v6 + v7
    f = v8
    df_dlam = v1
    v9 = Array{Float64}(undef, d)
    @inbounds for i in 1:d
        v10 = 0.0
        for j in 1:n
            v10 += X[j, i] * v3[j]
        end
        v9[i] = 2.0 * v10
    end
    @inbounds for i in 1:d
        v11 = 2.0 * lam * w[i]
        df_dw[i] = v11 + v9[i]
    end
    return f, df_dw, df_dlam
end

# Compares with what the kernel of symgrad computed when this was written.
function self_check()
    given_1 = Float64[0.5, -1.0]
    given_2 = reshape(Float64[-0.8019314252534474, 0.4204452380655215, -0.5526473205362324, 1.6347830429585775,
        -1.324358995628145, 1.1360465324896427, -0.7847803553442784, 0.27276877584472176], 4, 2)
    given_3 = Float64[1.0, 1.0, 1.0, -1.0]
    given_4 = 0.1
    got_1, got_2, got_3 = grad_ridge(given_1, given_2, given_3, given_4)
    worst = 0.0
    worst = max(worst, difference([got_1], 1, Float64[6.467140581678798]))
    size(got_2) == (2,) || error("a result has another size")
    worst = max(worst, difference(got_2, 1, Float64[4.197006005412396, -2.7585847986236662]))
    worst = max(worst, difference([got_3], 1, Float64[1.25]))
    verdict = worst <= 1e-09 ? "pass" : "FAIL"
    @printf("grad_ridge: %s (largest difference %.1e, allowed 1e-09)\n", verdict, worst)
    return worst <= 1e-09 ? 0 : 1
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

end # module GradRidge

if abspath(PROGRAM_FILE) == @__FILE__
    exit(GradRidge.self_check())
end
