/* Snapshots of a running simulation (see the header). */
#include "stats/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/host.h"
#include "base/output_file.h"
#include "stats/output.h"

#define PAUSE_SECONDS 0.5 /* seconds between two snapshots */
enum {
    INTERVAL = 1024,   /* SM cycles between samples at first; doubled as the run grows */
    MOST_SAMPLES = 256 /* most samples: as many as a page has room for */
};

struct Snapshots {
    char *path; /* owned */
    const RunStats *run;
    TimeSeries *series; /* samples of the counters; owned */
    double written_at;  /* host_wall_seconds of the last snapshot; 0: none */
    int error;          /* errno of the first snapshot that could not be written; 0: none */
};

Snapshots *snapshots_new(const char *path, const RunStats *run) {
    Snapshots *snapshots = base_calloc(1, sizeof *snapshots);
    snapshots->path = strcpy(base_malloc(strlen(path) + 1), path);
    snapshots->run = run;
    snapshots->series = timeseries_new(INTERVAL, MOST_SAMPLES);
    return snapshots;
}

void snapshots_free(Snapshots *snapshots) {
    if (!snapshots) return;
    timeseries_free(snapshots->series);
    free(snapshots->path);
    free(snapshots);
}

uint64_t snapshots_due(const Snapshots *snapshots) { return timeseries_due(snapshots->series); }

void snapshots_sample(Snapshots *snapshots, uint64_t cycle, const Counters *all) {
    timeseries_sample(snapshots->series, cycle, all);
}

bool snapshots_wanted(const Snapshots *snapshots) {
    return snapshots && !snapshots->error &&
           host_wall_seconds() - snapshots->written_at >= PAUSE_SECONDS;
}

/* ---- Writing ---- */

static void write_number(Json *json, const char *key, uint64_t value) {
    json_key(json, key);
    json_uint(json, value);
}

static void write_moment(const Moment *moment, Json *json) {
    json_key(json, "kernel");
    json_string(json, moment->kernel);
    write_number(json, "launch", moment->launch);
    write_number(json, "cycle", moment->cycle);
    write_number(json, "ctas", moment->ctas);
    write_number(json, "begun_ctas", moment->begun_ctas);
    write_number(json, "done_ctas", moment->done_ctas);
    json_key(json, "sms");
    json_array(json);
    for (uint32_t i = 0; i < moment->sm_count; i++) {
        json_object(json);
        write_number(json, "ctas", moment->sms[i].ctas);
        write_number(json, "warp_instructions", moment->sms[i].warp_instructions);
        json_end_object(json);
    }
    json_end_array(json);
    json_key(json, "standing");
    profile_write_json(moment->waiting, json);
}

static void add_part(RunStats *run, const char *name, RunStatus status, const Moment *moment,
                     const KernelFigures *figures) {
    KernelStats *kernel = run_add_kernel(run, name);
    memcpy(kernel->grid, moment->grid, sizeof kernel->grid);
    memcpy(kernel->block, moment->block, sizeof kernel->block);
    kernel->registers = moment->registers;
    kernel->shared_bytes = moment->shared_bytes;
    kernel->status = status;
    run_set_figures(run_add_timing(kernel), figures);
}

/* The record that the run would have if it ended now. Earlier launches are merged into one, because
 * there may be any number of them. */
static RunStats *run_so_far(const Snapshots *snapshots, const Moment *moment) {
    const RunStats *run = snapshots->run;
    RunStats *now = run_new(program_invocation_short_name);
    run_set_machine(now, run->machine, run->scheduler, run->cta_scheduler, run->shape.sms,
                    run->shape.schedulers);
    now->peaks = run->peaks;
    KernelFigures before = {.counters = *moment->before};
    if (moment->launch > 1) add_part(now, "launches before", RUN_COMPLETE, moment, &before);
    add_part(now, moment->kernel, RUN_RUNNING, moment, &moment->figures);
    now->series = snapshots->series;
    return now;
}

/* `moment` is NULL at the end, when `run` is the complete record. */
static void write_record(Snapshots *snapshots, const RunStats *run, const Moment *moment) {
    Text text = {0};
    Json json;
    json_begin(&json, &text);
    json_object(&json);
    json_key(&json, "live");
    json_object(&json);
    json_key(&json, "state");
    json_string(&json, moment ? "running" : "ended");
    if (moment) write_moment(moment, &json);
    json_end_object(&json);
    json_key(&json, "run");
    run_write_json(run, &json);
    json_end_object(&json);
    OutputFile *file = output_file_open(snapshots->path);
    if (file) fwrite(text_string(&text), 1, text.length, output_file_stream(file));
    if (!file || !output_file_close_soon(file)) snapshots->error = errno;
    text_free(&text);
    snapshots->written_at = host_wall_seconds();
}

void snapshots_write(Snapshots *snapshots, const Moment *moment) {
    RunStats *now = run_so_far(snapshots, moment);
    write_record(snapshots, now, moment);
    now->series = NULL; /* owned here */
    run_free(now);
}

bool snapshots_end(Snapshots *snapshots, Diag *diag) {
    RunStats whole = *snapshots->run; /* everything except the samples belongs to the run */
    if (!whole.series) whole.series = snapshots->series;
    if (!snapshots->error) write_record(snapshots, &whole, NULL);
    errno = snapshots->error;
    if (snapshots->error) output_failed(snapshots->path, diag);
    return !snapshots->error;
}
