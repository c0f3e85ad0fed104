/* FCFS: requests of a channel enter service strictly in order of arrival. Banks still overlap,
 * because a request is in service in its bank while the next one enters another. */
#include "dram/queue.h"

static void add(DramQueue *queue, uint16_t entry) {
    dram_list_append(queue, &queue->arrival, entry);
}

static uint32_t candidates(const DramQueue *queue) {
    if (queue->arrival.head == DRAM_NONE) return 0;
    return UINT32_C(1) << queue->entries[queue->arrival.head].request.bank;
}

static uint16_t pick(DramQueue *queue, uint32_t bank) {
    (void)bank; /* the only candidate is the oldest request's */
    return dram_list_pop(queue, &queue->arrival);
}

const DramScheduler dram_scheduler_fcfs = {"fcfs", add, candidates, pick};
