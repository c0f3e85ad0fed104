/* The server of distributed shared memory (see the header). */
#include "sm/remote.h"

#include "sm/parts.h"

static bool serve(void *agent, SmContext *sm, MemRequest *request) {
    SmRemote *remote = agent;
    if (remote->count == SM_REMOTE_PLACES) return false;
    remote->serving[(remote->head + remote->count++) % SM_REMOTE_PLACES] =
        (SmServed){request, sm->cycle + sm->config->remote_latency, mem_replies(request)};
    return true;
}

/* Data bytes of a reply: a sector, or what the sender requested if that is less. */
static uint32_t reply_bytes(const SmContext *sm, const MemRequest *request) {
    if (request->op == MEM_OP_WRITE) return 0;
    return request->bytes < sm->env.l2_sector_bytes ? request->bytes : sm->env.l2_sector_bytes;
}

static void step(void *agent, SmContext *sm, SmPort *port) {
    SmRemote *remote = agent;
    SmServed *first = &remote->serving[remote->head];
    (void)port;
    if (!remote->count || first->due > sm->cycle) return;
    if (!port_send_reply(sm, first->request, reply_bytes(sm, first->request))) return;
    if (--first->replies) return;
    remote->head = (remote->head + 1) % SM_REMOTE_PLACES;
    remote->count--;
}

static uint64_t next_step(const void *agent) {
    const SmRemote *remote = agent;
    return remote->count ? remote->serving[remote->head].due : UINT64_MAX;
}

static const SmAgentOps operations = {.serve = serve, .step = step, .next_step = next_step};

void remote_attach(SmRemote *remote, Sm *owner) {
    if (remote->is_attached) return;
    sm_attach(owner, &operations, remote);
    remote->is_attached = true;
}
