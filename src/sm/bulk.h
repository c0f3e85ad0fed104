/* The SM's unit for bulk copies (cp.async.bulk), an agent next to the load/store unit. It splits a
 * copy into requests of one line each, sends one request per cycle, and keeps at most
 * sm.bulk_requests of them in flight. The data bypass the L1D. When the last reply has arrived, the
 * copy's transactions on its mbarrier complete, or its group has one pending copy less.
 *
 * Copies within the cluster and arrivals at an mbarrier of another SM are sent to that SM as
 * requests, too, and complete when they are acknowledged. The release of a cluster barrier is a job
 * that waits for sm.cluster_barrier cycles.
 *
 * A load whose destinations include other SMs (multicast) requests its data once. Each other
 * destination SM has a delivery: a job that sends nothing and gets a copy of every reply
 * (sm/deliveries.h). Its transactions complete when the last one has arrived there.
 *
 * A copy keeps its warp's slot occupied until it completes, because it reads or writes shared
 * memory until then. On a machine without this unit (sm.bulk_requests is 0), copies complete when
 * they issue. */
#ifndef TYTO_SM_BULK_H
#define TYTO_SM_BULK_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/source.h"
#include "sm/deliveries.h"

typedef struct Sm Sm;
struct MemRequest;
struct SmContext;
struct SmGrid;

/* A copy in progress. */
typedef struct SmBulkJob {
    IsaBulk copy;
    struct SmGrid *grid;
    uint64_t from;      /* the first cycle in which it may send */
    uint32_t bytes;     /* bytes that its requests move */
    uint32_t sent;      /* bytes requested or sent so far */
    uint32_t sm;        /* destination SM; BULK_TO_MEMORY: L2 */
    uint32_t under_way; /* requests that have not received their last reply; of a delivery: copies
                         * of replies that have not arrived */
    uint32_t next;      /* next job in its list */
    uint32_t delivery;  /* first delivery of this job, or the next one of the same job */
    uint8_t warp;
    uint8_t group; /* place of its group of copies plus 1; 0: no group */
    bool is_empty; /* its end changes nothing on this SM: all destinations are others */
} SmBulkJob;

/* First and last job of a list that is linked by `next`. */
enum { BULK_TO_MEMORY = UINT32_MAX };

typedef struct SmBulkList {
    uint32_t first, last;
} SmBulkList;

typedef struct SmBulk {
    Sm *owner;
    SmBulkJob *jobs; /* owned */
    uint32_t capacity, used;
    SmBulkList unused, sending, ended;
    SmBulkList delivered; /* deliveries that have arrived */
    SmBulkList releasing; /* cluster barriers, in the order of their release cycles */
    uint32_t under_way;   /* requests in flight, of all jobs */
    uint8_t client;       /* MemClient of its requests */
    bool is_attached;     /* it is registered as an agent of its SM; set with the first copy */
} SmBulk;

void bulk_init(SmBulk *bulk, Sm *owner);
void bulk_free(SmBulk *bulk);

/* Starts the bulk copies of the instruction that the warp has just executed. */
void bulk_begin(SmBulk *bulk, struct SmContext *sm, int warp);

/* The copies that a reply to a request needs, as destination SM and delivery. Returns their
 * number. */
uint32_t bulk_copies(const SmBulk *bulk, const struct MemRequest *request,
                     SmDelivery copies[SM_MOST_COPIES]);
/* A copy has arrived at the delivery's SM. */
void bulk_delivered(SmBulk *bulk, uint32_t delivery);

#endif
