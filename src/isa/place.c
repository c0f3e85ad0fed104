/* Text that describes where a warp is: PTX line, line of the source and of the calls that were
 * inlined there, thread, and the calls that led to it. */
#include "isa/launch.h"

#include <inttypes.h>
#include <string.h>

#include "base/bits.h"
#include "base/demangle.h"
#include "isa/async.h"
#include "isa/sass/code.h"

enum {
    MAX_CALLS = 16,  /* of a backtrace: the innermost ones */
    MAX_INLINED = 16 /* per place in the source */
};

const PtxLoc *isa_source(const IsaProgram *program, uint32_t pc, const char **file) {
    const PtxModule *module = program->module;
    uint32_t number = program->infos[pc].loc;
    if (!number) return NULL;
    const PtxLoc *loc = &module->locs[number - 1];
    bool is_named = loc->file < module->source_file_count && module->source_files[loc->file];
    *file = is_named ? module->source_files[loc->file] : "unknown file";
    return loc;
}

void isa_say_line(const IsaProgram *program, uint32_t pc, Text *out) {
    const PtxModule *module = program->module;
    const char *file;
    if (program->code) {
        isa_say_machine(program, pc, out);
        return;
    }
    text_printf(out, "%s:%u", module->file, program->infos[pc].line);
    const PtxLoc *loc = isa_source(program, pc, &file);
    if (!loc) return;
    text_printf(out, ", source %s:%d", file, loc->line);
    for (int depth = 0; loc->inlined_at && depth < MAX_INLINED; depth++) {
        loc = &module->locs[loc->inlined_at - 1];
        bool is_named = loc->file < module->source_file_count && module->source_files[loc->file];
        text_printf(out, ", inlined at %s:%d",
                    is_named ? module->source_files[loc->file] : "unknown file", loc->line);
    }
}

void isa_say_instruction(const IsaProgram *program, uint32_t pc, Text *out) {
    isa_say_line(program, pc, out);
    if (program->code) return; /* the text already contains the instruction */
    text_printf(out, ": %s", ptx_opcode_name((PtxOpcode)program->infos[pc].op));
}

void isa_thread_of(const IsaLaunch *launch, uint64_t warp, int lane, uint32_t cta[3],
                   uint32_t thread[3]) {
    uint64_t index = warp / launch->warps;
    uint32_t linear = (uint32_t)(warp % launch->warps) * ISA_LANES + (uint32_t)lane;
    cta[0] = (uint32_t)(index % launch->grid[0]);
    cta[1] = (uint32_t)(index / launch->grid[0] % launch->grid[1]);
    cta[2] = (uint32_t)(index / launch->grid[0] / launch->grid[1]);
    thread[0] = linear % launch->block[0];
    thread[1] = linear / launch->block[0] % launch->block[1];
    thread[2] = linear / launch->block[0] / launch->block[1];
}

void isa_say_thread(const IsaLaunch *launch, uint64_t warp, int lane, Text *out) {
    uint32_t cta[3], thread[3];
    isa_thread_of(launch, warp, lane, cta, thread);
    text_printf(out, "CTA (%u,%u,%u), thread (%u,%u,%u), warp %u, lane %d", cta[0], cta[1], cta[2],
                thread[0], thread[1], thread[2], (uint32_t)(warp % launch->warps), lane);
}

/* Adds the calls that the warp is in, innermost first. */
static void say_calls(const IsaProgram *program, const IsaWarp *warp, Text *out) {
    int lines = 0;
    for (uint32_t frame = warp->frame; frame > 0; frame = warp->frames[frame].caller) {
        const IsaFrame *callee = &warp->frames[frame];
        const IsaFunction *caller = &program->functions[warp->frames[callee->caller].function];
        if (lines++ == MAX_CALLS) {
            text_add(out, "\n    and more calls");
            return;
        }
        text_add(out, "\n    called from ");
        demangle(caller->ptx->name, out);
        text_add(out, ", ");
        isa_say_line(program, callee->call_pc, out);
    }
}

void isa_say_place(const IsaLaunch *launch, const IsaWarp *warp, uint32_t pc, int lane, Text *out) {
    const IsaProgram *program = launch->program;
    const IsaFunction *function = &program->functions[program->infos[pc].function];
    text_add(out, "\n    kernel ");
    demangle(launch->function->ptx->name, out);
    if (function != launch->function) {
        text_add(out, " (in function ");
        demangle(function->ptx->name, out);
        text_add(out, ")");
    }
    text_add(out, ", ");
    isa_say_instruction(program, pc, out);
    text_add(out, "\n    ");
    isa_say_thread(launch, isa_warp_number(warp), lane, out);
    say_calls(program, warp, out);
}

/* ---- Where all warps are ---- */

void isa_waits_add(IsaWaits *waits, const IsaWarp *warp, const char *what) {
    enum { ROUNDS = 256 }; /* rounds without a change: more than a loop that will end soon needs */
    if (warp->polls >= ROUNDS && isa_holds_lanes_back(warp)) waits->holds_lanes_back = true;
    for (uint32_t i = 0; i < waits->count; i++) {
        IsaWaitGroup *group = &waits->groups[i];
        if (group->pc != warp->pc || group->what != what) continue;
        group->warps++;
        return;
    }
    if (waits->count == ISA_WAIT_GROUPS) {
        waits->others++;
        return;
    }
    IsaWaitGroup *group = &waits->groups[waits->count++];
    *group = (IsaWaitGroup){warp->pc, 1, isa_warp_number(warp), what, warp->mbarrier, 0};
    if (group->mbarrier)
        memcpy(&group->state, warp->cta->shared + group->mbarrier - 1, sizeof group->state);
}

/* Adds what a phase of an mbarrier still waits for. */
static void say_mbarrier(const IsaProgram *program, const IsaWaitGroup *group, Text *out) {
    uint64_t arrivals;
    int64_t bytes = 0;
    if (program->code) {
        const IsaPhaseLayout *layout =
            program->code->sm >= 90 ? &isa_phase_of_90 : &isa_phase_of_80;
        const uint64_t most = (UINT64_C(1) << layout->pending_bits) - 1;
        arrivals = (0 - (group->state >> layout->pending_at)) & most;
        if (layout->transactions_at)
            bytes = isa_mbarrier_transactions(group->state, layout->transactions_at);
    } else {
        const IsaMbarrier barrier = isa_mbarrier_of(group->state);
        arrivals = barrier.pending;
        bytes = barrier.transactions;
    }
    text_printf(
        out,
        "\n        it last tried the mbarrier at shared address 0x%x, whose phase waits for "
        "%" PRIu64 " arrival%s and %" PRId64 " byte%s of copies",
        group->mbarrier - 1, arrivals, text_plural(arrivals), bytes, text_plural((uint64_t)bytes));
}

void isa_say_waits(const IsaWaits *waits, const IsaLaunch *launch, Text *out) {
    for (uint32_t i = 0; i < waits->count; i++) {
        const IsaWaitGroup *group = &waits->groups[i];
        text_printf(out, "\n    %u warp%s %s before ", group->warps, text_plural(group->warps),
                    group->what);
        isa_say_instruction(launch->program, group->pc, out);
        text_printf(out, "; the first is warp %u of CTA %" PRIu64,
                    (uint32_t)(group->first % launch->warps), group->first / launch->warps);
        if (group->mbarrier) say_mbarrier(launch->program, group, out);
    }
    if (waits->others)
        text_printf(out, "\n    and %u more warp%s elsewhere", waits->others,
                    text_plural(waits->others));
    if (waits->holds_lanes_back)
        text_add(out,
                 "\n    lanes of one warp may wait for one another, which never ends where a stack "
                 "keeps them, as on GPUs before compute capability 7.0: use a machine with "
                 "sm.divergence independent (--set sm.divergence=independent)");
}
