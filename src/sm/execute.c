/* Pipelines and write-back. A pipeline is fully pipelined apart from its initiation interval; when an
 * instruction enters, the cycle of its result is known, and the result bus is booked for it. */
#include "sm/sm_internal.h"

enum { RETIRE_DELAY = 2 }; /* cycles from the end of a pipeline to the registers (docs/sm.md) */

void execute_init(Sm *sm) {
    const SmConfig *config = sm->config;
    sm->result_places = config->result_buses < config->writeback_width ? config->result_buses
                                                                        : config->writeback_width;
    for (int u = 0; u < SM_UNIT_LDST; u++)
        for (uint32_t i = 0; i < sm->config->units[u].count; i++)
            sm->pipelines[sm->pipeline_count++].unit = (uint8_t)u;
}

static uint32_t at(uint64_t cycle) { return (uint32_t)(cycle % SM_HORIZON); }

static bool is_booked(const uint64_t *cycles, uint64_t cycle) { return bits_get(cycles, at(cycle)); }

void execute_write_back(Sm *sm) {
    uint32_t slot = at(sm->cycle);
    uint32_t count = sm->result_count[slot];
    if (!count) return;
    for (uint32_t i = 0; i < count; i++) {
        uint16_t inst = sm->results[slot][i];
        sm->bank_written |= collector_banks_of(sm, &sm->insts_in_flight[inst]);
        sm_inst_complete(sm, inst);
    }
    sm->results_under_way -= count;
    sm->result_count[slot] = 0;
    bits_clear(sm->result_due, slot);
    for (uint32_t p = 0; p < sm->pipeline_count; p++) bits_clear(sm->pipelines[p].finishing, slot);
}

uint64_t execute_next_result(const Sm *sm) {
    if (!sm->results_under_way) return UINT64_MAX;
    for (uint64_t cycle = sm->cycle + 1; cycle < sm->cycle + SM_HORIZON;) {
        uint32_t slot = at(cycle);
        uint64_t word = sm->result_due[slot / 64] >> (slot % 64);
        if (word) return cycle + (uint64_t)bits_lowest64(word);
        cycle += 64 - slot % 64;
    }
    return sm->cycle + 1;
}

/* Cycles for which a warp keeps a pipeline's input. */
static uint32_t initiation(const Sm *sm, const SmOpConfig *op, uint8_t unit) {
    uint32_t lanes = sm->config->units[unit].lanes;
    uint32_t beats = (ISA_LANES + lanes - 1) / lanes;
    return op->initiation > beats ? op->initiation : beats;
}

/* Lets the oldest waiting instruction of the pipeline's kind enter, if it can. */
static void accept(Sm *sm, SmPipeline *pipeline) {
    SmQueue *queue = &sm->dispatch_queue[pipeline->unit];
    if (!queue->count || sm->cycle < pipeline->free_at) return;
    uint16_t inst = sm_queue_peek(queue);
    const SmOpConfig *op = &sm->config->ops[sm->infos[sm->insts_in_flight[inst].pc].op_class];
    uint32_t interval = initiation(sm, op, pipeline->unit);
    /* A warp that enters over several cycles leaves the pipeline the same number later. */
    uint32_t lanes = sm->config->units[pipeline->unit].lanes;
    uint32_t beats = (ISA_LANES + lanes - 1) / lanes;
    uint64_t result = sm->cycle + RETIRE_DELAY + op->latency + beats - 1;
    uint32_t slot = at(result);
    if (sm->result_count[slot] >= sm->result_places || is_booked(pipeline->finishing, result)) return;
    sm_queue_pop(queue);
    sm->before_pipelines--;
    bits_set(pipeline->finishing, slot);
    bits_set(sm->result_due, slot);
    sm->results[slot][sm->result_count[slot]++] = inst;
    sm->results_under_way++;
    pipeline->free_at = sm->cycle + interval;
}

void execute_step(Sm *sm) {
    for (uint32_t p = 0; p < sm->pipeline_count; p++) accept(sm, &sm->pipelines[p]);
    SmQueue *memory = &sm->dispatch_queue[SM_UNIT_LDST];
    if (memory->count && lsu_accept(sm, sm_queue_peek(memory))) {
        sm_queue_pop(memory);
        sm->before_pipelines--;
    }
}
