// C's mathematics on the device and on the host, compared in both precisions, by their C++ names.
#include <cfloat>

#include "check.h"

// Each function of one argument, and the range in which it is tried.
#define FUNCTIONS(ROW)                                                                             \
    ROW(sin, -20, 20)                                                                              \
    ROW(cos, -20, 20) ROW(tan, -1.5, 1.5) ROW(asin, -1, 1) ROW(acos, -1, 1) ROW(atan, -50, 50)     \
        ROW(sinh, -20, 20) ROW(cosh, -20, 20) ROW(tanh, -9, 9) ROW(asinh, -100, 100)               \
            ROW(acosh, 1, 100) ROW(atanh, -0.99, 0.99) ROW(exp, -40, 40) ROW(exp2, -40, 40)        \
                ROW(expm1, -3, 3) ROW(log, 1e-6, 1e6) ROW(log2, 1e-6, 1e6) ROW(log10, 1e-6, 1e6)   \
                    ROW(log1p, -0.9, 10) ROW(sqrt, 0, 1e6) ROW(cbrt, -1e6, 1e6) ROW(erf, -4, 4)    \
                        ROW(erfc, -4, 8) ROW(lgamma, 0.1, 40) ROW(tgamma, 0.1, 20)                 \
                            ROW(fabs, -9, 9) ROW(floor, -9, 9) ROW(ceil, -9, 9) ROW(trunc, -9, 9)  \
                                ROW(round, -9, 9) ROW(rint, -9, 9) ROW(logb, 1e-6, 1e6)

// Each function of two arguments; both are tried in this range.
#define FUNCTIONS_OF_TWO(ROW)                                                                      \
    ROW(atan2, -5, 5)                                                                              \
    ROW(hypot, -5, 5) ROW(pow, 0.1, 9) ROW(fmod, 0.1, 900) ROW(fmin, -5, 5) ROW(fmax, -5, 5)       \
        ROW(fdim, -5, 5) ROW(remainder, 0.1, 900) ROW(copysign, -5, 5)

enum Name {
#define ROW(name, low, high) NAME_##name,
    FUNCTIONS(ROW) FUNCTIONS_OF_TWO(ROW) NAMES
#undef ROW
};

template <class T> __host__ __device__ T compute(int name, T x, T y) {
    switch (name) {
#define ROW(name, low, high)                                                                       \
    case NAME_##name: return name(x);
        FUNCTIONS(ROW)
#undef ROW
#define ROW(name, low, high)                                                                       \
    case NAME_##name: return name(x, y);
        FUNCTIONS_OF_TWO(ROW)
#undef ROW
    }
    return 0;
}

template <class T> __global__ void compute_all(int name, const T *x, const T *y, T *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = compute(name, x[i], y[i]);
}

enum { COUNT = 256 };

template <class T>
int count_wrong(int name, const char *text, double low, double high, double bound) {
    T x[COUNT], y[COUNT], got[COUNT], *d_x, *d_y, *d_out;
    unsigned state = 1;
    for (int i = 0; i < COUNT; i++) {
        x[i] = (T)(low + (high - low) * (next_random(state) / 16777216.0));
        y[i] = (T)(low + (high - low) * (next_random(state) / 16777216.0));
    }
    CHECK(cudaMalloc(&d_x, sizeof x));
    CHECK(cudaMalloc(&d_y, sizeof y));
    CHECK(cudaMalloc(&d_out, sizeof got));
    CHECK(cudaMemcpy(d_x, x, sizeof x, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_y, y, sizeof y, cudaMemcpyHostToDevice));
    compute_all<<<COUNT / 64, 64>>>(name, d_x, d_y, d_out);
    CHECK(cudaMemcpy(got, d_out, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_y));
    CHECK(cudaFree(d_out));
    int wrong = 0;
    for (int i = 0; i < COUNT; i++) {
        double expected = compute<double>(name, x[i], y[i]);
        double error = std::fabs(got[i] - expected);
        if (error <= bound * std::fabs(expected) + bound * 1e-2) continue;
        if (wrong++ == 0)
            std::printf("%s(%.17g, %.17g) is %.17g, not %.17g\n", text, (double)x[i], (double)y[i],
                        (double)got[i], expected);
    }
    return wrong;
}

// What goes through a function and its inverse comes back.
__global__ void go_and_return(double *largest) {
    double p = (threadIdx.x + 0.5) / COUNT, y = 2 * p - 1;
    double off = fmax(fabs(normcdf(normcdfinv(p)) - p), fabs(erf(erfinv(y)) - y));
    off = fmax(off, fabs(erfc(erfcinv(2 * p)) - 2 * p));
    off = fmax(off, 1e-7 * fabs((double)normcdfinvf((float)p) - normcdfinv(p)));
    atomicMax((unsigned long long *)largest, (unsigned long long)__double_as_longlong(off));
}

// The functions of angles for arguments of every size, in both precisions, compared with the
// host's. Also where a function's value is exact, infinite or a zero with a sign.
__global__ void turn_far(double *out) {
    int i = threadIdx.x;
    double x = ldexp(1 + i * 0.0625, 8 * i - 20);
    float y = ldexpf(1 + i * 0.0625f, i - 4);
    double row[] = {sin(x), cos(-x), tan(x), sinf(y), cosf(-y), tanf(-y)};
    for (int k = 0; k < 6; k++)
        out[6 * i + k] = row[k];
}

__global__ void find_exact(double *out, double zero) {
    double infinity = 1 / zero, sine, cosine;
    sincos(-zero, &sine, &cosine);
    double row[] = {sin(-zero),        tan(-zero), sine,         (double)sinf((float)-zero),
                    1 / tgamma(-zero), -0.0,       tgamma(zero), tgamma(infinity),
                    lgamma(-infinity), infinity,   tgamma(1.0),  cosine,
                    lgamma(1 + zero),  zero,       lgamma(2.0),  (double)lgammaf(2.0f)};
    for (int k = 0; k < 16; k++)
        out[k] = row[k];
    out[16] = sin(infinity);
    out[17] = cosf((float)infinity);
}

static void check_far_and_exact() {
    const int angles = 128;
    static double got[6 * angles];
    double *out;
    CHECK(cudaMalloc(&out, sizeof got));
    turn_far<<<1, angles>>>(out);
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < angles; i++) {
        double x = std::ldexp(1 + i * 0.0625, 8 * i - 20), y = std::ldexp(1 + i * 0.0625, i - 4);
        double expected[] = {std::sin(x), std::cos(x), std::tan(x), std::sin(y), std::cos(y), -std::tan(y)};
        for (int k = 0; k < 6; k++) {
            double bound = (k < 3 ? 1e-15 : 5e-7) * std::fabs(expected[k]);
            if (!(std::fabs(got[6 * i + k] - expected[k]) <= bound))
                std::printf("%d of %d: %.17g, not %.17g\n", k, i, got[6 * i + k], expected[k]);
            EXPECT(std::fabs(got[6 * i + k] - expected[k]) <= bound);
        }
    }
    find_exact<<<1, 1>>>(out, 0.0);
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    for (int k = 0; k < 6; k++)
        EXPECT(got[k] == 0 && std::signbit(got[k]));
    for (int k = 6; k < 10; k++)
        EXPECT(std::isinf(got[k]) && got[k] > 0);
    EXPECT(got[10] == 1 && got[11] == 1);
    for (int k = 12; k < 16; k++)
        EXPECT(got[k] == 0);
    EXPECT(std::isnan(got[16]) && std::isnan(got[17]));
}

int main() {
    double *largest, off = 0;
    CHECK(cudaMalloc(&largest, sizeof off));
    CHECK(cudaMemset(largest, 0, sizeof off));
    go_and_return<<<1, COUNT>>>(largest);
    CHECK(cudaMemcpy(&off, largest, sizeof off, cudaMemcpyDeviceToHost));
    EXPECT(off > 0 && off < 1e-13);
    int wrong = 0;
#define ROW(name, low, high)                                                                       \
    wrong += count_wrong<double>(NAME_##name, #name, low, high, 1e-12);                            \
    wrong += count_wrong<float>(NAME_##name, #name "f", low, high, 1e-6);
    FUNCTIONS(ROW)
    FUNCTIONS_OF_TWO(ROW)
#undef ROW
    EXPECT(wrong == 0);
    check_far_and_exact();
    return passed();
}
