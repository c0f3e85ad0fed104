/* The kernel of Tyto's cuFFT, in single and in double precision. A block transforms some lines in shared memory:
 * Stockham's algorithm with butterflies of 2, 3, 4, 5 and 7 points (Van Loan, Computational Frameworks for the Fast
 * Fourier Transform, 1992). All transforms are forward; the caller asks for conjugates in order to invert. The
 * order of sums depends on the sizes alone, so results are the same on every machine and under every schedule. */
#include <tyto_device.h>

#include "fft_device.h"

template <class R> struct Complex {
    R x, y;
    friend __device__ Complex operator+(Complex a, Complex b) { return {a.x + b.x, a.y + b.y}; }
    friend __device__ Complex operator-(Complex a, Complex b) { return {a.x - b.x, a.y - b.y}; }
    friend __device__ Complex operator*(Complex a, Complex b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }
};

template <class R> __device__ Complex<R> conjugate_if(bool is_wanted, Complex<R> a) { return {a.x, is_wanted ? -a.y : a.y}; }
template <class R> __device__ Complex<R> times_minus_i(Complex<R> a) { return {a.y, -a.x}; }

/* ---- Butterflies ---- */

/* Cosine and sine of step / r of a circle, for r = 3, 5, 7 and steps 1 to (r - 1) / 2. */
template <int r> struct Circle;
template <> struct Circle<3> {
    static constexpr double cosine[] = {1, -0.5};
    static constexpr double sine[] = {0, 0.86602540378443865};
};
template <> struct Circle<5> {
    static constexpr double cosine[] = {1, 0.30901699437494742, -0.80901699437494742};
    static constexpr double sine[] = {0, 0.95105651629515357, 0.58778525229247313};
};
template <> struct Circle<7> {
    static constexpr double cosine[] = {1, 0.62348980185873353, -0.22252093395631440, -0.90096886790241913};
    static constexpr double sine[] = {0, 0.78183148246802981, 0.97492791218182361, 0.43388373911755812};
};

/* An odd number of points: sums and differences of the points q and r - q. */
template <int r, class R> struct Butterfly {
    static __device__ void run(Complex<R> v[r]) {
        constexpr int half = r / 2;
        Complex<R> sums[half + 1], differences[half + 1], first = v[0];
#pragma unroll
        for (int q = 1; q <= half; q++) {
            sums[q] = v[q] + v[r - q];
            differences[q] = times_minus_i(v[q] - v[r - q]);
            v[0] = v[0] + sums[q];
        }
#pragma unroll
        for (int k = 1; k <= half; k++) {
            Complex<R> even = first, odd = {0, 0};
#pragma unroll
            for (int q = 1; q <= half; q++) {
                const int step = q * k % r, short_step = step <= half ? step : r - step;
                const R cosine = (R)Circle<r>::cosine[short_step];
                const R sine = (R)(step <= half ? Circle<r>::sine[short_step] : -Circle<r>::sine[short_step]);
                even = even + Complex<R>{cosine * sums[q].x, cosine * sums[q].y};
                odd = odd + Complex<R>{sine * differences[q].x, sine * differences[q].y};
            }
            v[k] = even + odd;
            v[r - k] = even - odd;
        }
    }
};

template <class R> struct Butterfly<2, R> {
    static __device__ void run(Complex<R> v[2]) {
        Complex<R> sum = v[0] + v[1];
        v[1] = v[0] - v[1];
        v[0] = sum;
    }
};

template <class R> struct Butterfly<4, R> {
    static __device__ void run(Complex<R> v[4]) {
        Complex<R> a = v[0] + v[2], b = v[0] - v[2], c = v[1] + v[3], d = times_minus_i(v[1] - v[3]);
        v[0] = a + c, v[1] = b + d, v[2] = a - c, v[3] = b - d;
    }
};

/* One butterfly of r points for every r points of the block's lines. `done` is the product of the earlier factors. */
template <int r, class R>
__device__ void combine(const FftPass &p, unsigned lines, unsigned pitch, unsigned done, const Complex<R> *from, Complex<R> *to) {
    const Complex<R> *roots = (const Complex<R> *)p.roots;
    unsigned each = p.points / r, turn = p.length / (done * r);
    for (unsigned i = threadIdx.x; i < lines * each; i += blockDim.x) {
        unsigned line = i / each, j = i % each, k = j % done;
        Complex<R> v[r];
#pragma unroll
        for (int q = 0; q < r; q++) {
            v[q] = from[line * pitch + j + q * each];
            if (q > 0 && done > 1) v[q] = v[q] * roots[q * k * turn];
        }
        Butterfly<r, R>::run(v);
#pragma unroll
        for (int q = 0; q < r; q++)
            to[line * pitch + (j - k) * r + k + q * done] = v[q];
    }
}

/* ---- Lines in memory ---- */

/* Where the first point and the first result of a line are. */
struct Line {
    long long in_at, out_at; /* outside the transformed dimension, in numbers */
    unsigned in_index, out_index;
};

__device__ __forceinline__ Line find_line(const FftPass &p, unsigned number) {
    Line line = {0, 0, 0, 0};
#pragma unroll
    for (int i = 0; i < FFT_AXES; i++) {
        unsigned at = number % p.axes[i].size;
        number /= p.axes[i].size;
        line.in_at += at * p.axes[i].in_step;
        line.out_at += at * p.axes[i].out_step;
        line.in_index += at * p.axes[i].in_index;
        line.out_index += at * p.axes[i].out_index;
    }
    return line;
}

template <class R> __device__ Complex<R> load(const FftPass &p, const Line &line, unsigned q) {
    unsigned i = line.in_index + q * (p.length / p.points), k = line.in_index % p.done;
    if (i >= p.in_count) return {0, 0};
    bool is_mirrored = p.in_form == FFT_HALF && i > p.in_count / 2;
    long long at = line.in_at + (is_mirrored ? p.in_count - i : i) * p.in_stride;
    Complex<R> v = {0, 0};
    if (p.in_form == FFT_REAL) v.x = ((const R *)p.in)[at];
    else v = conjugate_if(is_mirrored != (p.in_conjugated != 0), ((const Complex<R> *)p.in)[at]);
    if (p.in_factors) v = v * ((const Complex<R> *)p.in_factors)[i];
    if (k * q > 0) v = v * ((const Complex<R> *)p.roots)[k * q * (p.length / (p.done * p.points))];
    return v;
}

template <class R> __device__ void store(const FftPass &p, const Line &line, unsigned q, Complex<R> v) {
    unsigned i = line.out_index + q * p.done;
    if (i >= p.out_count) return;
    long long at = line.out_at + i * p.out_stride;
    if (p.out_factors) v = v * conjugate_if(true, ((const Complex<R> *)p.out_factors)[i]);
    if (p.out_form == FFT_REAL) ((R *)p.out)[at] = v.x;
    else ((Complex<R> *)p.out)[at] = conjugate_if(p.out_conjugated != 0, v);
}

template <class R, int most_points> __device__ __forceinline__ void transform(const FftPass &p) {
    __shared__ Complex<R> room[2][most_points + FFT_LINES];
    __shared__ Line places[FFT_LINES];
    Complex<R> *from = room[0], *to = room[1];
    unsigned first = blockIdx.x * p.lines_per_block, lines = min(p.lines - first, p.lines_per_block);
    unsigned pitch = p.points | 1; /* odd, so that a point of all lines is in different banks */
    if (threadIdx.x < lines) places[threadIdx.x] = find_line(p, first + threadIdx.x);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < lines * p.points; i += blockDim.x) {
        unsigned line = p.in_across ? i % lines : i / p.points, q = p.in_across ? i / lines : i % p.points;
        from[line * pitch + q] = load<R>(p, places[line], q);
    }
    __syncthreads();
    unsigned done = 1;
    for (unsigned factors = p.factors; factors; factors >>= FFT_FACTOR_BITS) {
        unsigned factor = factors & ((1 << FFT_FACTOR_BITS) - 1);
        switch (factor) {
        case 2: combine<2>(p, lines, pitch, done, from, to); break;
        case 3: combine<3>(p, lines, pitch, done, from, to); break;
        case 4: combine<4>(p, lines, pitch, done, from, to); break;
        case 5: combine<5>(p, lines, pitch, done, from, to); break;
        default: combine<7>(p, lines, pitch, done, from, to);
        }
        done *= factor;
        Complex<R> *other = from;
        from = to, to = other;
        __syncthreads();
    }
    for (unsigned i = threadIdx.x; i < lines * p.points; i += blockDim.x) {
        unsigned line = p.out_across ? i % lines : i / p.points, q = p.out_across ? i / lines : i % p.points;
        store(p, places[line], q, from[line * pitch + q]);
    }
}

extern "C" __global__ void fft_f32(const FftPass p) { transform<float, FFT_POINTS>(p); }
extern "C" __global__ void fft_f64(const FftPass p) { transform<double, FFT_POINTS_DOUBLE>(p); }
