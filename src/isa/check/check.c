/* What the checks share: their objects, the dispatch of events to them, and findings. */
#include "isa/check/check.h"

#include "isa/check/check_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "memory/heap.h"

static char *copy_of(const char *text) { return text ? strdup(text) : NULL; }

/* ---- Objects ---- */

IsaCheck *isa_check_new(IsaCheckOptions options, Findings *findings) {
    IsaCheck *check = base_calloc(1, sizeof *check);
    check->options = options;
    check->findings = findings;
    if (options.races) check->global = shadow_new();
    return check;
}

static void free_releases(IsaCheck *check) {
    for (uint64_t i = 0; i < check->warps; i++)
        free(check->releases[i]);
    free(check->releases);
    check->releases = NULL;
    check->warps = 0;
}

void isa_check_free(IsaCheck *check) {
    if (!check) return;
    free_releases(check);
    for (uint32_t i = 0; i < check->site_count; i++) {
        free(check->sites[i].text);
        free(check->sites[i].kernel);
        free(check->sites[i].file);
    }
    free(check->sites);
    shadow_free(check->global);
    free(check);
}

void isa_check_start(IsaCheck *check, const IsaLaunch *launch, uint64_t program) {
    check->program = program;
    free_releases(check);
    if (check->options.races) race_start(check, launch);
}

void isa_check_cta(IsaCta *cta) {
    if (!cta->launch->check) return;
    if (!cta->check) cta->check = base_calloc(1, sizeof *cta->check);
    const IsaCheckOptions *options = &cta->launch->check->options;
    memset(cta->check->participants, 0, sizeof cta->check->participants);
    memset(cta->check->sync, 0, sizeof cta->check->sync);
    memset(cta->check->awaited, 0, sizeof cta->check->awaited);
    if (options->races) race_cta(cta);
    if (options->init) init_cta(cta);
}

void isa_check_cta_free(IsaCta *cta) {
    IsaCtaCheck *own = cta->check;
    if (!own) return;
    for (int i = 0; i < ISA_MAX_WARPS_PER_CTA; i++)
        free(own->local[i].words);
    free(own->shared_written);
    free(own->clocks.lanes);
    shadow_free(own->shared);
    free(own);
}

/* ---- Dispatch of events to the checks ---- */

void isa_check_access(IsaContext *context, const IsaWarp *warp, const IsaInst *inst, PtxSpace space,
                      uint32_t bytes, uint32_t mask, IsaAccess access) {
    const IsaCheckOptions *options = &check_of(context)->options;
    bool is_local = space == PTX_SPACE_LOCAL;
    if (space == PTX_SPACE_CLUSTER && options->init && access != ISA_ACCESS_READ)
        init_cluster_write(context, warp, bytes, mask);
    bool is_memory = space == PTX_SPACE_SHARED || space == PTX_SPACE_GLOBAL;
    if (options->init && (is_memory || is_local))
        init_access(context, warp, space, inst, bytes, mask, access);
    if (options->races && is_memory) race_access(context, warp, inst, space, bytes, mask, access);
}

void isa_check_released(const IsaCta *cta, uint32_t warps) {
    IsaCheck *check = cta->launch->check;
    for (; check->options.races && warps; warps &= warps - 1)
        race_acquire(check, &cta->warps[__builtin_ctz(warps)]);
}

void isa_check_fence(IsaContext *context, const IsaWarp *warp, bool is_cta_wide) {
    if (check_of(context)->options.races) race_fence(context, warp, is_cta_wide);
}

void isa_check_proxy_fence(IsaContext *context, const IsaWarp *warp) {
    if (check_of(context)->options.races) race_proxy_fence(check_of(context), warp);
}

void isa_check_products_committed(const IsaWarp *warp) {
    IsaCheck *check = warp->cta->launch->check;
    if (check->options.races) race_products_committed(check, warp);
}

void isa_check_products_over(const IsaWarp *warp) {
    if (warp->cta->launch->check->options.races) race_products_over(warp);
}

void isa_check_members(IsaContext *context, const IsaWarp *warp, const uint32_t *members,
                       uint32_t mask, const int32_t *sources, bool is_barrier) {
    if (check_of(context)->options.sync)
        sync_members(context, warp, members, mask, sources, is_barrier);
    if (!check_of(context)->options.races) return;
    for (uint32_t rest = mask; rest;) { /* groups of lanes with the same word */
        uint32_t word = members[__builtin_ctz(rest)];
        race_lanes_meet(context, warp, word & mask);
        rest &= ~word & (rest - 1);
    }
}

void isa_check_wait(const IsaWarp *warp, uint32_t lanes, uint32_t awaited) {
    for (; lanes; lanes &= lanes - 1)
        warp->cta->check->awaited[warp->index][__builtin_ctz(lanes)] |= awaited;
}

void isa_check_divergence(IsaContext *context, const IsaWarp *warp, uint32_t pc, uint32_t lanes) {
    if (check_of(context)->options.sync) sync_divergence(context, warp, pc, lanes);
}

void isa_check_arrival(IsaContext *context, const IsaWarp *warp, uint32_t number, uint32_t count,
                       uint32_t mask) {
    const IsaCheckOptions *options = &check_of(context)->options;
    IsaCtaCheck *own = warp->cta->check;
    if (options->sync) sync_arrival(context, warp, number, count, mask);
    if (options->races) race_arrival(context, warp, number);
    if (!own->participants[number]) own->counts[number] = count;
    own->participants[number] |= 1u << warp->index;
    own->pc[warp->index] = warp->pc;
}

void isa_check_completion(const IsaContext *context, const IsaCta *cta, uint32_t number) {
    const IsaCheckOptions *options = &check_of(context)->options;
    if (options->sync) sync_completion(context, cta, number);
    if (options->races) race_completion(context, cta, number, cta->barriers[number].waiting);
    cta->check->participants[number] = 0;
}

void isa_check_exit(IsaContext *context, const IsaWarp *warp) {
    if (check_of(context)->options.sync) sync_exit(context, warp);
}

/* ---- Findings ---- */

bool check_note(const IsaCheck *check, FindingKind kind, uint32_t pc, uint64_t other,
                uint64_t detail) {
    FindingKey key = {{(uint64_t)kind, check->program, pc, other, detail}};
    return !findings_note(check->findings, &key);
}

void check_add(const IsaCheck *check, FindingKind kind, const char *what, const CheckPlace *place,
               Text *text, Text *behind) {
    const IsaProgram *program = place->launch->program;
    const char *source = NULL;
    const PtxLoc *loc = isa_source(program, place->pc, &source);
    Finding finding = {
        .kind = kind,
        .what = what,
        .kernel = copy_of(place->launch->function->ptx->name),
        .file = copy_of(program->module->file),
        .line = program->infos[place->pc].line,
        .other_line = place->other_pc == ISA_NO_PC ? 0 : program->infos[place->other_pc].line,
        .source = copy_of(source),
        .source_line = loc ? (uint32_t)loc->line : 0,
        .has_thread = true,
        .address = place->address,
    };
    isa_thread_of(place->launch, isa_warp_number(place->warp), place->lane, finding.cta,
                  finding.thread);
    isa_say_place(place->launch, place->warp, place->pc, place->lane, text);
    if (behind) text_add(text, text_string(behind));
    finding.text = text->bytes;
    *text = (Text){0};
    if (behind) text_free(behind);
    findings_add(check->findings, &finding);
}

/* ---- Allocation sites ---- */

void isa_check_malloc(IsaContext *context, const IsaWarp *warp, int lane, uint64_t address) {
    IsaCheck *check = check_of(context);
    if (!check->options.leaks || !address) return;
    uint32_t i = 0;
    while (i < check->site_count &&
           (check->sites[i].pc != warp->pc || check->sites[i].program != check->program))
        i++;
    if (i == check->site_count) {
        Text text = {0};
        const IsaLaunch *launch = context->launch;
        isa_say_place(launch, warp, warp->pc, lane, &text);
        check->sites = base_realloc(check->sites, (i + 1) * sizeof *check->sites);
        check->sites[check->site_count++] =
            (IsaSite){.number = i + 1,
                      .program = check->program,
                      .pc = warp->pc,
                      .text = text.bytes,
                      .kernel = strdup(launch->function->ptx->name),
                      .file = strdup(launch->program->module->file),
                      .line = launch->program->infos[warp->pc].line};
    }
    mem_heap_set_tag(context->launch->heap, address, i + 1);
}

const IsaSite *isa_check_site(const IsaCheck *check, uint32_t tag) {
    return tag && tag <= check->site_count ? &check->sites[tag - 1] : NULL;
}

/* ---- Bad accesses ---- */

static const char *fault_name(IsaFaultCode code) {
    switch (code) {
    case ISA_FAULT_MISALIGNED: return "misaligned access";
    case ISA_FAULT_SPACE: return "wrong space";
    default: return "invalid access";
    }
}

bool isa_bad_access(IsaContext *context, const IsaWarp *warp, int lane, IsaFaultCode code,
                    uint64_t address, const char *format, ...) {
    va_list args;
    const IsaCheck *check = check_of(context);
    bool is_reported = check && check->options.reports_faults;
    if (is_reported && !check_note(check, FINDING_MEMORY, warp->pc, 0, (uint64_t)code)) return true;
    va_start(args, format);
    if (is_reported) {
        Text text = {0};
        const CheckPlace place = {context->launch, warp, warp->pc, lane, address, ISA_NO_PC};
        text_vprintf(&text, format, args);
        check_add(check, FINDING_MEMORY, fault_name(code), &place, &text, NULL);
    } else {
        isa_vfault(context, warp, lane, code, format, args);
    }
    va_end(args);
    return is_reported;
}
