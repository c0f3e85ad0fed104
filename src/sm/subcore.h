/* The part of an SM from issue to the pipelines: what a machine with several schedulers may have
 * once for each. An SM has one; docs/sm.md says what becomes of it where it has more. */
#ifndef TYTO_SM_SUBCORE_H
#define TYTO_SM_SUBCORE_H

#include "sm/collector.h"
#include "sm/lsu.h"
#include "sm/pipes.h"

typedef struct SmSubcore {
    SmCollector collector; /* with the queues on both of its sides */
    SmPipes pipes;
} SmSubcore;

static inline void subcore_init(SmSubcore *core, const SmConfig *config, Arena *arena) {
    collector_init(&core->collector, config, arena);
    pipes_init(&core->pipes, config, arena);
}

/* The first part of a cycle: results that are due. */
static inline void subcore_write_back(SmSubcore *core, SmContext *sm) {
    collector_start_cycle(&core->collector);
    pipes_write_back(&core->pipes, sm, &core->collector);
}

/* The rest, after the load/store unit has had its turn: instructions enter pipelines and that unit,
 * and operands are gathered. */
static inline void subcore_step(SmSubcore *core, SmContext *sm, SmLsu *lsu) {
    SmCollector *collector = &core->collector;
    if (collector_is_empty(collector)) return;
    pipes_step(&core->pipes, sm, collector);
    if (collector_has(collector, SM_UNIT_LDST) &&
        lsu_accept(lsu, sm, collector_peek(collector, SM_UNIT_LDST)))
        collector_pop(collector, SM_UNIT_LDST);
    collector_step(collector, sm);
}

/* Whether it has something to do in the next cycle, results that are due aside. */
static inline bool subcore_has_work(const SmSubcore *core, const SmLsu *lsu) {
    return !collector_is_empty(&core->collector) &&
           collector_can_move(&core->collector, lsu_is_free(lsu));
}

#endif
