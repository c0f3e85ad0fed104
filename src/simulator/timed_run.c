/* Machine, policies and recordings of a timed simulation. */
#include "simulator/timed_run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "sched/choice.h"
#include "sched/report.h"
#include "stats/output.h"

enum { TIMELINE_INTERVAL = 1000 }; /* SM cycles between its counters without --sample */

/* ---- Machine and policies ---- */

/* Applies --code to what the machine issues. Results do not require machine code. So functional
 * runs without --code use the PTX, which needs no assembler. */
static bool set_code(Machine *machine, const Options *options, Diag *diag) {
    static const char *const settings[] = {[CODE_PTX] = "sm.instructions=ptx",
                                           [CODE_LOWERED] = "sm.instructions=lowered",
                                           [CODE_MACHINE] = "sm.instructions=machine"};
    const uint64_t code =
        options->code == CODE_AUTO && options->is_functional ? CODE_PTX : options->code;
    return code == CODE_AUTO || machine_set(machine, settings[code], diag);
}

Machine *timed_run_machine(const Options *options, Diag *diag) {
    bool is_right = true;
    if (strcmp(options->machine, "-") == 0) { /* it would be read twice: to check it, and to run */
        diag_error(diag, NULL, 0, 0, "--machine -: must be one of tyto machines, or a file");
        return NULL;
    }
    Machine *machine = machine_load(options->machine, diag);
    if (!machine) return NULL;
    for (int i = 0; i < options->sets.count; i++)
        is_right &= machine_set(machine, options->sets.items[i], diag);
    is_right &= set_code(machine, options, diag);
    if (is_right && options->clock == CLOCK_PROFILED)
        is_right = machine_use_profiled_clock(machine, diag);
    if (is_right && machine_finish(machine, diag)) return machine;
    machine_free(machine);
    return NULL;
}

/* The policy that the machine names in its parameter `key`. A relative path is relative to the
 * machine file's folder. A file can only load code if the user allows it. NULL with an error in
 * `diag`. */
static const char *machines_own(const TimedRun *timed, const Options *options, const char *key,
                                const char *policy, Diag *diag) {
    MachinePlace place = machine_place(timed->machine, key);
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

static bool load_policies(TimedRun *timed, const Options *options, Diag *diag) {
    const char *warps = options->scheduler, *ctas = options->cta_scheduler;
    const MachineConfig *config = timed->config;
    if (!warps)
        warps = machines_own(timed, options, "scheduler.policy", config->sm.scheduler.policy, diag);
    if (!ctas) ctas = machines_own(timed, options, "cta.policy", config->cta.policy, diag);
    if (warps) timed->scheduler = sched_policy_new(warps, diag);
    if (ctas) timed->cta_scheduler = cta_sched_new(ctas, diag);
    return timed->scheduler && timed->cta_scheduler;
}

/* ---- Recordings ---- */

static bool open_policies(TimedRun *timed, const Options *options, Diag *diag) {
    if (!options->policies_path) return true;
    timed->policies = output_file_open(options->policies_path);
    if (!timed->policies) {
        output_failed(options->policies_path, diag);
        return false;
    }
    timed->watch.policies = output_file_stream(timed->policies);
    sched_csv_start(timed->watch.policies);
    timed->watch.policies_interval = options->sample_cycles;
    return true;
}

static bool close_policies(TimedRun *timed, const Options *options, Diag *diag) {
    if (!timed->policies) return true;
    sched_csv_end(timed->watch.policies, timed->run);
    bool is_written = output_file_close(timed->policies);
    if (!is_written) output_failed(options->policies_path, diag);
    timed->policies = NULL;
    timed->watch.policies = NULL;
    return is_written;
}

static bool open_l1d(TimedRun *timed, const Options *options, Diag *diag) {
    if (!options->l1d_path) return true;
    const CacheConfig *l1d = &timed->config->sm.l1d;
    L1dTraceHeader header = {.sms = timed->config->sms,
                             .unit_bytes = cache_config_fill_bytes(l1d),
                             .size_bytes = l1d->size_bytes,
                             .line_bytes = l1d->line_bytes,
                             .ways = l1d->ways,
                             .index = l1d->index};
    snprintf(header.machine, sizeof header.machine, "%s", timed->config->name);
    snprintf(header.scheduler, sizeof header.scheduler, "%s", timed->scheduler->text);
    timed->l1d = timed->watch.l1d = l1d_writer_open(options->l1d_path, &header, diag);
    return timed->l1d != NULL;
}

/* Ends the trace with the counts of the run. */
static bool close_l1d(TimedRun *timed, Diag *diag) {
    if (!timed->l1d) return true;
    Counters total = run_total(timed->run);
    L1dTraceTotals totals = {.kernels = timed->watch.kernels,
                             .thread_instructions = total.thread_instructions,
                             .accesses = total.l1d_accesses,
                             .misses = total.l1d_misses,
                             .load_accesses = total.l1d_load_accesses,
                             .load_misses = total.l1d_load_misses};
    Text origin = {0};
    run_add_origin_texts(timed->run, &origin);
    const char *hash = timed->config->sm.l1d.set_hash;
    if (*hash) {
        text_add_bytes(&origin, L1D_TRACE_SET_HASH, sizeof L1D_TRACE_SET_HASH);
        text_add_bytes(&origin, hash, strlen(hash) + 1);
    }
    bool is_written = l1d_writer_close(timed->l1d, &totals, &origin, diag);
    text_free(&origin);
    timed->l1d = timed->watch.l1d = NULL;
    return is_written;
}

/* Lets the profile show source below the working folder, the program's folder and those that the
 * options name. */
static bool allow_sources(SourceFiles *files, const Options *options, Diag *diag) {
    bool is_right = true;
    char *program = realpath("/proc/self/exe", NULL);
    source_files_allow(files, ".");
    if (program) source_files_allow_beside(files, program);
    free(program);
    for (int i = 0; i < options->source_paths.count; i++) {
        const char *folder = options->source_paths.items[i];
        if (source_files_allow(files, folder)) continue;
        diag_error(diag, NULL, 0, 0, "--source-path %s: %s", folder, strerror(errno));
        is_right = false;
    }
    return is_right;
}

bool timed_run_start(TimedRun *timed, const Options *options, Diag *diag) {
    timed->watch.records_ctas = options->ctas_path != NULL;
    if (options->is_profiled || options->profile_path)
        timed->watch.profile = timed->run->profile = profile_new();
    if (timed->run->profile && !allow_sources(&timed->run->profile->files, options, diag))
        return false;
    if (options->sample_cycles) {
        timed->run->series = timeseries_new(options->sample_cycles, TIMESERIES_MAX_SAMPLES);
        timed->watch.series = timed->run->series;
    }
    if (options->snapshot_path)
        timed->snapshots = timed->watch.snapshots =
            snapshots_new(options->snapshot_path, timed->run);
    const MachineConfig *config = timed->config;
    timed->watch.units = timed->run->units =
        units_new(config->sms, config->partitions, config->partition.slices, config->dram.banks);
    timed->run->tells_units = options->tells_units;
    if (options->tells_units) {
        units_count_sets(timed->run->units, UNIT_sm, cache_config_sets(&config->sm.l1d));
        if (config->partition.has_l2)
            units_count_sets(timed->run->units, UNIT_slice,
                             cache_config_sets(&config->partition.l2));
    }
    if (!open_policies(timed, options, diag) || !open_l1d(timed, options, diag)) return false;
    if (!options->timeline_path) return true;
    TimelineShape shape = {.sms = config->sms,
                           .channels = config->partitions,
                           .ctas = config->sm.ctas,
                           .warps = config->sm.threads / ISA_LANES};
    timed->timeline = timeline_open(options->timeline_path, &shape, diag);
    if (!timed->timeline) return false;
    timed->watch.timeline = timed->timeline;
    timed->watch.timeline_interval =
        options->sample_cycles ? options->sample_cycles : TIMELINE_INTERVAL;
    if (timeline_has_units(timed->timeline))
        timed->watch.tracks = unit_tracks_new(timed->timeline, &shape);
    return true;
}

/* The peak rates of the machine in an SM cycle. */
static LevelPeaks peaks_of(const MachineConfig *machine) {
    const SmConfig *sm = &machine->sm;
    const PartitionConfig *partition = &machine->partition;
    const double sms = machine->sms, clock = machine->clock.sm_khz;
    const uint32_t lookups = sm->l1d_own.banks > 1 ? sm->l1d_own.banks : sm->lsu.accesses_per_cycle;
    const uint32_t interval = sm->l1d_own.bank_interval ? sm->l1d_own.bank_interval : 1;
    const uint32_t sector = partition->l2_sector_bytes, port = partition->port_bytes;
    const double tick_bytes = (double)machine->dram.bus_bytes * machine->dram.data_rate;
    const double slices = (double)machine->partitions * partition->slices;
    const uint32_t sector_cycles = (sector + port - 1) / port; /* bytes of a slice's port */
    return (LevelPeaks){
        .of = {[LEVEL_issue] = sms * sm->scheduler.count * sm->scheduler.issue_width /
                               sm->scheduler.issue_interval,
               [LEVEL_shared] = sms,
               [LEVEL_l1d] = sms * lookups / interval,
               [LEVEL_l2] =
                   partition->has_l2 ? slices * machine->clock.l2_khz / clock / sector_cycles : 0,
               [LEVEL_dram] = tick_bytes * machine->partitions * machine->clock.dram_khz / clock},
        .dram_tick_bytes = tick_bytes};
}

TimedRun *timed_run_new(const Options *options, const Machine *machine, RunStats *run, Diag *diag) {
    TimedRun *timed = base_calloc(1, sizeof *timed);
    timed->run = run;
    timed->machine = machine;
    timed->config = machine_config(machine);
    if (load_policies(timed, options, diag)) {
        const MachineConfig *config = timed->config;
        run_set_machine(run, config->name, timed->scheduler->text, timed->cta_scheduler->text,
                        config->sms, config->sm.scheduler.count);
        run->peaks = peaks_of(config);
        return timed;
    }
    timed_run_free(timed);
    return NULL;
}

void timed_run_free(TimedRun *timed) {
    if (!timed) return;
    timeline_abandon(timed->timeline); /* recordings of a run that was not completed */
    unit_tracks_free(timed->watch.tracks);
    l1d_writer_abandon(timed->l1d);
    snapshots_free(timed->snapshots);
    output_file_abandon(timed->policies);
    sched_policy_free(timed->scheduler);
    cta_sched_free(timed->cta_scheduler);
    free(timed);
}

bool timed_run_finish(TimedRun *timed, const Options *options, Diag *diag) {
    bool is_right = true;
    if (timed->timeline) is_right &= timeline_close(timed->timeline, timed->run, diag);
    timed->timeline = NULL;
    timed->watch.timeline = NULL;
    is_right &= close_policies(timed, options, diag);
    is_right &= close_l1d(timed, diag);
    if (timed->snapshots) is_right &= snapshots_end(timed->snapshots, diag);
    return is_right;
}
