/* CPU references for the control-flow kernels: divergence, barriers, and cooperating CTAs. */
#include "kernel_test.h"

#include <stdlib.h>

static void divergent_loops(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        uint32_t x = in.words[i] | 1, steps = 0;
        bool has_returned = false;
        while (x != 1 && steps < 200) {
            steps++;
            has_returned = x % 97 == 5;
            if (has_returned) break;
            if (x % 2 == 0) {
                x /= 2;
            } else {
                x = 3 * x + 1;
                if (x > 0xf0000000u) break;
            }
        }
        /* At least once, then up to a multiple of 7. */
        steps += 3;
        while (steps % 7)
            steps += 3;
        out.words[i] = has_returned ? 77 : steps * 1000 + x % 1000;
    }
}

static uint32_t mark_row(Data in, unsigned n, unsigned i, unsigned row, uint32_t mark) {
    uint32_t x = in.words[i];
    for (unsigned column = row; column < 8; column++) {
        bool is_pair = (x >> column & 3) == 2;
        if (is_pair && (column > 4 || in.words[(i + column) % n] % 2)) {
            mark = mark * 5 + column;
            if (mark % 11 == 3) return mark;
        } else if (x >> (column + 8) & 1 || mark & 1) {
            mark ^= x << column;
        } else {
            mark += row ? in.words[(i + row) % n] : 1;
        }
    }
    return mark;
}

static void nested_divergence(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        uint32_t x = in.words[i], mark = 0;
        for (unsigned row = 0; row < (x & 7); row++) {
            if (x >> row & 1) mark = mark_row(in, n, i, row, mark);
            else mark = x & 16 ? mark + 13 : mark / 3;
        }
        out.words[i] = mark;
    }
}

static void early_exit(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        const uint32_t *cta = in.words + i / 128 * 128;
        unsigned thread = i % 128, lane = thread % 32, next = thread / 32 * 32 + (lane + 1) % 20;
        if (thread >= 96) continue;
        out.words[i] = lane >= 20 ? cta[thread] + 1 : cta[127 - next];
    }
}

static void barrier_loop(Data in, Data out, unsigned n) {
    for (unsigned first = 0; first < n; first += 128) {
        uint32_t before[128], *now = out.words + first;
        for (unsigned t = 0; t < 128; t++)
            now[t] = in.words[first + t] % 4096;
        for (unsigned step = 0; step < 3 + 2 * (first / 128); step++) {
            for (unsigned t = 0; t < 128; t++)
                before[t] = now[t];
            for (unsigned t = 0; t < 128; t++)
                now[t] = (before[(t + 127) % 128] + 2 * before[t] + before[(t + 1) % 128]) / 4;
        }
    }
}

static void barrier_reductions(Data in, Data out, unsigned n) {
    enum { THREADS = 80 };
    for (unsigned cta = 0; cta < n / THREADS; cta++) {
        const uint32_t *words = in.words + cta * THREADS;
        uint32_t count = 0, any = 0;
        for (unsigned t = 0; t < THREADS; t++) {
            count += words[t] & 1;
            any |= words[t] % 512 == cta;
        }
        uint32_t all = cta % 2 || count == THREADS;
        for (unsigned t = 0; t < THREADS; t++)
            out.words[cta * THREADS + t] = count * 4 + all * 2 + any;
    }
}

static void named_barriers(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        out.words[i] = in.words[i / 64 * 64 + 63 - i % 64] * (i / 64 % 4 + 1) + 1;
}

static void grid_stride(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        out.words[i] = (in.words[i] * 2654435761u) ^ i;
}

static void last_block(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        out.words[0] += in.words[i];
}

static void lookback_scan(Data in, Data out, unsigned n) {
    uint32_t sum = 0;
    for (unsigned i = 0; i < n; i++)
        out.words[i] = sum += in.words[i];
}

/* Every turn adds the same amount, so the order of the CTAs does not matter. */
static void spin_lock(Data in, Data out, unsigned n) {
    for (unsigned turn = 0; turn < 3 * n; turn++) {
        out.words[1] += out.words[0];
        out.words[0] += in.words[0] % 100;
    }
    out.words[2] = n;
}

static int compare_words(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void bitonic_sort(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        out.words[i] = in.words[i];
    for (unsigned first = 0; first < n; first += 256)
        qsort(out.words + first, 256, sizeof *out.words, compare_words);
}

static void flag_handover(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        out.words[i] = (i ? out.words[i - 1] : 1) * 3 + in.words[i];
        out.words[n + i] = 1;
    }
}

#define WORDS_TO_WORDS(ctas, threads, count)                                                       \
    .shape = {.grid = {ctas}, .block = {threads}}, .in = {KIND_WORDS, count},                      \
    .out = {KIND_WORDS, count}

const KernelTest CONTROL_TESTS[] = {
    {.name = "divergent_loops", WORDS_TO_WORDS(2, 100, 192), .reference = divergent_loops},
    {.name = "nested_divergence", WORDS_TO_WORDS(2, 100, 192), .reference = nested_divergence},
    {.name = "early_exit", WORDS_TO_WORDS(2, 128, 256), .reference = early_exit},
    {.name = "barrier_loop", WORDS_TO_WORDS(3, 128, 384), .reference = barrier_loop},
    {.name = "barrier_reductions", WORDS_TO_WORDS(4, 80, 320), .reference = barrier_reductions},
    {.name = "named_barriers", WORDS_TO_WORDS(2, 128, 512), .reference = named_barriers},
    {.name = "grid_stride", WORDS_TO_WORDS(3, 64, 1000), .reference = grid_stride},
    {.name = "last_block",
     .shape = {.grid = {16}, .block = {96}},
     .in = {KIND_WORDS, 3000},
     .out = {KIND_WORDS, 1},
     .reference = last_block},
    {.name = "lookback_scan", WORDS_TO_WORDS(20, 64, 1250), .reference = lookback_scan},
    {.name = "spin_lock",
     .shape = {.grid = {12}, .block = {64}},
     .in = {KIND_WORDS, 12},
     .out = {KIND_WORDS, 3},
     .reference = spin_lock},
    {.name = "bitonic_sort", WORDS_TO_WORDS(2, 128, 512), .reference = bitonic_sort},
    {.name = "flag_handover",
     .shape = {.grid = {24}, .block = {64}},
     .in = {KIND_WORDS, 24},
     .out = {KIND_WORDS, 48},
     .reference = flag_handover},
    {0},
};
