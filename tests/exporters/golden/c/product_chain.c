/*
 * the gradient of product_chain, derived by symgrad 0.1.0
 * function: product_chain, SHA-256 of its source 92a8091d102a87fa
 * flags: grad_position=(0, 1, 2), mode=auto
 * inputs: x: float, y: float, z: float
 * outputs: float64, float64, float64
 * operations: 1 add, 3 einsum, 2 multiply
 * check: 3 values to 1e-09; finite differences: off by 2e-16
 * build and check: cc -std=c99 -O2 -DGRAD_PRODUCT_CHAIN_CHECK grad_product_chain.c -lm -o grad_product_chain && ./grad_product_chain
 * for speed: -O3 -march=native -fopenmp-simd -fno-math-errno -fno-builtin-sin -fno-builtin-cos, and -DLIBMVEC with glibc
 */

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* what the function gives: 0 where all is well, else what hinders it; then the outputs mean nothing */
enum {
    GRAD_PRODUCT_CHAIN_OK = 0
};

/*
 * The gradient of product_chain.
 * x: input, a number
 * y: input, a number
 * z: input, a number
 * df_dx: output, one number
 * df_dy: output, one number
 * df_dz: output, one number
 * Arrays lie in C order, the last index runs fastest; no output may overlap an input.
 */
int grad_product_chain(double x, double y, double z, double *df_dx, double *df_dy, double *df_dz);

int grad_product_chain(
    double x,
    double y,
    double z,
    double *restrict df_dx,
    double *restrict df_dy,
    double *restrict df_dz)
{
    const double v0 = x * x;
    const double v1 = v0 * y;
    const double v2 = v0 * z;
    const double v3 = x * y * z;
    const double v4 = v3 + v3;
    *df_dx = v4;
    *df_dy = v2;
    *df_dz = v1;
    return GRAD_PRODUCT_CHAIN_OK;
}

#ifdef GRAD_PRODUCT_CHAIN_CHECK


/* how far got is from wanted; infinite where one of them alone is NaN or they are infinities that differ */
static double off(double got, double wanted)
{
    if (got == wanted || (isnan(got) && isnan(wanted)))
        return 0;
    const double difference = fabs(got - wanted);
    return isnan(difference) ? INFINITY : difference;
}

static const double wanted_0[1] = {
    48.0
};

static const double wanted_1[1] = {
    16.0
};

static const double wanted_2[1] = {
    12.0
};

int main(void)
{
    double *got_0 = malloc(1 * sizeof *got_0);
    double *got_1 = malloc(1 * sizeof *got_1);
    double *got_2 = malloc(1 * sizeof *got_2);
    if (!got_0 || !got_1 || !got_2) {
        puts("grad_product_chain: FAIL (there is not enough memory)");
        return 1;
    }
    const int status = grad_product_chain(2.0, 3.0, 4.0, got_0, got_1, got_2);
    if (status != GRAD_PRODUCT_CHAIN_OK) {
        printf("grad_product_chain: FAIL (status %d)\n", status);
        free(got_2);
        free(got_1);
        free(got_0);
        return 1;
    }
    double worst = 0;
    for (size_t k = 0; k < 1; k++)
        worst = fmax(worst, off((double)got_0[k], (double)wanted_0[k]) / 48.0);
    for (size_t k = 0; k < 1; k++)
        worst = fmax(worst, off((double)got_1[k], (double)wanted_1[k]) / 16.0);
    for (size_t k = 0; k < 1; k++)
        worst = fmax(worst, off((double)got_2[k], (double)wanted_2[k]) / 12.0);
    const bool passed = worst <= 1e-09;
    printf("grad_product_chain: %s (largest difference %.1e, allowed 1e-09)\n", passed ? "pass" : "FAIL", worst);
    free(got_2);
    free(got_1);
    free(got_0);
    return passed ? 0 : 1;
}

#endif
