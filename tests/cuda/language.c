/* CPU references for the kernels about language features: templates, structs, calls, pointers. */
#include "kernel_test.h"

#include <stdlib.h>
#include <string.h>

static uint64_t power(uint64_t base, unsigned exponent, uint64_t mask) {
    uint64_t result = 1;
    for (unsigned i = 0; i < exponent; i++)
        result = result * base & mask;
    return result;
}

static void templates(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        uint32_t x = in.words[i];
        /* The last three of five pushed values, as 16-bit sums. */
        uint16_t sum = (uint16_t)((uint16_t)(x + 2) + (uint16_t)(x + 3) + (uint16_t)(x + 4));
        int8_t narrow = (int8_t)power((uint8_t)x, 3, UINT64_MAX);
        out.words[i] = sum + (uint32_t)(power(x, 5, UINT64_MAX) >> 32) + 5040u + (uint32_t)narrow +
                       (uint32_t)power(x, 3, UINT32_MAX);
    }
}

typedef struct Odd {
    signed char name[7];
    short s;
} Odd;
typedef struct Mixed {
    signed char a;
    double b;
    short c;
    float d[3];
} Mixed;
typedef struct Aligned {
    _Alignas(16) int v[4];
} Aligned;
typedef struct Large {
    unsigned words[40];
} Large;

static bool struct_by_value(Session *session) {
    enum { THREADS = 80 };
    signed char tiny = -3;
    Odd odd = {{1, -2, 3, -4, 5, -6, 7}, -1234};
    unsigned short between = 60000;
    Mixed mixed = {9, 1e6 + 0.25, -7, {0.5f, 1.5f, -2.5f}};
    unsigned char flag = 200;
    Aligned aligned = {{100000, -200000, 300000, -400000}};
    Large large;
    for (unsigned i = 0; i < 40; i++)
        large.words[i] = i * 100000007u;
    double got[THREADS] = {0}, expected[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        double sum = tiny + odd.name[i % 7] + odd.s + between + mixed.a + mixed.b + mixed.c;
        expected[i] =
            sum + ((double)mixed.d[i % 3] + flag + aligned.v[i % 4] + large.words[i % 40]);
    }
    CUdeviceptr out = session_upload(got, sizeof got);
    void *parameters[] = {&tiny, &odd, &between, &mixed, &flag, &aligned, &large, &out};
    session_check(session_launch(session, &(Shape){.block = {THREADS}}, parameters),
                  "struct_by_value");
    session_download(got, out, sizeof got);
    session_free(out);
    return session_compare(session, (Elements){KIND_DOUBLES, THREADS}, (Data){.doubles = got},
                           (Data){.doubles = expected}, 1e-15);
}

static void struct_return(Data in, Data out, unsigned n) {
    for (unsigned m = 0; m < n / 9; m++) {
        const uint32_t *a = in.words + 9 * m;
        for (unsigned i = 0; i < 9; i++)
            for (unsigned k = 0; k < 3; k++)
                out.words[9 * m + i] += a[i / 3 * 3 + k] * a[i % 3 * 3 + k];
    }
}

static void noinline_calls(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        uint32_t x = in.words[i], result = 0, divisor = (x & 63) + 1;
        for (unsigned k = 0; k < (x & 7); k++) {
            uint8_t byte = (uint8_t)(x >> k);
            result += (uint8_t)(byte << k | byte >> (8 - k) % 8);
            int32_t scaled = (int16_t)((int16_t)x * ((int)k - 3));
            if (x >> k & 1) result += (uint32_t)scaled;
        }
        result ^= x / divisor * 31 + x % divisor;
        result += x & 16 ? x & 1023 : x / 2;
        out.words[i] = result;
    }
}

static void recursion(Data in, Data out, unsigned n) {
    static const uint32_t fibonacci[12] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
    for (unsigned i = 0; i < n; i++) {
        /* even(0) = 1, even(k) = 2 odd(k - 1); odd(0) = 3, odd(k) = 5 + even(k - 1). */
        uint32_t even = 1, odd = 3, digits[16];
        for (unsigned k = 0; k < in.words[i] % 9; k++) {
            uint32_t next_even = 2 * odd;
            odd = 5 + even;
            even = next_even;
        }
        for (unsigned k = 0; k < 16; k++)
            digits[k] = in.words[i] >> (2 * k) & 3;
        for (unsigned count = 16; count > 1; count /= 2)
            for (unsigned k = 0; k < count / 2; k++)
                digits[k] = digits[2 * k] * 3 + digits[2 * k + 1];
        out.words[i] = fibonacci[in.words[i] % 12] + even + digits[0];
    }
}

static void virtual_functions(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        uint32_t x = in.words[i] % 100;
        uint32_t described[3] = {x * x * 16 + 4, x * 7 / 2 * 16 + 3,
                                 ((x + 1) * (x + 1) - 1) * 16 + 8};
        out.words[i] = described[in.words[i] % 3];
    }
}

static uint32_t operate(unsigned operation, uint32_t a, uint32_t b) {
    switch (operation) {
    case 0: return a + b;
    case 1: return a * b;
    case 2: return a ^ b;
    default: return a << (b & 31) | a >> ((32 - b) & 31);
    }
}

static void function_pointers(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        uint32_t x = in.words[i], result = operate(x & 3, x, i);
        result = operate(x >> 2 & 1 ? 2 : 3, result, x);
        result = operate(x >> 3 & 3, result, x | 1);
        out.words[i] = operate(x >> 3 & 3, result, x | 1);
    }
}

static void lambdas(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        uint32_t x = in.words[i], weighted = 0, best = 0;
        for (unsigned bit = 0; bit < 32; bit++)
            weighted += (x >> bit & 1) * bit * bit;
        for (unsigned k = 1; k < 10; k++)
            if (x * (k + 1) % 101 < x * (best + 1) % 101) best = k;
        out.words[i] = weighted * 16 + best;
    }
}

static uint32_t reverse_bits(uint32_t x) {
    uint32_t reversed = 0;
    for (unsigned bit = 0; bit < 32; bit++)
        reversed |= (x >> bit & 1) << (31 - bit);
    return reversed;
}

static void switch_table(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        uint32_t x = in.words[i], sum = 0;
        for (unsigned step = 0; step < 6; step++) {
            unsigned digit = x >> (4 * step) & 15;
            if (digit == 0) sum += in.words[(i + 1) % n];
            else if (digit == 1) sum ^= x * 3;
            else if (digit == 2) sum = sum << 3 | sum >> 29;
            else if (digit == 3) sum = sum - x + step * step;
            else if (digit == 4) sum += step * step;
            else if (digit == 5) sum /= 3;
            else if (digit == 6) sum = ~sum;
            else if (digit == 7) sum %= 1000003;
            else if (digit == 8) sum += (uint32_t)__builtin_popcount(sum);
            else if (digit == 9) sum *= sum;
            else if (digit == 10) sum = reverse_bits(sum);
            else if (digit == 12) step++;
            else if (digit == 13) break;
            else sum++;
        }
        out.words[i] = sum;
    }
}

static int compare_words(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void local_array(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        uint32_t values[12], words[4];
        unsigned char bytes[16];
        for (unsigned k = 0; k < 12; k++)
            values[k] = in.words[(i * 5 + k) % n];
        qsort(values, 12, sizeof *values, compare_words);
        for (unsigned k = 0; k < 16; k++)
            bytes[(k * 7 + in.words[i]) % 16] = (unsigned char)(k * 11);
        memcpy(words, bytes, sizeof words);
        out.words[i] = values[in.words[i] % 12] ^ words[i % 4];
    }
}

/* The low `width` bits of `value`, as a signed number. */
static int64_t sign_extend(uint64_t value, unsigned width) {
    uint64_t sign = (uint64_t)1 << (width - 1);
    return (int64_t)(((value & (2 * sign - 1)) ^ sign) - sign);
}

static void bitfields(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        uint32_t x = in.words[i];
        uint64_t far = (uint64_t)x * (uint64_t)-77777;
        uint32_t first = (x & 31) | (x >> 3 & 511) << 5 | (x >> 7) << 14;
        uint64_t second = (far & 0xffffffffffu) | (uint64_t)(x >> 5) << 40;
        int64_t signs = sign_extend(x >> 3, 9) + (sign_extend(far, 40) >> 20);
        out.words[i] =
            first ^ (uint32_t)second * 5 ^ (uint32_t)(second >> 32) * 7 ^ (uint32_t)signs;
    }
}

static void int128(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n / 4; i++) {
        const uint64_t *words = in.longs + 4 * i;
        unsigned __int128 a = (unsigned __int128)words[0] << 64 | words[1];
        unsigned __int128 b = (unsigned __int128)words[2] << 64 | words[3];
        unsigned shift = (unsigned)words[0] & 127;
        unsigned __int128 mixed = ((a + b) * (a - b)) ^ (a >> shift) ^ (b << shift);
        if (a < b) mixed = ~mixed;
        if ((__int128)a < (__int128)b) mixed += (unsigned __int128)((__int128)a >> 70);
        out.longs[4 * i] = (uint64_t)(mixed >> 64);
        out.longs[4 * i + 1] = (uint64_t)mixed;
        out.longs[4 * i + 2] = (uint64_t)((unsigned __int128)words[0] * words[1] >> 64);
        out.longs[4 * i + 3] = words[2];
    }
}

static void const_tables(Data in, Data out, unsigned n) {
    static const double weights[4] = {1.5, -2.25, 1e10, 0.0};
    static const double biases[4] = {0.25, -8.0, 3.0, 0.5};
    static const short pairs[4][2] = {{1, -2}, {300, 4}, {-32768, 32767}, {0, 0}};
    static const unsigned char bytes[2][3] = {{1, 2, 3}, {250, 251, 252}};
    for (unsigned i = 0; i < n; i++) {
        uint32_t x = in.words[i], entry = x & 3;
        out.doubles[i] = 'a' + (double)entry + weights[entry] + pairs[entry][x >> 2 & 1] +
                         biases[entry] + bytes[x >> 3 & 1][x % 3];
    }
}

static void global_pointers(Data in, Data out, unsigned n) {
    /* Sums of the first nodes of the list 1, 20, 300. */
    static const int sums[5] = {0, 1, 21, 321, 321};
    for (unsigned i = 0; i < n; i++) {
        uint32_t x = in.words[i];
        out.ints[i] =
            sums[x % 5] + 12 + 13 + (x & 1 ? 15 : 10) + 8 + 7 + (int)(x % 3) + (int)(i % 64);
    }
}

static void state_machine(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        uint32_t x = in.words[i], steps = 0, sum = 0;
        bool is_odd = x & 1;
        for (;;) {
            if (is_odd) {
                sum ^= x * 5;
                x = x * 3 + 1;
                if (++steps > 25) break;
                is_odd = x & 4;
            } else {
                sum += x >> 3;
                x = x / 2 + 7;
                if (++steps > 20) break;
                is_odd = !(x & 2);
            }
        }
        out.words[i] = sum + steps;
    }
}

static void indexed_branch(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        uint32_t x = in.words[i];
        out.words[i] = x % 4 == 0 ? x * 2 : x % 4 == 2 ? 0 - x : x;
    }
}

/* Two CTAs of 100 threads over 192 words: the last warps are not full, and some threads are
 * idle. */
#define ROW_OF_WORDS                                                                               \
    .shape = {.grid = {2}, .block = {100}}, .in = {KIND_WORDS, 192}, .out = {KIND_WORDS, 192}

const KernelTest LANGUAGE_TESTS[] = {
    {.name = "templates", ROW_OF_WORDS, .reference = templates},
    {.name = "struct_by_value", .run = struct_by_value},
    {.name = "struct_return", ROW_OF_WORDS, .reference = struct_return},
    {.name = "noinline_calls", ROW_OF_WORDS, .reference = noinline_calls},
    {.name = "recursion", ROW_OF_WORDS, .reference = recursion},
    {.name = "virtual_functions", ROW_OF_WORDS, .reference = virtual_functions},
    {.name = "function_pointers", ROW_OF_WORDS, .reference = function_pointers},
    {.name = "lambdas", ROW_OF_WORDS, .reference = lambdas},
    {.name = "switch_table", ROW_OF_WORDS, .reference = switch_table},
    {.name = "local_array", ROW_OF_WORDS, .reference = local_array},
    {.name = "bitfields", ROW_OF_WORDS, .reference = bitfields},
    {.name = "int128",
     .shape = {.grid = {2}, .block = {32}},
     .in = {KIND_LONGS, 160},
     .out = {KIND_LONGS, 160},
     .reference = int128},
    {.name = "const_tables",
     .shape = {.grid = {2}, .block = {100}},
     .in = {KIND_WORDS, 192},
     .out = {KIND_DOUBLES, 192},
     .tolerance = 1e-15,
     .reference = const_tables},
    {.name = "global_pointers", ROW_OF_WORDS, .reference = global_pointers},
    {.name = "state_machine", ROW_OF_WORDS, .reference = state_machine},
    {.name = "indexed_branch", ROW_OF_WORDS, .reference = indexed_branch},
    {0},
};
