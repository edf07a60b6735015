# the gradient of Net, derived by symgrad 0.1.0
# function: Net, SHA-256 of its source fe3d7260b0bd6706
# flags: grad_position=None, weights=first.weight; first.bias; second.weight; second.bias,
#     with_value=True, mode=auto
# inputs: x: float32[2, 3], first.weight (a weight): float32[4, 3], first.bias (a weight):
#     float32[4], second.weight (a weight): float32[2, 4], second.bias (a weight): float32[2]
# outputs: float32[2, 2], float32[4, 3], float32[4], float32[2, 4], float32[2]
# operations: 2 add, 2 cast, 11 einsum, 1 squared_sech, 1 tanh
# check: 30 values to 1e-04; finite differences: off by 7e-08
# checks itself where it is run as a program

module GradNet

using Printf: @printf
export grad_Net

"""
    grad_Net(x, first_weight, first_bias, second_weight, second_bias)

The gradient of Net.

- `x`: Float32 array of the size (2, 3)
- `first_weight`: Float32 array of the size (4, 3)
- `first_bias`: Float32 array of the size (4,)
- `second_weight`: Float32 array of the size (2, 4)
- `second_bias`: Float32 array of the size (2,)

Returns a tuple of these:

- `f`: Float32 array of the size (2, 2)
- `df_dfirst_weight`: Float32 array of the size (4, 3)
- `df_dfirst_bias`: Float32 array of the size (4,)
- `df_dsecond_weight`: Float32 array of the size (2, 4)
- `df_dsecond_bias`: Float32 array of the size (2,)
"""
function grad_Net(x::AbstractMatrix{Float32}, first_weight::AbstractMatrix{Float32}, first_bias::AbstractVector{Float32}, second_weight::AbstractMatrix{Float32}, second_bias::AbstractVector{Float32})
    Base.require_one_based_indexing(x, first_weight, first_bias, second_weight, second_bias)
    size(x) == (2, 3) || throw(DimensionMismatch("x must have the size (2, 3)"))
    size(first_weight) == (4, 3) || throw(DimensionMismatch("first_weight must have the size (4, 3)"))
    size(first_bias) == (4,) || throw(DimensionMismatch("first_bias must have the size (4,)"))
    size(second_weight) == (2, 4) || throw(DimensionMismatch("second_weight must have the size (2, 4)"))
    size(second_bias) == (2,) || throw(DimensionMismatch("second_bias must have the size (2,)"))
    f = Array{Float32}(undef, 2, 2)
    df_dfirst_weight = Array{Float32}(undef, 4, 3)
    df_dfirst_bias = Array{Float32}(undef, 4)
    df_dsecond_weight = Array{Float32}(undef, 2, 4)
    df_dsecond_bias = Array{Float32}(undef, 2)
    v0 = zeros(Float32, 2, 4)
    @inbounds for i in 1:4
        for j in 1:3
            for k in 1:2
                v0[k, i] += first_weight[i, j] * x[k, j]
            end
        end
    end
    v1 = Array{Float32}(undef, 2, 4)
    v2 = Array{Float32}(undef, 2, 4)
    @inbounds for i in 1:4
        for j in 1:2
            v3 = v0[j, i] + first_bias[i]
            v4 = abs(v3)
            v5 = (-2.0f0) * v4
            v6 = exp(v5)
            v7 = v3 * v3
            v8 = 378.0f0 + v7
            v9 = v7 * v8
            v10 = 17325.0f0 + v9
            v11 = v7 * v10
            v12 = 135135.0f0 + v11
            v13 = 28.0f0 * v7
            v14 = 3150.0f0 + v13
            v15 = v7 * v14
            v16 = 62370.0f0 + v15
            v17 = v7 * v16
            v18 = 135135.0f0 + v17
            v19 = v4 < 0.35f0
            v20 = v4 * v12
            v21 = 1.0f0 - v6
            v22 = ifelse(v19, v20, v21)
            v23 = 1.0f0 + v6
            v24 = ifelse(v19, v18, v23)
            v25 = v22 / v24
            v26 = copysign(v25, v3)
            v1[j, i] = v26
            v27 = abs(v26)
            v28 = 1.0f0 + v27
            v29 = v28 * v28
            v2[j, i] = v6 * v29
        end
    end
    v30 = zeros(Float32, 2, 4)
    @inbounds for i in 1:4
        for j in 1:2
            for k in 1:2
                v30[k, i] += second_weight[j, i]
            end
        end
    end
    v31 = zeros(Float32, 2, 2)
    @inbounds for i in 1:2
        for j in 1:4
            for k in 1:2
                v31[k, i] += second_weight[i, j] * v1[k, j]
            end
        end
    end
    @inbounds for i in 1:2
        for j in 1:2
            f[j, i] = v31[j, i] + second_bias[i]
        end
    end
    v32 = Array{Float32}(undef, 2, 4)
    @inbounds for i in 1:4
        v34 = 0.0
        for j in 1:2
            v33 = v2[j, i] * v30[j, i]
            v32[j, i] = v33
            v34 += Float64(v33)
        end
        df_dfirst_bias[i] = Float32(v34)
    end
    @inbounds for i in 1:4
        for j in 1:2
            v35 = 0.0
            for k in 1:2
                v35 += Float64(v1[k, i])
            end
            df_dsecond_weight[j, i] = Float32(v35)
        end
    end
    @inbounds for i in 1:3
        for j in 1:4
            v36 = 0.0
            for k in 1:2
                v36 += Float64(x[k, i] * v32[k, j])
            end
            df_dfirst_weight[j, i] = Float32(v36)
        end
    end
    @inbounds for i in 1:2
        df_dsecond_bias[i] = 2.0f0
    end
    return f, df_dfirst_weight, df_dfirst_bias, df_dsecond_weight, df_dsecond_bias
end

# Compares with what the kernel of symgrad computed when this was written.
function self_check()
    given_1 = reshape(Float32[-0.80193144f0, 0.42044523f0, -1.3243589f0, 1.1360465f0, -0.24836162f0, 0.1097064f0],
        2, 3)
    given_2 = reshape(Float32[-0.80193144f0, 0.42044523f0, -0.5526473f0, 1.634783f0, -1.3243589f0, 1.1360465f0,
        -0.7847804f0, 0.27276877f0, -0.24836162f0, 0.1097064f0, 0.7487458f0, -1.2333287f0], 4, 3)
    given_3 = Float32[-0.9582652f0, 1.6000191f0, 0.20288244f0, -1.7321348f0]
    given_4 = reshape(Float32[-0.083696194f0, -0.7133134f0, -1.163226f0, 0.55337846f0, -0.6292881f0,
        -0.06308597f0, -0.48800582f0, -0.5894313f0], 2, 4)
    given_5 = Float32[0.40963784f0, 0.8298553f0]
    got_1, got_2, got_3, got_4, got_5 = grad_Net(given_1, given_2, given_3, given_4, given_5)
    worst = 0.0
    size(got_1) == (2, 2) || error("a result has another size")
    worst = max(worst, difference(vec(permutedims(got_1, 2:-1:1)), 1, Float64[0.5558560490608215,
        0.5687502026557922, 0.10796135663986206, 2.5459394454956055]))
    size(got_2) == (4, 3) || error("a result has another size")
    worst = max(worst, difference(vec(permutedims(got_2, 2:-1:1)), 1, Float64[0.11074507236480713,
        0.1779942810535431, 0.03452558070421219, 0.453164279460907, 0.7461144924163818, 0.14045226573944092,
        -0.05398859456181526, -0.25139129161834717, -0.009188367985188961, -0.22307424247264862,
        -0.610115647315979, -0.05786451697349548]))
    size(got_3) == (4,) || error("a result has another size")
    worst = max(worst, difference(got_3, 1, Float64[-0.15499721467494965, -0.5729209184646606,
        -0.4925340712070465, -0.5559908747673035]))
    size(got_4) == (2, 4) || error("a result has another size")
    worst = max(worst, difference(vec(permutedims(got_4, 2:-1:1)), 1, Float64[-0.08779299259185791,
        0.7331513166427612, 0.21983122825622559, -1.6974215507507324, -0.08779299259185791, 0.7331513166427612,
        0.21983122825622559, -1.6974215507507324]))
    size(got_5) == (2,) || error("a result has another size")
    worst = max(worst, difference(got_5, 1, fill(2.0, 2)))
    verdict = worst <= 0.0001 ? "pass" : "FAIL"
    @printf("grad_Net: %s (largest difference %.1e, allowed 1e-04)\n", verdict, worst)
    return worst <= 0.0001 ? 0 : 1
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

end # module GradNet

if abspath(PROGRAM_FILE) == @__FILE__
    exit(GradNet.self_check())
end
