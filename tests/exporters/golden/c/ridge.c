/*
 * the gradient of ridge, derived by symgrad 0.1.0
 * function: ridge, SHA-256 of its source 4649bca8a82978c0
 * flags: grad_position=(0, 3), with_value=True, mode=auto
 * inputs: w: float64[d], X: float64[n, d], y: float64[n], lam: float
 * outputs: float64, float64[d], float64
 * operations: 2 add, 5 einsum, 1 multiply, 2 square, 1 subtract
 * check: 4 values at d = 2, n = 4 to 1e-09; finite differences: off by 1e-16
 * build and check: cc -std=c99 -O2 -DGRAD_RIDGE_CHECK grad_ridge.c -lm -o grad_ridge && ./grad_ridge
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

/* what the function gives: 0 where all is well, else what hinders it; then the outputs mean nothing */
enum {
    GRAD_RIDGE_OK = 0,
    GRAD_RIDGE_MEMORY = 1 /* there is not enough memory */
};

/*
 * The gradient of ridge.
 * d, n: sizes
 * w: input, array of shape (d)
 * X: input, array of shape (n, d)
 * y: input, array of shape (n)
 * lam: input, a number
 * f: output, one number
 * df_dw: output, array of shape (d)
 * df_dlam: output, one number
 * Arrays lie in C order, the last index runs fastest; no output may overlap an input.
 */
int grad_ridge(
    size_t d,
    size_t n,
    const double *w,
    const double *X,
    const double *y,
    double lam,
    double *f,
    double *df_dw,
    double *df_dlam);

/* memory for an array; NULL where there is not so much */
static void *array_of(size_t count, size_t size)
{
    if (size && count > PTRDIFF_MAX / size)
        return NULL;
    return malloc(count && size ? count * size : 1);
}

int grad_ridge(
    size_t d,
    size_t n,
    const double *restrict w,
    const double *restrict X,
    const double *restrict y,
    double lam,
    double *restrict f,
    double *restrict df_dw,
    double *restrict df_dlam)
{
    int status = GRAD_RIDGE_OK;
    void *held[2] = {NULL};
    double v1 = 0.0;
    for (size_t from = 0; from < d; from += 2048) {
        const size_t to = d - from > 2048 ? from + 2048 : d;
        double part0 = 0;
        #pragma omp simd reduction(+:part0)
        for (size_t i = from; i < to; i++) {
            const double v0 = w[i] * w[i];
            part0 += v0;
        }
        v1 += part0;
    }
    double *v2 = held[0] = array_of(n, sizeof *v2); /* (n) */
    if (!v2)
        goto no_memory;
    for (size_t i = 0; i < n; i++) {
        double v3 = 0.0;
        for (size_t from = 0; from < d; from += 2048) {
            const size_t to = d - from > 2048 ? from + 2048 : d;
            double part0 = 0;
            #pragma omp simd reduction(+:part0)
            for (size_t j = from; j < to; j++) {
                part0 += X[i * d + j] * w[j];
            }
            v3 += part0;
        }
        v2[i] = v3;
    }
    double *v4 = held[1] = array_of(n, sizeof *v4); /* (n) */
    if (!v4)
        goto no_memory;
    double v7 = 0.0;
    for (size_t from = 0; from < n; from += 2048) {
        const size_t to = n - from > 2048 ? from + 2048 : n;
        double part0 = 0;
        #pragma omp simd reduction(+:part0)
        for (size_t i = from; i < to; i++) {
            const double v5 = v2[i] - y[i];
            v4[i] = v5;
            const double v6 = v5 * v5;
            part0 += v6;
        }
        v7 += part0;
    }
    free(v2), held[0] = NULL;
    const double v8 = lam * v1;
    const double v9 = v7 + v8;
    *f = v9;
    *df_dlam = v1;
    double *v10 = held[0] = array_of(d, sizeof *v10); /* (d) */
    if (!v10)
        goto no_memory;
    for (size_t i = 0; i < d; i++)
        v10[i] = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double v11 = v4[i];
        #pragma omp simd
        for (size_t j = 0; j < d; j++) {
            v10[j] += 2.0 * v11 * X[i * d + j];
        }
    }
    free(v4), held[1] = NULL;
    #pragma omp simd
    for (size_t i = 0; i < d; i++) {
        const double v12 = 2.0 * lam * w[i];
        df_dw[i] = v12 + v10[i];
    }
done:
    for (size_t i = 0; i < 2; i++)
        free(held[i]);
    return status;
no_memory:
    status = GRAD_RIDGE_MEMORY;
    goto done;
}

#ifdef GRAD_RIDGE_CHECK


/* how far got is from wanted; infinite where one of them alone is NaN or they are infinities that differ */
static double off(double got, double wanted)
{
    if (got == wanted || (isnan(got) && isnan(wanted)))
        return 0;
    const double difference = fabs(got - wanted);
    return isnan(difference) ? INFINITY : difference;
}

static const double given_0[2] = {
    0.5, -1.0
};

static const double given_1[8] = {
    -0.8019314252534474, -1.324358995628145, 0.4204452380655215, 1.1360465324896427,
    -0.5526473205362324, -0.7847803553442784, 1.6347830429585775, 0.27276877584472176
};

static const double given_2[4] = {
    1.0, 1.0, 1.0, -1.0
};

static const double wanted_0[1] = {
    6.467140581678798
};

static const double wanted_1[2] = {
    4.197006005412396, -2.7585847986236662
};

static const double wanted_2[1] = {
    1.25
};

int main(void)
{
    double *got_0 = malloc(1 * sizeof *got_0);
    double *got_1 = malloc(2 * sizeof *got_1);
    double *got_2 = malloc(1 * sizeof *got_2);
    if (!got_0 || !got_1 || !got_2) {
        puts("grad_ridge: FAIL (there is not enough memory)");
        return 1;
    }
    const int status = grad_ridge(2, 4, given_0, given_1, given_2, 0.1, got_0, got_1, got_2);
    if (status != GRAD_RIDGE_OK) {
        printf("grad_ridge: FAIL (status %d)\n", status);
        free(got_2);
        free(got_1);
        free(got_0);
        return 1;
    }
    double worst = 0;
    for (size_t k = 0; k < 1; k++)
        worst = fmax(worst, off((double)got_0[k], (double)wanted_0[k]) / 6.467140581678798);
    for (size_t k = 0; k < 2; k++)
        worst = fmax(worst, off((double)got_1[k], (double)wanted_1[k]) / 4.197006005412396);
    for (size_t k = 0; k < 1; k++)
        worst = fmax(worst, off((double)got_2[k], (double)wanted_2[k]) / 1.25);
    const bool passed = worst <= 1e-09;
    printf("grad_ridge: %s (largest difference %.1e, allowed 1e-09)\n", passed ? "pass" : "FAIL", worst);
    free(got_2);
    free(got_1);
    free(got_0);
    return passed ? 0 : 1;
}

#endif
