/* The bounded request queue of a channel and the interface of the request schedulers.
 *
 * Requests are stored in a fixed array and linked by index. A scheduler keeps private lists. It
 * decides which list a new request joins, which banks it would serve next, and which request of a
 * bank to serve. It can see who made each request (SM and warp) and when it arrived. */
#ifndef TYTO_DRAM_QUEUE_H
#define TYTO_DRAM_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "dram/bank.h"

enum { DRAM_NONE = 0xFFFF };      /* no entry */
enum { DRAM_MAX_QUEUE = 0xF000 }; /* maximum entries of a queue */

enum {
    DRAM_MAX_SMS = 1024, /* SMs that a scheduler can distinguish */
    DRAM_NO_SM = 0xFFFF, /* no SM made the request */
    DRAM_NO_WARP = 0xFF  /* no warp made the request */
};

/* Who made a request. docs/dram.md says whom a request is attributed to if L2 merges or creates
 * it. */
typedef struct DramRequester {
    uint16_t sm;  /* its number, or DRAM_NO_SM */
    uint8_t warp; /* its hardware slot on the SM, or DRAM_NO_WARP */
} DramRequester;
#define DRAM_NOBODY ((DramRequester){DRAM_NO_SM, DRAM_NO_WARP})

/* A request of the owner to a channel. It must not cross the end of its row. */
typedef struct DramRequest {
    uint64_t address; /* byte address on the device; returned, and used for prefetches */
    uint32_t handle;  /* the owner's name for the request; returned when it ends */
    uint32_t row;     /* row of the bank */
    uint16_t column;  /* first byte within the row */
    uint16_t bytes;   /* bytes to transfer */
    uint8_t bank;     /* bank of the channel */
    bool is_write;    /* writes are posted: no data is returned ... */
    bool is_awaited;  /* ... but the owner wants a reply when the write is done */
    bool has_mask;    /* a store, transferred together with its byte mask (DramConfig.mask_bytes) */
    DramRequester requester; /* who made it */
    bool is_prefetch;        /* made by the channel's prefetcher; the owner sets it to false */
} DramRequest;

typedef struct DramEntry {
    DramRequest request;
    uint64_t arrival; /* tick at which it joined the queue */
    uint32_t waited;  /* ticks from arrival until it entered service */
    uint16_t next;    /* next entry in its list, or DRAM_NONE */
    uint16_t bursts;  /* column commands still to be given */
} DramEntry;
_Static_assert(sizeof(DramEntry) == 48, "a queue entry stays well inside one cache line");

typedef struct DramList {
    uint16_t head, tail; /* oldest and youngest entry, DRAM_NONE when empty */
} DramList;

typedef struct DramQueue {
    DramEntry *entries; /* one entry per place of the queue and one per bank for the requests in
                           service */
    uint16_t free;      /* first unused entry; unused entries are linked by `next` */
    uint16_t count;     /* requests queued, without those in service */
    uint16_t capacity;  /* maximum number of requests queued */
    void *state;        /* the scheduler's own state */
} DramQueue;

/* The requests that wait for each bank, by whether they match its open row. */
typedef struct DramWaiting {
    uint32_t same_row;   /* one bit per bank: a request to its open row waits */
    uint32_t other_rows; /* one bit per bank: a request to another row or to a closed bank waits */
} DramWaiting;

struct DramConfig;

/* A request scheduler. It sees only the queue; the channel knows which banks are free. */
typedef struct DramScheduler {
    /* Returns the scheduler's state for a new channel, of any size, owned by `arena`. Its
     * parameters are rows of DRAM_PARAMETERS (channel.h) and therefore fields of `config`. */
    void *(*new_state)(const struct DramConfig *config, Arena *arena);
    /* Links a new entry into a list. */
    void (*add)(DramQueue *queue, uint16_t entry);
    /* Of the `free` banks, those that it would serve in `tick`, one bit each; `pick` returns a
     * request for each of them. Whether the result is empty must not depend on the tick. */
    uint32_t (*candidates)(const DramQueue *queue, uint32_t free, uint64_t tick);
    /* Unlinks and returns the request to serve in `bank`, one of the candidates of `tick`. */
    uint16_t (*pick)(DramQueue *queue, uint32_t bank, uint64_t tick);
    /* What waits for the banks, whose open rows are those in `banks`. The result is used only for
     * banks that are free or that prefetch. If such a bank has an open row, it is the row of the
     * request picked last. */
    DramWaiting (*waiting)(const DramQueue *queue, const DramBanks *banks);
} DramScheduler;

/* The request schedulers, one file each. SCHEDULER(name, text) declares the constant
 * dram_scheduler_NAME; machine files refer to it by the text. All lists of schedulers follow the
 * order given here. */
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

/* An empty queue of a channel that uses `scheduler`. */
void dram_queue_init(DramQueue *queue, const DramScheduler *scheduler,
                     const struct DramConfig *config, Arena *arena);

/* An unused entry. There is always one, because the array has an entry for every place of the queue
 * and every bank. */
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
