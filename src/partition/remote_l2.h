/* An L2 in two halves, as from NVIDIA's A100 on, and what passes between them.
 *
 * Half of the slices lie near half of the SMs. An address is at home in one slice (the address
 * map's), whose channel has its data; its counterpart, a fixed number of slices further, is the one
 * of the other half. An SM asks the slice of its own half. Where that is not the address's home it
 * keeps copies of what its SMs have read:
 *   a read    finds the copy, joins a read of it under way, or passes to the home and, when the
 *             answer is back, leaves a copy as valid as any line, under the same replacement;
 *   a write or an atomic passes to the home, and drops the copy.
 * A write at home drops the counterpart's copy at once. Copies are never dirty, so that a line that
 * goes is written back by its home alone. What passes takes its share of the link, one in each
 * direction for the whole L2, and then the link's latency.
 *
 * Nothing waits in a circle: what comes over the link has queues of its own with a place for all
 * that can be under way, needs only DRAM at home, and reads that pass leave the other half of the
 * MSHRs to those at home.
 *
 * Sources: NVIDIA, "A100 Tensor Core GPU Architecture" ("each L2 partition localizes and caches
 * data for memory accesses from SMs in the GPCs directly connected to the partition"); measurements
 * of gpu-benches (github.com/te42kyfo/gpu-benches), by which data lie in both halves up to the size
 * of one, and are read from DRAM again beyond. Leaves out: what an invalidation costs. */
#ifndef TYTO_PARTITION_REMOTE_L2_H
#define TYTO_PARTITION_REMOTE_L2_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "partition/ring.h"

enum {
    REMOTE_L2_HANDLE_BIT = 31, /* of a request's handle: its answer goes to the other half */
    REMOTE_L2_PASSING = 64     /* writes and atomics of a slice on their way to its counterpart */
};

/* Of the tag of a line that is at home in the other half: beyond every address in a channel. */
#define REMOTE_L2_COPY (UINT64_C(1) << 49)

/* The link from one half to the other. */
typedef struct RemoteL2Link {
    uint64_t moved;     /* bytes that it has moved, or could have, before the next packet */
    uint32_t bandwidth; /* bytes a cycle */
    uint32_t latency;   /* cycles */
} RemoteL2Link;

/* The cycle in which a packet of `bytes` bytes that enters the link in `cycle` is at its other
 * end. */
uint64_t remote_l2_send(RemoteL2Link *link, uint64_t cycle, uint32_t bytes);

/* The slice that an SM of `half` asks for what is at home in slice `home`; `half_slices` of each
 * half, 0: there is one L2. */
static inline uint32_t remote_l2_near(uint32_t home, uint32_t half_slices, uint32_t half) {
    if (!half_slices || home / half_slices == half) return home;
    return half ? home + half_slices : home - half_slices;
}

#endif
