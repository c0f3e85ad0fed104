/* Writes a run as JSON, and one or more runs as CSV. */
#include "stats/run.h"

#include <string.h>

#include "base/demangle.h"
#include "stats/advice.h"
#include "stats/csv.h"

/* Writes null for a text that a run does not have. */
static void write_text(Json *json, const char *key, const char *value) {
    json_key(json, key);
    if (value) json_string(json, value);
    else json_null(json);
}

static void write_number(Json *json, const char *key, uint64_t value) {
    json_key(json, key);
    json_uint(json, value);
}

static void write_value(Json *json, const char *key, double value) {
    json_key(json, key);
    json_double(json, value);
}

static void write_triple(Json *json, const char *key, const uint32_t triple[3]) {
    json_key(json, key);
    json_array(json);
    for (int i = 0; i < 3; i++)
        json_uint(json, triple[i]);
    json_end_array(json);
}

static void write_counters(Json *json, const Counters *counters) {
    for (CounterId id = 0; id < COUNTER_COUNT; id++)
        write_number(json, counter_rows[id].name, counters_get(counters, id));
    for (RatioId id = 0; id < RATIO_COUNT; id++)
        write_value(json, ratio_rows[id].name, counters_ratio(counters, id));
}

/* Writes all that is known about functional kernels. */
static void write_functional(Json *json, const Counters *counters) {
    for (int i = 0; i < RUN_FUNCTIONAL_COUNTERS; i++) {
        CounterId id = run_functional_counters[i];
        write_number(json, counter_rows[id].name, counters_get(counters, id));
    }
}

/* Writes the warp states, if the core counts them. */
static void write_states(Json *json, const WarpStates *states) {
    if (!warp_states_sum(states)) return;
    json_key(json, "warp_states");
    warp_states_write_json(states, json);
}

static void write_ctas(Json *json, const KernelTiming *timing) {
    json_key(json, "ctas");
    json_array(json);
    for (uint64_t i = 0; i < timing->cta_count; i++) {
        const CtaRecord *cta = &timing->ctas[i];
        json_object(json);
        write_number(json, "cta", cta->cta);
        write_number(json, "sm", cta->sm);
        write_number(json, "slot", cta->slot);
        write_number(json, "start", cta->start);
        write_number(json, "end", cta->end);
        json_end_object(json);
    }
    json_end_array(json);
}

static void write_timing(Json *json, const RunStats *run, const KernelStats *kernel) {
    const KernelTiming *timing = kernel->timing;
    const uint32_t sms = run->shape.sms;
    write_number(json, "ctas_per_sm", timing->ctas_per_sm);
    KernelFigures figures = run_figures(timing);
    if (timing->occupancy.warps) {
        json_key(json, "occupancy");
        occupancy_write_json(&timing->occupancy, &figures.counters, json);
    }
    json_key(json, "of_peak");
    levels_write_shares(&run->peaks, &figures.counters, json);
    if (!kernel->has_overlapped) {
        const AdviceFacts facts = run_kernel_facts(run, kernel, &figures.counters);
        json_key(json, "advice");
        advice_write_json(&facts, json);
    }
    write_counters(json, &figures.counters);
    json_key(json, "histograms");
    histograms_write_json(&figures.histograms, json);
    write_states(json, &figures.states);
    json_key(json, "spread");
    spreads_write_json(&figures.spreads, sms, json);
    if (timing->ctas) write_ctas(json, timing);
}

static void write_kernel(Json *json, const RunStats *run, const KernelStats *kernel) {
    json_object(json);
    write_text(json, "kernel", kernel->name);
    demangle_write_json(kernel->name, json);
    write_text(json, "status", run_status_names[kernel->status]);
    json_key(json, "timed");
    json_bool(json, kernel->timing != NULL);
    write_triple(json, "grid", kernel->grid);
    write_triple(json, "block", kernel->block);
    if (kernel->cluster[0]) write_triple(json, "cluster", kernel->cluster);
    write_number(json, "registers", kernel->registers);
    write_number(json, "shared_bytes", kernel->shared_bytes);
    if (*kernel->code) write_text(json, "code", kernel->code);
    write_number(json, "stream", kernel->stream);
    json_key(json, "overlapped");
    json_bool(json, kernel->has_overlapped);
    Counters counters = run_kernel_counters(kernel);
    if (kernel->timing) write_timing(json, run, kernel);
    else write_functional(json, &counters);
    json_end_object(json);
}

static void write_total_spread(Json *json, const RunStats *run) {
    if (!run->units) return;
    Spreads spreads = units_spreads(run->units);
    json_key(json, "spread");
    spreads_write_json(&spreads, run->shape.sms, json);
}

static void write_total(Json *json, const RunStats *run, const Counters *total) {
    json_key(json, "total");
    json_object(json);
    if (run_is_timed(run)) {
        const WarpStates states = run_total_states(run);
        Histograms histograms;
        run_total_histograms(run, &histograms);
        json_key(json, "of_peak");
        levels_write_shares(&run->peaks, total, json);
        if (!run_has_overlap(run)) {
            const AdviceFacts facts = run_total_facts(run, total);
            json_key(json, "advice");
            advice_write_json(&facts, json);
        }
        write_counters(json, total);
        json_key(json, "histograms");
        histograms_write_json(&histograms, json);
        write_states(json, &states);
        write_total_spread(json, run);
    } else {
        write_functional(json, total);
    }
    json_end_object(json);
}

static void write_untimed(Json *json, const RunStats *run) {
    UntimedTotal untimed = run_untimed(run);
    json_key(json, "untimed");
    json_object(json);
    write_number(json, "kernels", (uint64_t)untimed.kernels);
    write_functional(json, &untimed.counters);
    json_end_object(json);
}

static void write_host(Json *json, const RunStats *run, const Counters *total) {
    HostStats host = run_host(run);
    double seconds = host.wall_seconds;
    json_key(json, "host");
    json_object(json);
    write_value(json, "wall_seconds", seconds);
    write_value(json, "untimed_seconds", host.untimed_seconds);
    write_value(json, "cpu_seconds", host.cpu_seconds);
    write_value(json, "warp_instructions_per_second", (double)total->warp_instructions / seconds);
    write_value(json, "cycles_per_second", (double)total->cycles / seconds);
    write_number(json, "peak_memory_bytes", run->peak_memory_bytes);
    json_end_object(json);
}

void run_write_origin(const RunStats *run, Json *json) {
    for (RunOrigin i = 0; i < RUN_ORIGINS; i++)
        write_text(json, run_origin_names[i], run_origin(run, i));
}

void run_write_json(const RunStats *run, Json *json) {
    Counters total = run_total(run);
    json_object(json);
    run_write_origin(run, json);
    if (run->ending) write_text(json, "ended_early", run->ending);
    if (run_is_timed(run)) {
        json_key(json, "peaks");
        levels_write_peaks(&run->peaks, json);
    }
    json_key(json, "kernels");
    json_array(json);
    for (int i = 0; i < run->kernel_count; i++)
        write_kernel(json, run, &run->kernels[i]);
    json_end_array(json);
    write_total(json, run, &total);
    if (run_is_timed(run)) write_untimed(json, run);
    if (run->series) {
        json_key(json, "samples");
        timeseries_write_json(run->series, json);
    }
    if (run->profile) {
        json_key(json, "profile");
        profile_write_json(run->profile, json);
    }
    if (run->tells_units) {
        json_key(json, "units");
        units_write_json(run->units, json);
        json_key(json, "cache_sets");
        units_write_sets_json(run->units, json);
    }
    json_key(json, "errors");
    findings_write_json(run->findings, json);
    write_host(json, run, &total);
    json_end_object(json);
}

/* --- CSV --- */

static void add_field(Text *out, const char *value) {
    csv_add_string(out, value);
    text_add(out, ",");
}

void run_add_origin_fields(const RunStats *run, Text *out) {
    for (RunOrigin i = 0; i < RUN_ORIGINS; i++) {
        if (i) text_add(out, ",");
        csv_add_string(out, run_origin(run, i) ? run_origin(run, i) : "");
    }
}

void run_add_origin_names(Text *out) {
    for (RunOrigin i = 0; i < RUN_ORIGINS; i++)
        text_printf(out, "%s%s", i ? "," : "", run_origin_names[i]);
}

void run_add_origin_texts(const RunStats *run, Text *out) {
    for (RunOrigin i = 0; i < RUN_ORIGINS; i++) {
        const char *text = run_origin(run, i);
        if (!text) continue;
        text_add_bytes(out, run_origin_names[i], strlen(run_origin_names[i]) + 1);
        text_add_bytes(out, text, strlen(text) + 1);
    }
}

/* Adds a kernel's line; kernel NULL: that of the total. */
static void add_line(Text *out, const RunStats *run, int index, const KernelStats *kernel,
                     const char *status, const Counters *counters) {
    run_add_origin_fields(run, out);
    text_add(out, ",");
    if (kernel) csv_add_uint(out, (uint64_t)index);
    text_add(out, ",");
    add_field(out, kernel ? kernel->name : "total");
    add_field(out, status);
    if (kernel) text_printf(out, "%u,%d", kernel->stream, kernel->has_overlapped);
    else text_add(out, ",");
    csv_add_counters(out, counters);
    text_add(out, "\n");
}

static void write_run_csv(const RunStats *run, Text *out) {
    RunStatus status = RUN_COMPLETE;
    for (int i = 0; i < run->kernel_count; i++) {
        const KernelStats *kernel = &run->kernels[i];
        if (kernel->status != RUN_COMPLETE) status = kernel->status;
        if (!kernel->timing) continue;
        Counters counters = run_kernel_counters(kernel);
        add_line(out, run, i, kernel, run_status_names[kernel->status], &counters);
    }
    Counters total = run_total(run);
    add_line(out, run, 0, NULL, run_status_names[status], &total);
}

void run_write_csv(const RunStats *const *runs, int count, Text *out) {
    run_add_origin_names(out);
    text_add(out, ",index,kernel,status,stream,overlapped");
    csv_add_names(out);
    text_add(out, "\n");
    for (int i = 0; i < count; i++)
        write_run_csv(runs[i], out);
}

void run_write_units_csv(const RunStats *run, Text *out) {
    Text origin = {0};
    run_add_origin_fields(run, &origin);
    text_add(&origin, ",");
    run_add_origin_names(out);
    text_add(out, ",");
    units_write_csv_names(out);
    text_add(out, "\n");
    units_write_csv(run->units, text_string(&origin), out);
    text_free(&origin);
}

void run_write_ctas_csv(const RunStats *run, Text *out) {
    Text origin = {0};
    run_add_origin_fields(run, &origin);
    text_add(out, "index,kernel,cta,sm,slot,start,end,");
    run_add_origin_names(out);
    text_add(out, "\n");
    for (int i = 0; i < run->kernel_count; i++) {
        const KernelStats *kernel = &run->kernels[i];
        const KernelTiming *timing = kernel->timing;
        for (uint64_t c = 0; timing && c < timing->cta_count; c++) {
            const CtaRecord *record = &timing->ctas[c];
            csv_add_uint(out, (uint64_t)i);
            text_add(out, ",");
            add_field(out, kernel->name);
            csv_add_uint(out, record->cta);
            text_printf(out, ",%u,%u,", record->sm, record->slot);
            csv_add_uint(out, record->start);
            text_add(out, ",");
            csv_add_uint(out, record->end);
            text_printf(out, ",%s\n", text_string(&origin));
        }
    }
    text_free(&origin);
}
