/* A channel and the tick to which it has been stepped, for tests. Include after cmocka.h. */
#ifndef TYTO_TESTS_DRAM_DRIVE_H
#define TYTO_TESTS_DRAM_DRIVE_H

#include "devices.h"

typedef struct Bench {
    Arena *arena;
    DramChannel *channel;
    Counters *counters; /* counters of the channel */
    uint64_t tick;      /* the next tick to step */
} Bench;

static inline Bench bench_new(const DramConfig *config) {
    Diag *diag = diag_new();
    bool is_good = dram_config_check(config, diag);
    assert_string_equal(diag_text(diag), "");
    assert_true(is_good);
    diag_free(diag);
    Arena *arena = arena_new();
    Counters *counters = ARENA_NEW(arena, Counters);
    return (Bench){arena, dram_new(config, counters, arena), counters, 0};
}

static inline void bench_free(Bench *bench) { arena_free(bench->arena); }

/* Steps every tick before `tick`. */
static inline void run_to(Bench *bench, uint64_t tick) {
    while (bench->tick < tick)
        dram_step(bench->channel, bench->tick++);
}

static inline uint64_t next_random(uint64_t *seed) {
    *seed ^= *seed << 13, *seed ^= *seed >> 7, *seed ^= *seed << 17;
    return *seed;
}

#endif
