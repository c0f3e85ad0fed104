/* Load/store unit: takes one memory instruction at a time, sends its accesses to shared memory, the
 * caches or the network, and returns results through the write-back port. There is one per SM.
 *
 * Within a cycle it works on its neighbours in this order: the register banks (which it writes),
 * the port (it handles one reply per cycle and sends the misses of its caches), the L1D. Posts
 * SM_EVENT_INST_DONE, SM_EVENT_STORE_DONE and SM_EVENT_ATOMIC_DONE. */
#ifndef TYTO_SM_LSU_H
#define TYTO_SM_LSU_H

#include "sm/bank_writes.h"
#include "sm/context.h"
#include "sm/l1d.h"
#include "sm/queue.h"
#include "sm/read_levels.h"
#include "sm/texture_order.h"

/* Sources of results for the write-back port. */
typedef enum SmReturn {
    SM_RETURN_SHARED,
    SM_RETURN_TEXTURE,
    SM_RETURN_CONST,
    SM_RETURN_BYPASS,
    SM_RETURN_L1D,
    SM_RETURNS
} SmReturn;

/* Instructions that leave in order, each in a cycle that is fixed when it enters. */
typedef struct SmPipe {
    SmQueue queue;
    uint64_t *due; /* by position in the queue's ring */
} SmPipe;

/* The instructions in a linear pipeline, if the machine has one. Its last stage writes back
 * instructions, which get there `stages` picks after their own pick. It also writes back what
 * memory returns, which has priority. Instructions that have to wait fill the stages before it.
 * When all stages are full, nothing can issue. */
typedef struct SmRow {
    uint8_t stages;
    uint8_t interval;     /* cycles from pick to pick; the last stage is busy for as long with each
                             write-back */
    uint8_t head, count;  /* index of the oldest instruction in `due`, and number of instructions */
    uint64_t free_at;     /* first cycle in which the last stage is free */
    uint64_t next_return; /* first cycle in which it can take what memory returns */
    uint64_t due[SM_MAX_STAGES]; /* ring: cycle in which an instruction gets to the last stage
                                    unless it is delayed */
} SmRow;

/* Value of SmLsu.bank if there is no such bank. */
enum { SM_NO_BANK = 0xFF };

/* Written only by lsu.c. The fields that every visit reads come first, in one line of the host's
 * cache. */
typedef struct SmLsu {
    uint16_t latch;           /* instruction in the unit; SM_NONE: none */
    uint8_t bank;             /* L1D bank that had no room for the latch's next access;
                                 SM_NO_BANK */
    uint8_t last_return;      /* SmReturn that won last */
    bool is_refused;          /* the latch's next access, other than to the L1D, had no room */
    bool has_row;             /* the machine has a linear pipeline */
    bool is_row_full;         /* every stage of that pipeline holds an instruction */
    bool enters_at_once;      /* SmLsuConfig.enters_at_once */
    uint8_t sends;            /* SmLsuConfig.sends_per_cycle */
    bool looks_up;            /* the latch's next access is at the L1D's tags and looks them up from
                                 the latch (l1d.latency is 0) */
    uint32_t returns_waiting; /* sources with loads for the port, one bit each, except: */
    uint64_t shared_from;     /* first cycle in which the port can choose the oldest load from
                                 shared memory; UINT64_MAX: none. The L1D's loads are in its
                                 MSHRs */
    uint64_t next_due;        /* first cycle in which a pipe or the constant levels have something
                                 due; UINT64_MAX: none */
    uint64_t latch_from;      /* first cycle in which it may try an access */
    uint64_t latch_until;     /* shared memory: last cycle that the instruction holds the latch */
    SmQueue chosen;           /* complete; chosen by the port in the last cycle */
    SmPipe shared_pipe;       /* loads from shared memory; due when the port can choose them */
    SmPipe texture_pipe;      /* accesses that hit the texture cache; due when they go to
                                 `returns` */
    SmPipe constant_pipe;     /* the same for the constant cache, if it has a latency */
    SmQueue returns[SM_RETURNS]; /* loads that wait for the write-back port */
    SmReadCache l1c, l1t;
    SmTextureOrder order;
    uint32_t mshrs_free; /* free MSHRs among those that the caches share */
    bool shares_mshrs;   /* the caches share MSHRs (SmLsuConfig.mshrs) */
    bool has_l15c;       /* the constant cache has a larger one, l15c, below it */
    SmReadCache l15c;
    SmReadLevels constants; /* l1c above l15c */
    SmRow row;
} SmLsu;

/* Call it after the L1D's init, because they may share MSHRs. */
void lsu_init(SmLsu *lsu, SmContext *sm, SmL1d *l1d, SmPort *port);
void lsu_start_kernel(SmLsu *lsu);
void lsu_step(SmLsu *lsu, SmContext *sm, SmL1d *l1d, SmPort *port, const SmBankWrites *writes);

static inline bool lsu_is_free(const SmLsu *lsu) { return lsu->latch == SM_NONE; }
/* Takes an instruction into the latch; returns false if the latch is occupied. */
bool lsu_accept(SmLsu *lsu, const SmContext *sm, uint16_t inst);

/* Whether the instruction in the latch stops the whole pipeline. In a linear pipeline, an
 * instruction that stays longer than one pick interval blocks the next one in the stage before. */
static inline bool lsu_stalls_pipeline(const SmLsu *lsu, const SmContext *sm) {
    if (lsu->is_row_full) return true;
    if (!sm->config->lsu.stalls_pipeline || lsu_is_free(lsu)) return false;
    return sm->cycle + 1 >= lsu->latch_from + sm->config->scheduler.issue_interval;
}

/* Records that an instruction issues in this cycle; only for machines with a linear pipeline. */
void lsu_note_issue(SmLsu *lsu, uint64_t cycle);

/* Whether the latch can continue only after the L1D has got something free. */
static inline bool lsu_is_stuck(const SmLsu *lsu, const SmL1d *l1d) {
    return lsu->bank != SM_NO_BANK && l1d_bank_is_stuck(l1d, lsu->bank);
}

/* The next cycle in which something happens outside the L1D; UINT64_MAX: none. */
static inline uint64_t lsu_next_due(const SmLsu *lsu) {
    return lsu->shared_from < lsu->next_due ? lsu->shared_from : lsu->next_due;
}

/* Whether there is work in the next cycle. Called in every cycle of an SM that waits. */
__attribute__((always_inline)) static inline bool
lsu_has_work(const SmLsu *lsu, const SmContext *sm, const SmL1d *l1d, const SmPort *port) {
    uint32_t misses = port->misses_waiting & ~(1u << MEM_CLIENT_L1I);
    uint32_t waiting = lsu->chosen.count | lsu->returns_waiting | misses | port->unit.count;
    bool is_due = lsu_next_due(lsu) <= sm->cycle + 1, has_l1d_work = l1d_has_work(l1d, sm);
    if ((waiting != 0) | lsu->is_row_full | is_due | has_l1d_work) return true;
    return !lsu_is_free(lsu) && !lsu_is_stuck(lsu, l1d);
}
/* The next cycle in which something happens, as far as is known now; UINT64_MAX: none. */
uint64_t lsu_next_event(const SmLsu *lsu, const SmL1d *l1d);

#endif
