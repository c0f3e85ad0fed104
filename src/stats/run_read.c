/* Reads what run_write.c has written (see the header). Counters are found by name, starting after
 * the previous one, so that a table in order takes one comparison per counter. */
#include "stats/run_read.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/json_read.h"

enum { KEY_BYTES = 128, TEXT_BYTES = 4096, ORIGIN_BYTES = 1 << 16 };

/* The index of the counter with this name; -1 if there is none. The search starts at `from`. */
static int find_counter(const char *name, int from) {
    name = counters_present_name(name);
    for (int i = 0; i < COUNTER_COUNT; i++) {
        int id = (from + i) % COUNTER_COUNT;
        if (strcmp(counter_rows[id].name, name) == 0) return id;
    }
    return -1;
}

static RunStatus read_status(JsonReader *reader) {
    char name[KEY_BYTES];
    json_read_string(reader, name, sizeof name);
    for (RunStatus status = 0; status < RUN_STATUSES; status++) {
        if (strcmp(run_status_names[status], name) == 0) return status;
    }
    reader->is_bad = true;
    return RUN_FAULT;
}

static void read_triple(JsonReader *reader, uint32_t triple[3]) {
    if (!json_enter_array(reader)) return;
    for (int i = 0; json_next_value(reader); i++) {
        uint64_t value = json_read_uint(reader);
        if (i < 3) triple[i] = (uint32_t)value;
    }
}

/* Reads the field `key` of a kernel, if it is not a counter. */
static bool read_field(JsonReader *reader, const char *key, KernelStats *kernel, bool *is_timed,
                       uint32_t *ctas_per_sm) {
    if (strcmp(key, "status") == 0) kernel->status = read_status(reader);
    else if (strcmp(key, "timed") == 0) *is_timed = json_read_bool(reader);
    else if (strcmp(key, "grid") == 0) read_triple(reader, kernel->grid);
    else if (strcmp(key, "block") == 0) read_triple(reader, kernel->block);
    else if (strcmp(key, "cluster") == 0) read_triple(reader, kernel->cluster);
    else if (strcmp(key, "registers") == 0) kernel->registers = (uint32_t)json_read_uint(reader);
    else if (strcmp(key, "shared_bytes") == 0)
        kernel->shared_bytes = (uint32_t)json_read_uint(reader);
    else if (strcmp(key, "code") == 0) json_read_string(reader, kernel->code, sizeof kernel->code);
    else if (strcmp(key, "stream") == 0) kernel->stream = (uint32_t)json_read_uint(reader);
    else if (strcmp(key, "overlapped") == 0) kernel->has_overlapped = json_read_bool(reader);
    else if (strcmp(key, "ctas_per_sm") == 0) *ctas_per_sm = (uint32_t)json_read_uint(reader);
    else return false;
    return true;
}

static void read_kernel(JsonReader *reader, RunStats *run) {
    char key[KEY_BYTES], name[TEXT_BYTES] = "";
    KernelStats read = {0};
    KernelFigures figures = {0};
    bool is_timed = false;
    uint32_t ctas_per_sm = 0;
    int counter = -1;
    if (!json_enter_object(reader)) return;
    while (json_next_key(reader, key, sizeof key)) {
        if (strcmp(key, "kernel") == 0) {
            json_read_string(reader, name, sizeof name);
        } else if (!read_field(reader, key, &read, &is_timed, &ctas_per_sm)) {
            int found = find_counter(key, counter + 1);
            if (found < 0) json_skip(reader);
            else ((uint64_t *)&figures.counters)[counter = found] = json_read_uint(reader);
        }
    }
    KernelStats *kernel = run_add_kernel(run, name);
    read.name = kernel->name;
    *kernel = read;
    if (is_timed) {
        KernelTiming *timing = run_add_timing(kernel);
        timing->ctas_per_sm = ctas_per_sm;
        run_set_figures(timing, &figures);
    } else {
        kernel->warp_instructions = figures.counters.warp_instructions;
        kernel->thread_instructions = figures.counters.thread_instructions;
    }
}

/* A text of the origin; null and an empty text mean none. */
static void read_origin(JsonReader *reader, RunStats *run, RunOrigin which) {
    char *text = base_malloc(ORIGIN_BYTES);
    json_read_string(reader, text, ORIGIN_BYTES);
    if (*text) run_set_origin(run, which, text);
    free(text);
}

RunStats *run_read_json(const char *text) {
    JsonReader reader = json_reader(text);
    char key[KEY_BYTES];
    RunStats *run = run_new("");
    bool is_run = json_enter_object(&reader), has_kernels = false;
    while (is_run && json_next_key(&reader, key, sizeof key)) {
        RunOrigin i = 0;
        while (i < RUN_ORIGINS && strcmp(run_origin_names[i], key) != 0)
            i++;
        if (i < RUN_ORIGINS) {
            read_origin(&reader, run, i);
        } else if (strcmp(key, "kernels") == 0 && json_enter_array(&reader)) {
            has_kernels = true;
            while (json_next_value(&reader))
                read_kernel(&reader, run);
        } else {
            json_skip(&reader);
        }
    }
    if (run_is_timed(run) && !run->machine) run_set_origin(run, RUN_ORIGIN_machine, "");
    if (run_is_timed(run) && !run->cta_scheduler) run_set_origin(run, RUN_ORIGIN_cta_scheduler, "");
    if (is_run && has_kernels && json_is_over(&reader)) return run;
    run_free(run);
    return NULL;
}
