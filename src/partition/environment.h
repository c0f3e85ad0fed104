/* What a memory partition is built from, and the units around it. */
#ifndef TYTO_PARTITION_ENVIRONMENT_H
#define TYTO_PARTITION_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pages.h"
#include "dram/address_map.h"
#include "dram/channel.h"
#include "noc/noc.h"
#include "partition/partition_config.h"
#include "partition/request.h"
#include "stats/sets.h"

/* Everything that is pointed to is borrowed and must outlive the partition. */
typedef struct PartitionEnvironment {
    Pages *pages; /* where it lies; NULL: anywhere */
    const PartitionConfig *config;
    const DramConfig *dram;
    DramBus *bus;            /* command bus that the channel shares with others; NULL: none */
    const AddressMap *map;   /* of the machine */
    Noc *requests, *replies; /* the two networks; the SMs' ports are their first nodes */
    MemRequestPools pools;   /* records of the requests, by SM */
    SetCounts *l2_sets;      /* what each set of its L2 slices counts, one slice after another;
                                NULL: not counted */
    uint64_t slice_bits;   /* bits of an address within the channel that name the slice: left out of
                              L2 sets */
    uint32_t channel;      /* which partition of the machine this is */
    uint32_t first_node;   /* network node of the machine's first L2 slice */
    uint32_t header_bytes; /* of a packet; all there is of an acknowledgement */
    uint32_t reply_header_bytes; /* of a packet with data for an SM; else as header_bytes */
    bool is_l2_perfect;          /* oracle: every lookup hits */
    bool counts_row_sharing;     /* keep the statistics of CTAs that share rows */
    bool never_sleeps;           /* do the work of every cycle and tick, needed or not: for tests */
} PartitionEnvironment;

#endif
