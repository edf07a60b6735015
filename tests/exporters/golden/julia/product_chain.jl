# the gradient of product_chain, derived by symgrad 0.1.0
# function: product_chain, SHA-256 of its source 92a8091d102a87fa
# flags: grad_position=(0, 1, 2), mode=auto
# inputs: x: float, y: float, z: float
# outputs: float64, float64, float64
# operations: 1 add, 3 einsum, 2 multiply
# check: 3 values to 1e-09; finite differences: off by 2e-16
# checks itself where it is run as a program

module GradProductChain

using Printf: @printf
export grad_product_chain

"""
    grad_product_chain(x, y, z)

The gradient of product_chain.

- `x`: Float64 number
- `y`: Float64 number
- `z`: Float64 number

Returns a tuple of these:

- `df_dx`: Float64 number
- `df_dy`: Float64 number
- `df_dz`: Float64 number
"""
function grad_product_chain(x::Real, y::Real, z::Real)
    x = Float64(x)
    y = Float64(y)
    z = Float64(z)
    df_dx = 0.0
    df_dy = 0.0
    df_dz = 0.0
    v0 = x * x
    v1 = v0 * y
    v2 = v0 * z
    v3 = x * y * z
    v4 = v3 + v3
    df_dx = v4
    df_dy = v2
    df_dz = v1
    return df_dx, df_dy, df_dz
end

# Compares with what the kernel of symgrad computed when this was written.
function self_check()
    given_1 = 2.0
    given_2 = 3.0
    given_3 = 4.0
    got_1, got_2, got_3 = grad_product_chain(given_1, given_2, given_3)
    worst = 0.0
    worst = max(worst, difference([got_1], 1, Float64[48.0]))
    worst = max(worst, difference([got_2], 1, Float64[16.0]))
    worst = max(worst, difference([got_3], 1, Float64[12.0]))
    verdict = worst <= 1e-09 ? "pass" : "FAIL"
    @printf("grad_product_chain: %s (largest difference %.1e, allowed 1e-09)\n", verdict, worst)
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

end # module GradProductChain

if abspath(PROGRAM_FILE) == @__FILE__
    exit(GradProductChain.self_check())
end
