/* One L2 slice: the path from the request network to the reply network, without DRAM.
 *
 * A request taken from the network waits in the ROP line, which moves one sector (the unit of L2
 * fills) per cycle into the input queue. In a cycle each of these steps happens at most once, in
 * this order: 1. the answer of a completed miss goes to the reply queue; 2. a return from DRAM
 * fills its sector; 3. the miss queue gives an access to the queue towards DRAM; 4. the sector at
 * the head of the input queue is looked up; 5. the ROP line gives a sector to the input queue. A
 * refused sector stays at the head of the queue and blocks it. If lines are allocated on fill
 * (slice_allocate_on_fill.c), a line is placed when its requests are answered. The first of them is
 * answered in the cycle of the return, and the next return waits until the last of them has been
 * answered.
 *
 * Without L2 the sectors go directly to the queue towards DRAM, and its returns go to the reply
 * queue. A slice that can do nothing need not be visited before `wake`; the skipped cycles change
 * no statistic. Not modelled: banks of L2, a fill port. Source: the GTX 480 model of GPGPU-Sim 4.2
 * as observed. Cycles are L2 cycles. */
#ifndef TYTO_PARTITION_SLICE_H
#define TYTO_PARTITION_SLICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "cache/mshr.h"
#include "cache/tag_array.h"
#include "partition/coalescer.h"
#include "partition/environment.h"
#include "partition/remote_l2.h"
#include "partition/ring.h"
#include "partition/row_sharing.h"
#include "stats/counters.h"

#define SLICE_NO_REQUEST UINT32_MAX /* no handle */
#define SLICE_NO_CTA     UINT32_MAX /* an access not made for the data of a CTA */

/* One sector of a request that waits to be looked up. */
typedef struct SliceSector {
    uint64_t local;  /* address within the channel */
    uint32_t handle; /* the request */
    uint32_t row;    /* row_sharing_key of the row read, given with the first sector only */
    uint8_t index;   /* number of the sector in the request */
    uint8_t op;      /* MemOp */
} SliceSector;

/* A reply packet that waits for the network. */
typedef struct SliceReply {
    uint32_t handle;      /* the request */
    uint32_t dram_cycles; /* cycles that the sector spent in the DRAM controller and DRAM */
    uint16_t bytes;       /* size of the packet */
} SliceReply;

/* An access that a slice sends to DRAM. */
typedef struct DramAccess {
    uint64_t address; /* first byte */
    uint32_t token;   /* identifies what waits for it. For a read, and for a write that has an MSHR:
                         the MSHR entry. Without L2, and for any other awaited write: the request */
    uint32_t cta;     /* linear index of the CTA that reads, or SLICE_NO_CTA */
    uint16_t bytes;   /* all within one row */
    DramRequester requester; /* of the request, or of the first of the requests that wait for it */
    bool is_write;           /* no data come back ... */
    bool is_awaited;         /* ... but a notice that the write is done */
    bool is_atomic;          /* a read whose result is written back as soon as it arrives */
    bool is_store;           /* a store as sent by an SM */
} DramAccess;

/* How long an access was in the DRAM controller and DRAM. */
typedef struct DramTimes {
    uint64_t entered;     /* cycle at which the access entered the controller */
    uint32_t cycles;      /* cycles from then until the data came back */
    uint32_t queue_ticks; /* ticks spent waiting in the controller */
    uint32_t dram_ticks;  /* ticks spent in the banks and on the bus */
} DramTimes;

/* Data that came back from DRAM. */
typedef struct DramReturn {
    uint64_t address; /* first byte */
    DramTimes times;
    uint32_t token;   /* as in the access */
    bool is_prefetch; /* data of a prefetch, for which no request waits */
    bool is_write;    /* a write is done; there are no data */
} DramReturn;

/* The line of an MSHR entry, and the times of the fill that completed it. */
typedef struct SliceFill {
    DramTimes times;
    int32_t place; /* of the line in the tag array; TAG_NONE: placed when its data arrive */
    uint8_t mask;  /* bit of the sector being filled */
} SliceFill;

/* What a write does, according to the write and allocation policies of the cache. */
typedef struct WriteRule {
    bool allocates;  /* a miss takes a line */
    bool is_beside;  /* ... which is filled while the write goes to DRAM */
    bool fills;      /* a miss that writes part of a sector waits for the rest of the sector */
    bool passes_on;  /* every write goes to DRAM; else only those that may not take a line */
    bool drops_line; /* a hit invalidates its line */
} WriteRule;

/* A sector that a program wants in L2, without a waiting request. */
typedef struct SliceHinted {
    uint64_t address; /* first byte */
    uint64_t local;   /* address within the channel */
    uint8_t priority; /* CachePriority */
} SliceHinted;

/* What is sent between a slice and its counterpart in the other half (partition/remote_l2.h). */
typedef struct SliceFarMessage {
    SliceSector sector;
    DramTimes times; /* of an answer: the time spent in DRAM */
    uint64_t ready;  /* cycle from which it can be taken */
} SliceFarMessage;

typedef struct SliceFar {
    struct Slice *peer;   /* the counterpart */
    uint64_t *peer_wake;  /* Partition.wake_cycle of the counterpart's partition */
    RemoteL2Link *link;   /* the link to the counterpart */
    uint32_t reads;       /* reads of this slice that wait for an answer; each has an MSHR */
    uint32_t read_limit;  /* maximum of `reads` */
    uint32_t passing;     /* writes and atomics that wait for an answer */
    bool is_remote_first; /* whose turn the next lookup is: true: the counterpart's */
    Ring requests;        /* from the counterpart ... */
    Ring answers;         /* ... in two queues */
    SliceFarMessage *request_messages;
    SliceFarMessage *answer_messages;
} SliceFar;

typedef struct Slice {
    /* Whether to visit the slice, and the fields used at each visit: two cache lines of the
     * host. */
    _Alignas(64) uint64_t wake; /* no earlier event, unless the other end of a queue moves */
    uint64_t worked;            /* last cycle processed */
    uint64_t port_free;         /* cycle from which the data port is free */
    Ring replies, input;
    bool is_refused;      /* the head of the input was refused; nothing has changed since */
    bool counts_refusals; /* ... and is refused again every cycle, even while the slice sleeps */
    bool has_moved_dram; /* gave DRAM an access or freed a full return queue; the owner clears it */
    bool is_watched;     /* the outcome of each access is recorded */
    bool has_tags;       /* there are tags, and L2 is not perfect */
    bool is_plain;       /* has tags and L2 has no halves; true on nearly every machine */
    bool is_simple;      /* plain, without hints, and may sleep; true on most machines */
    bool never_sleeps;   /* as in the environment */

    Ring from_dram, misses, to_dram;
    Coalescer *coalescer; /* in front of the slice; NULL: none */
    uint64_t last_atomic; /* address within the channel of the last atomic's sector */
    Ring write_backs;     /* towards DRAM, ahead of to_dram; only if slices write back first */
    uint64_t rop_ready;   /* cycle at which the head of the ROP line may leave; UINT64_MAX: none */
    uint32_t node;        /* node in both networks */
    uint32_t take_room;   /* free places of the input queue needed to take a packet */

    /* Fields used by lookups and replies. */
    Mshr mshr;
    MemRequest **pools; /* from the environment */

    TagHint hint; /* of the last lookup */
    SliceSector *input_sectors;
    SliceReply *reply_packets;
    Counters *counters;       /* counters of this slice, owned by the partition */
    uint32_t l2_sector_bytes; /* size of a sector */
    uint32_t sector_bits;     /* tag-array bits of one sector, for the first sector of a line */
    uint32_t sector_cycles;   /* cycles for which a sector occupies the data port */
    uint32_t header_bytes;    /* size of a packet header */
    uint32_t reply_bytes;     /* size of a packet with data for an SM */
    SliceFar *far;            /* NULL: L2 has no halves */

    TagArray tags;

    /* The ROP line: requests linked by MemRequest.next. */
    uint32_t rop_first, rop_last; /* handles, or SLICE_NO_REQUEST */
    uint32_t rop_sectors;         /* sectors of the first request that are still in the line */
    uint32_t rop_row;             /* SliceSector.row of the first request's next sector */
    uint64_t rop_local;           /* address within the channel of the first request's sector 0 */
    uint8_t rop_op;               /* MemOp of the first request */
    bool has_l2;                  /* as in the environment */
    bool acknowledges_late;       /* as in the configuration */
    bool takes_hints;             /* as in the environment; if false, `hinted` is unused */
    WriteRule write;              /* what a write does */
    uint32_t rop_latency;    /* cycles from the network to the input queue, L2's latency included */
    uint32_t read_limit;     /* a read may miss while at most this many accesses are in the miss
                                queue */
    uint32_t write_limit;    /* the same for a write */
    uint32_t beside_limit;   /* the same for a write whose line is read in parallel */
    uint32_t port_bytes;     /* bytes per cycle that the data port moves */
    bool port_moves_victims; /* as in PartitionConfig */
    bool allocates_on_fill;  /* a line is placed when its data arrive (l2.allocate: on-fill) */
    bool store_mshrs;        /* as in PartitionConfig */
    bool writes_back_first;  /* PartitionConfig.write_backs_first */
    RowSharing rows;         /* CTAs that read from this slice; without rows if they are not
                                counted */
    const PartitionEnvironment *environment;
    DramAccess *miss_accesses;
    DramAccess *dram_accesses;
    DramAccess *back_accesses; /* of write_backs; NULL if there are none */
    DramReturn *dram_returns;
    SliceFill *fills; /* indexed by MSHR entry */
    Ring hinted;
    SliceHinted *hinted_sectors;
    SetCounts *sets; /* statistics of each set of L2, borrowed; NULL: not counted */
} Slice;

/* Initializes an empty slice. `environment` and `counters` are borrowed, everything else is owned
 * by `arena`. `index` is the slice's number within its channel. */
void slice_init(Slice *slice, const PartitionEnvironment *environment, uint32_t index,
                Counters *counters, Arena *arena);

/* Whether the slice can take a packet from the network. */
static inline bool slice_can_take(const Slice *slice) {
    return ring_room(&slice->input) >= slice->take_room;
}

/* Takes the request from the network. slice_can_take must hold. */
void slice_take(Slice *slice, uint64_t cycle, uint32_t handle);

/* Processes one cycle. Cycles must increase from call to call; those before `wake` may be skipped.
 * (Not inlined, because the compiler would otherwise compute the slice's address again for each of
 * its fields.) */
__attribute__((noinline)) void slice_cycle(Slice *slice, uint64_t cycle);

/* Tells the slice that room or data came from outside, so that it must be visited in its next
 * cycle. */
static inline void slice_rouse(Slice *slice) { slice->wake = 0; }
/* The same, only if `has`. This is rarely and irregularly the case, so a branch would cost more. */
static inline void slice_rouse_if(Slice *slice, bool has) { slice->wake &= (uint64_t)has - 1; }

/* Removes the oldest reply, which must exist. Writes the request's time split. */
void slice_pop_reply(Slice *slice, uint64_t cycle);

/* Hands data back to the slice. from_dram must have room. */
void slice_push_return(Slice *slice, const DramReturn *data);
/* Whether the data that a prefetch of the address would bring are there or in flight. */
bool slice_has(const Slice *slice, uint64_t local);

/* Whether an access waits for DRAM. */
static inline bool slice_has_access(const Slice *slice) {
    return (slice->to_dram.count | slice->write_backs.count) != 0;
}
/* Removes the next access for DRAM, which must exist. */
DramAccess slice_pop_access(Slice *slice);

/* Counts what was not counted while the slice slept, up to `cycle`, exclusive. */
void slice_settle(Slice *slice, uint64_t cycle);

/* Installs the sector at `local` as valid and clean (if L2 has tags), as a copy from the host
 * does. */
void slice_install(Slice *slice, uint64_t local);

/* Makes `peer` the counterpart of `slice` in an L2 with two halves. `link` leads from `slice` to
 * `peer`. The owner of `peer` does not visit it before cycle *peer_wake. */
void slice_join(Slice *slice, Slice *peer, RemoteL2Link *link, uint64_t *peer_wake, Arena *arena);

/* The first sets how many lines of a set may persist. The second turns the lines that persist now
 * into normal ones. */
void slice_set_aside(Slice *slice, uint32_t ways);
void slice_forget_persisting(Slice *slice);

/* Drops every line and counts a write-back for each dirty one. Nothing may be in flight except
 * fills without a waiting request, whose lines stay. */
void slice_flush(Slice *slice);

#endif
