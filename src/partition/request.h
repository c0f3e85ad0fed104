/* Memory requests, which an SM sends to an L2 slice or to another SM and gets replies to.
 *
 * A handle identifies a request. It consists of the sending SM's number and an index in that SM's
 * own pool, so SMs share nothing. Packets in the networks carry only the handle. The unit that
 * holds a handle reads and writes the record. A read of several sectors (the unit used by the
 * partition; 32 bytes on gtx480) is sent as one packet and answered by one reply packet per sector.
 * A write is sent as one packet and answered by one acknowledgement per sector. Data are not
 * transferred, because instructions took effect at issue.
 *
 * Once a request is sent, only its target writes to the record, until the last reply has
 * arrived. */
#ifndef TYTO_PARTITION_REQUEST_H
#define TYTO_PARTITION_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bits.h"

/* What is at either end of a request. The source is always an SM, given by the handle. Within the
 * SM, MemClient says who sent it. */
typedef enum EndpointKind { ENDPOINT_SLICE, ENDPOINT_SM } EndpointKind;

typedef struct Endpoint {
    uint16_t kind : 2;   /* EndpointKind */
    uint16_t index : 14; /* number of the L2 slice or of the SM in the whole machine */
} Endpoint;
_Static_assert(sizeof(Endpoint) == 2, "a part of each request");

static inline Endpoint endpoint_slice(uint32_t slice) {
    return (Endpoint){.kind = ENDPOINT_SLICE, .index = slice & 0x3FFF};
}
static inline Endpoint endpoint_sm(uint32_t sm) {
    return (Endpoint){.kind = ENDPOINT_SM, .index = sm & 0x3FFF};
}

typedef enum MemOp { MEM_OP_READ, MEM_OP_WRITE, MEM_OP_ATOMIC } MemOp;

/* What a request of MEM_OP_WRITE that writes nothing asks for. It is acknowledged at once. */
typedef enum MemAdvice {
    MEM_ADVICE_NONE,
    MEM_ADVICE_PREFETCH, /* bring the sector into L2 */
    MEM_ADVICE_RANK,     /* make the line a normal one */
    MEM_ADVICE_DISCARD   /* drop the line without writing it back */
} MemAdvice;

/* The part of the SM that waits for the reply. */
typedef enum MemClient {
    MEM_CLIENT_L1I,
    MEM_CLIENT_L1D,
    MEM_CLIENT_L1C,
    MEM_CLIENT_L1T,
    MEM_CLIENT_BYPASS, /* loads that bypass the L1D, and atomics */
    MEM_CLIENT_STORE,  /* acknowledgements */
    MEM_CLIENT_AGENT   /* the SM's first agent (sm/agent.h); more agents follow */
} MemClient;

enum { MEM_NO_WARP = 0xFF }; /* no warp caused the request */

typedef struct MemRequest {
    /* address of the first byte of sector 0 of `sectors`, aligned to the sender's line or
     * segment */
    uint64_t address;
    uint64_t arrived; /* L2 cycle at which the partition took it from the network */
    uint32_t handle;  /* its own handle */
    uint32_t sectors; /* bit i: the sector at address + i * sector bytes is read or written */
    uint32_t waiting; /* used by the sender: load or warp that waits for the replies; for a line of
                         a cache, the bytes from `address` to the line */
    uint16_t bytes;   /* bytes carried by the network packet of a write: its sectors, or less than
                         one sector */
    Endpoint target;  /* destination */
    uint8_t op;       /* MemOp */
    uint8_t client;   /* MemClient */
    uint8_t warp;     /* hardware warp of the sender that caused it, or MEM_NO_WARP */
    uint32_t cta;     /* linear index of the sender's CTA, for row-sharing statistics */
    uint32_t next;    /* used by the partition: handle of the request that arrived after this one */
    uint8_t priority; /* CachePriority in L2 */
    uint8_t l1_priority; /* CachePriority in the sender's cache */
    uint8_t prefetch;    /* read: log2 of the size of the block around the sector that L2 shall read
                            as well; or 0 */
    uint8_t advice;      /* MemAdvice */
    union {
        /* Write: one bit per byte, from `address` on, that it writes. Both 0: it writes every byte
         * of its sectors. Bytes from the 128th on count as not written. */
        uint64_t written[2];
        /* Read, atomic: where the time of the last reply was spent, in the cycles of the unit
         * concerned. Filled in by the partition, except the first. */
        struct {
            uint32_t sent; /* SM cycle at which it entered the queue of the SM's port, mod 2^32 */
            uint32_t l2_cycles;   /* in the partition, without DRAM controller and DRAM */
            uint32_t queue_ticks; /* waiting in the DRAM controller */
            uint32_t dram_ticks;  /* in the DRAM itself */
        };
    };
} MemRequest;
_Static_assert(sizeof(MemRequest) == 64, "a request that every unit looks at is one cache line");

enum { MEM_HANDLE_INDEX_BITS = 20 }; /* up to a million requests of one SM in flight */

/* Number of reply packets that a request gets. */
static inline uint32_t mem_replies(const MemRequest *request) {
    return (uint32_t)bits_count32(request->sectors);
}

static inline uint32_t mem_handle(uint32_t sm, uint32_t index) {
    return sm << MEM_HANDLE_INDEX_BITS | index;
}
static inline uint32_t mem_handle_sm(uint32_t handle) { return handle >> MEM_HANDLE_INDEX_BITS; }
/* The port of an SM, which is the SM's node in both networks. The SMs are distributed over the
 * `ports` ports in turn. */
static inline uint32_t mem_port(uint32_t sm, uint32_t ports) {
    while (sm >= ports)
        sm -= ports; /* ports are rarely shared: cheaper than a division */
    return sm;
}
static inline uint32_t mem_handle_index(uint32_t handle) {
    return handle & ((1u << MEM_HANDLE_INDEX_BITS) - 1);
}

/* The endpoint to which the replies to a request go. */
static inline Endpoint mem_source(uint32_t handle) { return endpoint_sm(mem_handle_sm(handle)); }

/* The node of an endpoint in both networks: first the SMs' ports, then the L2 slices. */
static inline uint32_t endpoint_node(Endpoint endpoint, uint32_t ports) {
    return endpoint.kind == ENDPOINT_SM ? mem_port(endpoint.index, ports) : ports + endpoint.index;
}

/* What L2 found for a request: number of lookups by outcome. */
typedef struct MemOutcome {
    uint32_t hits, pending_hits, misses;
} MemOutcome;

/* The request pools of all SMs, by SM number. A partition uses them to find the record of a
 * handle. */
typedef struct MemRequestPools {
    MemRequest **pools;    /* [sm][index] */
    MemOutcome **outcomes; /* likewise; NULL: not recorded */
} MemRequestPools;

static inline MemRequest *mem_request(const MemRequestPools *pools, uint32_t handle) {
    return &pools->pools[mem_handle_sm(handle)][mem_handle_index(handle)];
}

/* Only if outcomes are recorded. */
static inline MemOutcome *mem_outcome(const MemRequestPools *pools, uint32_t handle) {
    return &pools->outcomes[mem_handle_sm(handle)][mem_handle_index(handle)];
}

#endif
