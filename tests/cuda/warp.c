/* CPU references for the kernels about the lanes of a warp: shuffles, votes, reductions. */
#include "kernel_test.h"

static void shuffle_modes(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        const uint32_t *warp = in.words + i / 32 * 32;
        unsigned lane = i % 32;
        uint32_t own = warp[lane], *row = out.words + 8 * i;
        row[0] = warp[i * 7 % 32];
        row[1] = lane >= 5 ? warp[lane - 5] : own;
        row[2] = lane + 3 < 32 ? warp[lane + 3] : own;
        row[3] = warp[lane ^ 21];
        row[4] = warp[lane / 8 * 8 + 11 % 8];
        row[5] = lane % 8 >= 2 ? warp[lane - 2] : own;
        row[6] = lane % 16 + 9 < 16 ? warp[lane + 9] : own;
        row[7] = warp[lane ^ 9];
    }
}

static void shuffle_wide(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        unsigned lane = i % 32;
        out.doubles[i] = in.doubles[i ^ 1] * 2.0;
        if (lane & 1) out.doubles[i] += in.doubles[lane < 30 ? i + 2 : i];
        out.doubles[i] += lane >= 4 ? 1000.0 + (i - 4) : i;
    }
}

/* The lanes of thread i's warp whose word has any of the bits in `bits`. */
static uint32_t ballot(Data in, unsigned i, uint32_t bits) {
    uint32_t lanes = 0;
    for (unsigned lane = 0; lane < 32; lane++)
        lanes |= (uint32_t)((in.words[i / 32 * 32 + lane] & bits) != 0) << lane;
    return lanes;
}

static void votes(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        uint32_t *row = out.words + 4 * i, odd = ballot(in, i, 1);
        bool any = false, all = true;
        for (unsigned k = i / 32 * 32; k < i / 32 * 32 + 32; k++) {
            any = any || in.words[k] % 37 == 0;
            all = all && in.words[k] != 0;
        }
        row[0] = ballot(in, i, 4);
        row[1] = (uint32_t)any + 2 * (uint32_t)all;
        row[2] = i / 32 % 2 == 0 || odd == 0 || odd == UINT32_MAX;
        row[3] = i % 32 < 12 ? odd & 0xfff : ~(ballot(in, i, 2) & 0xfffff000u);
    }
}

static void match(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        uint32_t *row = out.words + 4 * i, same = 0, odd = ballot(in, i, 1);
        for (unsigned lane = 0; lane < 32; lane++)
            same |= (uint32_t)(in.words[i / 32 * 32 + lane] % 5 == in.words[i] % 5) << lane;
        row[0] = same;
        row[1] = in.words[i] & 1 ? odd : ~odd;
        /* Random words differ; in even warps all lanes pass the same number. */
        row[2] = i / 32 % 2 ? 0 : UINT32_MAX;
        row[3] = i / 32 % 2 ? 0 : 1;
    }
}

static void activemask(Data in, Data out, unsigned n) {
    (void)in;
    for (unsigned i = 0; i < n; i++)
        out.words[i] = 1;
}

static void warp_scan(Data in, Data out, unsigned n) {
    uint32_t prefix = 0, sum = 0;
    for (unsigned i = 0; i < n; i++) {
        if (i % 32 == 0) {
            prefix = sum = 0;
            for (unsigned k = i; k < i + 32; k++)
                sum += in.words[k] & 255;
        }
        prefix += in.words[i];
        out.words[i] = prefix ^ sum << 20;
    }
}

static void redux(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        const uint32_t *warp = in.words + i / 32 * 32;
        uint32_t *row = out.words + 8 * i, odd_xor = 0;
        uint32_t sum = 0, low = UINT32_MAX, high = 0, all = UINT32_MAX, any = 0;
        int32_t signed_low = INT32_MAX, signed_high = INT32_MIN;
        for (unsigned lane = 0; lane < 32; lane++) {
            uint32_t x = warp[lane];
            sum += x;
            low = x < low ? x : low;
            high = x > high ? x : high;
            signed_low = (int32_t)x < signed_low ? (int32_t)x : signed_low;
            signed_high = (int32_t)x > signed_high ? (int32_t)x : signed_high;
            all &= x | 0xff;
            any |= x & 0xff;
            if (lane % 2) odd_xor ^= x;
        }
        row[0] = sum;
        row[1] = low;
        row[2] = high;
        row[3] = (uint32_t)signed_low;
        row[4] = (uint32_t)signed_high;
        row[5] = all;
        row[6] = any;
        row[7] = i % 2 ? odd_xor : 16;
    }
}

static void warp_aggregate(Data in, Data out, unsigned n) {
    enum { BINS = 8 };
    for (unsigned i = 0; i < n; i++) {
        unsigned bin = in.words[i] % BINS, place = out.words[bin]++;
        out.words[BINS + bin * n + place] = 1;
    }
}

/* Four full warps in two CTAs, and `words_per_thread` words of result for each thread. */
#define ROWS_OF(words_per_thread)                                                                  \
    .shape = {.grid = {2}, .block = {64}}, .in = {KIND_WORDS, 128},                                \
    .out = {KIND_WORDS, 128 * (words_per_thread)}

const KernelTest WARP_TESTS[] = {
    {.name = "shuffle_modes", ROWS_OF(8), .reference = shuffle_modes},
    {.name = "shuffle_wide",
     .shape = {.grid = {2}, .block = {64}},
     .in = {KIND_DOUBLES, 128},
     .out = {KIND_DOUBLES, 128},
     .tolerance = 1e-14,
     .reference = shuffle_wide},
    {.name = "votes", ROWS_OF(4), .reference = votes},
    {.name = "match", ROWS_OF(4), .reference = match},
    {.name = "activemask", ROWS_OF(1), .reference = activemask},
    {.name = "warp_scan", ROWS_OF(1), .reference = warp_scan},
    {.name = "redux", ROWS_OF(8), .reference = redux},
    {.name = "warp_aggregate",
     .shape = {.grid = {2}, .block = {64}},
     .in = {KIND_WORDS, 128},
     .out = {KIND_WORDS, 8 + 8 * 128},
     .reference = warp_aggregate},
    {0},
};
