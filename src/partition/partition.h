/* One memory partition: the L2 slices of a memory channel, the channel, and the connection between
 * them.
 *
 * On the way to DRAM, one access per DRAM tick moves from a slice's queue to a delay line, if the
 * controller has room and the slice has a credit. The slices take turns: the one served last goes
 * last. From the delay line, one access per tick enters the controller. Data return to the queue of
 * their slice, one access per tick. Each slice owns one credit, and all slices share the rest. A
 * read holds its credit until its data leave the controller, a write until it has been written.
 *
 * The owner calls, in the order of one step of the machine: partition_dram_tick (DRAM clock),
 * partition_l2_cycle (L2 clock). Cycles and ticks are counted from 0 and never restart. Those for
 * which the inline tests below find nothing to do may be skipped.
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

/* An access that holds a credit: it has left its slice's queue, and its DRAM access is not
 * finished. */
typedef struct PartitionAccess {
    DramAccess access;
    uint64_t
        time; /* in the delay line: cycle at which it may leave; afterwards: at which it left */
    uint32_t slice; /* slice of the channel */
    uint32_t next;  /* next unused record */
} PartitionAccess;

/* Counters of a slice, aligned so that those of a hit share one cache line of the host. */
typedef struct SliceCounters {
    _Alignas(64) Counters of; /* the slice's l2_ counters */
} SliceCounters;

typedef struct Partition {
    uint64_t wake_cycle;      /* no slice has anything to do or to send before this L2 cycle */
    uint64_t wake_tick;       /* the channel has nothing to do before this tick, ... */
    uint64_t wake_tick_cycle; /* ... unless the tick comes at or after this L2 cycle */
    uint32_t dram_slices;     /* one bit per slice: it has accesses for DRAM */
    uint32_t slice_count;
    uint32_t first_node;      /* network node of slices[0] */
    uint64_t node_mask[2];    /* bits of the slices' nodes in the two words starting at `arrivals`,
                                 usually all in one */
    const uint64_t *arrivals; /* the word of `arrived` that contains the first slice's node */
    uint32_t owed;            /* replies still to be sent for the requests taken */
    const uint64_t *arrived;  /* one bit per node of the request network: a packet waits */

    uint32_t last_served;                /* slice that was served last */
    uint32_t shared_credits;             /* free shared credits */
    uint32_t held[PARTITION_MAX_SLICES]; /* credits in use by each slice */
    PartitionAccess *accesses;           /* one record per credit */
    uint32_t free_access;                /* first unused record */
    Ring line;                           /* the delay line: */
    uint32_t *line_accesses;             /* indices into `accesses` */
    DramChannel *channel;
    RowSharing rows;
    Counters counters; /* all counters except those of the slices */
    SliceCounters slice_counters[PARTITION_MAX_SLICES];
    PartitionEnvironment environment;
    DramConfig dram; /* the environment's configuration, with the prefetcher's map filled in */
    Arena *arena;    /* owns everything above and the partition itself */
    Slice slices[PARTITION_MAX_SLICES];
} Partition;

/* Bytes that the prefetcher reads at a time: a line of L2, or, if a line has sectors, the part of
 * it that one burst brings, but at least the sector, which is what L2 reads. The lines in OWL
 * have no sectors. */
uint32_t partition_prefetch_bytes(const PartitionConfig *config, const DramConfig *dram);
/* Completes the settings of the channel's prefetcher. It identifies lines by the addresses of `map`
 * (borrowed) and does nothing on a machine without L2. */
void partition_set_prefetch(const PartitionConfig *config, const AddressMap *map, DramConfig *dram);

/* Returns an empty partition at cycle 0 and tick 0, to be freed with partition_free. The
 * configurations must have passed the machine's checks. */
Partition *partition_new(const PartitionEnvironment *environment);
void partition_free(Partition *partition); /* NULL is allowed */

/* Joins the L2 slices of a machine's partitions, given by channel, into an L2 with two halves. Does
 * nothing if the machine's L2 has no halves. */
void partition_join_halves(Partition *const *partitions, uint32_t count);

/* The first sets how many lines of a set of L2 may persist. The second turns the lines that persist
 * now into normal ones. */
void partition_set_aside(Partition *partition, uint32_t ways);
void partition_forget_persisting(Partition *partition);

/* The work behind the inline functions of the same names. They are separate functions so that
 * profiles show them. */
__attribute__((noinline)) void partition_do_dram_tick(Partition *partition, uint64_t tick,
                                                      uint64_t cycle);
__attribute__((noinline)) void partition_do_l2_cycle(Partition *partition, uint64_t cycle);

/* Whether a request packet waits in the network for one of the slices. */
static inline bool partition_has_packets(const Partition *partition) {
    const uint64_t *arrivals = partition->arrivals, *mask = partition->node_mask;
    return arrivals[0] & mask[0] || (mask[1] && arrivals[1] & mask[1]);
}

/* Processes one tick of the channel. `cycle` is the L2 cycle whose clock edge came last, at or
 * before the time of this tick. */
static inline void partition_dram_tick(Partition *partition, uint64_t tick, uint64_t cycle) {
    if ((tick >= partition->wake_tick) | (cycle >= partition->wake_tick_cycle))
        partition_do_dram_tick(partition, tick, cycle);
}

/* Processes one L2 cycle: each slice sends its oldest reply into the reply network if there is
 * room, takes a packet from the request network, then does its work. */
static inline void partition_l2_cycle(Partition *partition, uint64_t cycle) {
    if (cycle >= partition->wake_cycle || partition_has_packets(partition))
        partition_do_l2_cycle(partition, cycle);
}

/* Earliest L2 cycle and tick that must not be skipped; a value in the past means the next one. The
 * channel also has work at the first tick at or after the given L2 cycle. */
typedef struct PartitionEvents {
    uint64_t cycle; /* L2 cycle; UINT64_MAX: none before a packet arrives or a tick has work */
    uint64_t tick;  /* DRAM tick; UINT64_MAX: none */
} PartitionEvents;
static inline PartitionEvents partition_next_event(const Partition *partition) {
    PartitionEvents next = {partition->wake_cycle, partition->wake_tick};
    if (partition->wake_tick_cycle < next.cycle) next.cycle = partition->wake_tick_cycle;
    if (partition_has_packets(partition)) next.cycle = 0;
    return next;
}

/* Whether all requests received have got their replies. Write-backs and prefetches may still be in
 * flight. */
static inline bool partition_is_idle(const Partition *partition) { return !partition->owed; }

/* Brings the counters up to `tick` and `cycle`, exclusive. */
void partition_settle(Partition *partition, uint64_t tick, uint64_t cycle);
/* Ends a kernel's row sharing statistics, because the next kernel numbers its CTAs from the
 * start. */
void partition_close_rows(Partition *partition);
/* Called when a kernel begins: its maxima start from the current values. */
void partition_begin_maxima(Partition *partition);
/* The l2_ and dram_ counters since partition_new (maxima: since partition_begin_maxima), complete
 * up to the last partition_settle. */
Counters partition_counters(const Partition *partition);
/* The counters of one slice. */
static inline const Counters *partition_slice_counters(const Partition *partition, uint32_t slice) {
    return &partition->slice_counters[slice].of;
}
/* The counters of the channel's banks, by bank. */
static inline const DramBankCounts *partition_bank_counts(const Partition *partition) {
    return partition->channel->bank_counts;
}

/* Puts what a copy of `bytes` from the host to `address` leaves in L2 into the partitions of the
 * machine, which are given by channel: each sector becomes valid and clean, in ascending order.
 * Lines replaced by them are lost, even if dirty. Takes no time. Does nothing if copies do not fill
 * L2 on this machine. */
void partition_fill_from_host(Partition *const *partitions, uint64_t address, uint64_t bytes);

/* Drops all lines of L2. Dirty lines are counted as written back, which takes no time. The
 * partition must be idle. */
void partition_flush_l2(Partition *partition);

#endif
