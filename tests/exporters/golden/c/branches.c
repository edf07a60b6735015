/*
 * the gradient of branches, derived by symgrad 0.1.0
 * function: branches, SHA-256 of its source f0522b8a8332899a
 * flags: grad_position=0, with_value=True, mode=auto
 * inputs: x: float64[3]
 * outputs: float64, float64[3]
 * convention: abs(x) has slope 0 at x = 0
 * convention: at ties of two arguments max and min share the slope evenly
 * convention: a choice has the slope of the side that is taken
 * operations: 1 absolute, 5 add, 6 einsum, 1 equal, 1 gate, 1 greater, 1 greater_equal, 1 maximum,
 *     6 multiply, 1 sign, 1 square, 1 subtract, 4 where
 * holds for the branches that the example took: 3 conditions are checked
 * check: 4 values to 1e-09; finite differences: off by 4e-17
 * build and check: cc -std=c99 -O2 -DGRAD_BRANCHES_CHECK grad_branches.c -lm -o grad_branches && ./grad_branches
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
    GRAD_BRANCHES_OK = 0,
    GRAD_BRANCHES_BRANCH = 2 /* the arguments take another branch than the ones that this code was made for */
};

/*
 * The gradient of branches.
 * x: input, array of shape (3)
 * f: output, one number
 * df_dx: output, array of shape (3)
 * Arrays lie in C order, the last index runs fastest; no output may overlap an input.
 */
int grad_branches(const double *x, double *f, double *df_dx);

static double maximum_f64(double x, double y)
{
    return x > y || isnan(x) ? x : y; /* NaN stays */
}

static double sign_f64(double x)
{
    return x > 0 ? 1 : x < 0 ? -1 : x == 0 ? 0 : x;
}

int grad_branches(const double *restrict x, double *restrict f, double *restrict df_dx)
{
    int status = GRAD_BRANCHES_OK;
    double v0 = 0.0;
    double v19 = 0.0;
    double v20 = 0.0;
    double v21 = 0.0;
    #pragma omp simd reduction(+:v0) reduction(+:v19) reduction(+:v20) reduction(+:v21)
    for (size_t i = 0; i < 3; i++) {
        v0 += x[i];
        const bool v1 = x[i] > 0.5;
        const double v2 = x[i] * x[i];
        const double v3 = fabs(x[i]);
        const double v4 = v3 * 0.0;
        const double v5 = v1 ? v2 : v4;
        const double v6 = v3 * 1.0;
        const double v7 = v1 ? v2 : v6;
        const double v8 = maximum_f64(x[i], 0.25);
        const bool v9 = x[i] >= 0.25;
        const bool v10 = x[i] == 0.25;
        const double v11 = v10 ? 0.5 : 1.0;
        const double v12 = sign_f64(x[i]);
        const double v13 = 2.0 * x[i];
        const double v14 = v11 * -1.0;
        const double v15 = v9 ? v14 : 0.0;
        const double v16 = 1.0 * v12;
        const double v17 = 2.0 * v13;
        const double v18 = v1 ? v17 : v16;
        df_dx[i] = v15 + v18;
        v19 += v5;
        v20 += v7;
        v21 += v8;
    }
    const bool v22 = v0 > 0.0;
    const bool v23 = v0 > 1.0;
    const bool v24 = v0 > 2.0;
    const bool v25 = !v24;
    const double v26 = 0.0 + v19;
    const double v27 = v26 + v20;
    const double v28 = v27 - v21;
    *f = v28;
    if (!(v22)) {
        status = GRAD_BRANCHES_BRANCH;
        goto done;
    }
    if (!(v23)) {
        status = GRAD_BRANCHES_BRANCH;
        goto done;
    }
    if (!(v25)) {
        status = GRAD_BRANCHES_BRANCH;
        goto done;
    }
done:
    return status;
}

#ifdef GRAD_BRANCHES_CHECK


/* how far got is from wanted; infinite where one of them alone is NaN or they are infinities that differ */
static double off(double got, double wanted)
{
    if (got == wanted || (isnan(got) && isnan(wanted)))
        return 0;
    const double difference = fabs(got - wanted);
    return isnan(difference) ? INFINITY : difference;
}

static const double given_0[3] = {
    0.9, -0.3, 0.6
};

static const double wanted_0[1] = {
    0.8900000000000001
};

static const double wanted_1[3] = {
    2.6, -1.0, 1.4
};

int main(void)
{
    double *got_0 = malloc(1 * sizeof *got_0);
    double *got_1 = malloc(3 * sizeof *got_1);
    if (!got_0 || !got_1) {
        puts("grad_branches: FAIL (there is not enough memory)");
        return 1;
    }
    const int status = grad_branches(given_0, got_0, got_1);
    if (status != GRAD_BRANCHES_OK) {
        printf("grad_branches: FAIL (status %d)\n", status);
        free(got_1);
        free(got_0);
        return 1;
    }
    double worst = 0;
    for (size_t k = 0; k < 1; k++)
        worst = fmax(worst, off((double)got_0[k], (double)wanted_0[k]) / 1.0);
    for (size_t k = 0; k < 3; k++)
        worst = fmax(worst, off((double)got_1[k], (double)wanted_1[k]) / 2.6);
    const bool passed = worst <= 1e-09;
    printf("grad_branches: %s (largest difference %.1e, allowed 1e-09)\n", passed ? "pass" : "FAIL", worst);
    free(got_1);
    free(got_0);
    return passed ? 0 : 1;
}

#endif
