/* FR-FCFS: requests to the row last chosen go first, oldest first. When none is left, the oldest
 * request of the bank determines the next row. Reads and writes are treated alike, and there is no
 * limit on how long a row may be served. Each bank keeps the requests to the row last chosen in a
 * separate list, so that a row hit is found without a search; choosing another row walks the bank's
 * other requests once.
 *
 * Source: the GTX 480 model of GPGPU-Sim 4.2 as observed. The policy itself is common to the
 * machines of all the papers. */
#include "dram/channel.h"

typedef struct FrFcfs {
    uint32_t has_row;                    /* one bit per bank: `same_row` is not empty */
    uint32_t has_other;                  /* one bit per bank: `other_rows` is not empty */
    uint32_t row_chosen;                 /* one bit per bank: `row` has been set */
    uint32_t row[DRAM_MAX_BANKS];        /* the row last chosen, which is therefore the open one */
    DramList same_row[DRAM_MAX_BANKS];   /* requests to that row */
    DramList other_rows[DRAM_MAX_BANKS]; /* requests to other rows */
} FrFcfs;

static void *new_state(const DramConfig *config, Arena *arena) {
    FrFcfs *s = arena_alloc_aligned(arena, sizeof *s, 64);
    for (uint32_t bank = 0; bank < config->banks; bank++)
        s->same_row[bank] = s->other_rows[bank] = DRAM_EMPTY_LIST;
    return s;
}

static void add(DramQueue *queue, uint16_t entry) {
    FrFcfs *s = queue->state;
    const DramRequest *request = &queue->entries[entry].request;
    uint32_t bank = request->bank, bit = UINT32_C(1) << bank;
    if ((s->row_chosen & bit) && s->row[bank] == request->row) {
        dram_list_append(queue, &s->same_row[bank], entry);
        s->has_row |= bit;
    } else {
        dram_list_append(queue, &s->other_rows[bank], entry);
        s->has_other |= bit;
    }
}

static uint32_t candidates(const DramQueue *queue, uint32_t free, uint64_t tick) {
    (void)tick;
    const FrFcfs *s = queue->state;
    return (s->has_row | s->has_other) & free;
}

/* Makes the row of the oldest waiting request the bank's chosen row, and moves all requests to that
 * row to `same_row`. */
static void choose_row(DramQueue *queue, uint32_t bank) {
    FrFcfs *s = queue->state;
    DramList left = s->other_rows[bank], same = DRAM_EMPTY_LIST, other = DRAM_EMPTY_LIST;
    uint32_t row = queue->entries[left.head].request.row;
    while (left.head != DRAM_NONE) {
        uint16_t entry = dram_list_pop(queue, &left);
        bool is_same = queue->entries[entry].request.row == row;
        dram_list_append(queue, is_same ? &same : &other, entry);
    }
    s->row[bank] = row;
    s->row_chosen |= UINT32_C(1) << bank;
    s->same_row[bank] = same;
    s->other_rows[bank] = other;
    if (other.head == DRAM_NONE) s->has_other &= ~(UINT32_C(1) << bank);
}

static uint16_t pick(DramQueue *queue, uint32_t bank, uint64_t tick) {
    (void)tick;
    FrFcfs *s = queue->state;
    uint32_t bit = UINT32_C(1) << bank;
    if (!(s->has_row & bit)) choose_row(queue, bank);
    uint16_t entry = dram_list_pop(queue, &s->same_row[bank]);
    if (s->same_row[bank].head == DRAM_NONE) s->has_row &= ~bit;
    else s->has_row |= bit;
    return entry;
}

static DramWaiting waiting(const DramQueue *queue, const DramBanks *banks) {
    (void)banks; /* the open rows are those last chosen */
    const FrFcfs *s = queue->state;
    return (DramWaiting){.same_row = s->has_row, .other_rows = s->has_other};
}

const DramScheduler dram_scheduler_frfcfs = {new_state, add, candidates, pick, waiting};
