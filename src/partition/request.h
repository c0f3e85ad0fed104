/* Memory requests: what an SM sends to an L2 slice, or to another SM, and gets replies to.
 *
 * A handle names a request: the sending SM's number and an index in that SM's own pool, so SMs
 * share nothing. Packets in the networks carry the handle alone. A unit that holds a handle reads
 * and writes the record. A read of several sectors (the partition's unit, 32-byte sectors on
 * gtx480) is one packet on the way there and one reply packet per sector on the way back; a write
 * is one packet there and one acknowledgement per sector back. Data do not travel: instructions
 * took effect at issue.
 *
 * Once it is sent, its target alone writes to a record, until the last reply has come. */
#ifndef TYTO_PARTITION_REQUEST_H
#define TYTO_PARTITION_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bits.h"

/* What is at either end of a request. Its source is always an SM, named by the handle; within the
 * SM, MemClient says who sent it. */
typedef enum EndpointKind { ENDPOINT_SLICE, ENDPOINT_SM } EndpointKind;

typedef struct Endpoint {
    uint16_t kind : 2;   /* EndpointKind */
    uint16_t index : 14; /* number of the L2 slice or of the SM, in the whole machine */
} Endpoint;
_Static_assert(sizeof(Endpoint) == 2, "a part of each request");

static inline Endpoint endpoint_slice(uint32_t slice) {
    return (Endpoint){.kind = ENDPOINT_SLICE, .index = slice & 0x3FFF};
}
static inline Endpoint endpoint_sm(uint32_t sm) {
    return (Endpoint){.kind = ENDPOINT_SM, .index = sm & 0x3FFF};
}

typedef enum MemOp { MEM_OP_READ, MEM_OP_WRITE, MEM_OP_ATOMIC } MemOp;

/* What a request of MEM_OP_WRITE asks for that writes nothing. Its acknowledgement comes at once.
 */
typedef enum MemAdvice {
    MEM_ADVICE_NONE,
    MEM_ADVICE_PREFETCH, /* to bring the sector into L2 */
    MEM_ADVICE_RANK,     /* to take the line for a normal one */
    MEM_ADVICE_DISCARD   /* to drop the line without writing it back */
} MemAdvice;

/* Who in the SM waits for the reply. */
typedef enum MemClient {
    MEM_CLIENT_L1I,
    MEM_CLIENT_L1D,
    MEM_CLIENT_L1C,
    MEM_CLIENT_L1T,
    MEM_CLIENT_BYPASS, /* loads past the L1D, and atomics */
    MEM_CLIENT_STORE,  /* acknowledgements */
    MEM_CLIENT_AGENT   /* the SM's first agent (sm/agent.h); further agents follow */
} MemClient;

enum { MEM_NO_WARP = 0xFF }; /* no warp caused the request */

typedef struct MemRequest {
    /* of the first byte of `sectors`' bit 0: aligned to the sender's line or segment */
    uint64_t address;
    uint64_t arrived; /* L2 cycle at which the partition took it from the network */
    uint32_t handle;  /* its own name */
    uint32_t sectors; /* bit i: the sector at address + i * sector bytes is wanted or written */
    uint32_t waiting; /* the sender's: load or warp that waits for the replies; for a cache's line,
                         the bytes from `address` to it */
    uint16_t bytes;  /* what the network packet of a write carries: its sectors, or less than one */
    Endpoint target; /* where it goes */
    uint8_t op;      /* MemOp */
    uint8_t client;  /* MemClient */
    uint8_t warp;    /* of the sender (hardware warp id) that caused it, or MEM_NO_WARP */
    uint32_t cta;    /* linear index of the sender's CTA, for row-sharing statistics */
    uint32_t next;   /* the partition's: handle of the request that arrived after this one */
    uint8_t priority;    /* CachePriority in L2 */
    uint8_t l1_priority; /* and in the sender's cache */
    uint8_t prefetch; /* read: log2 of the bytes around the sector that L2 shall bring too; or 0 */
    uint8_t advice;   /* MemAdvice */
    union {
        /* Write: bit per byte from address on that it writes; both 0: every byte of its sectors.
         * Bytes from the 128th on count as not written. */
        uint64_t written[2];
        /* Read, atomic: where the last reply's time went, in the unit's own cycles; filled by the
         * partition but for the first. */
        struct {
            uint32_t sent; /* SM cycle at which the SM handed it to its port's queue, modulo 2^32 */
            uint32_t l2_cycles;   /* in the partition, DRAM controller and DRAM not counted */
            uint32_t queue_ticks; /* waiting in the DRAM controller */
            uint32_t dram_ticks;  /* in the DRAM itself */
        };
    };
} MemRequest;
_Static_assert(sizeof(MemRequest) == 64, "a request that every unit looks at is one cache line");

enum { MEM_HANDLE_INDEX_BITS = 20 }; /* a million requests of one SM under way */

/* Reply packets that a request gets. */
static inline uint32_t mem_replies(const MemRequest *request) {
    return (uint32_t)bits_count32(request->sectors);
}

static inline uint32_t mem_handle(uint32_t sm, uint32_t index) {
    return sm << MEM_HANDLE_INDEX_BITS | index;
}
static inline uint32_t mem_handle_sm(uint32_t handle) { return handle >> MEM_HANDLE_INDEX_BITS; }
/* The port of an SM; SMs take the `ports` ports in turn. It is the SM's node in both networks. */
static inline uint32_t mem_port(uint32_t sm, uint32_t ports) {
    while (sm >= ports)
        sm -= ports; /* few share one, mostly none: no division */
    return sm;
}
static inline uint32_t mem_handle_index(uint32_t handle) {
    return handle & ((1u << MEM_HANDLE_INDEX_BITS) - 1);
}

/* Where the replies to a request go. */
static inline Endpoint mem_source(uint32_t handle) { return endpoint_sm(mem_handle_sm(handle)); }

/* The node of an endpoint in both networks: the SMs' ports are the first, the L2 slices follow. */
static inline uint32_t endpoint_node(Endpoint endpoint, uint32_t ports) {
    return endpoint.kind == ENDPOINT_SM ? mem_port(endpoint.index, ports) : ports + endpoint.index;
}

/* What L2 found for a request: its lookups, by outcome. */
typedef struct MemOutcome {
    uint32_t hits, pending_hits, misses;
} MemOutcome;

/* The pools of all SMs, by SM number: how a partition finds the record of a handle. */
typedef struct MemRequestPools {
    MemRequest **pools;    /* [sm][index] */
    MemOutcome **outcomes; /* likewise; NULL: not wanted */
} MemRequestPools;

static inline MemRequest *mem_request(const MemRequestPools *pools, uint32_t handle) {
    return &pools->pools[mem_handle_sm(handle)][mem_handle_index(handle)];
}

/* Only where they are asked for. */
static inline MemOutcome *mem_outcome(const MemRequestPools *pools, uint32_t handle) {
    return &pools->outcomes[mem_handle_sm(handle)][mem_handle_index(handle)];
}

#endif
