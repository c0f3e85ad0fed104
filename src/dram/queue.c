/* Construction of the request queue, and the table of schedulers. */
#include "dram/queue.h"

#include <assert.h>
#include <string.h>

static const DramScheduler *const schedulers[] = {&dram_scheduler_frfcfs, &dram_scheduler_fcfs};
enum { SCHEDULERS = sizeof schedulers / sizeof *schedulers };

const DramScheduler *dram_scheduler_find(const char *name) {
    for (int i = 0; i < SCHEDULERS; i++)
        if (!strcmp(schedulers[i]->name, name)) return schedulers[i];
    return NULL;
}

const char *dram_scheduler_name(int i) {
    return i >= 0 && i < SCHEDULERS ? schedulers[i]->name : NULL;
}

void dram_queue_init(DramQueue *queue, const DramScheduler *scheduler, uint32_t capacity,
                     uint32_t banks, Arena *arena) {
    assert(capacity >= 1 && capacity <= DRAM_MAX_QUEUE && banks <= DRAM_MAX_BANKS);
    *queue = (DramQueue){.capacity = (uint16_t)capacity,
                         .free = DRAM_NONE,
                         .state = scheduler->new_state(banks, arena)};
    uint32_t entries = capacity + banks;
    queue->entries = ARENA_ARRAY(arena, DramEntry, entries);
    for (uint32_t i = entries; i-- > 0;)
        dram_queue_give_back(queue, (uint16_t)i);
}
