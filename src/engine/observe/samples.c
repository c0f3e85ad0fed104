/* What a run shows while it runs: reports of policies, the timeline, snapshots. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "engine/engine_internal.h"
#include "sched/report.h"

void samples_report_policies(Engine *engine) {
    SchedCsv csv = {.file = engine->watch->policies,
                    .kernel = engine->watch->kernel,
                    .cycle = engine->cycle - engine->rest_cycle};
    TytoReport out = sched_report_csv(&csv);
    for (uint32_t i = 0; i < engine->machine->sms; i++) {
        csv.sm = (int)i;
        sm_report_policy(engine->sms[i], &out);
    }
    csv.sm = SCHED_CSV_CTAS;
    dispatch_report(&engine->places[0].dispatch, &out);
}

/* Adds the state of the kernel to the snapshots; `so_far` is what it has counted. */
static void tell_moment(Engine *engine, const Gpu *gpu, const Counters *so_far) {
    const EnginePlace *place = &engine->places[0];
    const IsaLaunch *launch = &place->grid->launch;
    uint32_t sms = engine->machine->sms;
    Moment moment = {.kernel = launch->function->ptx->name,
                     .launch = engine->watch->kernels,
                     .cycle = engine->cycle,
                     .ctas = place->grid->launch.ctas,
                     .begun_ctas = place->grid->next,
                     .done_ctas = place->grid->done,
                     .registers = gpu_registers(gpu, launch->function, launch->threads),
                     .shared_bytes = launch->shared_bytes,
                     .figures = {*so_far, tally_histograms(engine),
                                 tally_spreads(engine, place->marks), tally_states(engine)},
                     .before = &engine->watch->before,
                     .sms = base_calloc(sms, sizeof *moment.sms),
                     .sm_count = sms,
                     .waiting = profile_new()};
    memcpy(moment.grid, launch->grid, sizeof moment.grid);
    memcpy(moment.block, launch->block, sizeof moment.block);
    for (uint32_t i = 0; i < sms; i++)
        moment.sms[i] = (MomentSm){sm_resident_ctas(engine->sms[i]),
                                   sm_counters(engine->sms[i])->warp_instructions};
    gpu_profile_stall_reasons(gpu, place->grid, moment.waiting);
    snapshots_write(engine->watch->snapshots, &moment);
    profile_free(moment.waiting);
    free(moment.sms);
}

/* An SM whose warps are added to the timeline. */
typedef struct WarpsOfSm {
    UnitTracks *tracks;
    const IsaProgram *program;
    uint32_t sm;
} WarpsOfSm;

static void tell_warp(void *user, const SourceWarp *warp, uint32_t pc, int slot,
                      ProfileColumn cause) {
    (void)warp;
    const WarpsOfSm *of = user;
    unit_tracks_warp(of->tracks, of->sm, (uint32_t)slot, profile_columns[cause].sentence,
                     of->program->infos[pc].line);
}

void samples_tell_units(Engine *engine) {
    UnitTracks *tracks = engine->watch->tracks;
    unit_tracks_begin(tracks, engine->cycle);
    for (uint32_t i = 0; i < engine->machine->sms; i++) {
        WarpsOfSm of = {tracks, engine_sole(engine)->launch.program, i};
        sm_visit_stall_reasons(engine->sms[i], tell_warp, &of);
        unit_tracks_count(tracks, TIMELINE_SM, i, sm_counters(engine->sms[i]));
    }
    for (uint32_t p = 0; p < engine->machine->partitions; p++) {
        Counters counters = partition_counters(engine->partitions[p]);
        unit_tracks_count(tracks, TIMELINE_CHANNEL, p, &counters);
    }
    unit_tracks_end(tracks);
}

void samples_record(Engine *engine, const Gpu *gpu) {
    Counters so_far = tally_count(engine, &engine->rest_marks, engine->cycle);
    if (watch_wants_units(engine->watch, engine->cycle)) samples_tell_units(engine);
    watch_sample(engine->watch, engine->cycle, &so_far);
    if (snapshots_wanted(engine->watch->snapshots)) tell_moment(engine, gpu, &so_far);
}
