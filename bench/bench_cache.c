/* Speed of the cache primitives: nanoseconds of host time per tag look-up (half of them misses that
 * replace a line) and per MSHR entry that is allocated and drained. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "cache/mshr.h"
#include "cache/tag_array.h"

static double now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static uint64_t next_random(uint64_t *seed) {
    *seed ^= *seed << 13, *seed ^= *seed >> 7, *seed ^= *seed << 17;
    return *seed;
}

enum { ACCESSES = 10000000 };

/* Accesses `factor` times as many lines as fit: 1 always hits, 2 hits about half the time. */
static void measure_tags(const char *name, const TagArrayConfig *config, uint32_t factor) {
    Arena *arena = arena_new();
    TagArray tags;
    tag_array_init(&tags, config, arena);
    uint64_t seed = 42, hits = 0, span = (uint64_t)factor * config->sets * config->ways;
    double begin = now_ns();
    for (int i = 0; i < ACCESSES; i++) {
        uint64_t address = ((next_random(&seed) >> 32) * span >> 32) * config->line_bytes;
        int32_t place;
        if (tag_array_probe(&tags, address, 1, &place) == TAG_HIT) {
            tag_array_touch(&tags, place);
            hits++;
        } else {
            TagEviction gone;
            place = tag_array_reserve(&tags, address, 1, &gone);
            tag_array_fill(&tags, place, 1);
        }
    }
    double ns = now_ns() - begin;
    printf("%-16s %6.2f ns/access   hits %5.1f%%\n", name, ns / ACCESSES,
           100.0 * (double)hits / ACCESSES);
    arena_free(arena);
}

/* A queue of fills under way, each with one merged request. */
static void measure_mshr(uint32_t entries) {
    Arena *arena = arena_new();
    Mshr mshr;
    mshr_init(&mshr, entries, 4, 0, arena);
    uint64_t sum = 0;
    double begin = now_ns();
    for (uint32_t i = 0; i < ACCESSES; i++) {
        int32_t entry = mshr_find(&mshr, (uint64_t)i * 128);
        if (entry == MSHR_NONE) entry = mshr_allocate(&mshr, (uint64_t)i * 128, i);
        mshr_merge(&mshr, entry, i);
        if (!mshr_is_full(&mshr)) continue;
        mshr_complete(&mshr, mshr_find(&mshr, (uint64_t)(i - entries + 1) * 128));
        sum += mshr_pop(&mshr);
        sum += mshr_pop(&mshr);
    }
    double ns = now_ns() - begin;
    printf("mshr %-11u %6.2f ns/fill     (%llu)\n", entries, ns / ACCESSES,
           (unsigned long long)sum);
    arena_free(arena);
}

int main(void) {
    const TagArrayConfig l1d = {
        .sets = 32, .ways = 4, .line_bytes = 128, .set_index = "11..7 ^ 19,17,15..13"};
    const TagArrayConfig l2 = {
        .sets = 64, .ways = 8, .line_bytes = 128, .sector_bytes = 32, .set_index = "13..9,7"};
    const TagArrayConfig wide = {.sets = 512, .ways = 16, .line_bytes = 64};
    measure_tags("4 ways, hits", &l1d, 1);
    measure_tags("4 ways, mixed", &l1d, 2);
    measure_tags("8 ways, mixed", &l2, 2);
    measure_tags("16 ways, hits", &wide, 1);
    measure_tags("16 ways, mixed", &wide, 2);
    measure_mshr(64);
    measure_mshr(256);
    return 0;
}
