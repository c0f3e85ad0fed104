/* The L2 request coalescer (LRC) of a slice: reads of the same sectors by several SMs share one
 * lookup.
 *
 * It is between the request network and the slice, and takes a request per cycle. A read opens an
 * entry and goes on to the slice at once. A later read of the same sectors, by an SM of the same
 * group, joins the entry and goes no further. It may join as long as no reply to the first read has
 * left, the entry has room, and the time window is not over. Each reply of the slice to the first
 * read is then sent to all reads of the entry. A write or an atomic closes the entries whose bytes
 * it may change, so no read gets data that are older than a write that arrived before it. A read
 * that finds no free entry goes on alone.
 *
 * Replies to merged reads do not use the slice. The slice sends one reply per cycle; its copies
 * enter the network in the same cycle if the network has room. So the network's ports limit the
 * copies.
 *
 * Sources. NVIDIA's Nsight Compute documentation, "Metrics Decoder": the unit "processes incoming
 * requests for L2 and tries to coalesce read requests before forwarding them to the L2 cache". The
 * names of its metrics give its place: requests come from the crossbar (lrc__xbar2lrc), sectors
 * from a slice (lrc__lts2lrc). Size, time window and groups are not published. Left out: multicast
 * that a program asks for (sm/agent.h), compression. */
#ifndef TYTO_PARTITION_COALESCER_H
#define TYTO_PARTITION_COALESCER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "partition/coalescer_config.h"
#include "partition/request.h"
#include "stats/counters.h"

/* Reads that share a lookup. */
typedef struct CoalescerEntry {
    uint64_t start, end; /* bytes from the first to behind the last sector */
    uint64_t opened;     /* cycle in which the first read arrived */
    uint32_t *reads;     /* handles: those that joined, by ascending port; the first read is last */
    uint32_t first;      /* handle of the read that the slice serves */
    uint32_t sectors;    /* bit i: the sector at start + i * sector bytes is read */
    uint32_t count;      /* reads */
    uint32_t sent;       /* reads to which the present reply has been sent */
    uint32_t replies;    /* replies still to be sent to each read */
    uint32_t next;       /* next entry of the bucket, or next free entry */
    uint8_t group;       /* of the SMs */
    bool is_open;        /* others may join */
} CoalescerEntry;

/* What a coalescer needs. Everything pointed to is borrowed. */
typedef struct CoalescerEnvironment {
    const CoalescerConfig *config;
    MemRequestPools pools;    /* request records, by SM */
    const uint8_t *sm_groups; /* group of each SM; NULL: all are one group */
    Counters *counters;       /* of the slice; lrc_ counters are added to */
    uint32_t ports;           /* ports of the SMs */
    uint32_t sector_bytes;    /* size of a sector */
} CoalescerEnvironment;

typedef struct Coalescer {
    CoalescerEnvironment environment;
    CoalescerEntry *entries;
    uint32_t *buckets;    /* first entry of each bucket, or no entry */
    uint32_t bucket_mask; /* buckets - 1 */
    uint32_t block_shift; /* log2 of a block of 32 sectors, which no request crosses */
    uint32_t free;        /* first free entry, or no entry */
} Coalescer;

/* Returns an empty coalescer that is owned by `arena`; NULL if the machine has none. */
Coalescer *coalescer_new(const CoalescerEnvironment *environment, Arena *arena);

/* Offers a request that has arrived in `cycle`. Returns true if it is a read that has joined an
 * earlier one; then it is answered together with that one. */
bool coalescer_join(Coalescer *coalescer, uint64_t cycle, uint32_t handle);
/* Notes a request that goes on to the slice in `cycle`: a read opens an entry, any other closes the
 * entries of its bytes. */
void coalescer_pass(Coalescer *coalescer, uint64_t cycle, uint32_t handle);
/* Closes the entries of the bytes of a write or an atomic. */
void coalescer_close(Coalescer *coalescer, const MemRequest *request);

/* The entry whose first read is `handle`, closed, because a reply to it leaves now; NULL if there
 * is none. */
CoalescerEntry *coalescer_reply(const Coalescer *coalescer, uint32_t handle);
/* Notes in `cycle` that the reply has left for reads[sent], which is not the first read. The first
 * read has waited for DRAM for `dram_cycles`. */
void coalescer_sent_copy(const Coalescer *coalescer, CoalescerEntry *entry, uint64_t cycle,
                         uint32_t dram_cycles);
/* Notes that the reply has left for all reads. After the last reply the entry is free. */
void coalescer_end_reply(Coalescer *coalescer, CoalescerEntry *entry);

#endif
