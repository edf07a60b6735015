/* What every compiled kernel begins with: the names of libm. */
#include <stdint.h>
#include <stddef.h>
#include <stdbool.h>
#include <alloca.h>

#define INFINITY (__builtin_inf())
#define NAN (__builtin_nan(""))
#define isnan __builtin_isnan
#define isinf __builtin_isinf
#define isfinite __builtin_isfinite
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

typedef void (*step_t)(char **p, const int64_t *d, int64_t lo, int64_t hi);
static void turns(char **p, const int64_t *d, int64_t lo, int64_t hi);
