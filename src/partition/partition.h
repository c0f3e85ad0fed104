/* One memory partition: the L2 slices of a memory channel, the channel, and the way between them.
 *
 * Towards DRAM, one access per DRAM tick leaves the slices' queues (in turn, the last served goes
 * last) for a delay line, if the controller has room and the slice has a credit; from the line one
 * per tick enters the controller. Data go back to their slice's queue, one per tick. Each slice
 * owns one credit and shares the others; an access holds its credit until its data leave the
 * controller, a write until it has been written.
 *
 * The owner calls, in the order of one step of the machine: partition_dram_tick (DRAM clock),
 * partition_l2_cycle (L2 clock). Cycles and ticks are counted from 0, never restart, and those in
 * which the inline tests below find nothing to do may be left out.
 *
 * docs/partition.md describes the model and its source. */
#ifndef TYTO_PARTITION_PARTITION_H
#define TYTO_PARTITION_PARTITION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bits.h"
#include "dram/channel.h"
#include "partition/environment.h"
#include "partition/row_sharing.h"
#include "partition/slice.h"

enum { PARTITION_MAX_SLICES = 8 };

/* An access between its slice's queue and the end of its DRAM access: it holds a credit. */
typedef struct PartitionAccess {
    DramAccess access;
    uint64_t time;  /* in the delay line: cycle at which it may leave; then: at which it left */
    uint32_t slice; /* of the channel */
    uint32_t next;  /* the next unused record */
} PartitionAccess;

/* A slice's counters: those of a hit in one line of the host's caches. */
typedef struct SliceCounters {
    _Alignas(64) Counters of; /* its l2_ rows */
} SliceCounters;

typedef struct Partition {
    uint64_t wake_cycle;      /* no slice has anything to do or to send before this L2 cycle */
    uint64_t wake_tick;       /* the channel has nothing to do before this tick, ... */
    uint64_t wake_tick_cycle; /* ... unless it comes at or after this L2 cycle */
    uint32_t dram_slices;     /* bit per slice: has accesses for DRAM */
    uint32_t slice_count;
    uint32_t first_node;      /* network node of slices[0] */
    uint64_t node_mask[2];    /* their bits in the two words from `arrivals` on, mostly in one */
    const uint64_t *arrivals; /* in `arrived`, with the first slice's node */
    uint32_t owed;            /* replies still to be sent for the requests taken */
    const uint64_t *arrived;  /* bit per node of the request network: a packet waits */

    uint32_t last_served;                /* slice that DRAM served last */
    uint32_t shared_credits;             /* credits free for all slices */
    uint32_t held[PARTITION_MAX_SLICES]; /* credits of each slice in use */
    PartitionAccess *accesses;           /* one per credit */
    uint32_t free_access;                /* first unused record */
    Ring line;                           /* the delay line: */
    uint32_t *line_accesses;             /* indices into `accesses` */
    DramChannel *channel;
    RowSharing rows;
    Counters counters; /* all but the slices' */
    SliceCounters slice_counters[PARTITION_MAX_SLICES];
    PartitionEnvironment environment;
    DramConfig dram; /* the environment's, with the prefetcher's map filled in */
    Arena *arena;    /* owns everything above and the partition itself */
    Slice slices[PARTITION_MAX_SLICES];
} Partition;

/* What the prefetcher fetches at a time, in bytes: a line of L2; of a line with sectors the part
 * that one burst brings, and at least the sector, which is what L2 fetches. OWL's lines have no
 * sectors. */
uint32_t partition_prefetch_bytes(const PartitionConfig *config, const DramConfig *dram);
/* Completes the settings of the channel's prefetcher, which names lines by the addresses of `map`
 * (borrowed) and does nothing on a machine without L2. */
void partition_set_prefetch(const PartitionConfig *config, const AddressMap *map, DramConfig *dram);

/* An empty partition at cycle 0 and tick 0, freed by partition_free. The configurations must have
 * passed the machine's checks. */
Partition *partition_new(const PartitionEnvironment *environment);
void partition_free(Partition *partition); /* NULL is allowed */

/* Makes the L2 of a machine with two halves out of its partitions, by channel; nothing on others.
 */
void partition_join_halves(Partition *const *partitions, uint32_t count);

/* How many lines of a set of L2 may persist; and those that do are normal ones from now on. */
void partition_set_aside(Partition *partition, uint32_t ways);
void partition_forget_persisting(Partition *partition);

/* The work behind the inline functions of the same names; units of their own in profiles. */
__attribute__((noinline)) void partition_do_dram_tick(Partition *partition, uint64_t tick,
                                                      uint64_t cycle);
__attribute__((noinline)) void partition_do_l2_cycle(Partition *partition, uint64_t cycle);

/* Whether a request packet waits in the network for one of the slices. */
static inline bool partition_has_packets(const Partition *partition) {
    const uint64_t *arrivals = partition->arrivals, *mask = partition->node_mask;
    return arrivals[0] & mask[0] || (mask[1] && arrivals[1] & mask[1]);
}

/* One tick of the channel; `cycle` is the L2 cycle whose clock edge came last, at this tick's time
 * or before it. */
static inline void partition_dram_tick(Partition *partition, uint64_t tick, uint64_t cycle) {
    if ((tick >= partition->wake_tick) | (cycle >= partition->wake_tick_cycle))
        partition_do_dram_tick(partition, tick, cycle);
}

/* One L2 cycle: each slice sends its oldest reply into the reply network, if there is room, takes a
 * packet from the request network, then works. */
static inline void partition_l2_cycle(Partition *partition, uint64_t cycle) {
    if (cycle >= partition->wake_cycle || partition_has_packets(partition))
        partition_do_l2_cycle(partition, cycle);
}

/* Earliest L2 cycle and tick that must not be left out; a past one means the next. The channel also
 * has work at the first tick at or after the L2 cycle told. */
typedef struct PartitionEvents {
    uint64_t cycle; /* L2 cycle; UINT64_MAX: none before a packet or a tick */
    uint64_t tick;  /* DRAM tick; UINT64_MAX: none */
} PartitionEvents;
static inline PartitionEvents partition_next_event(const Partition *partition) {
    PartitionEvents next = {partition->wake_cycle, partition->wake_tick};
    if (partition->wake_tick_cycle < next.cycle) next.cycle = partition->wake_tick_cycle;
    if (partition_has_packets(partition)) next.cycle = 0;
    return next;
}

/* Whether no request inside is owed a reply. Write-backs and prefetches may still be under way. */
static inline bool partition_is_idle(const Partition *partition) { return !partition->owed; }

/* Brings the counters up to, not including, `tick` and `cycle`. */
void partition_settle(Partition *partition, uint64_t tick, uint64_t cycle);
/* Ends a kernel's row sharing statistics: the next kernel numbers its CTAs from the start. */
void partition_close_rows(Partition *partition);
/* A kernel begins: its largest numbers are what there is now. */
void partition_begin_maxima(Partition *partition);
/* The l2_ and dram_ counters since partition_new, maxima since partition_begin_maxima, complete up
 * to the last partition_settle. */
Counters partition_counters(const Partition *partition);
/* Those of one slice. */
static inline const Counters *partition_slice_counters(const Partition *partition, uint32_t slice) {
    return &partition->slice_counters[slice].of;
}
/* Those of the channel's banks, by bank. */
static inline const DramBankCounts *partition_bank_counts(const Partition *partition) {
    return partition->channel->bank_counts;
}

/* What a copy of `bytes` from the host to `address` leaves in the L2s of all partitions of the
 * machine, by channel: each sector valid and clean, in ascending order; lines in its way are lost,
 * dirty or not. Takes no time. Nothing when the machine's copies do not fill L2. */
void partition_fill_from_host(Partition *const *partitions, uint64_t address, uint64_t bytes);

/* Drops all lines of L2. Dirty ones are counted as written back, which takes no time. The partition
 * must be idle. */
void partition_flush_l2(Partition *partition);

#endif
