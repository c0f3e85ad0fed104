/* An L2 in two halves, as NVIDIA has built since the A100, and the communication between them.
 *
 * Half of the slices lie near half of the SMs. Each address has a home, the slice determined by the
 * address map, whose channel holds its data. The counterpart of a slice lies in the other half, at
 * a fixed distance in slice numbers. An SM asks the slice of its own half: the home, or the home's
 * counterpart. If that slice is not the home of the address, it keeps copies of what the SMs of its
 * half have read:
 *   a read    finds the copy, joins a read in flight, or is passed to the home; the answer to a
 *             passed read leaves a copy, as valid as any line and replaced like any other;
 *   a write or an atomic is passed to the home, and drops the copy.
 * A write at the home drops the counterpart's copy at once. Copies are never dirty, so an evicted
 * line is written back only by its home. Each message occupies the link for its share of the
 * bandwidth (one link in each direction for the whole L2) and then takes the link's latency.
 *
 * Deadlocks are impossible: what comes over the link has separate queues with room for everything
 * that can be in flight, and needs only DRAM at its home; and passed reads leave half of the MSHRs
 * to the reads at home.
 *
 * Sources: NVIDIA, "A100 Tensor Core GPU Architecture" ("each L2 partition localizes and caches
 * data for memory accesses from SMs in the GPCs directly connected to the partition"); measurements
 * of gpu-benches (github.com/te42kyfo/gpu-benches), according to which data are kept in both halves
 * up to the size of one half, and are read from DRAM again beyond that. Not modelled: the cost of
 * an invalidation. */
#ifndef TYTO_PARTITION_REMOTE_L2_H
#define TYTO_PARTITION_REMOTE_L2_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "partition/ring.h"

enum {
    REMOTE_L2_HANDLE_BIT = 31, /* bit of a request's handle: its answer goes to the other half */
    REMOTE_L2_PASSING = 64     /* maximum of a slice's writes and atomics on their way */
};

/* Tag bit of a line whose home is in the other half: above every address in a channel. */
#define REMOTE_L2_COPY (UINT64_C(1) << 49)

/* The link from one half to the other. */
typedef struct RemoteL2Link {
    uint64_t moved;     /* bytes moved, or that could have been moved, before the next packet */
    uint32_t bandwidth; /* bytes per cycle */
    uint32_t latency;   /* cycles */
} RemoteL2Link;

/* Returns the cycle in which a packet of `bytes` bytes that enters the link in `cycle` reaches the
 * other end. */
uint64_t remote_l2_send(RemoteL2Link *link, uint64_t cycle, uint32_t bytes);

/* The slice that an SM of `half` asks for data whose home is slice `home`. Each half has
 * `half_slices` slices; 0: L2 has no halves. */
static inline uint32_t remote_l2_near(uint32_t home, uint32_t half_slices, uint32_t half) {
    if (!half_slices || home / half_slices == half) return home;
    return half ? home + half_slices : home - half_slices;
}

#endif
