/* What a machine file says about a memory partition: the way from the network through an L2 slice
 * to the channel's DRAM controller and back. Cycles are L2 cycles; queues count requests. */
#ifndef TYTO_PARTITION_PARTITION_CONFIG_H
#define TYTO_PARTITION_PARTITION_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "cache/cache_config.h"

typedef struct PartitionConfig {
    uint32_t slices;      /* L2 slices of a channel, each a network port of its own */
    uint32_t atom_bytes;  /* what a request is split into before L2, and the unit of a DRAM read */
    uint32_t rop_latency; /* cycles from the network to the L2's input queue */
    uint32_t input_queue; /* waiting for L2 */
    uint32_t reply_queue; /* waiting for the reply network */
    uint32_t to_dram_queue;   /* L2 to DRAM */
    uint32_t from_dram_queue; /* DRAM to L2 */
    uint32_t dram_latency;    /* cycles from a slice's queue to the DRAM controller */
    uint32_t dram_credits; /* requests of the channel between L2 and the end of their DRAM access */
    uint32_t port_bytes;   /* data that L2 moves a cycle */
    bool has_l2;           /* false: every request goes to DRAM */
    bool copies_fill_l2;   /* a host-to-device copy leaves its data in L2 */
    bool misplaces_half_lines; /* a defect of GPGPU-Sim 4.2, for comparisons with it: the tags take
                                  a store to the upper half of a line for one to the next line */
    CacheConfig l2;            /* one slice */
} PartitionConfig;

#endif
