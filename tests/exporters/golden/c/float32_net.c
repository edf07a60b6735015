/*
 * the gradient of Net, derived by symgrad 0.1.0
 * function: Net, SHA-256 of its source fe3d7260b0bd6706
 * flags: grad_position=None, weights=first.weight; first.bias; second.weight; second.bias,
 *     with_value=True, mode=auto
 * inputs: x: float32[2, 3], first.weight (a weight): float32[4, 3], first.bias (a weight):
 *     float32[4], second.weight (a weight): float32[2, 4], second.bias (a weight): float32[2]
 * outputs: float32[2, 2], float32[4, 3], float32[4], float32[2, 4], float32[2]
 * operations: 2 add, 2 cast, 11 einsum, 1 squared_sech, 1 tanh
 * check: 30 values to 1e-04; finite differences: off by 7e-08
 * build and check: cc -std=c99 -O2 -DGRAD_NET_CHECK grad_Net.c -lm -o grad_Net && ./grad_Net
 * for speed: -O3 -march=native -fopenmp-simd -fno-math-errno -fno-builtin-sin -fno-builtin-cos, and -DLIBMVEC with glibc
 */

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined __GNUC__
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#endif
#if defined LIBMVEC /* glibc's vectors */
__attribute__((simd("notinbranch"), const)) double exp(double);
__attribute__((simd("notinbranch"), const)) float expf(float);
#endif

/* what the function gives: 0 where all is well, else what hinders it; then the outputs mean nothing */
enum {
    GRAD_NET_OK = 0,
    GRAD_NET_MEMORY = 1 /* there is not enough memory */
};

/*
 * The gradient of Net.
 * x: input, array of shape (2, 3)
 * first_weight: input, array of shape (4, 3)
 * first_bias: input, array of shape (4)
 * second_weight: input, array of shape (2, 4)
 * second_bias: input, array of shape (2)
 * f: output, array of shape (2, 2)
 * df_dfirst_weight: output, array of shape (4, 3)
 * df_dfirst_bias: output, array of shape (4)
 * df_dsecond_weight: output, array of shape (2, 4)
 * df_dsecond_bias: output, array of shape (2)
 * Arrays lie in C order, the last index runs fastest; no output may overlap an input.
 */
int grad_Net(
    const float *x,
    const float *first_weight,
    const float *first_bias,
    const float *second_weight,
    const float *second_bias,
    float *f,
    float *df_dfirst_weight,
    float *df_dfirst_bias,
    float *df_dsecond_weight,
    float *df_dsecond_bias);

int grad_Net(
    const float *restrict x,
    const float *restrict first_weight,
    const float *restrict first_bias,
    const float *restrict second_weight,
    const float *restrict second_bias,
    float *restrict f,
    float *restrict df_dfirst_weight,
    float *restrict df_dfirst_bias,
    float *restrict df_dsecond_weight,
    float *restrict df_dsecond_bias)
{
    float v0[8]; /* (2, 4) */
    for (size_t i = 0; i < 2; i++) {
        for (size_t j = 0; j < 4; j++) {
            double v1 = 0.0;
            {
                float part0 = 0;
                #pragma omp simd reduction(+:part0)
                for (size_t k = 0; k < 3; k++) {
                    part0 += x[i * 3 + k] * first_weight[j * 3 + k];
                }
                v1 += part0;
            }
            v0[i * 4 + j] = (float)v1;
        }
    }
    float v2[8]; /* (2, 4) */
    float v3[8]; /* (2, 4) */
    for (size_t i = 0; i < 2; i++) {
        #pragma omp simd
        for (size_t j = 0; j < 4; j++) {
            const float v4 = v0[i * 4 + j] + first_bias[j];
            const float v5 = fabsf(v4);
            const float v6 = -2.0f * v5;
            const float v7 = expf(v6);
            const float v8 = v4 * v4;
            const float v9 = 378.0f + v8;
            const float v10 = v8 * v9;
            const float v11 = 17325.0f + v10;
            const float v12 = v8 * v11;
            const float v13 = 135135.0f + v12;
            const float v14 = 28.0f * v8;
            const float v15 = 3150.0f + v14;
            const float v16 = v8 * v15;
            const float v17 = 62370.0f + v16;
            const float v18 = v8 * v17;
            const float v19 = 135135.0f + v18;
            const bool v20 = v5 < 0.35f;
            const float v21 = v5 * v13;
            const float v22 = 1.0f - v7;
            const float v23 = v20 ? v21 : v22;
            const float v24 = 1.0f + v7;
            const float v25 = v20 ? v19 : v24;
            const float v26 = v23 / v25;
            const float v27 = copysignf(v26, v4);
            v2[i * 4 + j] = v27;
            const float v28 = fabsf(v27);
            const float v29 = 1.0f + v28;
            const float v30 = v29 * v29;
            v3[i * 4 + j] = v7 * v30;
        }
    }
    float v31[8]; /* (2, 4) */
    for (size_t i = 0; i < 2; i++) {
        float v32[4];
        for (size_t k = 0; k < 4; k++) {
            v32[k] = 0.0f;
        }
        for (size_t j = 0; j < 2; j++) {
            #pragma omp simd
            for (size_t k = 0; k < 4; k++) {
                v32[k] += second_weight[j * 4 + k];
            }
        }
        for (size_t k = 0; k < 4; k++) {
            v31[i * 4 + k] = v32[k];
        }
    }
    float v33[4]; /* (2, 2) */
    for (size_t i = 0; i < 2; i++) {
        for (size_t j = 0; j < 2; j++) {
            double v34 = 0.0;
            {
                float part0 = 0;
                #pragma omp simd reduction(+:part0)
                for (size_t k = 0; k < 4; k++) {
                    part0 += v2[i * 4 + k] * second_weight[j * 4 + k];
                }
                v34 += part0;
            }
            v33[i * 2 + j] = (float)v34;
        }
    }
    for (size_t i = 0; i < 2; i++) {
        #pragma omp simd
        for (size_t j = 0; j < 2; j++) {
            f[i * 2 + j] = v33[i * 2 + j] + second_bias[j];
        }
    }
    float v35[8]; /* (2, 4) */
    float v37[4];
    for (size_t j = 0; j < 4; j++) {
        v37[j] = 0.0f;
    }
    for (size_t i = 0; i < 2; i++) {
        #pragma omp simd
        for (size_t j = 0; j < 4; j++) {
            const float v36 = v3[i * 4 + j] * v31[i * 4 + j];
            v35[i * 4 + j] = v36;
            v37[j] += v36;
        }
    }
    for (size_t j = 0; j < 4; j++) {
        df_dfirst_bias[j] = v37[j];
    }
    for (size_t i = 0; i < 2; i++) {
        float v38[4];
        for (size_t k = 0; k < 4; k++) {
            v38[k] = 0.0f;
        }
        for (size_t j = 0; j < 2; j++) {
            #pragma omp simd
            for (size_t k = 0; k < 4; k++) {
                v38[k] += v2[j * 4 + k];
            }
        }
        for (size_t k = 0; k < 4; k++) {
            df_dsecond_weight[i * 4 + k] = v38[k];
        }
    }
    for (size_t i = 0; i < 4; i++) {
        float v40[3];
        for (size_t k = 0; k < 3; k++) {
            v40[k] = 0.0f;
        }
        for (size_t j = 0; j < 2; j++) {
            const float v39 = v35[j * 4 + i];
            #pragma omp simd
            for (size_t k = 0; k < 3; k++) {
                v40[k] += v39 * x[j * 3 + k];
            }
        }
        for (size_t k = 0; k < 3; k++) {
            df_dfirst_weight[i * 3 + k] = v40[k];
        }
    }
    #pragma omp simd
    for (size_t i = 0; i < 2; i++) {
        df_dsecond_bias[i] = 2.0f;
    }
    return GRAD_NET_OK;
}

#ifdef GRAD_NET_CHECK


/* how far got is from wanted; infinite where one of them alone is NaN or they are infinities that differ */
static double off(double got, double wanted)
{
    if (got == wanted || (isnan(got) && isnan(wanted)))
        return 0;
    const double difference = fabs(got - wanted);
    return isnan(difference) ? INFINITY : difference;
}

static const float given_0[6] = {
    -0.80193144f, -1.3243589f, -0.24836162f, 0.42044523f, 1.1360465f, 0.1097064f
};

static const float given_1[12] = {
    -0.80193144f, -1.3243589f, -0.24836162f, 0.42044523f, 1.1360465f, 0.1097064f, -0.5526473f,
    -0.7847804f, 0.7487458f, 1.634783f, 0.27276877f, -1.2333287f
};

static const float given_2[4] = {
    -0.9582652f, 1.6000191f, 0.20288244f, -1.7321348f
};

static const float given_3[8] = {
    -0.083696194f, -1.163226f, -0.6292881f, -0.48800582f, -0.7133134f, 0.55337846f, -0.06308597f,
    -0.5894313f
};

static const float given_4[2] = {
    0.40963784f, 0.8298553f
};

static const float wanted_0[4] = {
    0.55585605f, 0.5687502f, 0.10796136f, 2.5459394f
};

static const float wanted_1[12] = {
    0.11074507f, 0.17799428f, 0.03452558f, 0.45316428f, 0.7461145f, 0.14045227f, -0.053988595f,
    -0.2513913f, -0.009188368f, -0.22307424f, -0.61011565f, -0.057864517f
};

static const float wanted_2[4] = {
    -0.15499721f, -0.5729209f, -0.49253407f, -0.5559909f
};

static const float wanted_3[8] = {
    -0.08779299f, 0.7331513f, 0.21983123f, -1.6974216f, -0.08779299f, 0.7331513f, 0.21983123f,
    -1.6974216f
};

static const float wanted_4[2] = {
    2.0f, 2.0f
};

int main(void)
{
    float *got_0 = malloc(4 * sizeof *got_0);
    float *got_1 = malloc(12 * sizeof *got_1);
    float *got_2 = malloc(4 * sizeof *got_2);
    float *got_3 = malloc(8 * sizeof *got_3);
    float *got_4 = malloc(2 * sizeof *got_4);
    if (!got_0 || !got_1 || !got_2 || !got_3 || !got_4) {
        puts("grad_Net: FAIL (there is not enough memory)");
        return 1;
    }
    const int status = grad_Net(given_0, given_1, given_2, given_3, given_4, got_0, got_1, got_2, got_3, got_4);
    if (status != GRAD_NET_OK) {
        printf("grad_Net: FAIL (status %d)\n", status);
        free(got_4);
        free(got_3);
        free(got_2);
        free(got_1);
        free(got_0);
        return 1;
    }
    double worst = 0;
    for (size_t k = 0; k < 4; k++)
        worst = fmax(worst, off((double)got_0[k], (double)wanted_0[k]) / 2.5459394454956055);
    for (size_t k = 0; k < 12; k++)
        worst = fmax(worst, off((double)got_1[k], (double)wanted_1[k]) / 1.0);
    for (size_t k = 0; k < 4; k++)
        worst = fmax(worst, off((double)got_2[k], (double)wanted_2[k]) / 1.0);
    for (size_t k = 0; k < 8; k++)
        worst = fmax(worst, off((double)got_3[k], (double)wanted_3[k]) / 1.6974215507507324);
    for (size_t k = 0; k < 2; k++)
        worst = fmax(worst, off((double)got_4[k], (double)wanted_4[k]) / 2.0);
    const bool passed = worst <= 0.0001;
    printf("grad_Net: %s (largest difference %.1e, allowed 1e-04)\n", passed ? "pass" : "FAIL", worst);
    free(got_4);
    free(got_3);
    free(got_2);
    free(got_1);
    free(got_0);
    return passed ? 0 : 1;
}

#endif
