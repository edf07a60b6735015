# the gradient of branches, derived by symgrad 0.1.0
# function: branches, SHA-256 of its source f0522b8a8332899a
# flags: grad_position=0, with_value=True, mode=auto
# inputs: x: float64[3]
# outputs: float64, float64[3]
# convention: abs(x) has slope 0 at x = 0
# convention: at ties of two arguments max and min share the slope evenly
# convention: a choice has the slope of the side that is taken
# operations: 1 absolute, 5 add, 6 einsum, 1 equal, 1 gate, 1 greater, 1 greater_equal, 1 maximum,
#     6 multiply, 1 sign, 1 square, 1 subtract, 4 where
# holds for the branches that the example took: 3 conditions are checked
# check: 4 values to 1e-09; finite differences: off by 4e-17
# checks itself where it is run as a program

module GradBranches

using Printf: @printf
export grad_branches

"""
    grad_branches(x)

The gradient of branches.

- `x`: Float64 array of the size (3,)

Returns a tuple of these:

- `f`: Float64 number
- `df_dx`: Float64 array of the size (3,)
"""
function grad_branches(x::AbstractVector{Float64})
    Base.require_one_based_indexing(x)
    size(x) == (3,) || throw(DimensionMismatch("x must have the size (3,)"))
    f = 0.0
    df_dx = Array{Float64}(undef, 3)
    v0 = 0.0
    v19 = 0.0
    v20 = 0.0
    v21 = 0.0
    @inbounds for i in 1:3
        v0 += x[i]
        v1 = x[i] > 0.5
        v2 = x[i] * x[i]
        v3 = abs(x[i])
        v4 = v3 * 0.0
        v5 = ifelse(v1, v2, v4)
        v6 = v3 * 1.0
        v7 = ifelse(v1, v2, v6)
        v8 = max(x[i], 0.25)
        v9 = x[i] >= 0.25
        v10 = x[i] == 0.25
        v11 = ifelse(v10, 0.5, 1.0)
        v12 = signum(x[i])
        v13 = 2.0 * x[i]
        v14 = v11 * (-1.0)
        v15 = ifelse(v9, v14, 0.0)
        v16 = 1.0 * v12
        v17 = 2.0 * v13
        v18 = ifelse(v1, v17, v16)
        df_dx[i] = v15 + v18
        v19 += v5
        v20 += v7
        v21 += v8
    end
    v22 = v0 > 0.0
    v23 = v0 > 1.0
    v24 = v0 > 2.0
    v25 = !v24
    v26 = 0.0 + v19
    v27 = v26 + v20
    v28 = v27 - v21
    f = v28
    v22 || throw(ArgumentError("the arguments take another branch than the ones that this code was made for"))
    v23 || throw(ArgumentError("the arguments take another branch than the ones that this code was made for"))
    v25 || throw(ArgumentError("the arguments take another branch than the ones that this code was made for"))
    return f, df_dx
end

# Compares with what the kernel of symgrad computed when this was written.
function self_check()
    given_1 = Float64[0.9, -0.3, 0.6]
    got_1, got_2 = grad_branches(given_1)
    worst = 0.0
    worst = max(worst, difference([got_1], 1, Float64[0.8900000000000001]))
    size(got_2) == (3,) || error("a result has another size")
    worst = max(worst, difference(got_2, 1, Float64[2.6, -1.0, 1.4]))
    verdict = worst <= 1e-09 ? "pass" : "FAIL"
    @printf("grad_branches: %s (largest difference %.1e, allowed 1e-09)\n", verdict, worst)
    return worst <= 1e-09 ? 0 : 1
end

# 1, -1, 0 or NaN.
function signum(x)
    return x > 0 ? one(x) : x < 0 ? -one(x) : abs(x)
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

end # module GradBranches

if abspath(PROGRAM_FILE) == @__FILE__
    exit(GradBranches.self_check())
end
