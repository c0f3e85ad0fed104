/* Machine, policies and recordings of a simulation in detail. */
#include "simulator/timed_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "sched/choice.h"
#include "sched/report.h"
#include "stats/output.h"

enum { TIMELINE_INTERVAL = 1000 }; /* SM cycles between its counters, unless --sample says */

/* ---- Machine and policies ---- */

/* The machine with every --set applied. */
static bool load_machine(Detail *detail, const Options *options, Diag *diag) {
    bool is_right = true;
    if (strcmp(options->machine, "-") == 0) { /* it would be read twice: to check it, and to run */
        diag_error(diag, NULL, 0, 0, "--machine -: must be one of tyto machines, or a file");
        return false;
    }
    detail->machine = machine_load(options->machine, diag);
    if (!detail->machine) return false;
    for (int i = 0; i < options->sets.count; i++)
        is_right &= machine_set(detail->machine, options->sets.items[i], diag);
    detail->config = is_right ? machine_finish(detail->machine, diag) : NULL;
    return detail->config != NULL;
}

/* The policy that the machine names by its parameter `key`. A file does not have code loaded unless
 * the user allows it, and means by a relative path one beside itself. NULL with an error in `diag`.
 */
static const char *machines_own(const Detail *detail, const Options *options, const char *key,
                                const char *policy, Diag *diag) {
    MachinePlace place = machine_place(detail->machine, key);
    if (!choice_path_length(policy) || !place.file) return policy;
    if (!options->allow_plugins) {
        diag_error(diag, place.file, place.line, place.column,
                   "%s: %s is code, which a machine file has loaded only with --allow-plugins", key,
                   policy);
        return NULL;
    }
    const char *slash = strrchr(place.file, '/');
    if (policy[0] == '/') return policy;
    return arena_printf(options->arena, "%.*s%s", slash ? (int)(slash + 1 - place.file) : 2,
                        slash ? place.file : "./", policy);
}

static bool load_policies(Detail *detail, const Options *options, Diag *diag) {
    const char *warps = options->scheduler, *ctas = options->cta_scheduler;
    const MachineConfig *config = detail->config;
    if (!warps)
        warps =
            machines_own(detail, options, "scheduler.policy", config->sm.scheduler.policy, diag);
    if (!ctas) ctas = machines_own(detail, options, "cta.policy", config->cta.policy, diag);
    if (warps) detail->scheduler = sched_policy_new(warps, diag);
    if (ctas) detail->cta_scheduler = cta_sched_new(ctas, diag);
    return detail->scheduler && detail->cta_scheduler;
}

/* ---- Recordings ---- */

static bool open_policies(Detail *detail, const Options *options, Diag *diag) {
    if (!options->policies_path) return true;
    detail->policies = output_file_open(options->policies_path);
    if (!detail->policies) {
        output_failed(options->policies_path, diag);
        return false;
    }
    detail->watch.policies = output_file_stream(detail->policies);
    sched_csv_start(detail->watch.policies);
    detail->watch.policies_interval = options->sample_cycles;
    return true;
}

static bool close_policies(Detail *detail, const Options *options, Diag *diag) {
    if (!detail->policies) return true;
    sched_csv_end(detail->watch.policies, detail->run);
    bool is_written = output_file_close(detail->policies);
    if (!is_written) output_failed(options->policies_path, diag);
    detail->policies = NULL;
    detail->watch.policies = NULL;
    return is_written;
}

static bool open_l1d(Detail *detail, const Options *options, Diag *diag) {
    if (!options->l1d_path) return true;
    const CacheConfig *l1d = &detail->config->sm.l1d;
    L1dTraceHeader header = {.sms = detail->config->sms,
                             .unit_bytes = cache_config_fill_bytes(l1d),
                             .size_bytes = l1d->size_bytes,
                             .line_bytes = l1d->line_bytes,
                             .ways = l1d->ways,
                             .index = l1d->index};
    snprintf(header.machine, sizeof header.machine, "%s", detail->config->name);
    snprintf(header.scheduler, sizeof header.scheduler, "%s", detail->scheduler->text);
    detail->l1d = detail->watch.l1d = l1d_writer_open(options->l1d_path, &header, diag);
    return detail->l1d != NULL;
}

/* Ends the trace with what the run counted. */
static bool close_l1d(Detail *detail, Diag *diag) {
    if (!detail->l1d) return true;
    Counters total = run_total(detail->run);
    L1dTraceTotals totals = {.kernels = detail->watch.kernels,
                             .thread_instructions = total.thread_instructions,
                             .accesses = total.l1d_accesses,
                             .misses = total.l1d_misses,
                             .load_accesses = total.l1d_load_accesses,
                             .load_misses = total.l1d_load_misses};
    Text origin = {0};
    run_add_origin_texts(detail->run, &origin);
    const char *hash = detail->config->sm.l1d.set_hash;
    if (*hash) {
        text_add_bytes(&origin, L1D_TRACE_SET_HASH, sizeof L1D_TRACE_SET_HASH);
        text_add_bytes(&origin, hash, strlen(hash) + 1);
    }
    bool is_written = l1d_writer_close(detail->l1d, &totals, &origin, diag);
    text_free(&origin);
    detail->l1d = detail->watch.l1d = NULL;
    return is_written;
}

bool detail_start(Detail *detail, const Options *options, Diag *diag) {
    detail->watch.records_ctas = options->ctas_path != NULL;
    if (options->is_profiled || options->profile_path)
        detail->watch.profile = detail->run->profile = profile_new();
    if (options->sample_cycles) {
        detail->run->series = timeseries_new(options->sample_cycles, TIMESERIES_MAX_SAMPLES);
        detail->watch.series = detail->run->series;
    }
    if (options->snapshot_path)
        detail->snapshots = detail->watch.snapshots =
            snapshots_new(options->snapshot_path, detail->run);
    const MachineConfig *config = detail->config;
    detail->watch.units = detail->run->units =
        units_new(config->sms, config->partitions, config->partition.slices, config->dram.banks);
    detail->run->tells_units = options->tells_units;
    if (options->tells_units) {
        units_count_sets(detail->run->units, UNIT_sm, cache_config_sets(&config->sm.l1d));
        if (config->partition.has_l2)
            units_count_sets(detail->run->units, UNIT_slice,
                             cache_config_sets(&config->partition.l2));
    }
    if (!open_policies(detail, options, diag) || !open_l1d(detail, options, diag)) return false;
    if (!options->timeline_path) return true;
    TimelineShape shape = {.sms = config->sms,
                           .channels = config->partitions,
                           .ctas = config->sm.ctas,
                           .warps = config->sm.threads / ISA_LANES};
    detail->timeline = timeline_open(options->timeline_path, &shape, diag);
    if (!detail->timeline) return false;
    detail->watch.timeline = detail->timeline;
    detail->watch.timeline_interval =
        options->sample_cycles ? options->sample_cycles : TIMELINE_INTERVAL;
    if (timeline_has_units(detail->timeline))
        detail->watch.tracks = unit_tracks_new(detail->timeline, &shape);
    return true;
}

Detail *detail_new(const Options *options, RunStats *run, Diag *diag) {
    Detail *detail = base_calloc(1, sizeof *detail);
    detail->run = run;
    if (load_machine(detail, options, diag) && load_policies(detail, options, diag)) {
        const MachineConfig *config = detail->config;
        run_set_machine(run, config->name, detail->scheduler->text, detail->cta_scheduler->text,
                        config->sms, config->sm.scheduler.count);
        return detail;
    }
    detail_free(detail);
    return NULL;
}

void detail_free(Detail *detail) {
    if (!detail) return;
    timeline_abandon(detail->timeline); /* recordings of a run that was not finished */
    unit_tracks_free(detail->watch.tracks);
    l1d_writer_abandon(detail->l1d);
    snapshots_free(detail->snapshots);
    output_file_abandon(detail->policies);
    sched_policy_free(detail->scheduler);
    cta_sched_free(detail->cta_scheduler);
    machine_free(detail->machine);
    free(detail);
}

bool detail_finish(Detail *detail, const Options *options, Diag *diag) {
    bool is_right = true;
    if (detail->timeline) is_right &= timeline_close(detail->timeline, detail->run, diag);
    detail->timeline = NULL;
    detail->watch.timeline = NULL;
    is_right &= close_policies(detail, options, diag);
    is_right &= close_l1d(detail, diag);
    if (detail->snapshots) is_right &= snapshots_end(detail->snapshots, diag);
    return is_right;
}
