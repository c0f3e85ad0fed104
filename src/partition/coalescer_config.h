/* The settings of an L2 request coalescer (partition/coalescer.h) in a machine file. Cycles are L2
 * cycles. */
#ifndef TYTO_PARTITION_COALESCER_CONFIG_H
#define TYTO_PARTITION_COALESCER_CONFIG_H

#include <stdint.h>

#include "base/parameter.h"

/* The SMs whose reads may share an entry. */
typedef enum CoalescerGroup {
    COALESCER_GROUP_GPC, /* those of one group of SMs (gpu.gpcs) */
    COALESCER_GROUP_ALL, /* all that send to the slice */
    COALESCER_GROUPS,
} CoalescerGroup;

/* clang-format off */
#define COALESCER_PARAMETERS(P, key, at) \
    P(COUNT, key, at, "entries", entries, "", 0, 65536, "0", "L2 request coalescer: reads of a slice that others may join; 0: there is no coalescer") \
    P(COUNT, key, at, "requests", requests, "", 1, 256, "4", "L2 request coalescer: reads that share one lookup, including the first") \
    P(COUNT, key, at, "window", window, "cycles", 0, 100000, "0", "L2 request coalescer: time after the first read in which others may join it; 0: until its reply leaves") \
    P(CHOICE, key, at, "group", group, CoalescerGroup, "gpc", "L2 request coalescer: the SMs whose reads may share a lookup; gpc: those of one group (gpu.gpcs)")
/* clang-format on */

typedef struct CoalescerConfig {
    COALESCER_PARAMETERS(PARAMETER_FIELD, , )
} CoalescerConfig;

#endif
