/* The part of an SM from issue to the pipelines: what a machine with several schedulers may have
 * once for each. An SM has one, or as many as schedulers; warp w is in sub-core w mod their number,
 * as it belongs to scheduler w mod theirs.
 *
 * What sub-cores share: the load/store unit, which takes the oldest instruction that waits for it,
 * and pipelines of kinds that the machine says so of (units.*.shared_by). */
#ifndef TYTO_SM_SUBCORE_H
#define TYTO_SM_SUBCORE_H

#include "sm/classic/collector.h"
#include "sm/lsu.h"
#include "sm/classic/pipes.h"

typedef struct SmSubcore {
    SmCollector collector; /* with the queues on both of its sides */
    SmPipes pipes;
} SmSubcore;

/* All of an SM's. Most machines have one, the first, which costs nothing for the others' sake. */
typedef struct SmSubcores {
    uint64_t next_result; /* cycle of the next of their results, UINT64_MAX */
    uint32_t count;       /* 1, 2 or 4 */
    SmSubcore core[SM_MAX_SUBCORES];
    SmCollectors collectors; /* theirs, for those who ask by warp */
    SmBankWrites writes;     /* of their collectors' banks */
} SmSubcores;

void subcores_init(SmSubcores *cores, const SmConfig *config, Arena *arena);

/* The same as the functions below where there are several. */
void subcores_write_back_all(SmSubcores *cores, SmContext *sm);
void subcores_step_all(SmSubcores *cores, SmContext *sm, SmLsu *lsu);
bool subcores_have_work_all(const SmSubcores *cores, const SmLsu *lsu);

/* Finds again when the next result is due. */
static inline void subcores_find_result(SmSubcores *cores) {
    uint64_t next = cores->core[0].pipes.next;
    for (uint32_t c = 1; c < cores->count; c++)
        if (cores->core[c].pipes.next < next) next = cores->core[c].pipes.next;
    cores->next_result = next;
}

/* The first part of a cycle: results that are due. */
static inline void subcores_write_back(SmSubcores *cores, SmContext *sm) {
    if (cores->next_result == sm->cycle) subcores_write_back_all(cores, sm);
}

/* Instructions of a sub-core enter its pipelines, and operands are gathered. */
void subcore_step(SmSubcore *core, SmContext *sm);

/* The oldest instruction that waits for the load/store unit enters it, if there is one and it can.
 */
static inline void subcore_hand_to_lsu(SmCollector *collector, const SmContext *sm, SmLsu *lsu) {
    const bool has_one = collector_has(collector, SM_UNIT_LDST), is_free = lsu_is_free(lsu);
    if (!(has_one & is_free)) return;
    lsu_accept(lsu, sm, collector_peek(collector, SM_UNIT_LDST));
    collector_pop(collector, SM_UNIT_LDST);
}

/* The rest, after the load/store unit has had its turn: an instruction enters that unit, and each
 * sub-core steps, in this order or the other (lsu.enters_at_once). Whose turn at what they share
 * comes first goes round. A cycle in which no result was written, and in which they could do
 * nothing, can go without it. */
static inline void subcores_step(SmSubcores *cores, SmContext *sm, SmLsu *lsu) {
    SmCollector *collector = &cores->core[0].collector;
    if (cores->count != 1) {
        subcores_step_all(cores, sm, lsu);
        return;
    }
    if (!collector_is_empty(collector)) {
        if (!lsu->enters_at_once) subcore_hand_to_lsu(collector, sm, lsu);
        subcore_step(&cores->core[0], sm);
        if (lsu->enters_at_once) subcore_hand_to_lsu(collector, sm, lsu);
        cores->next_result = cores->core[0].pipes.next;
    }
    collector_forget_writes(collector);
}

static inline bool subcore_has_work(const SmSubcore *core, const SmLsu *lsu) {
    return !collector_is_empty(&core->collector) &&
           collector_can_move(&core->collector, lsu_is_free(lsu));
}

/* Whether one has something to do in the next cycle, results that are due aside. */
static inline bool subcores_have_work(const SmSubcores *cores, const SmLsu *lsu) {
    return cores->count == 1 ? subcore_has_work(&cores->core[0], lsu)
                             : subcores_have_work_all(cores, lsu);
}

/* Cycle of the next result, UINT64_MAX. */
static inline uint64_t subcores_next_result(const SmSubcores *cores) { return cores->next_result; }

#endif
