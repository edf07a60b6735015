/* What every compiled kernel begins with: the names of libm, and functions that it has not. */
#include <stdint.h>
#include <stddef.h>
#include <alloca.h>

#define INFINITY (__builtin_inf())
#define NAN (__builtin_nan(""))
#define fabs __builtin_fabs
#define fabsf __builtin_fabsf
#define sqrt __builtin_sqrt
#define sqrtf __builtin_sqrtf
#define floor __builtin_floor
#define floorf __builtin_floorf
#define ceil __builtin_ceil
#define ceilf __builtin_ceilf
#define trunc __builtin_trunc
#define truncf __builtin_truncf
#define rint __builtin_rint
#define rintf __builtin_rintf
#define copysign __builtin_copysign
#define copysignf __builtin_copysignf
double fmod(double, double);
float fmodf(float, float);

/* DECLARATIONS */

static inline double remainder_of(double a, double b) {
  double r = fmod(a, b);
  if (b == 0) return r;
  if (r == 0) return copysign(0.0, b);
  return (b < 0) != (r < 0) ? r + b : r;
}
static inline float remainder_off(float a, float b) {
  float r = fmodf(a, b);
  if (b == 0) return r;
  if (r == 0) return copysignf(0.0f, b);
  return (b < 0) != (r < 0) ? r + b : r;
}
static inline double logaddexp(double a, double b) {
  double high = a >= b || a != a ? a : b, d = a - b;
  return a == b ? a + 0x1.62e42fefa39efp-1 : d != d ? d : high + log1p(exp(-fabs(d)));
}
static inline float logaddexpf(float a, float b) {
  float high = a >= b || a != a ? a : b, d = a - b;
  return a == b ? a + 0x1.62e42fefa39efp-1f : d != d ? d : high + log1pf(expf(-fabsf(d)));
}

typedef void (*step_t)(char **p, const int64_t *d, int64_t lo, int64_t hi);
