// Arithmetic on the halves and bytes of words: every function of two words and of one, compared with
// plain arithmetic, lane by lane. Also directed roundings in double precision and of 64-bit integers.
#include "check.h"

#include <algorithm>
#include <vector>

#define TWO_WORDS(ROW)                                                                             \
    ROW(__vadd, a + b) ROW(__vsub, a - b)                                                          \
    ROW(__vaddss, clip(sa + sb)) ROW(__vaddus, std::min(a + b, most))                              \
    ROW(__vsubss, clip(sa - sb)) ROW(__vsubus, std::max(a - b, 0))                                 \
    ROW(__vavgu, (a + b + 1) >> 1) ROW(__vhaddu, (a + b) >> 1)                                     \
    ROW(__vmaxs, std::max(sa, sb)) ROW(__vmaxu, std::max(a, b))                                    \
    ROW(__vmins, std::min(sa, sb)) ROW(__vminu, std::min(a, b))                                    \
    ROW(__vabsdiffs, std::abs(sa - sb)) ROW(__vabsdiffu, std::abs(a - b))                          \
    ROW(__vcmpeq, a == b ? most : 0) ROW(__vcmpne, a != b ? most : 0)                              \
    ROW(__vcmplts, sa < sb ? most : 0) ROW(__vcmpltu, a < b ? most : 0)                            \
    ROW(__vcmples, sa <= sb ? most : 0) ROW(__vcmpleu, a <= b ? most : 0)                          \
    ROW(__vcmpgts, sa > sb ? most : 0) ROW(__vcmpgtu, a > b ? most : 0)                            \
    ROW(__vcmpges, sa >= sb ? most : 0) ROW(__vcmpgeu, a >= b ? most : 0)                          \
    ROW(__vseteq, a == b) ROW(__vsetne, a != b) ROW(__vsetlts, sa < sb) ROW(__vsetltu, a < b)      \
    ROW(__vsetles, sa <= sb) ROW(__vsetleu, a <= b) ROW(__vsetgts, sa > sb) ROW(__vsetgtu, a > b)  \
    ROW(__vsetges, sa >= sb) ROW(__vsetgeu, a >= b)
#define ONE_WORD(ROW)                                                                              \
    ROW(__vabs, std::abs(sa)) ROW(__vabsss, clip(std::abs(sa)))                                    \
    ROW(__vneg, -sa) ROW(__vnegss, clip(-sa))

__global__ void calculate(const unsigned *x, const unsigned *y, unsigned *out, unsigned *sums, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = 0;
    if (i >= count) return;
    unsigned a = x[i], b = y[i];
#define BOTH(name, lane) out[n++ * count + i] = name##2(a, b), out[n++ * count + i] = name##4(a, b);
    TWO_WORDS(BOTH)
#define ALONE(name, lane) out[n++ * count + i] = name##2(a), out[n++ * count + i] = name##4(a);
    ONE_WORD(ALONE)
    sums[i] = __vsads2(a, b);
    sums[count + i] = __vsads4(a, b);
    sums[2 * count + i] = __vsadu2(a, b);
    sums[3 * count + i] = __vsadu4(a, b);
}

template <class F> static unsigned by_lanes(unsigned x, unsigned y, int bits, F f) {
    unsigned out = 0;
    const int most = (1 << bits) - 1;
    for (int at = 0; at < 32; at += bits) {
        int a = (int)(x >> at & (unsigned)most), b = (int)(y >> at & (unsigned)most), sign = 1 << (bits - 1);
        int sa = (a ^ sign) - sign, sb = (b ^ sign) - sign;
        auto clip = [=](int v) { return std::max(-sign, std::min(sign - 1, v)); };
        out |= ((unsigned)f(a, b, sa, sb, most, clip) & (unsigned)most) << at;
    }
    return out;
}

__global__ void round_all(double a, double b, double *out, long long *whole) {
    int n = 0;
#define ROUNDED(r)                                                                                 \
    out[n++] = __dsub_##r(a, b), out[n++] = __ddiv_##r(a, b), out[n++] = __dsqrt_##r(a),           \
    out[n++] = __drcp_##r(b), out[n++] = __fma_##r(a, b, -a), out[n++] = __fsub_##r((float)a, (float)b), \
    out[n++] = __ll2double_##r(0x7ffffffffffffff1ll), out[n++] = __ull2float_##r(0xfffffffffffffff1ull), \
    whole[n] = __double2ll_##r(-a), whole[n + 1] = (long long)__double2ull_##r(a), whole[n + 2] = __double2uint_##r(b), \
    whole[n + 3] = (long long)__float2ull_##r((float)b);
    ROUNDED(rn) ROUNDED(rz) ROUNDED(ru) ROUNDED(rd)
    out[n] = __int2double_rn(-7) + __uint2double_rn(4000000000u);
}

static void test_roundings() {
    const double a = 12345.678901234567, b = 0.3333333333333333;
    double out[33], *d_out;
    long long whole[48], *d_whole;
    CHECK(cudaMalloc(&d_out, sizeof out));
    CHECK(cudaMalloc(&d_whole, sizeof whole));
    round_all<<<1, 1>>>(a, b, d_out, d_whole);
    CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(whole, d_whole, sizeof whole, cudaMemcpyDeviceToHost));
    const long double la = a, lb = b, fa = (float)a, fb = (float)b;
    const long double exact[8] = {la - lb, la / lb, sqrtl(la), 1 / lb, la * lb - la, fa - fb,
                                  9223372036854775793.0L, 18446744073709551601.0L};
    for (int i = 0; i < 8; i++) {
        double nearest = out[i], zero = out[8 + i], up = out[16 + i], down = out[24 + i];
        bool is_single = i == 5 || i == 7;
        EXPECT(down <= exact[i] && up >= exact[i] && std::fabs(zero) <= fabsl(exact[i]));
        EXPECT(zero == (exact[i] > 0 ? down : up) && nearest == (is_single ? (double)(float)exact[i] : (double)exact[i]));
        EXPECT(up == down || up == (is_single ? (double)std::nextafterf((float)down, INFINITY) : std::nextafter(down, INFINITY)));
    }
    const long long wholes[4][4] = {{-12346, 12346, 0, 0}, {-12345, 12345, 0, 0}, {-12345, 12346, 1, 1}, {-12346, 12345, 0, 0}};
    for (int r = 0; r < 4; r++)
        for (int i = 0; i < 4; i++) EXPECT(whole[8 * r + 8 + i] == wholes[r][i]);
    EXPECT(out[32] == 3999999993.0);
}

int main() {
    const int COUNT = 600, FUNCTIONS = 2 * 38;
    const unsigned edges[] = {0, 0x80808080u, 0x7f7f7f7fu, 0xffffffffu, 0x80000001u, 0x7fff8000u, 0x00ff01feu, 0x12345678u};
    std::vector<unsigned> x(COUNT), y(COUNT), out(FUNCTIONS * COUNT), sums(4 * COUNT);
    unsigned random = 41, *d_x, *d_y, *d_out, *d_sums;
    for (int i = 0; i < COUNT; i++) {
        x[i] = i < 64 ? edges[i / 8] : next_random(random) << 12 ^ next_random(random);
        y[i] = i < 64 ? edges[i % 8] : i % 5 ? next_random(random) << 12 ^ next_random(random) : x[i] ^ (next_random(random) & 0xff00u);
    }
    CHECK(cudaMalloc(&d_x, COUNT * 4));
    CHECK(cudaMalloc(&d_y, COUNT * 4));
    CHECK(cudaMalloc(&d_out, out.size() * 4));
    CHECK(cudaMalloc(&d_sums, sums.size() * 4));
    CHECK(cudaMemcpy(d_x, x.data(), COUNT * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_y, y.data(), COUNT * 4, cudaMemcpyHostToDevice));
    calculate<<<(COUNT + 127) / 128, 128>>>(d_x, d_y, d_out, d_sums, COUNT);
    CHECK(cudaMemcpy(out.data(), d_out, out.size() * 4, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(sums.data(), d_sums, sums.size() * 4, cudaMemcpyDeviceToHost));
    int n = 0;
#define EXPECTED(name, lane)                                                                       \
    for (int bits = 16; bits >= 8; bits -= 8, n++)                                                 \
        for (int i = 0; i < COUNT; i++) {                                                          \
            unsigned wanted = by_lanes(x[i], y[i], bits, [](int a, int b, int sa, int sb, int most, auto clip) {  \
                (void)a, (void)b, (void)sa, (void)sb, (void)most, (void)clip;                      \
                return lane;                                                                       \
            });                                                                                    \
            if (out[n * COUNT + i] == wanted) continue;                                            \
            std::printf("%s%d(%08x, %08x) is %08x, not %08x\n", #name, 32 / bits, x[i], y[i], wanted, out[n * COUNT + i]); \
            return 1;                                                                              \
        }
    TWO_WORDS(EXPECTED)
    ONE_WORD(EXPECTED)
    EXPECT(n == FUNCTIONS);
    for (int i = 0; i < COUNT; i++)
        for (int kind = 0; kind < 4; kind++) {
            int bits = kind % 2 ? 8 : 16, sign = 1 << (bits - 1), sum = 0;
            for (int at = 0; at < 32; at += bits) {
                int a = (int)(x[i] >> at) & (2 * sign - 1), b = (int)(y[i] >> at) & (2 * sign - 1);
                sum += kind < 2 ? std::abs((a ^ sign) - (b ^ sign)) : std::abs(a - b);
            }
            EXPECT(sums[kind * COUNT + i] == (unsigned)sum);
        }
    test_roundings();
    return passed();
}
