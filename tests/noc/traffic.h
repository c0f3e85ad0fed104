/* Random traffic for the network's tests: draws packets, keeps a record of each, and checks on
 * arrival that it is at its node and in its turn. */
#ifndef TYTO_TESTS_NOC_TRAFFIC_H
#define TYTO_TESTS_NOC_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

#include "noc/noc.h"

typedef struct Traffic {
    Noc *noc;
    int nodes;
    uint64_t random;       /* state of the generator */
    uint32_t *next_sent;   /* per source and destination: packets injected */
    uint32_t *next_due;    /* per source and destination: packets popped */
    uint64_t *sent_by;     /* per source: packets injected */
    uint64_t *taken_by;    /* per node: packets popped */
    uint64_t *taken_from;  /* per source: packets popped */
    uint64_t injected;     /* packets */
    uint64_t popped;       /* packets */
    uint64_t arrivals_sum; /* over popped packets: a hash of cycle, node, source and turn */
    bool is_wrong;         /* a packet came to the wrong node or out of turn */
} Traffic;

/* Traffic on `noc`, which it does not own. */
Traffic *traffic_new(Noc *noc, int nodes, uint64_t seed);
void traffic_free(Traffic *traffic);
/* A number from 0 .. limit-1. */
int traffic_draw(Traffic *traffic, int limit);
/* Injects a packet if there is room; answers whether there was. */
bool traffic_send(Traffic *traffic, int source, int destination, int bytes);
/* Pops what has arrived at `node`, one packet; answers whether there was one. */
bool traffic_take(Traffic *traffic, int node);
/* Whether any node has a packet to take. */
bool traffic_can_take(const Traffic *traffic);
/* Takes one packet at every node that has one. */
void traffic_take_all(Traffic *traffic);
/* Steps and takes until the network is idle, at most `limit` steps; answers whether it is. */
bool traffic_drain(Traffic *traffic, int limit);

#endif
