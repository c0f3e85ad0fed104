/* The part of an SM from issue to the pipelines, which a machine with several schedulers may have
 * once per scheduler. An SM has one sub-core, or one per scheduler. Warp w is in sub-core w modulo
 * the number of sub-cores, just as it belongs to scheduler w modulo the number of schedulers.
 *
 * Sub-cores share the load/store unit, which takes the oldest instruction that waits for it. They
 * also share pipelines of the kinds that are so configured (units.*.shared_by). */
#ifndef TYTO_SM_SUBCORE_H
#define TYTO_SM_SUBCORE_H

#include "sm/classic/collector.h"
#include "sm/lsu.h"
#include "sm/classic/pipes.h"

typedef struct SmSubcore {
    SmCollector collector; /* with its input and output queues */
    SmPipes pipes;
} SmSubcore;

/* All sub-cores of an SM. Most machines have only one; the support for several must cost it
 * nothing. */
typedef struct SmSubcores {
    uint64_t next_result; /* cycle of the next result of any sub-core; UINT64_MAX: none */
    uint32_t count;       /* 1, 2 or 4 */
    SmSubcore core[SM_MAX_SUBCORES];
    SmCollectors collectors; /* the sub-cores' collectors, for look-up by warp */
    SmBankWrites writes;     /* banks written, by collector */
} SmSubcores;

void subcores_init(SmSubcores *cores, const SmConfig *config, Arena *arena);

/* The functions below for several sub-cores. */
void subcores_write_back_all(SmSubcores *cores, SmContext *sm);
void subcores_step_all(SmSubcores *cores, SmContext *sm, SmLsu *lsu);
bool subcores_have_work_all(const SmSubcores *cores, const SmLsu *lsu);

/* Recomputes when the next result is due. */
static inline void subcores_find_result(SmSubcores *cores) {
    uint64_t next = cores->core[0].pipes.next;
    for (uint32_t c = 1; c < cores->count; c++)
        if (cores->core[c].pipes.next < next) next = cores->core[c].pipes.next;
    cores->next_result = next;
}

/* First part of a cycle: writes back results that are due. */
static inline void subcores_write_back(SmSubcores *cores, SmContext *sm) {
    if (cores->next_result == sm->cycle) subcores_write_back_all(cores, sm);
}

/* Lets instructions of a sub-core enter its pipelines, and gathers operands. */
void subcore_step(SmSubcore *core, SmContext *sm);

/* Hands the oldest instruction that waits for the load/store unit to it, if there is one and the
 * unit is free. */
static inline void subcore_hand_to_lsu(SmCollector *collector, const SmContext *sm, SmLsu *lsu) {
    const bool has_one = collector_has(collector, SM_UNIT_LDST), is_free = lsu_is_free(lsu);
    if (!(has_one & is_free)) return;
    lsu_accept(lsu, sm, collector_peek(collector, SM_UNIT_LDST));
    collector_pop(collector, SM_UNIT_LDST);
}

/* Second part of a cycle, after the load/store unit's step. An instruction enters that unit and
 * each sub-core steps, in this or the opposite order (lsu.enters_at_once). Sub-cores take turns in
 * who is first to use what they share. This can be skipped in a cycle in which no result was
 * written and no sub-core could do anything. */
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

/* Whether a sub-core has work in the next cycle, apart from results that are due. */
static inline bool subcores_have_work(const SmSubcores *cores, const SmLsu *lsu) {
    return cores->count == 1 ? subcore_has_work(&cores->core[0], lsu)
                             : subcores_have_work_all(cores, lsu);
}

/* The cycle of the next result; UINT64_MAX: none. */
static inline uint64_t subcores_next_result(const SmSubcores *cores) { return cores->next_result; }

#endif
