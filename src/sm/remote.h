/* The SM's server of distributed shared memory, an agent. Other SMs of a cluster read, write and
 * update this SM's shared memory by requests through the network. Each request takes
 * sm.remote_latency cycles, and one reply leaves per cycle. Left out: conflicts with the SM's own
 * accesses. */
#ifndef TYTO_SM_REMOTE_H
#define TYTO_SM_REMOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "partition/request.h"

typedef struct Sm Sm;

enum { SM_REMOTE_PLACES = 256 }; /* requests in service at once; our choice */

/* A request in service. */
typedef struct SmServed {
    MemRequest *request;
    uint64_t due;     /* first cycle in which its replies can leave */
    uint32_t replies; /* replies that have not been sent */
} SmServed;

typedef struct SmRemote {
    SmServed serving[SM_REMOTE_PLACES]; /* a ring */
    uint32_t head, count;
    bool is_attached; /* it is registered as an agent of its SM; set with the first grid that has
                         clusters */
} SmRemote;

/* Makes the SM serve requests of other SMs from now on. */
void remote_attach(SmRemote *remote, Sm *owner);

#endif
