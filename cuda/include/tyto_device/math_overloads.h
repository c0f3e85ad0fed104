/* C++ names of the single-precision functions: sin(float) is sinf, and so on; also in namespace
 * std.
 *
 * Include this after math_special.h. The host's <cmath> has the same names, some of them constexpr,
 * which clang would also use for the device, unless a device function with the same signature was
 * declared before. So clang's own list of declarations comes before <cmath> (cuda_runtime.h). */
#ifndef TYTO_DEVICE_MATH_OVERLOADS_H
#define TYTO_DEVICE_MATH_OVERLOADS_H

#define TYTO_FN static __device__ __forceinline__

#define TYTO_OVERLOAD_1(name)                                                                      \
    TYTO_FN float name(float x) { return name##f(x); }
#define TYTO_OVERLOAD_2(name)                                                                      \
    TYTO_FN float name(float x, float y) { return name##f(x, y); }
TYTO_OVERLOAD_1(fabs)
TYTO_OVERLOAD_1(floor)
TYTO_OVERLOAD_1(ceil)
TYTO_OVERLOAD_1(trunc)
TYTO_OVERLOAD_1(round)
TYTO_OVERLOAD_1(rint)
TYTO_OVERLOAD_1(nearbyint)
TYTO_OVERLOAD_1(sqrt)
TYTO_OVERLOAD_1(rsqrt)
TYTO_OVERLOAD_1(cbrt)
TYTO_OVERLOAD_1(exp)
TYTO_OVERLOAD_1(exp2)
TYTO_OVERLOAD_1(expm1)
TYTO_OVERLOAD_1(log)
TYTO_OVERLOAD_1(log2)
TYTO_OVERLOAD_1(log10)
TYTO_OVERLOAD_1(log1p)
TYTO_OVERLOAD_1(logb)
TYTO_OVERLOAD_1(sin)
TYTO_OVERLOAD_1(cos)
TYTO_OVERLOAD_1(tan)
TYTO_OVERLOAD_1(asin)
TYTO_OVERLOAD_1(acos)
TYTO_OVERLOAD_1(atan)
TYTO_OVERLOAD_1(sinh)
TYTO_OVERLOAD_1(cosh)
TYTO_OVERLOAD_1(tanh)
TYTO_OVERLOAD_1(asinh)
TYTO_OVERLOAD_1(acosh)
TYTO_OVERLOAD_1(atanh)
TYTO_OVERLOAD_1(erf)
TYTO_OVERLOAD_1(erfc)
TYTO_OVERLOAD_1(lgamma)
TYTO_OVERLOAD_1(tgamma)
TYTO_OVERLOAD_2(fmin)
TYTO_OVERLOAD_2(fmax)
TYTO_OVERLOAD_2(fdim)
TYTO_OVERLOAD_2(fmod)
TYTO_OVERLOAD_2(remainder)
TYTO_OVERLOAD_2(copysign)
TYTO_OVERLOAD_2(hypot)
TYTO_OVERLOAD_2(atan2)
TYTO_OVERLOAD_2(nextafter)
TYTO_OVERLOAD_2(pow)
#undef TYTO_OVERLOAD_1
#undef TYTO_OVERLOAD_2

TYTO_FN double abs(double x) { return fabs(x); }
TYTO_FN float abs(float x) { return fabsf(x); }
TYTO_FN float fma(float a, float b, float c) { return fmaf(a, b, c); }
TYTO_FN double pow(double x, int n) { return pow(x, (double)n); }
TYTO_FN float pow(float x, int n) { return powf(x, (float)n); }
TYTO_FN float ldexp(float x, int n) { return ldexpf(x, n); }
TYTO_FN float scalbn(float x, int n) { return scalbnf(x, n); }
TYTO_FN float frexp(float x, int *exponent) { return frexpf(x, exponent); }
TYTO_FN float modf(float x, float *whole) { return modff(x, whole); }
TYTO_FN int ilogb(float x) { return ilogbf(x); }
TYTO_FN long lrint(float x) { return lrintf(x); }
TYTO_FN long lround(float x) { return lroundf(x); }
TYTO_FN long long llrint(float x) { return llrintf(x); }
TYTO_FN long long llround(float x) { return llroundf(x); }

#undef TYTO_FN

#endif
