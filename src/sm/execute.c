/* Pipelines and write-back. A pipeline is fully pipelined apart from its initiation interval; when
 * an instruction enters, the cycle of its result is known, and the result bus is booked for it. */
#include "sm/sm_internal.h"

enum { RETIRE_DELAY = 2 }; /* cycles from the end of a pipeline to the registers (docs/sm.md) */

/* Cycles ahead that a result can be due, as a power of two that fills words of bits: rings no
 * longer than the machine needs stay in the host's caches. */
static uint32_t horizon_of(const Sm *sm) {
    uint32_t longest = 0, horizon = 64;
    for (int c = 0; c < ISA_CLASS_COUNT; c++)
        if (sm->config->ops[c].latency > longest) longest = sm->config->ops[c].latency;
    while (horizon < longest + RETIRE_DELAY + ISA_LANES)
        horizon *= 2;
    assert(horizon <= SM_HORIZON);
    return horizon;
}

void execute_init(Sm *sm) {
    const SmConfig *config = sm->config;
    sm->horizon_mask = horizon_of(sm) - 1;
    sm->result_places = config->result_buses < config->writeback_width ? config->result_buses
                                                                       : config->writeback_width;
    for (int u = 0; u < SM_UNIT_LDST; u++) {
        uint32_t lanes = config->units[u].lanes;
        for (uint32_t i = 0; i < config->units[u].count; i++)
            sm->pipelines[sm->pipeline_count++].unit = (uint8_t)u;
        if (lanes) sm->beats[u] = (ISA_LANES + lanes - 1) / lanes;
    }
}

/* Place of a cycle in the rings of results. */
static uint32_t at(const Sm *sm, uint64_t cycle) { return (uint32_t)cycle & sm->horizon_mask; }

void execute_write_back(Sm *sm) {
    uint32_t slot = at(sm, sm->cycle);
    if (!sm->results_under_way || !bits_get(sm->result_due, slot)) return;
    uint32_t count = sm->result_count[slot];
    for (uint32_t i = 0; i < count; i++) {
        uint16_t inst = sm->results[slot][i];
        sm->bank_written |= collector_banks_of(sm, &sm->insts_in_flight[inst]);
        sm_inst_complete(sm, inst);
    }
    sm->results_under_way -= count;
    sm->result_count[slot] = 0;
    bits_clear(sm->result_due, slot);
    for (uint32_t p = 0; p < sm->pipeline_count; p++)
        bits_clear(sm->finishing[p], slot);
}

uint64_t execute_next_result(const Sm *sm) {
    if (!sm->results_under_way) return UINT64_MAX;
    for (uint64_t cycle = sm->cycle + 1; cycle <= sm->cycle + sm->horizon_mask;) {
        uint32_t slot = at(sm, cycle);
        uint64_t word = sm->result_due[slot / 64] >> (slot % 64);
        if (word) return cycle + (uint64_t)bits_lowest64(word);
        cycle += 64 - slot % 64;
    }
    return sm->cycle + 1;
}

/* Lets the oldest waiting instruction of the pipeline's kind enter, if it can. */
static void accept(Sm *sm, uint32_t index) {
    SmPipeline *pipeline = &sm->pipelines[index];
    SmQueue *queue = &sm->dispatch_queue[pipeline->unit];
    if (!queue->count || sm->cycle < pipeline->free_at) return;
    uint16_t inst = sm_queue_peek(queue);
    const SmOpConfig *op = &sm->config->ops[sm->infos[sm->insts_in_flight[inst].pc].op_class];
    /* A warp that enters over several cycles leaves the pipeline the same number later. */
    uint32_t beats = sm->beats[pipeline->unit];
    uint32_t slot = at(sm, sm->cycle + RETIRE_DELAY + op->latency + beats - 1);
    if (sm->result_count[slot] >= sm->result_places || bits_get(sm->finishing[index], slot)) return;
    sm_queue_pop(queue);
    sm->before_pipelines--;
    bits_set(sm->finishing[index], slot);
    bits_set(sm->result_due, slot);
    sm->results[slot][sm->result_count[slot]++] = inst;
    sm->results_under_way++;
    pipeline->free_at = sm->cycle + (op->initiation > beats ? op->initiation : beats);
}

void execute_step(Sm *sm) {
    for (uint32_t p = 0; p < sm->pipeline_count; p++)
        accept(sm, p);
    SmQueue *memory = &sm->dispatch_queue[SM_UNIT_LDST];
    if (memory->count && lsu_accept(sm, sm_queue_peek(memory))) {
        sm_queue_pop(memory);
        sm->before_pipelines--;
    }
}
