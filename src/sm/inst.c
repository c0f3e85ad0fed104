/* The pools of instructions in flight, as free lists. */
#include "sm/inst.h"

/* Memory instructions of a sub-core between issue and the load/store unit. */
static uint32_t places_of(const SmConfig *config) {
    const SmUnitConfig *ldst = &config->units[SM_UNIT_LDST];
    const uint32_t gathering =
        config->collector.units ? config->collector.units : ldst->collector_units;
    if (config->core == SM_CORE_MODERN) return config->modern.memory_queue;
    return ldst->issue_slots + gathering + ldst->dispatch_slots;
}

void insts_init(SmInsts *insts, const SmConfig *config, Arena *arena) {
    insts->inst = ARENA_ARRAY(arena, SmInst, SM_INSTS);
    insts->memory_count = places_of(config) * config->subcores + 1; /* the latch */
    insts->memory = ARENA_ARRAY(arena, SmMemory, insts->memory_count);
    for (uint32_t i = 0; i < insts->memory_count; i++)
        insts->memory[i].access = ARENA_ARRAY(arena, SmAccess, SM_MAX_ACCESSES);
    insts_reset(insts);
}

void insts_reset(SmInsts *insts) {
    insts->fresh_inst = 0;
    insts->free_inst = SM_NONE;
    for (uint32_t i = 0; i < insts->memory_count; i++)
        insts->memory[i].next = (uint16_t)(i + 1 < insts->memory_count ? i + 1 : SM_NONE);
    insts->free_memory = 0;
}
