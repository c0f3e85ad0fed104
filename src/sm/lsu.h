/* Load/store unit: takes one memory instruction at a time, hands its accesses to shared memory, the
 * caches or the network, and brings results back through the write-back port. One for the whole SM.
 *
 * Works on its neighbours in the order of a cycle: the register banks (which it writes), the
 * port (it handles one reply a cycle, and sends the misses of its caches), the L1D. Posts
 * SM_EVENT_INST_DONE, SM_EVENT_STORE_DONE and SM_EVENT_ATOMIC_DONE. */
#ifndef TYTO_SM_LSU_H
#define TYTO_SM_LSU_H

#include "sm/bank_writes.h"
#include "sm/context.h"
#include "sm/l1d.h"
#include "sm/queue.h"
#include "sm/read_levels.h"
#include "sm/texture_order.h"

/* A way from the memory side back to the registers. */
typedef enum SmReturn {
    SM_RETURN_SHARED,
    SM_RETURN_TEXTURE,
    SM_RETURN_CONST,
    SM_RETURN_BYPASS,
    SM_RETURN_L1D,
    SM_RETURNS
} SmReturn;

/* Instructions that leave in order, each at a cycle known when it enters. */
typedef struct SmPipe {
    SmQueue queue;
    uint64_t *due; /* by position in the queue's ring */
} SmPipe;

/* The instructions in a pipeline whose stages stand in a row, if the machine has one. Its last
 * stage writes back instructions, which get there `stages` picks after their own, and what memory
 * returns, which goes first; what waits for it fills the stages before, and when all are full
 * nothing can issue. */
typedef struct SmRow {
    uint8_t stages;
    uint8_t interval;     /* cycles of a pick, for which the last stage keeps what it writes back */
    uint8_t head, count;  /* of the oldest instruction in `due`, and how many there are */
    uint64_t free_at;     /* cycle from which the last stage can take something, ... */
    uint64_t next_return; /* ... and from which it can take what memory returns */
    uint64_t due[SM_MAX_STAGES]; /* ring: cycle at which an instruction gets to the last stage, if
                                    nothing keeps it */
} SmRow;

/* A bank of the L1D, or: */
enum { SM_NO_BANK = 0xFF };

/* Written by lsu.c alone; what every visit looks at comes first, in one line of the host's cache.
 */
typedef struct SmLsu {
    uint16_t latch;           /* instruction in the unit, SM_NONE */
    uint8_t bank;             /* of the L1D, which had no room for its next access; SM_NO_BANK */
    uint8_t last_return;      /* SmReturn that won last */
    bool is_refused;          /* the latch's next access, other than to the L1D, had no room */
    bool has_row;             /* the machine has a pipeline in a row, ... */
    bool is_row_full;         /* ... with an instruction in every stage */
    bool enters_at_once;      /* SmLsuConfig */
    uint8_t sends;            /* its sends_per_cycle */
    bool looks_up;            /* the latch's next access is before the L1D's tags, which it looks up
                                 from the latch (l1d.latency 0) */
    uint32_t returns_waiting; /* ways with loads for the port, bit each, but for two: */
    uint64_t shared_from;     /* cycle from which the port can choose the oldest load from shared
                                 memory, UINT64_MAX; the L1D's loads are in its MSHRs */
    uint64_t next_due;        /* cycle of the first thing due in what follows, UINT64_MAX */
    uint64_t latch_from;      /* first cycle in which it may try an access */
    uint64_t latch_until;     /* shared: last cycle it holds the latch */
    SmQueue chosen;           /* complete since the last cycle's choice */
    SmPipe shared_pipe;       /* loads from shared memory, due when the port can choose them */
    SmPipe texture_pipe;      /* accesses that hit the texture cache, ... */
    SmPipe constant_pipe;     /* or the constant cache, where that takes time: due for `returns` */
    SmQueue returns[SM_RETURNS]; /* loads that wait for the write-back port */
    SmReadCache l1c, l1t;
    SmTextureOrder order;
    uint32_t mshrs_free; /* of those that the caches share, ... */
    bool shares_mshrs;   /* ... if they do (SmLsuConfig.mshrs) */
    bool has_l15c;       /* the constant cache has a larger one below it: */
    SmReadCache l15c;
    SmReadLevels constants; /* the first above the second */
    SmRow row;
} SmLsu;

/* After the L1D, whose MSHRs it may share. */
void lsu_init(SmLsu *lsu, SmContext *sm, SmL1d *l1d, SmPort *port);
void lsu_start_kernel(SmLsu *lsu);
void lsu_step(SmLsu *lsu, SmContext *sm, SmL1d *l1d, SmPort *port, const SmBankWrites *writes);

static inline bool lsu_is_free(const SmLsu *lsu) { return lsu->latch == SM_NONE; }
/* Takes an instruction into the latch; false when that is not free. */
bool lsu_accept(SmLsu *lsu, const SmContext *sm, uint16_t inst);

/* Whether the instruction in the latch stops the whole pipeline: where stages stand in a row, one
 * that stays for longer than a warp takes from pick to pick keeps the next in the stage before. */
static inline bool lsu_stalls_pipeline(const SmLsu *lsu, const SmContext *sm) {
    if (lsu->is_row_full) return true;
    if (!sm->config->lsu.stalls_pipeline || lsu_is_free(lsu)) return false;
    return sm->cycle + 1 >= lsu->latch_from + sm->config->scheduler.issue_interval;
}

/* An instruction issues in this cycle, where the machine has a pipeline in a row. */
void lsu_note_issue(SmLsu *lsu, uint64_t cycle);

/* Whether the latch can only go on after the L1D has taken something back from below. */
static inline bool lsu_is_stuck(const SmLsu *lsu, const SmL1d *l1d) {
    return lsu->bank != SM_NO_BANK && l1d_bank_is_stuck(l1d, lsu->bank);
}

/* Cycle of the next thing to happen besides the L1D, UINT64_MAX. */
static inline uint64_t lsu_next_due(const SmLsu *lsu) {
    return lsu->shared_from < lsu->next_due ? lsu->shared_from : lsu->next_due;
}

/* Something to do in the next cycle. Asked in every cycle of an SM that waits. */
__attribute__((always_inline)) static inline bool
lsu_has_work(const SmLsu *lsu, const SmContext *sm, const SmL1d *l1d, const SmPort *port) {
    uint32_t misses = port->misses_waiting & ~(1u << MEM_CLIENT_L1I);
    uint32_t waiting = lsu->chosen.count | lsu->returns_waiting | misses | port->unit.count;
    bool is_due = lsu_next_due(lsu) <= sm->cycle + 1, has_l1d_work = l1d_has_work(l1d, sm);
    if ((waiting != 0) | lsu->is_row_full | is_due | has_l1d_work) return true;
    return !lsu_is_free(lsu) && !lsu_is_stuck(lsu, l1d);
}
/* Cycle of the next thing to happen that is known now, UINT64_MAX. */
uint64_t lsu_next_event(const SmLsu *lsu, const SmL1d *l1d);

#endif
