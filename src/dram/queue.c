/* Construction of the request queue, and the table of schedulers. */
#include "dram/queue.h"

#include <assert.h>

#include "dram/channel.h"

#define ADDRESS(name, text) &dram_scheduler_##name,
#define NAME(name, text)    text,
const DramScheduler *const dram_schedulers[] = {DRAM_SCHEDULERS(ADDRESS)};
const char *const dram_scheduler_names[] = {DRAM_SCHEDULERS(NAME)};

void dram_queue_init(DramQueue *queue, const DramScheduler *scheduler, const DramConfig *config,
                     Arena *arena) {
    const uint32_t capacity = config->queue_entries, banks = config->banks;
    assert(capacity >= 1 && capacity <= DRAM_MAX_QUEUE && banks <= DRAM_MAX_BANKS);
    *queue = (DramQueue){.capacity = (uint16_t)capacity,
                         .free = DRAM_NONE,
                         .state = scheduler->new_state(config, arena)};
    uint32_t entries = capacity + banks;
    queue->entries = ARENA_ARRAY(arena, DramEntry, entries);
    for (uint32_t i = entries; i-- > 0;)
        dram_queue_give_back(queue, (uint16_t)i);
}
