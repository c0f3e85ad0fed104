/* Agents: units of an SM, other than its caches and its load/store unit, that use its network port.
 * An agent sends requests to L2 slices or other SMs (a bulk-copy engine), serves the requests that
 * other SMs send to this one (accesses to its shared memory), or does both.
 *
 * Agents cannot deadlock. An agent always accepts the replies to its requests. To serve a request
 * it needs only room in the reply network. So replies always make progress, and then requests do
 * too. An SM affects other SMs through the networks only, so several host threads can step SMs in
 * parallel. */
#ifndef TYTO_SM_AGENT_H
#define TYTO_SM_AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include "partition/request.h"

enum { SM_MAX_AGENTS = 4 }; /* per SM */

struct SmContext;
struct SmPort;

/* The functions of an agent. `agent` is the agent's own record. An agent sends with port_send_to
 * and port_send_reply (port.h). The calls come at fixed points of a cycle: first arrivals, then the
 * step. */
typedef struct SmAgentOps {
    /* Called when the last reply to a request of this agent has arrived; the request's record is
     * free afterwards. NULL: the agent sends no requests. */
    void (*answered)(void *agent, struct SmContext *sm, const MemRequest *request);
    /* Called when a request to this SM has arrived. Returns false if there is no room: the request
     * is offered again in the next cycle, and later requests wait behind it. The agent must send
     * mem_replies() replies to a request that it accepts. NULL: the agent serves no requests. */
    bool (*serve)(void *agent, struct SmContext *sm, MemRequest *request);
    /* The agent's work in one cycle of the SM; called after the load/store unit's step. */
    void (*step)(void *agent, struct SmContext *sm, struct SmPort *port);
    /* The next cycle in which `step` has work if no reply or request arrives before. A past cycle
     * means the next one. UINT64_MAX: no work, and no kernel has to wait for this agent. */
    uint64_t (*next_step)(const void *agent);
} SmAgentOps;

typedef struct SmAgent {
    const SmAgentOps *ops; /* borrowed */
    void *self;            /* its record, borrowed */
} SmAgent;

/* The agents of an SM. */
typedef struct SmAgents {
    uint32_t count;  /* most SMs have none */
    uint32_t server; /* index of the agent that serves requests; SM_MAX_AGENTS: none */
    SmAgent agent[SM_MAX_AGENTS];
} SmAgents;

void agents_init(SmAgents *agents);
/* Adds an agent and returns its number, which identifies it as a MemClient (agent_client). At most
 * one agent of an SM may serve requests. */
uint32_t agents_add(SmAgents *agents, const SmAgentOps *ops, void *self);
/* The client number that an agent's requests carry. */
static inline MemClient agent_client(uint32_t agent) {
    return (MemClient)(MEM_CLIENT_AGENT + agent);
}

/* Passes on the last reply to a request of an agent. */
void agents_answered(const SmAgents *agents, struct SmContext *sm, const MemRequest *request);
/* Offers a request to this SM; returns false if it must be offered again. */
bool agents_serve(const SmAgents *agents, struct SmContext *sm, MemRequest *request);
/* Steps all agents. */
void agents_step(const SmAgents *agents, struct SmContext *sm, struct SmPort *port);
/* The first cycle in which an agent has work; UINT64_MAX: none. */
uint64_t agents_find_next_step(const SmAgents *agents);
static inline uint64_t agents_next_step(const SmAgents *agents) {
    return agents->count ? agents_find_next_step(agents) : UINT64_MAX;
}

#endif
