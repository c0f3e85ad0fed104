/* Agents: units of an SM other than its caches and its load/store unit that use its network port.
 * One sends requests to L2 slices or other SMs (a bulk-copy engine), one serves the requests that
 * other SMs send to this one (their accesses to its shared memory), or one does both.
 *
 * Why nothing can wait in a circle: an agent always takes the replies to its requests, and to serve
 * a request it waits for room in the reply network alone. So replies always get through, then
 * requests. What one SM does to others goes through the networks only, so that SMs can be stepped
 * by several host threads. */
#ifndef TYTO_SM_AGENT_H
#define TYTO_SM_AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include "partition/request.h"

enum { SM_MAX_AGENTS = 4 }; /* of an SM */

struct SmContext;
struct SmPort;

/* What an agent does. `agent` is its own record. It sends by port_send_to and port_send_reply
 * (port.h). Calls come at fixed points of a cycle: what has arrived, then the step. */
typedef struct SmAgentOps {
    /* The last reply to one of its requests has come; the request's record is free afterwards. NULL
     * for an agent that sends none. */
    void (*answered)(void *agent, struct SmContext *sm, const MemRequest *request);
    /* A request to this SM has come. False: no room now; it is offered again in the next cycle,
     * and those behind it wait. The agent owes it mem_replies() replies. NULL: it serves none. */
    bool (*serve)(void *agent, struct SmContext *sm, MemRequest *request);
    /* Its part of a cycle of the SM, after the load/store unit's. */
    void (*step)(void *agent, struct SmContext *sm, struct SmPort *port);
    /* The cycle in which `step` has something to do, unless something comes before; a past one is
     * the next; UINT64_MAX: none, and no kernel need wait for it. */
    uint64_t (*next_step)(const void *agent);
} SmAgentOps;

typedef struct SmAgent {
    const SmAgentOps *ops; /* borrowed */
    void *self;            /* its record, borrowed */
} SmAgent;

/* Those of an SM. */
typedef struct SmAgents {
    uint32_t count;  /* most SMs have none */
    uint32_t server; /* which of them serves requests; SM_MAX_AGENTS: none */
    SmAgent agent[SM_MAX_AGENTS];
} SmAgents;

void agents_init(SmAgents *agents);
/* Adds one; its number, which names it as a MemClient (agent_client). One at most may serve. */
uint32_t agents_add(SmAgents *agents, const SmAgentOps *ops, void *self);
/* The client of its requests. */
static inline MemClient agent_client(uint32_t agent) {
    return (MemClient)(MEM_CLIENT_AGENT + agent);
}

/* A request of an agent has got its last reply. */
void agents_answered(const SmAgents *agents, struct SmContext *sm, const MemRequest *request);
/* A request to this SM is offered; false: it must be offered again. */
bool agents_serve(const SmAgents *agents, struct SmContext *sm, MemRequest *request);
/* All of them make their step. */
void agents_step(const SmAgents *agents, struct SmContext *sm, struct SmPort *port);
/* The first cycle in which one of them has something to do, UINT64_MAX: none. */
uint64_t agents_find_next_step(const SmAgents *agents);
static inline uint64_t agents_next_step(const SmAgents *agents) {
    return agents->count ? agents_find_next_step(agents) : UINT64_MAX;
}

#endif
