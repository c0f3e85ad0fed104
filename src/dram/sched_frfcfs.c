/* FR-FCFS: row hits first, then the oldest. Each bank keeps the requests to the row last chosen in
 * a list of their own, so that a row hit is found without a search; choosing another row walks the
 * bank's other requests once.
 *
 * Source: the GTX 480 model of GPGPU-Sim 4.2 as observed; the policy itself is common to all the
 * papers' machines. */
#include "dram/queue.h"

static void add(DramQueue *queue, uint16_t entry) {
    const DramRequest *request = &queue->entries[entry].request;
    uint32_t bank = request->bank, bit = UINT32_C(1) << bank;
    if ((queue->row_chosen & bit) && queue->row[bank] == request->row) {
        dram_list_append(queue, &queue->same_row[bank], entry);
        queue->has_row |= bit;
    } else {
        dram_list_append(queue, &queue->other_rows[bank], entry);
        queue->has_other |= bit;
    }
}

static uint32_t candidates(const DramQueue *queue) { return queue->has_row | queue->has_other; }

/* Makes the oldest waiting request's row the bank's row, and moves all requests to it over. */
static void choose_row(DramQueue *queue, uint32_t bank) {
    DramList waiting = queue->other_rows[bank];
    DramList same = {DRAM_NONE, DRAM_NONE}, other = {DRAM_NONE, DRAM_NONE};
    uint32_t row = queue->entries[waiting.head].request.row;
    while (waiting.head != DRAM_NONE) {
        uint16_t entry = dram_list_pop(queue, &waiting);
        bool is_same = queue->entries[entry].request.row == row;
        dram_list_append(queue, is_same ? &same : &other, entry);
    }
    queue->row[bank] = row;
    queue->row_chosen |= UINT32_C(1) << bank;
    queue->same_row[bank] = same;
    queue->other_rows[bank] = other;
    if (other.head == DRAM_NONE) queue->has_other &= ~(UINT32_C(1) << bank);
}

static uint16_t pick(DramQueue *queue, uint32_t bank) {
    uint32_t bit = UINT32_C(1) << bank;
    if (!(queue->has_row & bit)) choose_row(queue, bank);
    uint16_t entry = dram_list_pop(queue, &queue->same_row[bank]);
    if (queue->same_row[bank].head == DRAM_NONE) queue->has_row &= ~bit;
    else queue->has_row |= bit;
    return entry;
}

const DramScheduler dram_scheduler_frfcfs = {"fr-fcfs", add, candidates, pick};
