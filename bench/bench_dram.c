/* Speed of one memory channel: nanoseconds of host time per DRAM tick and per request, under a
 * random load, a stream, and a load that leaves the channel idle most of the time. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "dram/devices.h"

static uint64_t next_random(uint64_t *seed) {
    *seed ^= *seed << 13, *seed ^= *seed >> 7, *seed ^= *seed << 17;
    return *seed;
}

static DramRequest random_request(uint64_t i, uint64_t *seed) {
    uint64_t r = next_random(seed);
    return (DramRequest){.handle = (uint32_t)i,
                         .row = (uint32_t)(r >> 8 & 255),
                         .bank = r & 15,
                         .column = (uint16_t)(r >> 32 & 127) * 32,
                         .bytes = 32,
                         .is_write = (r >> 60 & 3) == 0};
}

static DramRequest stream_request(uint64_t i, uint64_t *seed) {
    (void)seed;
    return (DramRequest){.handle = (uint32_t)i,
                         .row = (uint32_t)(i >> 11 & 0xFFFF),
                         .bank = i >> 3 & 15,
                         .column = (uint16_t)((i & 7) | (i >> 7 & 15) << 3) * 32,
                         .bytes = 32};
}

static void measure(const char *name, DramRequest (*make)(uint64_t, uint64_t *),
                    uint64_t ticks_between) {
    enum { TICKS = 20000000 };
    Arena *arena = arena_new();
    Counters *counters = ARENA_NEW(arena, Counters);
    DramChannel *channel = dram_new(&devices[DEVICE_GTX480].config, counters, arena);
    uint64_t seed = 0x2545F4914F6CDD1Du, sent = 0;
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (uint64_t tick = 0; tick < TICKS; tick++) {
        if (dram_can_accept(channel) && sent * ticks_between <= tick) {
            DramRequest request = make(sent++, &seed);
            dram_push(channel, tick, &request);
        }
        dram_step(channel, tick);
        DramReply reply;
        if (dram_peek_reply(channel)) dram_pop_reply(channel, &reply);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    dram_settle(channel, TICKS);
    double ns = (double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec);
    printf("%-8s %7.2f ns/tick %8.1f ns/request   bus %4.1f%%  row hits %4.1f%%  queue %.1f\n",
           name, ns / TICKS, ns / (double)sent, 100.0 * (double)counters->dram_bus_ticks / TICKS,
           100.0 * (double)counters->dram_row_hits / (double)sent,
           (double)counters->dram_queue_ticks / TICKS);
    arena_free(arena);
}

int main(void) {
    measure("random", random_request, 1);
    measure("stream", stream_request, 1);
    measure("sparse", random_request, 200);
    return 0;
}
