/* Memory instructions between issue and the load/store unit, which all sub-cores share. Each
 * sub-core has a queue. It computes the addresses of one instruction at a time, which takes some
 * cycles, and hands the instruction on when the shared stages accept it (Huerta). */
#ifndef TYTO_SM_MODERN_MEMORY_H
#define TYTO_SM_MODERN_MEMORY_H

#include "sm/lsu.h"
#include "sm/modern/row.h"

typedef struct ModernQueue {
    uint64_t free_at; /* first cycle in which it can hand on another instruction */
    uint32_t head, count;
    uint16_t inst[MODERN_MAX_QUEUE];
    uint64_t ready[MODERN_MAX_QUEUE]; /* cycle in which the addresses are available */
} ModernQueue;

typedef struct ModernMemory {
    const SmModernConfig *config;
    uint64_t free_at; /* first cycle in which the shared stages accept another instruction */
    uint32_t queues;
    uint32_t filled; /* queues with an instruction, one bit each */
    ModernQueue queue[SM_MAX_SUBCORES];
} ModernMemory;

void memory_init(ModernMemory *memory, const SmConfig *config);
void memory_start(ModernMemory *memory);

static inline bool memory_has_room(const ModernMemory *memory, uint32_t subcore) {
    return memory->queue[subcore].count < memory->config->memory_queue;
}
/* Queues an instruction that issues in `cycle`; there must be room. */
void memory_put(ModernMemory *memory, uint32_t subcore, uint16_t inst, uint64_t cycle);
/* Hands the oldest instruction that can go to the load/store unit. Returns its index; SM_NONE:
 * none. */
uint16_t memory_step(ModernMemory *memory, const SmContext *sm, SmLsu *lsu);
/* The first cycle after `now` in which an instruction may go. UINT64_MAX: not before the load/store
 * unit is free. */
uint64_t memory_next(const ModernMemory *memory, const SmLsu *lsu, uint64_t now);

#endif
