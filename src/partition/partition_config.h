/* The settings of a memory partition in a machine file: the path from the network through an L2
 * slice to the channel's DRAM controller and back. Cycles are L2 cycles; queue sizes count
 * requests. */
#ifndef TYTO_PARTITION_PARTITION_CONFIG_H
#define TYTO_PARTITION_PARTITION_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/parameter.h"
#include "cache/cache_config.h"
#include "partition/coalescer_config.h"

/* clang-format off */
#define PARTITION_PARAMETERS(P, key, at) \
    P(COUNT, key, at, "slices", slices, "", 1, 8, "2", "L2 slices of a channel, each with a network port") \
    P(BYTES, key, at, "sector", l2_sector_bytes, 16, 256, "32 B", "unit into which requests are split before L2, and unit of a DRAM read") \
    P(COUNT, key, at, "rop_latency", rop_latency, "cycles", 0, 10000, "120", "time from the network to the input queue of L2") \
    P(COUNT, key, at, "input_queue", input_queue, "", 1, 4096, "64", "maximum number of requests waiting for L2") \
    P(COUNT, key, at, "reply_queue", reply_queue, "", 1, 4096, "64", "maximum number of replies waiting for the network") \
    P(COUNT, key, at, "to_dram_queue", to_dram_queue, "", 1, 4096, "64", "maximum number of requests of a slice waiting for DRAM") \
    P(COUNT, key, at, "from_dram_queue", from_dram_queue, "", 1, 4096, "64", "maximum number of replies from DRAM waiting for a slice") \
    P(COUNT, key, at, "dram_latency", dram_latency, "cycles", 0, 10000, "100", "time from a slice's queue to the DRAM controller") \
    P(COUNT, key, at, "dram_credits", dram_credits, "", 1, 65536, "181", "maximum number of requests of a channel between its slices and the end of their DRAM access") \
    P(BOOL, key, at, "acknowledges_late", acknowledges_late, "no", "a store that goes to DRAM is acknowledged when DRAM has written it; no: when it is sent there") \
    P(BYTES, key, at, "port", port_bytes, 8, 1024, "32 B", "amount of data that the data port of L2 moves per cycle") \
    P(BOOL, key, at, "port_moves_victims", port_moves_victims, "no", "a dirty line evicted by a read miss occupies the data port; no: only a line evicted by a store does") \
    P(BOOL, key, at, "write_backs_first", write_backs_first, "no", "lines that L2 writes back go to DRAM ahead of everything that waits in its queues (l2.allocate: on-fill)")

/* Settings of L2 that other caches do not have. */
#define PARTITION_L2_PARAMETERS(P, key, at) \
    P(BOOL, key, at, "enabled", has_l2, "yes", "no: every request goes to DRAM") \
    P(BOOL, key, at, "filled_by_copies", copies_fill_l2, "no", "a host-to-device copy leaves its data in L2") \
    P(BOOL, key, at, "misplaces_half_lines", misplaces_half_lines, "no", "a defect of GPGPU-Sim 4.2, for comparisons with it: a store of exactly the upper half of a line goes to the same place in the next line") \
    P(BOOL, key, at, "store_mshrs", store_mshrs, "no", "a store that misses waits in an MSHR until DRAM has written it; meanwhile another store to its line makes no write, and a read of the line is answered when the write is done (l2.allocate: on-fill)") \
    P(BOOL, key, at, "hints", takes_hints, "no", "eviction priorities (.L2::evict_first, cache policies, windows of launches, ...) and prefetches given by programs have an effect") \
    P(BYTES, key, at, "least_fetch", least_fetch_bytes, 0, 256, "0 B", "hints: minimum amount read by a read miss, aligned; a read then brings in more sectors than it asked for; a power of two") \
    P(BYTES, key, at, "persisting", persisting_bytes, 0, 256 * MIB, "0 B", "hints: maximum part of L2 (all slices together) that a program may set aside for persisting lines (cudaLimitPersistingL2CacheSize)") \
    P(COUNT, key, at, "halves", halves, "", 1, 2, "1", "2: half of the slices lie near half of the SMs, and keep copies of what those SMs read from the other half") \
    P(COUNT, key, at, "far_latency", far_latency, "cycles", 1, 1000, "66", "two halves: time from a slice of one half to a slice of the other") \
    P(BYTES, key, at, "far_link", far_link_bytes, 1, 65536, "1280 B", "two halves: amount of data passed from one half to the other per cycle, in each direction")
/* clang-format on */

typedef struct PartitionConfig {
    PARTITION_PARAMETERS(PARAMETER_FIELD, , )
    PARTITION_L2_PARAMETERS(PARAMETER_FIELD, , )
    CacheConfig l2;            /* configuration of one slice */
    CoalescerConfig coalescer; /* of each slice */
} PartitionConfig;

#endif
