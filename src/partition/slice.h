/* One L2 slice: from the request network to the reply network, DRAM aside.
 *
 * A request taken from the network waits in the ROP line, which lets one sector (the unit of L2
 * fills) into the input queue per cycle. In a cycle each of these happens at most once, in this
 * order: the answer of a completed miss goes to the reply queue; a return of DRAM fills its sector;
 * the miss queue gives an access to the queue towards DRAM; the sector at the head of the input
 * queue is looked up; the ROP line gives a sector to the input queue. A sector that is refused
 * stays at the head and blocks. Where lines take their place only when they come (slice_late.c), an
 * answer is what takes it, in the cycle of the return for the first, and the next return waits for
 * the last.
 *
 * Without L2 the sectors go straight to the queue towards DRAM, and its returns to the reply queue.
 * A slice that can do nothing need not be visited before `wake`; the cycles left out change no
 * statistic. Leaves out: banks of L2, a fill port. Source: the GTX 480 model of GPGPU-Sim 4.2 as
 * observed. Cycles are L2 cycles. */
#ifndef TYTO_PARTITION_SLICE_H
#define TYTO_PARTITION_SLICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "cache/mshr.h"
#include "cache/tag_array.h"
#include "partition/environment.h"
#include "partition/remote_l2.h"
#include "partition/ring.h"
#include "partition/row_sharing.h"
#include "stats/counters.h"

#define SLICE_NO_REQUEST UINT32_MAX /* no handle */
#define SLICE_NO_CTA     UINT32_MAX /* an access that no CTA's data asked for */

/* One sector of a request, waiting to be looked up. */
typedef struct SliceSector {
    uint64_t local;  /* address within the channel */
    uint32_t handle; /* the request */
    uint32_t row;  /* that the request reads, to be noted (row_sharing_key) with its first sector */
    uint8_t index; /* which sector of the request */
    uint8_t op;    /* MemOp */
} SliceSector;

/* A reply packet waiting for the network. */
typedef struct SliceReply {
    uint32_t handle;      /* the request */
    uint32_t dram_cycles; /* cycles that the sector spent in the DRAM controller and beyond */
    uint16_t bytes;       /* of the packet */
} SliceReply;

/* What a slice asks of DRAM. */
typedef struct DramAccess {
    uint64_t address; /* first byte */
    uint32_t token;   /* names what waits: of a read, and of a write for which an MSHR does, the
                         MSHR entry; without L2, and of any other awaited write, the request */
    uint32_t cta;     /* linear index of the CTA that reads, or SLICE_NO_CTA */
    uint16_t bytes;   /* within one row */
    DramRequester requester; /* of the request, or of the first of those that wait for it */
    bool is_write;           /* nothing comes back ... */
    bool is_awaited;         /* ... but that it is done */
    bool is_atomic;          /* a read whose result is written as soon as it is there */
    bool is_store;           /* a store as an SM sent it */
} DramAccess;

/* How long data were under way from the DRAM controller's door back to it. */
typedef struct DramTimes {
    uint64_t entered;     /* cycle at which the access entered the controller */
    uint32_t cycles;      /* from then to the data's return */
    uint32_t queue_ticks; /* waiting in the controller */
    uint32_t dram_ticks;  /* in the banks and on the bus */
} DramTimes;

/* Data that have come back. */
typedef struct DramReturn {
    uint64_t address; /* first byte */
    DramTimes times;
    uint32_t token;   /* as in the access */
    bool is_prefetch; /* a prefetch, with no waiting request */
    bool is_write;    /* no data: a write is done */
} DramReturn;

/* An MSHR entry's line, and the times of the fill that completed it. */
typedef struct SliceFill {
    DramTimes times;
    int32_t place; /* of the line in the tag array; TAG_NONE: it takes one when it has come */
    uint8_t mask;  /* bit of the sector that is fetched */
} SliceFill;

/* What a write does, by the write and allocation policies of the cache. */
typedef struct WriteRule {
    bool allocates;  /* a miss takes a line */
    bool is_beside;  /* ... which is fetched in parallel with the write, which goes to DRAM */
    bool fetches;    /* a miss in part of a sector waits for the rest of it */
    bool passes_on;  /* every write goes to DRAM; else only those that may not take a line */
    bool drops_line; /* a hit gives its line up */
} WriteRule;

/* A sector that a program wants in L2, with no waiting request. */
typedef struct SliceHinted {
    uint64_t address; /* first byte */
    uint64_t local;   /* address within the channel */
    uint8_t priority; /* CachePriority */
} SliceHinted;

/* What passes between a slice and its counterpart in the other half (partition/remote_l2.h). */
typedef struct SliceFarMessage {
    SliceSector sector;
    DramTimes times; /* of an answer: its part in DRAM */
    uint64_t ready;  /* cycle from which it can be taken */
} SliceFarMessage;

typedef struct SliceFar {
    struct Slice *peer;   /* the counterpart */
    uint64_t *peer_wake;  /* Partition.wake_cycle of the counterpart's */
    RemoteL2Link *link;   /* that leads there */
    uint32_t reads;       /* of this slice's that have no answer yet; each has an MSHR */
    uint32_t read_limit;  /* most of them */
    uint32_t passing;     /* writes and atomics that have none */
    bool is_remote_first; /* whose turn at the tags it is: the counterpart's or the network's */
    Ring requests;        /* from the counterpart ... */
    Ring answers;         /* ... in two queues */
    SliceFarMessage *request_messages;
    SliceFarMessage *answer_messages;
} SliceFar;

typedef struct Slice {
    /* Whether to visit it, and what each visit looks at: two lines of the host's caches. */
    _Alignas(64) uint64_t wake; /* nothing can happen earlier, unless a queue's other end moves */
    uint64_t worked;            /* last cycle worked through */
    uint64_t port_free;         /* cycle from which the data port is free */
    Ring replies, input;
    bool is_refused;      /* the input's head was refused, and nothing has changed since */
    bool counts_refusals; /* and is refused again every cycle, asleep or not */
    bool has_moved_dram; /* gave DRAM an access or freed a full return queue; the owner clears it */
    bool is_watched;     /* somebody asks what each access found */
    bool has_tags;       /* and its lines matter: L2 is not perfect */
    bool is_plain;       /* has tags and no other half: nearly every machine's ... */
    bool is_simple;      /* ... takes no hints and may sleep: most machines' */
    bool never_sleeps;   /* as in the environment */

    Ring from_dram, misses, to_dram;
    uint64_t last_atomic; /* address within the channel of the sector that the last one changed */
    Ring write_backs;     /* towards DRAM, ahead of to_dram; of slices that write back first */
    uint64_t rop_ready; /* cycle at which the ROP line's first may leave; UINT64_MAX: none waits */
    uint32_t node;      /* of both networks */
    uint32_t take_room; /* free input places needed to take a packet */

    /* What lookups and replies use. */
    Mshr mshr;
    MemRequest **pools; /* of the environment */

    TagHint hint; /* of the last lookup */
    SliceSector *input_sectors;
    SliceReply *reply_packets;
    Counters *counters;       /* of this slice, the partition's */
    uint32_t l2_sector_bytes; /* of a sector */
    uint32_t sector_bits;     /* bit per sector of a sector, the line's first */
    uint32_t sector_cycles;   /* of the data port, to move a sector */
    uint32_t header_bytes;    /* of a packet */
    uint32_t reply_bytes;     /* of a packet with data for an SM */
    SliceFar *far;            /* NULL: L2 is one */

    TagArray tags;

    /* The ROP line: requests linked by MemRequest.next. */
    uint32_t rop_first, rop_last; /* handles, or SLICE_NO_REQUEST */
    uint32_t rop_sectors;         /* sectors of the first that are still in the line */
    uint32_t rop_row;             /* SliceSector.row of the first's next sector */
    uint64_t rop_local;           /* address within the channel of the first's sector 0 */
    uint8_t rop_op;               /* MemOp of the first */
    bool has_l2;                  /* as in the environment */
    bool acknowledges_late;       /* as in the configuration */
    bool takes_hints;        /* as in the environment; else `hinted` and its sectors are empty */
    WriteRule write;         /* what a write does */
    uint32_t rop_latency;    /* from the network to the input queue, L2's own latency included */
    uint32_t read_limit;     /* a read may miss while at most this many accesses are in the miss
                                queue */
    uint32_t write_limit;    /* the same for a write */
    uint32_t beside_limit;   /* the same for a write whose line is fetched in parallel */
    uint32_t port_bytes;     /* that the data port moves a cycle */
    bool port_moves_victims; /* PartitionConfig */
    bool allocates_on_fill;  /* a line takes its place when it has come (l2.allocate) */
    bool store_mshrs;        /* PartitionConfig */
    bool writes_back_first;  /* PartitionConfig.write_backs_first */
    RowSharing rows;         /* CTAs whose reads came here; without rows where they are not
                                counted */
    const PartitionEnvironment *environment;
    DramAccess *miss_accesses;
    DramAccess *dram_accesses;
    DramAccess *back_accesses; /* of write_backs; NULL where there are none */
    DramReturn *dram_returns;
    SliceFill *fills; /* by MSHR entry */
    Ring hinted;
    SliceHinted *hinted_sectors;
    SetCounts *sets; /* what each set of L2 counts, borrowed; NULL: not counted */
} Slice;

/* An empty slice; `environment` and `counters` are borrowed, the rest is owned by `arena`. `index`
 * is the slice's number within its channel. */
void slice_init(Slice *slice, const PartitionEnvironment *environment, uint32_t index,
                Counters *counters, Arena *arena);

/* Whether the slice would take a packet from the network. */
static inline bool slice_can_take(const Slice *slice) {
    return ring_room(&slice->input) >= slice->take_room;
}

/* Takes the request from the network; slice_can_take must hold. */
void slice_take(Slice *slice, uint64_t cycle, uint32_t handle);

/* One cycle. Cycles must rise from call to call; those before `wake` may be left out. (Not inlined:
 * the compiler would otherwise compute the slice's address again for each of its fields.) */
__attribute__((noinline)) void slice_cycle(Slice *slice, uint64_t cycle);

/* Something outside has made room or brought data: the slice must be visited in its next cycle. */
static inline void slice_rouse(Slice *slice) { slice->wake = 0; }
/* The same if it `has`: in so few of all calls, and so irregularly, that a branch costs more. */
static inline void slice_rouse_if(Slice *slice, bool has) { slice->wake &= (uint64_t)has - 1; }

/* The oldest reply leaves; there must be one. Writes the request's time split. */
void slice_pop_reply(Slice *slice, uint64_t cycle);

/* Data come back; from_dram must have room. */
void slice_push_return(Slice *slice, const DramReturn *data);
/* Whether what a prefetch of the address would bring is there or under way. */
bool slice_has(const Slice *slice, uint64_t local);

/* Whether an access waits for DRAM. */
static inline bool slice_has_access(const Slice *slice) {
    return (slice->to_dram.count | slice->write_backs.count) != 0;
}
/* The next access leaves for DRAM; there must be one. */
DramAccess slice_pop_access(Slice *slice);

/* Counts what sleeping has left uncounted, up to and not including `cycle`. */
void slice_settle(Slice *slice, uint64_t cycle);

/* Installs the sector at `local` (where L2 has tags) as valid and clean, as a copy from the host
 * does. */
void slice_install(Slice *slice, uint64_t local);

/* Makes two slices counterparts of each other in an L2 of two halves; `link` leads from the first
 * to the second, `wake` is the cycle before which the second's owner does not visit it. */
void slice_join(Slice *slice, Slice *peer, RemoteL2Link *link, uint64_t *peer_wake, Arena *arena);

/* How many lines of a set may persist; and those that do are normal ones from now on. */
void slice_set_aside(Slice *slice, uint32_t ways);
void slice_forget_persisting(Slice *slice);

/* Drops every line and counts a write-back for each dirty one. Nothing may be pending except
 * fetches without a waiting request, whose lines stay. */
void slice_flush(Slice *slice);

#endif
