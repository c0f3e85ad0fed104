/* FCFS: requests of a channel enter service strictly in order of arrival. The oldest one waits for
 * its bank, and all others wait behind it. Banks still work in parallel, because a request can be
 * in service in one bank while the next one enters another bank. */
#include "dram/queue.h"

typedef struct Fcfs {
    DramList arrival; /* all requests, in order of arrival */
} Fcfs;

static void *new_state(const struct DramConfig *config, Arena *arena) {
    (void)config;
    Fcfs *s = ARENA_NEW(arena, Fcfs);
    s->arrival = DRAM_EMPTY_LIST;
    return s;
}

static void add(DramQueue *queue, uint16_t entry) {
    Fcfs *s = queue->state;
    dram_list_append(queue, &s->arrival, entry);
}

static uint32_t candidates(const DramQueue *queue, uint32_t free, uint64_t tick) {
    (void)tick;
    const Fcfs *s = queue->state;
    if (s->arrival.head == DRAM_NONE) return 0;
    return UINT32_C(1) << queue->entries[s->arrival.head].request.bank & free;
}

static uint16_t pick(DramQueue *queue, uint32_t bank, uint64_t tick) {
    (void)bank, (void)tick; /* the only candidate is the bank of the oldest request */
    Fcfs *s = queue->state;
    return dram_list_pop(queue, &s->arrival);
}

static DramWaiting waiting(const DramQueue *queue, const DramBanks *banks) {
    const Fcfs *s = queue->state;
    DramWaiting found = {0};
    for (uint16_t i = s->arrival.head; i != DRAM_NONE; i = queue->entries[i].next) {
        const DramRequest *request = &queue->entries[i].request;
        uint32_t bit = UINT32_C(1) << request->bank;
        if (dram_banks_is_open(banks, request->bank, request->row)) found.same_row |= bit;
        else found.other_rows |= bit;
    }
    return found;
}

const DramScheduler dram_scheduler_fcfs = {new_state, add, candidates, pick, waiting};
