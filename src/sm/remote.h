/* The SM's server of distributed shared memory, an agent: other SMs of a cluster read, write and
 * change its shared memory by requests through the network. Each takes sm.remote_latency cycles;
 * one reply leaves in a cycle. Conflicts with the SM's own accesses are left out. */
#ifndef TYTO_SM_REMOTE_H
#define TYTO_SM_REMOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "partition/request.h"

typedef struct Sm Sm;

enum { SM_REMOTE_PLACES = 256 }; /* requests that are being served; ours */

/* A request that is being served. */
typedef struct SmServed {
    MemRequest *request;
    uint64_t due;     /* cycle from which its replies can leave */
    uint32_t replies; /* that are left to send */
} SmServed;

typedef struct SmRemote {
    SmServed serving[SM_REMOTE_PLACES]; /* a ring */
    uint32_t head, count;
    bool is_attached; /* it is an agent of its SM: from the first grid with clusters on */
} SmRemote;

/* The SM serves requests of others from now on. */
void remote_attach(SmRemote *remote, Sm *owner);

#endif
