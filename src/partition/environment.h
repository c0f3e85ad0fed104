/* What a memory partition needs to be built: its configuration and the units around it. */
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

/* Everything pointed to is borrowed and must outlive the partition. */
typedef struct PartitionEnvironment {
    Pages *pages; /* where the partition is allocated; NULL: anywhere */
    const PartitionConfig *config;
    const DramConfig *dram;
    DramBus *bus;            /* command bus shared with other channels; NULL: none */
    const AddressMap *map;   /* map of the machine */
    Noc *requests, *replies; /* the two networks; the first nodes are the SMs' ports */
    MemRequestPools pools;   /* request records, by SM */
    SetCounts *l2_sets;      /* statistics of each set of the partition's L2 slices, one slice after
                                another; NULL: not counted */
    const uint8_t *sm_groups; /* group of each SM, for coalescers; NULL: all are one group */
    uint64_t slice_bits;      /* bits of an address within the channel that determine the slice; not
                                 used for L2 sets */
    uint32_t channel;         /* number of this partition's channel in the machine */
    uint32_t first_node;      /* network node of the machine's first L2 slice */
    uint32_t header_bytes;    /* of a packet; an acknowledgement consists of the header only */
    uint32_t reply_header_bytes; /* of a packet with data for an SM; others: header_bytes */
    bool is_l2_perfect;          /* ideal L2: every lookup hits */
    bool counts_row_sharing;     /* keep the statistics of CTAs that share rows */
    bool never_sleeps;           /* for tests: process every cycle and tick, needed or not */
} PartitionEnvironment;

#endif
