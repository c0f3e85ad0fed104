/* Results of a simulator's launches: statuses, counters by name, the JSON object. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "simulator/caller.h"
#include "simulator/origin.h"
#include "simulator/record.h"
#include "simulator/simulator.h"
#include "stats/format.h"

/* ---- Launches ---- */

int tyto_result_count(TytoSimulator *simulator) {
    simulator_lock(simulator);
    int count = simulator->run->kernel_count;
    simulator_unlock(simulator);
    return count;
}

/* Launch i of a simulator whose lock is held. */
static const KernelStats *launch_at(const TytoSimulator *simulator, const char *function, int i) {
    caller_check_index(function, "launch", i, simulator->run->kernel_count);
    return &simulator->run->kernels[i];
}

static TytoResult result_of(const KernelStats *kernel) {
    static const TytoStatus statuses[RUN_STATUSES] = {[RUN_COMPLETE] = TYTO_OK,
                                                      [RUN_INTERRUPTED] = TYTO_INTERRUPTED,
                                                      [RUN_STOPPED] = TYTO_STOPPED,
                                                      [RUN_FAULT] = TYTO_KERNEL_FAILED,
                                                      [RUN_STUCK] = TYTO_KERNEL_FAILED};
    Counters counters = run_kernel_counters(kernel);
    TytoResult result = {.kernel = kernel->name,
                         .status = statuses[kernel->status],
                         .registers = kernel->registers,
                         .shared_bytes = kernel->shared_bytes,
                         .warp_instructions = counters.warp_instructions,
                         .thread_instructions = counters.thread_instructions,
                         .cycles = counters.cycles,
                         .time_ps = kernel->time_ps,
                         .wall_seconds = kernel->wall_seconds,
                         .cpu_seconds = kernel->cpu_seconds,
                         .is_timed = kernel->timing != NULL,
                         .stream = kernel->stream,
                         .has_overlapped = kernel->has_overlapped};
    memcpy(result.grid, kernel->grid, sizeof result.grid);
    memcpy(result.block, kernel->block, sizeof result.block);
    return result;
}

TytoResult tyto_result(TytoSimulator *simulator, int i) {
    simulator_lock(simulator);
    TytoResult result = result_of(launch_at(simulator, __func__, i));
    simulator_unlock(simulator);
    return result;
}

/* ---- Counters by name ---- */

#define NO_ROW(...)
#define SUM_ROW(name, unit, meaning) {#name, unit, meaning, TYTO_SUM},
#define MAX_ROW(name, unit, meaning) {#name, unit, meaning, TYTO_MAX},
#define RATIO_ROW(name, unit, scale, numerator, denominator, meaning)                              \
    {#name, unit, meaning, TYTO_RATIO},
enum { ROW_COUNT = (int)COUNTER_COUNT + (int)RATIO_COUNT };

/* All rows, in the public interface: counters first, then ratios. */
static const TytoCounter rows[ROW_COUNT] = {COUNTERS(NO_ROW, SUM_ROW, MAX_ROW)
                                                RATIOS(RATIO_ROW, NO_ROW)};

int tyto_counter_count(void) { return ROW_COUNT; }

const TytoCounter *tyto_counter(int i) {
    CALLER_CHECK_INDEX("counter", i, ROW_COUNT);
    return &rows[i];
}

int tyto_find_counter(const char *name) {
    name = counters_present_name(name);
    for (int i = 0; i < ROW_COUNT; i++) {
        if (strcmp(rows[i].name, name) == 0) return i;
    }
    return -1;
}

void tyto_format_value(int i, double value, char *text, size_t size_bytes) {
    char field[FORMAT_BYTES];
    CALLER_CHECK_INDEX("counter", i, ROW_COUNT);
    if (i >= COUNTER_COUNT) format_ratio_value(field, value, (RatioId)(i - COUNTER_COUNT));
    else if (value >= 0 && value < 0x1p64) format_count(field, (uint64_t)round(value));
    else format_value(field, value, 0);
    if (size_bytes) snprintf(text, size_bytes, "%s", field);
}

char *tyto_counter_text(int i) {
    CALLER_CHECK_INDEX("counter", i, tyto_counter_count());
    Text out = {0};
    if (i < COUNTER_COUNT) counters_explain((CounterId)i, &out);
    else counters_explain_ratio((RatioId)(i - COUNTER_COUNT), &out);
    return out.bytes;
}

const char *tyto_rule_name(int i) { return advice_name(i); }

char *tyto_rule_text(int i) {
    CALLER_CHECK_INDEX("rule", i, ADVICE_RULE_COUNT);
    Text out = {0};
    advice_explain((AdviceRule)i, &out);
    return out.bytes;
}

/* Whether a counter is also known without timing. */
static bool is_functional(CounterId id) {
    for (int i = 0; i < RUN_FUNCTIONAL_COUNTERS; i++) {
        if (run_functional_counters[i] == id) return true;
    }
    return false;
}

static TytoValue value_of(const Counters *counters, bool has_timing, int counter) {
    TytoValue value = {.value = NAN};
    if (counter >= COUNTER_COUNT) {
        value.value = counters_ratio(counters, (RatioId)(counter - COUNTER_COUNT));
        value.is_known = has_timing && !isnan(value.value);
    } else if (has_timing || is_functional((CounterId)counter)) {
        value.is_known = true;
        value.count = counters_get(counters, (CounterId)counter);
        value.value = (double)value.count;
    }
    if (!value.is_known) value.value = NAN;
    return value;
}

TytoValue tyto_value(TytoSimulator *simulator, int launch, int counter) {
    CALLER_CHECK_INDEX("counter", counter, ROW_COUNT);
    simulator_lock(simulator);
    const RunStats *run = simulator->run;
    TytoValue value;
    if (launch == TYTO_TOTAL) {
        Counters total = run_total(run);
        value = value_of(&total, run_is_timed(run), counter);
    } else {
        const KernelStats *kernel = launch_at(simulator, __func__, launch);
        Counters counters = run_kernel_counters(kernel);
        value = value_of(&counters, kernel->timing != NULL, counter);
    }
    simulator_unlock(simulator);
    return value;
}

/* ---- Reports ---- */

char *tyto_report_json(TytoSimulator *simulator, const char *program) {
    simulator_lock(simulator);
    Text out = {0};
    record_sign(simulator->run);
    origin_sign(simulator, program);
    record_add_json(simulator->run, &out);
    simulator_unlock(simulator);
    return out.bytes;
}

char *tyto_launch_json(TytoSimulator *simulator, const char *program, int launch) {
    simulator_lock(simulator);
    Text out = {0};
    launch_at(simulator, __func__, launch);
    record_sign(simulator->run);
    origin_sign(simulator, program);
    RunStats alone = *simulator->run; /* its parts still belong to the run */
    alone.kernels += launch;
    alone.kernel_count = 1;
    record_add_json(&alone, &out);
    simulator_unlock(simulator);
    return out.bytes;
}
