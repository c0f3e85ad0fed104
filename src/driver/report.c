/* Text and JSON of a run's results. */
#include "driver/report.h"

#include "base/host.h"
#include "driver/detail.h"
#include "stats/report.h"

typedef struct Totals {
    uint64_t warp_instructions;
    uint64_t thread_instructions;
    uint64_t cycles;
    double wall_seconds;
    double cpu_seconds;
} Totals;

static Totals total(const TytoSimulator *simulator) {
    Totals sum = {0};
    for (int i = 0; i < simulator->result_count; i++) {
        const TytoResult *result = &simulator->results[i];
        sum.warp_instructions += result->warp_instructions;
        sum.thread_instructions += result->thread_instructions;
        sum.cycles += result->cycles;
        sum.wall_seconds += result->wall_seconds;
        sum.cpu_seconds += result->cpu_seconds;
    }
    return sum;
}

static double per_second(uint64_t count, double seconds) {
    return seconds > 0 ? (double)count / seconds : 0;
}

/* ---- Text ---- */

/* 1234567 as 1,234,567. */
static void add_count(Text *out, uint64_t value) {
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) text_add(out, ",");
        text_add_bytes(out, &digits[i], 1);
    }
}

/* 24200000 as "24.2 million". */
static void add_rounded(Text *out, double value) {
    if (value >= 1e9) text_printf(out, "%.2f billion", value / 1e9);
    else if (value >= 1e6) text_printf(out, "%.1f million", value / 1e6);
    else if (value >= 1e3) text_printf(out, "%.1f thousand", value / 1e3);
    else text_printf(out, "%.0f", value);
}

void report_add_kernel(const TytoSimulator *simulator, int i, Text *out) {
    const TytoResult *result = &simulator->results[i];
    text_printf(out, "tyto: kernel %d: %s grid %u,%u,%u block %u,%u,%u: %u registers, ", i + 1,
                result->kernel, result->grid[0], result->grid[1], result->grid[2], result->block[0],
                result->block[1], result->block[2], result->registers);
    if (result->shared_bytes) text_printf(out, "%u bytes of shared memory, ", result->shared_bytes);
    add_count(out, result->warp_instructions);
    text_add(out, " warp instructions");
    if (result->cycles) {
        text_add(out, ", ");
        add_count(out, result->cycles);
        text_printf(out, " cycles, IPC %.2f",
                    (double)result->thread_instructions / (double)result->cycles);
    }
    if (simulator->detail && !result->is_timed) text_add(out, ", not timed");
    text_printf(out, "%s\n", result->status == TYTO_OK ? "" : ", failed");
}

void report_add_summary(const TytoSimulator *simulator, Text *out) {
    if (simulator->result_count == 0) return;
    if (simulator->detail) {
        report_run(simulator->detail->run, simulator->options->is_verbose, out);
        return;
    }
    Totals sum = total(simulator);
    text_printf(out, "tyto: %d kernel%s, ", simulator->result_count,
                simulator->result_count == 1 ? "" : "s");
    add_count(out, sum.warp_instructions);
    text_add(out, " warp instructions");
    if (sum.cycles) {
        text_add(out, ", ");
        add_count(out, sum.cycles);
        text_add(out, " cycles");
    }
    text_printf(out, " in %.2f s (", sum.wall_seconds);
    add_rounded(out, per_second(sum.warp_instructions, sum.wall_seconds));
    text_add(out, " warp instructions a second)\n");
}

/* ---- JSON ---- */

static void add_shape(Json *json, const char *key, const uint32_t shape[3]) {
    json_key(json, key);
    json_array(json);
    for (int i = 0; i < 3; i++)
        json_uint(json, shape[i]);
    json_end_array(json);
}

static void add_number(Json *json, const char *key, uint64_t value) {
    json_key(json, key);
    json_uint(json, value);
}

static void add_counters(Json *json, uint64_t warp_instructions, uint64_t thread_instructions,
                         uint64_t cycles) {
    add_number(json, "warp_instructions", warp_instructions);
    add_number(json, "thread_instructions", thread_instructions);
    if (!cycles) return;
    add_number(json, "cycles", cycles);
    json_key(json, "ipc");
    json_double(json, (double)thread_instructions / (double)cycles);
}

static RunStatus status_of(const TytoResult *result) {
    if (result->status == TYTO_OK) return RUN_COMPLETE;
    return result->status == TYTO_INTERRUPTED ? RUN_INTERRUPTED : RUN_FAULT;
}

static void add_kernel_object(Json *json, const TytoResult *result) {
    json_object(json);
    json_key(json, "kernel");
    json_string(json, result->kernel);
    json_key(json, "status");
    json_string(json, run_status_names[status_of(result)]);
    json_key(json, "timed");
    json_bool(json, result->is_timed);
    add_shape(json, "grid", result->grid);
    add_shape(json, "block", result->block);
    add_number(json, "registers", result->registers);
    add_number(json, "shared_bytes", result->shared_bytes);
    add_counters(json, result->warp_instructions, result->thread_instructions, result->cycles);
    json_end_object(json);
}

static void add_host(Json *json, const Totals *sum) {
    json_key(json, "host");
    json_object(json);
    json_key(json, "wall_seconds");
    json_double(json, sum->wall_seconds);
    json_key(json, "cpu_seconds");
    json_double(json, sum->cpu_seconds);
    json_key(json, "warp_instructions_per_second");
    json_double(json, per_second(sum->warp_instructions, sum->wall_seconds));
    json_key(json, "cycles_per_second");
    json_double(json, per_second(sum->cycles, sum->wall_seconds));
    add_number(json, "peak_memory_bytes", host_peak_memory_bytes());
    json_end_object(json);
}

static void add_functional_run(const TytoSimulator *simulator, const char *program, Json *json) {
    Totals sum = total(simulator);
    json_object(json);
    json_key(json, "tyto_version");
    json_string(json, tyto_version());
    json_key(json, "program");
    json_string(json, program);
    /* what a run without timing does not have */
    static const char *const absent[] = {"machine", "scheduler", "cta_scheduler"};
    for (int i = 0; i < 3; i++) {
        json_key(json, absent[i]);
        json_null(json);
    }
    json_key(json, "kernels");
    json_array(json);
    for (int i = 0; i < simulator->result_count; i++)
        add_kernel_object(json, &simulator->results[i]);
    json_end_array(json);
    json_key(json, "total");
    json_object(json);
    add_counters(json, sum.warp_instructions, sum.thread_instructions, sum.cycles);
    json_end_object(json);
    add_host(json, &sum);
    json_end_object(json);
}

void report_add_json(const TytoSimulator *simulator, const char *program, Text *out) {
    Json json;
    json_begin(&json, out);
    if (simulator->detail) {
        detail_sign(simulator->detail, program);
        run_write_json(simulator->detail->run, &json);
    } else {
        add_functional_run(simulator, program, &json);
    }
    text_add(out, "\n");
}
