/* BLISS: the blacklisting scheduler. When a channel serves many consecutive requests of one SM,
 * that SM is put on a blacklist, and requests of the other SMs go first. The order is: first
 * requests of SMs that are not on the list, then requests to the row last chosen in the bank (row
 * hits), then the oldest. The list is cleared at fixed times, every `bliss_interval` ticks. With a
 * threshold that is never reached, the scheduler behaves like FR-FCFS.
 *
 * SMs take the role of the paper's applications here. A request without an SM (a write-back of L2)
 * is never on the list, and neither continues nor ends a run of an SM's requests.
 *
 * Source: L. Subramanian et al., "The Blacklisting Memory Scheduler: Achieving High Performance and
 * Fairness at Low Cost", ICCD 2014: a threshold of 4 requests and an interval of 10,000 cycles. The
 * paper counts consecutive requests of an application; here the fourth one puts it on the list.
 * Other simulators use the same constants (BLISS_BLACKLISTING_THRESHOLD, BLISS_CLEARING_INTERVAL in
 * the dram_sched_bliss.h of a GPGPU-Sim with processing in memory). */
#include <string.h>

#include "base/bits.h"
#include "dram/channel.h"

typedef struct Bliss {
    uint32_t threshold; /* number of consecutive requests that puts an SM on the list */
    uint32_t run;       /* consecutive requests of `last` that were served */
    uint16_t last;      /* the SM whose request was served last; DRAM_NO_SM: none yet */
    bool is_empty;      /* no SM is on the list */
    uint64_t interval;  /* ticks between two clearings */
    uint64_t period;    /* number of the interval that `listed` belongs to */
    uint64_t listed[DRAM_MAX_SMS / 64]; /* the blacklist, one bit per SM */

    uint32_t has_any;                 /* one bit per bank: a request waits */
    uint32_t row_chosen;              /* one bit per bank: `row` has been set */
    uint32_t row[DRAM_MAX_BANKS];     /* the row last chosen, which is therefore the open one */
    uint32_t hits[DRAM_MAX_BANKS];    /* waiting requests to that row */
    uint32_t count[DRAM_MAX_BANKS];   /* all waiting requests */
    DramList waiting[DRAM_MAX_BANKS]; /* all waiting requests, in order of arrival */
} Bliss;

static void *new_state(const DramConfig *config, Arena *arena) {
    Bliss *s = ARENA_NEW(arena, Bliss);
    s->threshold = config->bliss_threshold;
    s->interval = config->bliss_interval;
    s->last = DRAM_NO_SM;
    s->is_empty = true;
    for (uint32_t bank = 0; bank < config->banks; bank++)
        s->waiting[bank] = DRAM_EMPTY_LIST;
    return s;
}

/* ---- The blacklist ---- */

/* Whether any SM is on the list in `tick`. The list may have become due for clearing since the last
 * request. */
static bool has_listed(const Bliss *s, uint64_t tick) {
    return !s->is_empty && tick / s->interval == s->period;
}

static bool is_listed(const Bliss *s, const DramEntry *entry) {
    const uint16_t sm = entry->request.requester.sm;
    return sm < DRAM_MAX_SMS && bits_get(s->listed, sm);
}

static void clear_if_due(Bliss *s, uint64_t tick) {
    if (tick / s->interval == s->period) return;
    s->period = tick / s->interval;
    s->is_empty = true;
    memset(s->listed, 0, sizeof s->listed);
}

/* Counts a served request of an SM. */
static void note_served(Bliss *s, uint16_t sm) {
    if (sm >= DRAM_MAX_SMS) return;
    s->run = sm == s->last ? s->run + 1 : 1;
    s->last = sm;
    if (s->run < s->threshold) return;
    bits_set(s->listed, sm);
    s->is_empty = false;
}

/* ---- Requests ---- */

static bool is_hit(const Bliss *s, const DramEntry *entry) {
    const uint32_t bank = entry->request.bank;
    return s->row_chosen >> bank & 1 && s->row[bank] == entry->request.row;
}

static void add(DramQueue *queue, uint16_t entry) {
    Bliss *s = queue->state;
    const uint32_t bank = queue->entries[entry].request.bank;
    dram_list_append(queue, &s->waiting[bank], entry);
    s->has_any |= UINT32_C(1) << bank;
    s->count[bank]++;
    s->hits[bank] += is_hit(s, &queue->entries[entry]);
}

/* Whether a request of an SM that is not on the list waits for the bank. */
static bool has_unlisted(const DramQueue *queue, uint32_t bank) {
    const Bliss *s = queue->state;
    for (uint16_t i = s->waiting[bank].head; i != DRAM_NONE; i = queue->entries[i].next)
        if (!is_listed(s, &queue->entries[i])) return true;
    return false;
}

static uint32_t candidates(const DramQueue *queue, uint32_t free, uint64_t tick) {
    const Bliss *s = queue->state;
    const uint32_t banks = s->has_any & free;
    if (!has_listed(s, tick)) return banks;
    uint32_t unlisted = 0;
    for (uint32_t left = banks; left; left &= left - 1)
        if (has_unlisted(queue, (uint32_t)bits_lowest32(left))) unlisted |= left & -left;
    return unlisted ? unlisted : banks;
}

/* The entry before the one to serve in the bank; DRAM_NONE if the first entry is to be served. */
static uint16_t find_before_best(const DramQueue *queue, uint32_t bank) {
    const Bliss *s = queue->state;
    enum { UNLISTED = 2, HIT = 1, BEST = UNLISTED + HIT };
    uint16_t before_best = DRAM_NONE, before = DRAM_NONE;
    int best = -1;
    for (uint16_t i = s->waiting[bank].head; i != DRAM_NONE && best < BEST;
         i = queue->entries[i].next) {
        const DramEntry *entry = &queue->entries[i];
        const int rank = (is_listed(s, entry) ? 0 : UNLISTED) + (is_hit(s, entry) ? HIT : 0);
        if (rank > best) {
            best = rank;
            before_best = before;
        }
        before = i;
    }
    return before_best;
}

/* Removes the entry behind `before` from its bank's list. */
static uint16_t unlink_behind(DramQueue *queue, uint32_t bank, uint16_t before) {
    Bliss *s = queue->state;
    DramList *list = &s->waiting[bank];
    if (before == DRAM_NONE) return dram_list_pop(queue, list);
    const uint16_t entry = queue->entries[before].next;
    queue->entries[before].next = queue->entries[entry].next;
    if (list->tail == entry) list->tail = before;
    return entry;
}

/* Sets the bank's chosen row and counts the waiting requests to it. */
static void choose_row(const DramQueue *queue, uint32_t bank, uint32_t row) {
    Bliss *s = queue->state;
    s->row[bank] = row;
    s->row_chosen |= UINT32_C(1) << bank;
    s->hits[bank] = 0;
    for (uint16_t i = s->waiting[bank].head; i != DRAM_NONE; i = queue->entries[i].next)
        s->hits[bank] += queue->entries[i].request.row == row;
}

static uint16_t pick(DramQueue *queue, uint32_t bank, uint64_t tick) {
    Bliss *s = queue->state;
    clear_if_due(s, tick);
    const uint16_t entry = unlink_behind(queue, bank, find_before_best(queue, bank));
    const DramEntry *best = &queue->entries[entry];
    if (--s->count[bank] == 0) s->has_any &= ~(UINT32_C(1) << bank);
    if (is_hit(s, best)) s->hits[bank]--;
    else choose_row(queue, bank, best->request.row);
    note_served(s, best->request.requester.sm);
    return entry;
}

static DramWaiting waiting(const DramQueue *queue, const DramBanks *banks) {
    (void)banks; /* the open rows are those last chosen */
    const Bliss *s = queue->state;
    DramWaiting found = {0};
    for (uint32_t left = s->has_any; left; left &= left - 1) {
        const uint32_t bank = (uint32_t)bits_lowest32(left), bit = left & -left;
        if (s->hits[bank]) found.same_row |= bit;
        if (s->count[bank] > s->hits[bank]) found.other_rows |= bit;
    }
    return found;
}

const DramScheduler dram_scheduler_bliss = {new_state, add, candidates, pick, waiting};
