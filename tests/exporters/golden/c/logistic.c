/*
 * the gradient of logistic, derived by symgrad 0.1.0
 * function: logistic, SHA-256 of its source 3a388028a9cb3f10
 * flags: grad_position=0, with_value=True, mode=auto
 * inputs: w: float64[3], X: float64[6, 3], y: float64[6]
 * outputs: float64, float64[3]
 * operations: 2 add, 1 divide, 3 einsum, 2 exp, 1 log, 1 multiply, 2 negative
 * check: 4 values to 1e-09; finite differences: off by 3e-16
 * build and check: cc -std=c99 -O2 -DGRAD_LOGISTIC_CHECK grad_logistic.c -lm -o grad_logistic && ./grad_logistic
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
__attribute__((simd("notinbranch"), const)) double log(double);
__attribute__((simd("notinbranch"), const)) float logf(float);
#endif

/* what the function gives: 0 where all is well, else what hinders it; then the outputs mean nothing */
enum {
    GRAD_LOGISTIC_OK = 0,
    GRAD_LOGISTIC_MEMORY = 1 /* there is not enough memory */
};

/*
 * The gradient of logistic.
 * w: input, array of shape (3)
 * X: input, array of shape (6, 3)
 * y: input, array of shape (6)
 * f: output, one number
 * df_dw: output, array of shape (3)
 * Arrays lie in C order, the last index runs fastest; no output may overlap an input.
 */
int grad_logistic(const double *w, const double *X, const double *y, double *f, double *df_dw);

int grad_logistic(
    const double *restrict w,
    const double *restrict X,
    const double *restrict y,
    double *restrict f,
    double *restrict df_dw)
{
    double v0[6]; /* (6) */
    for (size_t i = 0; i < 6; i++) {
        double v1 = 0.0;
        #pragma omp simd reduction(+:v1)
        for (size_t j = 0; j < 3; j++) {
            v1 += X[i * 3 + j] * w[j];
        }
        v0[i] = v1;
    }
    double v2[6]; /* (6) */
    double v8 = 0.0;
    #pragma omp simd reduction(+:v8)
    for (size_t i = 0; i < 6; i++) {
        const double v3 = -y[i];
        const double v4 = v3 * v0[i];
        const double v5 = exp(v4);
        const double v6 = 1.0 + v5;
        const double v7 = log(v6);
        v8 += v7;
        const double v9 = -v4;
        const double v10 = exp(v9);
        const double v11 = 1.0 + v10;
        v2[i] = 1.0 / v11;
    }
    double v14[3];
    for (size_t j = 0; j < 3; j++) {
        v14[j] = 0.0;
    }
    for (size_t i = 0; i < 6; i++) {
        const double v12 = y[i];
        const double v13 = v2[i];
        #pragma omp simd
        for (size_t j = 0; j < 3; j++) {
            v14[j] += -v12 * v13 * X[i * 3 + j];
        }
    }
    for (size_t j = 0; j < 3; j++) {
        df_dw[j] = v14[j];
    }
    *f = v8;
    return GRAD_LOGISTIC_OK;
}

#ifdef GRAD_LOGISTIC_CHECK


/* how far got is from wanted; infinite where one of them alone is NaN or they are infinities that differ */
static double off(double got, double wanted)
{
    if (got == wanted || (isnan(got) && isnan(wanted)))
        return 0;
    const double difference = fabs(got - wanted);
    return isnan(difference) ? INFINITY : difference;
}

static const double given_0[3] = {
    0.1, -0.2, 0.3
};

static const double given_1[18] = {
    -0.8019314252534474, -1.324358995628145, -0.24836162209524854, 0.4204452380655215,
    1.1360465324896427, 0.10970639932180819, -0.5526473205362324, -0.7847803553442784,
    0.7487457707345911, 1.6347830429585775, 0.27276877584472176, -1.2333286640307717,
    -0.9582652054360887, 1.6000190889991115, 0.2028824405086084, -1.7321348424395848,
    -0.08369619281702581, -1.1632259734447485
};

static const double given_2[6] = {
    1.0, 1.0, 1.0, -1.0, 1.0, 1.0
};

static const double wanted_0[1] = {
    4.389860136377025
};

static const double wanted_1[3] = {
    2.739320196080686, -0.42614960131661983, -0.18583316232731495
};

int main(void)
{
    double *got_0 = malloc(1 * sizeof *got_0);
    double *got_1 = malloc(3 * sizeof *got_1);
    if (!got_0 || !got_1) {
        puts("grad_logistic: FAIL (there is not enough memory)");
        return 1;
    }
    const int status = grad_logistic(given_0, given_1, given_2, got_0, got_1);
    if (status != GRAD_LOGISTIC_OK) {
        printf("grad_logistic: FAIL (status %d)\n", status);
        free(got_1);
        free(got_0);
        return 1;
    }
    double worst = 0;
    for (size_t k = 0; k < 1; k++)
        worst = fmax(worst, off((double)got_0[k], (double)wanted_0[k]) / 4.389860136377025);
    for (size_t k = 0; k < 3; k++)
        worst = fmax(worst, off((double)got_1[k], (double)wanted_1[k]) / 2.739320196080686);
    const bool passed = worst <= 1e-09;
    printf("grad_logistic: %s (largest difference %.1e, allowed 1e-09)\n", passed ? "pass" : "FAIL", worst);
    free(got_1);
    free(got_0);
    return passed ? 0 : 1;
}

#endif
