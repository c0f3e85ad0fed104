// Roots of polynomials by interval Newton's method: a class of intervals whose ends are rounded
// outwards, templates in both precisions, a stack in local memory, bounds that are proofs.
#include "check.h"

template <class T> struct Rounded;
template <> struct Rounded<double> {
    static __device__ double add_down(double a, double b) { return __dadd_rd(a, b); }
    static __device__ double add_up(double a, double b) { return __dadd_ru(a, b); }
    static __device__ double mul_down(double a, double b) { return __dmul_rd(a, b); }
    static __device__ double mul_up(double a, double b) { return __dmul_ru(a, b); }
    static __device__ double div_down(double a, double b) { return __ddiv_rd(a, b); }
    static __device__ double div_up(double a, double b) { return __ddiv_ru(a, b); }
};
template <> struct Rounded<float> {
    static __device__ float add_down(float a, float b) { return __fadd_rd(a, b); }
    static __device__ float add_up(float a, float b) { return __fadd_ru(a, b); }
    static __device__ float mul_down(float a, float b) { return __fmul_rd(a, b); }
    static __device__ float mul_up(float a, float b) { return __fmul_ru(a, b); }
    static __device__ float div_down(float a, float b) { return __fdiv_rd(a, b); }
    static __device__ float div_up(float a, float b) { return __fdiv_ru(a, b); }
};

template <class T> __device__ T least(T a, T b) { return a < b ? a : b; }
template <class T> __device__ T most(T a, T b) { return a > b ? a : b; }

template <class T> struct Interval {
    typedef Rounded<T> R;
    T low, high;
    __device__ bool has(T x) const { return low <= x && x <= high; }
    __device__ Interval operator+(Interval b) const { return {R::add_down(low, b.low), R::add_up(high, b.high)}; }
    __device__ Interval operator-(Interval b) const { return {R::add_down(low, -b.high), R::add_up(high, -b.low)}; }
    __device__ Interval operator*(Interval b) const {
        T down = least(least(R::mul_down(low, b.low), R::mul_down(low, b.high)),
                       least(R::mul_down(high, b.low), R::mul_down(high, b.high)));
        T up = most(most(R::mul_up(low, b.low), R::mul_up(low, b.high)), most(R::mul_up(high, b.low), R::mul_up(high, b.high)));
        return {down, up};
    }
    __device__ Interval operator/(Interval b) const { // b without 0
        T down = least(least(R::div_down(low, b.low), R::div_down(low, b.high)),
                       least(R::div_down(high, b.low), R::div_down(high, b.high)));
        T up = most(most(R::div_up(low, b.low), R::div_up(low, b.high)), most(R::div_up(high, b.low), R::div_up(high, b.high)));
        return {down, up};
    }
};

// x (x - a) (x + a) (x - 2) = x^4 - 2 x^3 - a^2 x^2 + 2 a^2 x, and its derivative
template <class T> __device__ Interval<T> value(Interval<T> x, Interval<T> a) {
    Interval<T> two = {2, 2};
    return x * (x - a) * (x + a) * (x - two);
}
template <class T> __device__ Interval<T> slope(Interval<T> x, Interval<T> a) {
    Interval<T> two = {2, 2}, four = {4, 4}, six = {6, 6}, square = a * a;
    return four * x * x * x - six * x * x - two * square * x + two * square;
}

template <class T> __global__ void find(Interval<T> *roots, int *counts, T width) {
    const int ROOM = 40;
    int thread = blockIdx.x * blockDim.x + threadIdx.x, depth = 0, found = 0;
    T parameter = (T)0.5 + (T)thread / 64;
    Interval<T> a = {parameter, parameter}, stack[ROOM];
    stack[depth++] = {(T)-4.03, (T)4.07};
    while (depth) {
        Interval<T> x = stack[--depth];
        if (!value(x, a).has(0)) continue;
        Interval<T> d = slope(x, a);
        T middle = x.low + (x.high - x.low) / 2;
        if (!d.has(0)) {
            Interval<T> m = {middle, middle}, n = m - value(m, a) / d;
            T low = most(n.low, x.low), high = least(n.high, x.high);
            if (low > high) continue;
            bool is_slow = high - low > (x.high - x.low) * (T)0.75;
            x = {low, high};
            middle = x.low + (x.high - x.low) / 2;
            if (x.high - x.low <= width) {
                if (found < 8) roots[thread * 8 + found] = x;
                found++;
                continue;
            }
            if (!is_slow) {
                stack[depth++] = x;
                continue;
            }
        }
        if (x.high - x.low <= width || depth + 2 > ROOM) {
            if (found < 8) roots[thread * 8 + found] = x;
            found++;
            continue;
        }
        stack[depth++] = {x.low, middle};
        stack[depth++] = {middle, x.high};
    }
    counts[thread] = found;
}

template <class T> static void test(T width) {
    const int THREADS = 64;
    static Interval<T> roots[THREADS * 8];
    static int counts[THREADS];
    Interval<T> *d_roots;
    int *d_counts;
    CHECK(cudaMalloc(&d_roots, sizeof roots));
    CHECK(cudaMalloc(&d_counts, sizeof counts));
    find<T><<<2, THREADS / 2>>>(d_roots, d_counts, width);
    CHECK(cudaMemcpy(roots, d_roots, sizeof roots, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(counts, d_counts, sizeof counts, cudaMemcpyDeviceToHost));
    for (int t = 0; t < THREADS; t++) {
        double a = 0.5 + t / 64.0, wanted[] = {0, a, -a, 2};
        EXPECT(counts[t] >= 4 && counts[t] <= 8);
        for (double root : wanted) { // each root is in an interval, and each interval is narrow
            int held = 0;
            for (int i = 0; i < counts[t]; i++) held += roots[t * 8 + i].low <= root && root <= roots[t * 8 + i].high;
            EXPECT(held >= 1);
        }
        for (int i = 0; i < counts[t]; i++) EXPECT(roots[t * 8 + i].high - roots[t * 8 + i].low <= width * 4);
    }
    CHECK(cudaFree(d_roots));
    CHECK(cudaFree(d_counts));
}

int main() {
    test<double>(1e-11);
    test<float>(1e-4f);
    return passed();
}
