/* Dispatches replies, requests and steps to the agents of an SM (see the header). */
#include "sm/agent.h"

#include <assert.h>

void agents_init(SmAgents *agents) { *agents = (SmAgents){.server = SM_MAX_AGENTS}; }

uint32_t agents_add(SmAgents *agents, const SmAgentOps *ops, void *self) {
    assert(agents->count < SM_MAX_AGENTS);
    assert(!ops->serve || agents->server == SM_MAX_AGENTS);
    const uint32_t number = agents->count++;
    agents->agent[number] = (SmAgent){ops, self};
    if (ops->serve) agents->server = number;
    return number;
}

void agents_answered(const SmAgents *agents, struct SmContext *sm, const MemRequest *request) {
    const SmAgent *agent = &agents->agent[request->client - MEM_CLIENT_AGENT];
    agent->ops->answered(agent->self, sm, request);
}

bool agents_serve(const SmAgents *agents, struct SmContext *sm, MemRequest *request) {
    assert(agents->server < agents->count && "a request to an SM that serves none");
    const SmAgent *agent = &agents->agent[agents->server];
    return agent->ops->serve(agent->self, sm, request);
}

void agents_step(const SmAgents *agents, struct SmContext *sm, struct SmPort *port) {
    for (uint32_t i = 0; i < agents->count; i++)
        agents->agent[i].ops->step(agents->agent[i].self, sm, port);
}

uint64_t agents_find_next_step(const SmAgents *agents) {
    uint64_t first = UINT64_MAX;
    for (uint32_t i = 0; i < agents->count; i++) {
        const uint64_t next = agents->agent[i].ops->next_step(agents->agent[i].self);
        if (next < first) first = next;
    }
    return first;
}
