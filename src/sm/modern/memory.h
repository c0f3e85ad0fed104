/* Memory instructions between issue and the load/store unit, which all sub-cores share: each
 * sub-core has a queue, works out the addresses of one instruction in some cycles, and hands it on
 * when the shared stages take one (Huerta). */
#ifndef TYTO_SM_MODERN_MEMORY_H
#define TYTO_SM_MODERN_MEMORY_H

#include "sm/lsu.h"
#include "sm/modern/row.h"

typedef struct ModernQueue {
    uint64_t free_at; /* cycle from which it can hand on another */
    uint32_t head, count;
    uint16_t inst[MODERN_MAX_QUEUE];
    uint64_t ready[MODERN_MAX_QUEUE]; /* cycle in which its addresses are there */
} ModernQueue;

typedef struct ModernMemory {
    const SmModernConfig *config;
    uint64_t free_at; /* cycle from which the shared stages take another */
    uint32_t queues;
    ModernQueue queue[SM_MAX_SUBCORES];
} ModernMemory;

void memory_init(ModernMemory *memory, const SmConfig *config);
void memory_start(ModernMemory *memory);

static inline bool memory_has_room(const ModernMemory *memory, uint32_t subcore) {
    return memory->queue[subcore].count < memory->config->memory_queue;
}
/* An instruction issues in `cycle`; there is room. */
void memory_put(ModernMemory *memory, uint32_t subcore, uint16_t inst, uint64_t cycle);
/* The oldest instruction that can goes to the load/store unit: its index, SM_NONE. */
uint16_t memory_step(ModernMemory *memory, const SmContext *sm, SmLsu *lsu);
/* The first cycle after `now` in which one may go, UINT64_MAX: not before the load/store unit has
 * done something. */
uint64_t memory_next(const ModernMemory *memory, const SmLsu *lsu, uint64_t now);

#endif
