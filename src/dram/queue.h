/* The bounded request queue of a channel and the interface of the policies that pick from it.
 *
 * Requests live in a fixed array and are linked by index. A policy keeps private lists: it decides
 * in which one a new request goes, which banks it would serve next, and which request of a bank. It
 * sees who made each request (SM and warp) and when it arrived. */
#ifndef TYTO_DRAM_QUEUE_H
#define TYTO_DRAM_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "dram/bank.h"

enum { DRAM_NONE = 0xFFFF };      /* no entry */
enum { DRAM_MAX_QUEUE = 0xF000 }; /* most entries of a queue */

enum {
    DRAM_MAX_SMS = 1024, /* SMs that a scheduler can tell apart */
    DRAM_NO_SM = 0xFFFF, /* no SM made the request */
    DRAM_NO_WARP = 0xFF  /* no warp did */
};

/* Who made a request. docs/dram.md says who that is for requests that L2 merges or makes itself. */
typedef struct DramRequester {
    uint16_t sm;  /* its number, or DRAM_NO_SM */
    uint8_t warp; /* its hardware slot on the SM, or DRAM_NO_WARP */
} DramRequester;
#define DRAM_NOBODY ((DramRequester){DRAM_NO_SM, DRAM_NO_WARP})

/* What the owner asks of a channel. It must not cross the end of its row. */
typedef struct DramRequest {
    uint64_t address; /* byte address on the device; handed back, and names a row's neighbours */
    uint32_t handle;  /* the owner's name of it; handed back at its end */
    uint32_t row;     /* row of the bank */
    uint16_t column;  /* first byte within the row */
    uint16_t bytes;   /* bytes to move */
    uint8_t bank;     /* bank of the channel */
    bool is_write;    /* writes are posted: no data is handed back ... */
    bool is_awaited;  /* ... but the owner wants a reply when it is done */
    bool has_mask;    /* a store, with which the mask of its bytes moves (DramConfig.mask_bytes) */
    DramRequester requester; /* who made it */
    bool is_prefetch;        /* made by the channel's prefetcher; the owner leaves it false */
} DramRequest;

typedef struct DramEntry {
    DramRequest request;
    uint64_t arrival; /* tick at which it joined the queue */
    uint32_t waited;  /* ticks from then until it entered service */
    uint16_t next;    /* the entry behind it in its list, or DRAM_NONE */
    uint16_t bursts;  /* column commands still to give */
} DramEntry;
_Static_assert(sizeof(DramEntry) == 48, "a queue entry stays well inside one cache line");

typedef struct DramList {
    uint16_t head, tail; /* oldest and youngest entry, DRAM_NONE when empty */
} DramList;

typedef struct DramQueue {
    DramEntry *entries; /* the queue's places and one more per bank for the requests in service */
    uint16_t free;      /* first unused entry, linked by next */
    uint16_t count;     /* requests queued, those in service not included */
    uint16_t capacity;  /* most requests queued */
    void *state;        /* the scheduler's own */
} DramQueue;

/* What waits for the banks whose row is open. */
typedef struct DramWaiting {
    uint32_t same_row;   /* bit per bank: a request to its open row */
    uint32_t other_rows; /* bit per bank: a request to another row, or to any row of a closed bank
                          */
} DramWaiting;

struct DramConfig;

/* A request scheduler. It sees the queue only; the channel knows which banks are free. */
typedef struct DramScheduler {
    /* Its state for a new channel, of any size; owned by `arena`. Its parameters are rows of
     * DRAM_PARAMETERS (channel.h), and so fields of `config`. */
    void *(*new_state)(const struct DramConfig *config, Arena *arena);
    /* Links a new entry. */
    void (*add)(DramQueue *queue, uint16_t entry);
    /* Of the `free` banks, those that it would serve in `tick`, bit each; `pick` yields a request
     * for each of them. Whether there are any must not depend on the tick. */
    uint32_t (*candidates)(const DramQueue *queue, uint32_t free, uint64_t tick);
    /* Unlinks and returns the request to serve in `bank`, one of the candidates of `tick`. */
    uint16_t (*pick)(DramQueue *queue, uint32_t bank, uint64_t tick);
    /* What waits for the banks, which have these rows open. Asked only about banks that are free or
     * that prefetch, so in a bank with an open row that is the row of the request picked last. */
    DramWaiting (*waiting)(const DramQueue *queue, const DramBanks *banks);
} DramScheduler;

/* The request schedulers, one file each: SCHEDULER(name, text) is the constant dram_scheduler_NAME,
 * which machine files call by the text. All lists of them follow their order here. */
/* clang-format off */
#define DRAM_SCHEDULERS(SCHEDULER) \
    SCHEDULER(frfcfs, "fr-fcfs") \
    SCHEDULER(fcfs, "fcfs") \
    SCHEDULER(bliss, "bliss")
/* clang-format on */

#define DRAM_DECLARE(name, text)  extern const DramScheduler dram_scheduler_##name;
#define DRAM_CONSTANT(name, text) DRAM_SCHEDULER_##name,
DRAM_SCHEDULERS(DRAM_DECLARE)
typedef enum DramSchedulerIndex {
    DRAM_SCHEDULERS(DRAM_CONSTANT) DRAM_SCHEDULER_COUNT
} DramSchedulerIndex;
#undef DRAM_DECLARE
#undef DRAM_CONSTANT

extern const DramScheduler *const dram_schedulers[DRAM_SCHEDULER_COUNT];
extern const char *const dram_scheduler_names[DRAM_SCHEDULER_COUNT];

/* An empty queue of a channel under `scheduler`. */
void dram_queue_init(DramQueue *queue, const DramScheduler *scheduler,
                     const struct DramConfig *config, Arena *arena);

/* An unused entry; there always is one for every place of the queue and every bank. */
static inline uint16_t dram_queue_take(DramQueue *queue) {
    uint16_t entry = queue->free;
    queue->free = queue->entries[entry].next;
    return entry;
}

static inline void dram_queue_give_back(DramQueue *queue, uint16_t entry) {
    queue->entries[entry].next = queue->free;
    queue->free = entry;
}

static const DramList DRAM_EMPTY_LIST = {DRAM_NONE, DRAM_NONE};

static inline void dram_list_append(DramQueue *queue, DramList *list, uint16_t entry) {
    queue->entries[entry].next = DRAM_NONE;
    if (list->head == DRAM_NONE) list->head = entry;
    else queue->entries[list->tail].next = entry;
    list->tail = entry;
}

static inline uint16_t dram_list_pop(DramQueue *queue, DramList *list) {
    uint16_t entry = list->head;
    list->head = queue->entries[entry].next;
    return entry;
}

#endif
