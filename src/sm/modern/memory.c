/* Memory instructions before the load/store unit (see the header). */
#include "sm/modern/memory.h"

void memory_init(ModernMemory *memory, const SmConfig *config) {
    *memory = (ModernMemory){.config = &config->modern, .queues = config->subcores};
}

void memory_start(ModernMemory *memory) {
    memory->free_at = 0;
    memory->filled = 0;
    for (uint32_t q = 0; q < memory->queues; q++)
        memory->queue[q] = (ModernQueue){.free_at = 0};
}

void memory_put(ModernMemory *memory, uint32_t subcore, uint16_t inst, uint64_t cycle) {
    ModernQueue *queue = &memory->queue[subcore];
    const uint32_t place = (queue->head + queue->count++) % MODERN_MAX_QUEUE;
    queue->inst[place] = inst;
    queue->ready[place] = cycle + memory->config->memory_entry;
    memory->filled |= 1u << subcore;
}

/* The first cycle in which the queue's first instruction can go; the queue must not be empty. */
static uint64_t head_from(const ModernQueue *queue) {
    const uint64_t ready = queue->ready[queue->head];
    return ready > queue->free_at ? ready : queue->free_at;
}

/* Among the queues whose first instruction can go, the one whose instruction issued first; NULL:
 * none. */
static ModernQueue *oldest(ModernMemory *memory, const SmContext *sm) {
    ModernQueue *oldest = NULL;
    uint32_t order = 0;
    for (uint32_t rest = memory->filled; rest; rest &= rest - 1) {
        ModernQueue *queue = &memory->queue[bits_lowest32(rest)];
        if (head_from(queue) > sm->cycle) continue;
        const uint32_t issued = sm->insts.inst[queue->inst[queue->head]].order;
        if (oldest && issued - order < UINT32_MAX / 2) continue;
        oldest = queue;
        order = issued;
    }
    return oldest;
}

uint16_t memory_step(ModernMemory *memory, const SmContext *sm, SmLsu *lsu) {
    if (!memory->filled || memory->free_at > sm->cycle || !lsu_is_free(lsu)) return SM_NONE;
    ModernQueue *queue = oldest(memory, sm);
    if (!queue) return SM_NONE;
    const uint16_t inst = queue->inst[queue->head];
    queue->head = (queue->head + 1) % MODERN_MAX_QUEUE;
    if (--queue->count == 0) memory->filled &= ~(1u << (queue - memory->queue));
    queue->free_at = sm->cycle + memory->config->address_interval;
    memory->free_at = sm->cycle + memory->config->memory_interval;
    lsu_accept(lsu, sm, inst);
    return inst;
}

uint64_t memory_next(const ModernMemory *memory, const SmLsu *lsu, uint64_t now) {
    uint64_t next = UINT64_MAX;
    if (!memory->filled || !lsu_is_free(lsu)) return next;
    for (uint32_t rest = memory->filled; rest; rest &= rest - 1) {
        const uint64_t from = head_from(&memory->queue[bits_lowest32(rest)]);
        if (from < next) next = from;
    }
    if (next < memory->free_at) next = memory->free_at;
    return next > now ? next : now + 1;
}
