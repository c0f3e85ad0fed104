/* The SM's unit for bulk copies (cp.async.bulk), an agent beside the load/store unit. It splits a
 * copy into requests of a line each, sends one of them in a cycle, and lets at most
 * sm.bulk_requests of them be under way; the bytes pass the L1D by. When the last reply is there,
 * the copy's transactions on its mbarrier are over, or its group has one copy less.
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
    uint32_t bytes;     /* of global memory */
    uint32_t sent;      /* of those: asked for or sent so far */
    uint32_t under_way; /* requests without their last reply */
    uint32_t next;      /* in its list */
    uint8_t warp;
    uint8_t group; /* place of its group of copies and 1; 0: none */
} SmBulkJob;

/* First and last of a list of jobs, linked by `next`. */
typedef struct SmBulkList {
    uint32_t first, last;
} SmBulkList;

typedef struct SmBulk {
    Sm *owner;
    SmBulkJob *jobs; /* owned */
    uint32_t capacity, used;
    SmBulkList unused, sending, ended;
    uint32_t under_way; /* requests of all jobs */
    uint8_t client;     /* MemClient of its requests */
    bool is_attached;   /* it is an agent of its SM: from the first copy on */
} SmBulk;

void bulk_init(SmBulk *bulk, Sm *owner);
void bulk_free(SmBulk *bulk);

/* The warp has just executed an instruction that begins bulk copies. */
void bulk_begin(SmBulk *bulk, struct SmContext *sm, int warp);

#endif
