/* The SM's unit for bulk copies (cp.async.bulk), an agent next to the load/store unit. It splits a
 * copy into requests of a line each, sends one of them in a cycle, and lets at most
 * sm.bulk_requests of them be under way; the bytes pass the L1D by. When the last reply is there,
 * the copy's transactions on its mbarrier are over, or its group has one copy less.
 *
 * What goes to another SM of the cluster (a copy within the cluster, an arrival at an mbarrier
 * there) goes there in requests, too, and is over when they are acknowledged. The release of a
 * cluster's barrier is a job that waits for sm.cluster_barrier cycles.
 *
 * A copy keeps its warp's slot taken until it is over, as shared memory is read or written until
 * then. A machine without the unit (sm.bulk_requests: 0) has copies that are over as they issue. */
#ifndef TYTO_SM_BULK_H
#define TYTO_SM_BULK_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/source.h"

typedef struct Sm Sm;
struct SmContext;
struct SmGrid;

/* A copy that is not over. */
typedef struct SmBulkJob {
    IsaBulk copy;
    struct SmGrid *grid;
    uint64_t from;      /* the cycle in which it may send first */
    uint32_t bytes;     /* that requests move */
    uint32_t sent;      /* of those: asked for or sent so far */
    uint32_t sm;        /* that they go to; BULK_TO_MEMORY: L2 */
    uint32_t under_way; /* requests without their last reply */
    uint32_t next;      /* in its list */
    uint8_t warp;
    uint8_t group; /* place of its group of copies and 1; 0: none */
} SmBulkJob;

/* First and last of a list of jobs, linked by `next`. */
enum { BULK_TO_MEMORY = UINT32_MAX };

typedef struct SmBulkList {
    uint32_t first, last;
} SmBulkList;

typedef struct SmBulk {
    Sm *owner;
    SmBulkJob *jobs; /* owned */
    uint32_t capacity, used;
    SmBulkList unused, sending, ended;
    SmBulkList releasing; /* cluster barriers, by the cycle of their release */
    uint32_t under_way;   /* requests of all jobs */
    uint8_t client;       /* MemClient of its requests */
    bool is_attached;     /* it is an agent of its SM: from the first copy on */
} SmBulk;

void bulk_init(SmBulk *bulk, Sm *owner);
void bulk_free(SmBulk *bulk);

/* The warp has just executed an instruction that begins bulk copies. */
void bulk_begin(SmBulk *bulk, struct SmContext *sm, int warp);

#endif
