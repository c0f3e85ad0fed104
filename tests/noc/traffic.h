/* Random traffic for the network tests: draws packets, records each one, and checks on arrival that
 * it is at its destination and in order. */
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
    uint64_t arrivals_sum; /* over popped packets: a hash of cycle, node, source and number */
    bool is_wrong;         /* a packet came to the wrong node or out of order */
} Traffic;

/* Creates traffic on `noc`, which it does not own. */
Traffic *traffic_new(Noc *noc, int nodes, uint64_t seed);
void traffic_free(Traffic *traffic);
/* Returns a number in 0 .. limit-1. */
int traffic_draw(Traffic *traffic, int limit);
/* Injects a packet if there is room; returns whether there was. */
bool traffic_send(Traffic *traffic, int source, int destination, int bytes);
/* Pops one packet that has arrived at `node`; returns whether there was one. */
bool traffic_take(Traffic *traffic, int node);
/* Whether any node has a packet to take. */
bool traffic_can_take(const Traffic *traffic);
/* Takes one packet at every node that has one. */
void traffic_take_all(Traffic *traffic);
/* Steps and takes packets until the network is idle, for at most `limit` steps; returns whether it
 * is idle. */
bool traffic_drain(Traffic *traffic, int limit);

#endif
