/* Sub-cores (see the header). */
#include "sm/classic/subcore.h"

/* Makes sub-cores that share pipelines use those of the first one among them. */
static void share_pipelines(SmSubcores *cores, const SmConfig *config) {
    for (uint32_t c = 0; c < cores->count; c++)
        for (int u = 0; u < SM_UNIT_LDST; u++) {
            if (!config->units[u].count) continue;
            uint32_t first = c - c % config->units[u].shared_by;
            if (first != c)
                pipes_share(&cores->core[c].pipes, &cores->core[first].pipes, (SmUnit)u);
        }
}

void subcores_init(SmSubcores *cores, const SmConfig *config, Arena *arena) {
    cores->count = config->subcores;
    cores->next_result = UINT64_MAX;
    cores->collectors = (SmCollectors){.mask = config->subcores - 1};
    cores->writes.mask = config->subcores - 1;
    for (uint32_t c = 0; c < cores->count; c++) {
        collector_init(&cores->core[c].collector, config, arena);
        pipes_init(&cores->core[c].pipes, config, arena);
        cores->collectors.of[c] = &cores->core[c].collector;
        cores->writes.of[c] = &cores->core[c].collector.written;
    }
    for (uint32_t slot = 0; slot < TYTO_MAX_WARPS; slot++)
        cores->collectors.warps[slot % cores->count] |= UINT64_C(1) << slot;
    share_pipelines(cores, config);
}

/* The collector of the sub-core whose instruction for the load/store unit issued first; NULL: none
 * has one. */
static SmCollector *oldest_for_lsu(SmSubcores *cores, const SmContext *sm) {
    SmCollector *oldest = NULL;
    uint32_t order = 0;
    for (uint32_t c = 0; c < cores->count; c++) {
        SmCollector *collector = &cores->core[c].collector;
        if (!collector_has(collector, SM_UNIT_LDST)) continue;
        uint32_t issued = sm->insts.inst[collector_peek(collector, SM_UNIT_LDST)].order;
        if (oldest && issued > order) continue;
        oldest = collector;
        order = issued;
    }
    return oldest;
}

static void hand_oldest_to_lsu(SmSubcores *cores, const SmContext *sm, SmLsu *lsu) {
    SmCollector *collector = lsu_is_free(lsu) ? oldest_for_lsu(cores, sm) : NULL;
    if (collector) subcore_hand_to_lsu(collector, sm, lsu);
}

void subcores_write_back_all(SmSubcores *cores, SmContext *sm) {
    for (uint32_t c = 0; c < cores->count; c++) {
        pipes_write_back(&cores->core[c].pipes, sm, &cores->core[c].collector);
        pipes_forget(&cores->core[c].pipes, sm->cycle);
    }
    subcores_find_result(cores);
}

void subcore_step(SmSubcore *core, SmContext *sm) {
    pipes_step(&core->pipes, sm, &core->collector);
    collector_step(&core->collector, sm);
}

void subcores_step_all(SmSubcores *cores, SmContext *sm, SmLsu *lsu) {
    if (!lsu->enters_at_once) hand_oldest_to_lsu(cores, sm, lsu);
    uint32_t first = (uint32_t)sm->cycle;
    for (uint32_t i = 0; i < cores->count; i++) {
        SmSubcore *core = &cores->core[(first + i) & cores->collectors.mask];
        if (!collector_is_empty(&core->collector)) subcore_step(core, sm);
        collector_forget_writes(&core->collector);
    }
    if (lsu->enters_at_once) hand_oldest_to_lsu(cores, sm, lsu);
    subcores_find_result(cores);
}

bool subcores_have_work_all(const SmSubcores *cores, const SmLsu *lsu) {
    for (uint32_t c = 0; c < cores->count; c++)
        if (subcore_has_work(&cores->core[c], lsu)) return true;
    return false;
}
