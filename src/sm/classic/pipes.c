/* Pipelines and write-back (see the header). */
#include "sm/classic/pipes.h"

enum {
    MAX_HORIZON = 2048 /* most cycles ahead that a result can be due; machine_rows.c bounds
                          latencies */
};

/* Cycles ahead that a result can be due, as a power of two that is a multiple of a word's bits. The
 * rings are no longer than the machine needs, so that they stay in the host's caches. */
static uint32_t horizon_of(const SmConfig *config) {
    uint32_t longest = sm_op_longest(config), horizon = 64;
    while (horizon < longest + config->write_back + ISA_LANES)
        horizon *= 2;
    assert(horizon <= MAX_HORIZON);
    return horizon;
}

void pipes_init(SmPipes *pipes, const SmConfig *config, Arena *arena) {
    uint32_t horizon = horizon_of(config);
    *pipes = (SmPipes){.next = UINT64_MAX,
                       .horizon_mask = horizon - 1,
                       .write_back = config->write_back,
                       .places = config->result_buses < config->writeback_width
                                     ? config->result_buses
                                     : config->writeback_width,
                       .due = ARENA_ARRAY(arena, uint64_t, horizon / 64),
                       .results = ARENA_ARRAY(arena, SmResults, horizon)};
    for (int u = 0; u < SM_UNIT_LDST; u++) {
        uint32_t lanes = config->units[u].lanes;
        pipes->first[u] = (uint16_t)pipes->count;
        for (uint32_t i = 0; i < config->units[u].count; i++) {
            pipes->unit[pipes->count] = (uint8_t)u;
            SmPipeline *pipeline = ARENA_ARRAY(arena, SmPipeline, 1);
            pipeline->ends = pipes->results;
            pipes->pipeline[pipes->count++] = pipeline;
        }
        if (lanes) pipes->beats[u] = (ISA_LANES + lanes - 1) / lanes;
    }
    pipes->first[SM_UNIT_LDST] = (uint16_t)pipes->count;
}

void pipes_share(SmPipes *pipes, SmPipes *other, SmUnit unit) {
    other->lends = true;
    for (uint32_t p = 0; p < pipes->count; p++)
        if (pipes->unit[p] == unit) pipes->pipeline[p] = other->pipeline[p];
}

/* Index of a cycle in the rings of results. */
static uint32_t at(const SmPipes *pipes, uint64_t cycle) {
    return (uint32_t)cycle & pipes->horizon_mask;
}

/* The cycle of the first result after `now`; UINT64_MAX: none. */
static uint64_t next_result(const SmPipes *pipes, uint64_t now) {
    if (!pipes->under_way) return UINT64_MAX;
    for (uint64_t cycle = now + 1;;) {
        uint32_t slot = at(pipes, cycle);
        uint64_t word = pipes->due[slot / 64] >> (slot % 64);
        if (word) return cycle + (uint64_t)bits_lowest64(word);
        cycle += 64 - slot % 64;
        assert(cycle <= now + 2 * MAX_HORIZON && "a result is under way");
    }
}

void pipes_retire(SmPipes *pipes, SmContext *sm, SmCollector *collector) {
    uint32_t slot = at(pipes, sm->cycle);
    SmResults *results = &pipes->results[slot];
    uint16_t index = results->first;
    for (uint32_t left = results->count; left; left--) {
        const SmInst *inst = &sm->insts.inst[index];
        collector_write(collector, inst->writes);
        events_post(&sm->events, SM_EVENT_INST_DONE, index);
        index = inst->next;
    }
    pipes->under_way -= results->count;
    *results = (SmResults){0};
    bits_clear(pipes->due, slot);
    pipes->next = next_result(pipes, sm->cycle);
}

/* Adds the instruction's result to those that are due in `cycle`. */
static void expect(SmPipes *pipes, const SmContext *sm, uint64_t cycle, uint16_t inst) {
    uint32_t slot = at(pipes, cycle);
    SmResults *results = &pipes->results[slot];
    if (results->count++) sm->insts.inst[results->last].next = inst;
    else results->first = inst;
    results->last = inst;
    bits_set(pipes->due, slot);
    pipes->under_way++;
    if (cycle < pipes->next) pipes->next = cycle;
}

/* Lets the oldest waiting instruction of the pipeline's kind enter if it can; there must be one. */
static void accept(SmPipes *pipes, const SmContext *sm, SmCollector *collector, SmUnit unit,
                   uint32_t index) {
    SmPipeline *pipeline = pipes->pipeline[index];
    if (sm->cycle < pipeline->free_at) return;
    uint16_t inst = collector_peek(collector, unit);
    const SmOp *op = context_op(sm, &sm->insts.inst[inst]);
    /* A warp that enters over several cycles leaves the pipeline later by the same number of
     * cycles. */
    uint32_t beats = pipes->beats[unit];
    uint64_t due = sm->cycle + pipes->write_back + op->latency + beats - 1;
    SmResults *ends = &pipeline->ends[at(pipes, due)];
    if (pipes->results[at(pipes, due)].count >= pipes->places || ends->finishing >> index & 1)
        return;
    collector_pop(collector, unit);
    ends->finishing = (ends->finishing | 1u << index) & 0xFFFFFF;
    expect(pipes, sm, due, inst);
    pipeline->free_at = sm->cycle + (op->initiation > beats ? op->initiation : beats);
}

void pipes_do_step(SmPipes *pipes, const SmContext *sm, SmCollector *collector) {
    for (uint32_t kinds = collector->out_kinds & ~(1u << SM_UNIT_LDST); kinds; kinds &= kinds - 1) {
        SmUnit unit = (SmUnit)bits_lowest32(kinds);
        uint32_t p = pipes->first[unit], end = pipes->first[unit + 1];
        do
            accept(pipes, sm, collector, unit, p);
        while (++p < end && collector_has(collector, unit));
    }
}
