/* The numbers that the kernels of Tyto's libraries read, write and compute with, on the device. Half and bfloat16 are
 * only storage formats: their sums are float. */
#ifndef TYTO_LIBRARY_NUMBERS_CUH
#define TYTO_LIBRARY_NUMBERS_CUH

#include <tyto_device.h>

struct F16 {
    unsigned short bits;
};
struct BF16 {
    unsigned short bits;
};

template <class R> struct Complex {
    R x, y;
    Complex() = default;
    __device__ Complex(R real, R imaginary = 0) : x(real), y(imaginary) {}
    friend __device__ Complex operator+(Complex a, Complex b) { return {a.x + b.x, a.y + b.y}; }
    friend __device__ Complex operator-(Complex a, Complex b) { return {a.x - b.x, a.y - b.y}; }
    friend __device__ Complex operator*(Complex a, Complex b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }
    /* Divides by the larger part of the divisor first, so that its square cannot overflow (Smith 1962). */
    friend __device__ Complex operator/(Complex a, Complex b) {
        if ((b.x < 0 ? -b.x : b.x) >= (b.y < 0 ? -b.y : b.y)) {
            R ratio = b.y / b.x, whole = b.x + b.y * ratio;
            return {(a.x + a.y * ratio) / whole, (a.y - a.x * ratio) / whole};
        }
        R ratio = b.x / b.y, whole = b.x * ratio + b.y;
        return {(a.x * ratio + a.y) / whole, (a.y * ratio - a.x) / whole};
    }
    friend __device__ bool operator==(Complex a, Complex b) { return a.x == b.x && a.y == b.y; }
    friend __device__ bool operator!=(Complex a, Complex b) { return !(a == b); }
    __device__ Complex &operator+=(Complex b) { return *this = *this + b; }
    __device__ Complex &operator-=(Complex b) { return *this = *this - b; }
    __device__ Complex &operator*=(Complex b) { return *this = *this * b; }
    __device__ Complex &operator/=(Complex b) { return *this = *this / b; }
};
typedef Complex<float> C32;
typedef Complex<double> C64;

template <class T> struct Real {
    typedef T type;
    static const bool is_complex = false;
};
template <class R> struct Real<Complex<R>> {
    typedef R type;
    static const bool is_complex = true;
};

template <class T> __device__ T conjugate(T x) {
    if constexpr (Real<T>::is_complex) x.y = -x.y;
    return x;
}
template <class T> __device__ T conjugate_if(bool is_wanted, T x) { return is_wanted ? conjugate(x) : x; }

template <class T> __device__ T shuffle_down(T x, int lanes) {
    if constexpr (Real<T>::is_complex)
        return {__shfl_down_sync(0xffffffff, x.x, lanes), __shfl_down_sync(0xffffffff, x.y, lanes)};
    else return __shfl_down_sync(0xffffffff, x, lanes);
}

template <class T> struct Sum {
    typedef T type;
};
template <> struct Sum<F16> {
    typedef float type;
};
template <> struct Sum<BF16> {
    typedef float type;
};
template <> struct Sum<signed char> {
    typedef int type;
};

template <class A, class T> __device__ A read(const T &x) { return (A)x; }
template <class A> __device__ A read(const F16 &x) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(x.bits));
    return (A)value;
}
template <class A> __device__ A read(const BF16 &x) { return (A)__uint_as_float((unsigned)x.bits << 16); }

template <class T, class A> __device__ void write(T &to, A x) { to = (T)x; }
template <class A> __device__ void write(F16 &to, A x) {
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(to.bits) : "f"((float)x));
}
/* Rounds to nearest, ties to even; a NaN stays a NaN. */
template <class A> __device__ void write(BF16 &to, A x) {
    unsigned bits = __float_as_uint((float)x);
    bool is_number = (bits & 0x7fffffff) <= 0x7f800000;
    to.bits = (unsigned short)(is_number ? (bits + 0x7fff + (bits >> 16 & 1)) >> 16 : 0x7fff);
}

/* ---- Threads ---- */

__device__ long long global_index() { return (long long)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ long long global_stride() { return (long long)gridDim.x * blockDim.x; }

#endif
