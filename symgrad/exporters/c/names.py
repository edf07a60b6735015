"""What the C function, its arguments and its statuses are called."""

from __future__ import annotations

from dataclasses import dataclass

import sympy

from ...emit.c.library import names as library_names
from ...emit.loops import COUNTERS, STATUSES, Routine, lower, named_dims
from ...emit.loops.schedule import MAX_ITEMS
from ...passes.constants import fold_constants
from ...passes.unrolling import parted
from ...program.program import Program
from ..naming import target_names
from ..subject import Subject

#: keywords of C and C++, and what the standard headers that are included define
_TEXT = """
auto break case char const continue default do double else enum extern float for goto if inline int long register
restrict return short signed sizeof static struct switch typedef union unsigned void volatile while bool true false
alignas alignof and and_eq asm atomic bitand bitor catch char8_t char16_t char32_t class co_await co_return co_yield
compl concept const_cast consteval constexpr constinit decltype delete dynamic_cast explicit export friend mutable
namespace new noexcept not not_eq nullptr operator or or_eq private protected public reinterpret_cast requires
static_assert static_cast template this thread_local throw try typeid typename using virtual wchar_t xor xor_eq main
NULL INFINITY NAN EOF FILE stdin stdout stderr errno assert complex imaginary I unix linux i386 size_t ptrdiff_t
max_align_t div_t ldiv_t lldiv_t double_t float_t fpos_t va_list max_align acos asin atan atan2 cos sin tan cosh
sinh tanh acosh asinh atanh exp exp2 expm1 frexp ilogb ldexp log log10 log1p log2 logb modf scalbn scalbln cbrt fabs
hypot pow sqrt erf erfc lgamma tgamma ceil floor nearbyint rint lrint llrint round lround llround trunc fmod
remainder remquo copysign nan nextafter nexttoward fdim fmax fmin fma isnan isinf isfinite isnormal signbit
fpclassify isgreater isgreaterequal isless islessequal islessgreater isunordered math_errhandling j0 j1 jn y0 y1 yn
gamma significand drem scalb finite signgam abs labs llabs div ldiv lldiv abort exit atexit _Exit getenv system
malloc calloc realloc free rand srand random srandom atof atoi atol atoll strtod strtof strtold strtol strtoll
strtoul strtoull bsearch qsort mblen mbtowc wctomb mbstowcs wcstombs index rindex memcpy memmove memset memcmp
memchr memccpy strcpy strncpy strcat strncat strcmp strncmp strcoll strchr strrchr strspn strcspn strpbrk strstr
strtok strlen strnlen strerror strxfrm strdup strndup bcopy bzero bcmp ffs printf fprintf sprintf snprintf scanf
fscanf sscanf vprintf vfprintf vsprintf vsnprintf puts putchar putc getc getchar gets fopen fclose fread fwrite
fflush remove rename tmpfile tmpnam perror feof ferror clearerr read write open close pipe dup link sleep time clock
signal raise wait select send connect bind accept listen alarm pause stat environ end edata etext status done
no_memory held drawn off from to
"""
_WORDS = _TEXT.split()
#: what no name of a user may be
RESERVED = frozenset(
    [*_WORDS, *COUNTERS, *library_names()]
    + [f"{w}{s}" for w in _WORDS for s in "fl"]
    + [f"{u}int{k}{bits}_t" for u in ("", "u") for k in ("", "_least", "_fast") for bits in (8, 16, 32, 64)]
    + [f"{name}{k}" for name in ("part", "nan", "here") for k in range(2 * MAX_ITEMS)]
    + ["intptr_t", "uintptr_t", "intmax_t", "uintmax_t"]
)


@dataclass(frozen=True)
class Names:
    """``function`` is the C function, ``statuses`` its statuses by name (``ok`` among them), ``routine`` its loops."""

    function: str
    statuses: dict[str, str]
    guard: str
    dims: dict[sympy.Symbol, str]
    program: Program
    routine: Routine

    @property
    def numbers(self) -> dict[str, int]:
        """The value of each status."""
        return {status: k for k, status in enumerate(self.statuses)}


def names_of(subject: Subject) -> Names:
    """Names in C for what ``subject`` has, and its loops."""
    program = parted(fold_constants(subject.guarded))
    dims = named_dims(program)
    results = subject.output_names
    labels = [subject.name, *map(str, dims), *program.names, *results]
    spelled = target_names(labels, RESERVED)
    function, spelled = spelled[0], spelled[1:]
    arguments, rest = spelled[: len(dims)], spelled[len(dims) :]
    inputs, outputs = rest[: len(program.inputs)], rest[len(program.inputs) :]
    capital = function.upper()
    statuses = {"ok": f"{capital}_OK"} | {s: f"{capital}_{s.upper()}" for s in STATUSES}
    named = dict(zip(dims, arguments, strict=True))
    routine = lower(program, inputs, outputs, named, flat=True, taken={function})
    return Names(function, statuses, f"{capital}_H", named, program, routine)
