/* Functional runs: the effects of all instructions, without timing.
 *
 * A CTA runs until it ends, can only poll, or has used up its quantum of instructions. Then the
 * next CTAs get their turn, so that CTAs that wait for each other (flags, grid barriers) make
 * progress. Within a CTA, warps are interleaved: a turn is a few instructions, or one store
 * (isa_run), so that races that are benign on a GPU end as they do there. The order is fixed, so
 * results never vary. */
#include "engine/launch/gpu_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bits.h"
#include "base/demangle.h"

enum {
    WARP_QUANTUM = 32,         /* warp instructions in one turn of a warp */
    CTA_QUANTUM = 1 << 18,     /* warp instructions in one turn of a CTA, ... */
    CLUSTER_QUANTUM = 1 << 10, /* ... and in one turn if others of its cluster may wait for it */
    VAIN_LOOKS = 8,       /* rounds in which each warp of a CTA polls for a store that no thread
                             makes, before the CTA's turn ends; ours */
    LAST_LOOKS = 1 << 16, /* rounds in which each warp polls for a store that no thread makes,
                             before the launch fails */
    MAX_RESIDENT = 1024   /* CTAs in progress at once, unless the launch is cooperative */
};

typedef struct Run {
    Gpu *gpu;
    const GpuGrid *grid;
    IsaContext context;
    uint64_t limit;               /* warp instructions left before the launch fails */
    uint64_t warp_instructions;   /* warp instructions executed so far */
    uint64_t thread_instructions; /* thread instructions executed so far */
    uint32_t live;                /* CTAs in progress, stored in the GPU */
} Run;

static const char *doing_of(const IsaCta *cta, int warp) {
    if (cta->group_waits >> warp & 1) return "waiting for its warpgroup to commit products";
    return cta->waiting >> warp & 1 ? "waiting at a barrier" : "ready";
}

/* Adds where all warps are. */
static void say_waits(const Run *run, Text *out) {
    IsaWaits waits = {.count = 0};
    for (uint32_t i = 0; i < run->live; i++) {
        const IsaCta *cta = run->gpu->ctas[i];
        for (uint32_t rest = cta->alive; rest; rest &= rest - 1) {
            int warp = bits_lowest32(rest);
            isa_waits_add(&waits, &cta->warps[warp], doing_of(cta, warp));
        }
    }
    isa_say_waits(&waits, run->context.launch, out);
}

/* The same, appended to the message of the fault. */
static void add_waits(Run *run) {
    IsaFault *fault = &run->context.fault;
    Text text = {0};
    text_add(&text, fault->text);
    say_waits(run, &text);
    snprintf(fault->text, sizeof fault->text, "%s", text_string(&text));
    text_free(&text);
}

/* Adds what the warps may wait for that can never happen. */
static void add_causes(Run *run) {
    IsaFault *fault = &run->context.fault;
    Text text = {0};
    text_add(&text, fault->text);
    grid_explain_deadlock(run->gpu, run->grid, &text);
    snprintf(fault->text, sizeof fault->text, "%s", text_string(&text));
    text_free(&text);
}

static void fault_deadlock(Run *run, const IsaCta *cta) {
    const IsaWarp *warp = &cta->warps[bits_lowest32(cta->alive)];
    isa_fault(&run->context, warp, bits_lowest32(warp->active), ISA_FAULT_DEADLOCK,
              "deadlock: all %d live warps of the CTA wait at barriers that cannot complete "
              "(warps 0x%08x of %u)",
              bits_count32(cta->alive), cta->alive, cta->launch->warps);
    add_waits(run);
}

/* Whether every live warp of the CTA polls for something that no warp has stored so far. */
static bool cta_polls(const Run *run, const IsaCta *cta, IsaPollTest *looks, uint32_t rounds) {
    for (uint32_t rest = cta->alive; rest; rest &= rest - 1)
        if (!looks(&run->context, &cta->warps[bits_lowest32(rest)], rounds)) return false;
    return true;
}

/* Whether this holds for every CTA. */
static bool all_poll(const Run *run, IsaPollTest *looks, uint32_t rounds) {
    for (uint32_t i = 0; i < run->live; i++)
        if (!cta_polls(run, run->gpu->ctas[i], looks, rounds)) return false;
    return run->live > 0;
}

/* Ends a launch that would never end on its own. */
static void end_hopeless(Run *run) {
    if (!all_poll(run, isa_only_polls, LAST_LOOKS)) return;
    run->context.proves_polls = true; /* warps compare their states from now on */
    uint32_t rounds = LAST_LOOKS * gpu_patience(run->gpu);
    if (!all_poll(run, isa_polls_forever, rounds)) return;
    const IsaWarp *warp = &run->gpu->ctas[0]->warps[bits_lowest32(run->gpu->ctas[0]->alive)];
    isa_fault(
        &run->context, warp, bits_lowest32(warp->active | 1u << 31), ISA_FAULT_DEADLOCK,
        "deadlock: every warp waits at a barrier or has gone %u times round a loop that looks "
        "for another thread's store, and none of them has stored anything meanwhile",
        rounds);
    add_waits(run);
    add_causes(run);
}

static bool is_stopped(const Run *run) {
    return run->context.fault.is_set ||
           atomic_load_explicit(&run->gpu->is_interrupted, memory_order_relaxed);
}

/* Runs one turn of a warp; returns the instructions it executed. */
static uint64_t run_warp(Run *run, IsaWarp *warp) {
    uint64_t quantum = run->limit < WARP_QUANTUM ? run->limit : WARP_QUANTUM;
    uint64_t budget = quantum;
    isa_run(&run->context, warp, &budget, &run->thread_instructions);
    uint64_t done = quantum - budget;
    run->limit -= done;
    run->warp_instructions += done;
    if (run->limit == 0 && !run->context.fault.is_set) {
        isa_fault(&run->context, warp, bits_lowest32(warp->active | 1u << 31), ISA_FAULT_LIMIT,
                  "the limit of %llu warp instruction%s is reached",
                  (unsigned long long)run->gpu->options.instruction_limit,
                  text_plural(run->gpu->options.instruction_limit));
        add_waits(run);
    }
    return done;
}

/* Whether the warp certainly polls. Other CTAs need not run for the sake of a loop that may only
 * look like one that polls. */
static bool surely_polls(const IsaContext *context, const IsaWarp *warp, uint32_t rounds) {
    return isa_only_polls(context, warp, rounds) &&
           (warp->cta->waiting >> warp->index & 1 || !warp->may_poll);
}

/* Whether no warp of the CTA can continue before another CTA stores something. */
static bool polls_in_vain(const Run *run, const IsaCta *cta) {
    return (cta->alive & ~cta->waiting) && cta_polls(run, cta, surely_polls, VAIN_LOOKS);
}

/* Runs one turn of a CTA; returns true when the CTA has ended. The turn is short if the CTA can
 * only poll: most CTAs of a grid barrier wait for the last one to arrive. */
static bool run_cta(Run *run, IsaCta *cta) {
    const uint64_t quantum = cta->cluster ? CLUSTER_QUANTUM : CTA_QUANTUM;
    for (uint64_t done = 0; done < quantum;) {
        uint32_t ready = cta->alive & ~cta->waiting;
        if (!ready && cta->cluster_waits) return false;
        if (!ready && cta->alive) fault_deadlock(run, cta);
        for (; ready && !is_stopped(run); ready &= ready - 1)
            done += run_warp(run, &cta->warps[bits_lowest32(ready)]);
        if (!cta->alive) return true;
        if (is_stopped(run) || polls_in_vain(run, cta)) return false;
    }
    return false;
}

/* CTAs must not move, because their warps point to them. */
static void grow_ctas(Gpu *gpu, uint32_t count) {
    if (gpu->cta_count >= count) return;
    gpu->ctas = base_realloc(gpu->ctas, count * sizeof *gpu->ctas);
    while (gpu->cta_count < count)
        gpu->ctas[gpu->cta_count++] = base_calloc(1, sizeof(IsaCta));
}

/* Begins the CTAs of the next cluster, usually a single one. */
static void start_cluster(Run *run, GpuGrid *grid) {
    Gpu *gpu = run->gpu;
    const IsaLaunch *launch = &grid->launch;
    for (uint32_t i = 0; i < launch->cluster_ctas; ++i) {
        grow_ctas(gpu, run->live + 1);
        isa_cta_start(gpu->ctas[run->live++], launch, isa_cluster_order(launch, grid->next++));
    }
}

/* Runs the CTAs before `until`. ctas[0..live-1] are in progress, in the order in which they
 * started; unused CTA objects follow them. */
static void run_ctas(Run *run, GpuGrid *grid, uint64_t until, uint32_t resident) {
    Gpu *gpu = run->gpu;
    while ((grid->next < until || run->live) && !is_stopped(run)) {
        /* Each round adds one CTA, so CTAs of a grid that never wait run one after another. */
        if (grid->next < until && run->live < resident) start_cluster(run, grid);
        for (uint32_t i = 0; i < run->live && !is_stopped(run);) {
            if (!run_cta(run, gpu->ctas[i])) {
                i++;
                continue;
            }
            IsaCta *ended = gpu->ctas[i];
            memmove(&gpu->ctas[i], &gpu->ctas[i + 1], (run->live - i - 1) * sizeof ended);
            gpu->ctas[--run->live] = ended;
            grid->done++;
            atomic_fetch_add_explicit(&gpu->done_ctas, 1, memory_order_relaxed);
        }
        atomic_store_explicit(&gpu->done_instructions, run->warp_instructions,
                              memory_order_relaxed);
        bool can_grow = grid->next < until && run->live < resident;
        if (!can_grow && !is_stopped(run)) end_hopeless(run);
    }
}

/* Warp instructions that the grid may still execute. */
static uint64_t left_to_execute(const Gpu *gpu, const GpuGrid *grid) {
    const uint64_t limit = gpu->options.instruction_limit, done = grid->result->warp_instructions;
    return !limit ? UINT64_MAX : limit > done ? limit - done : 0;
}

/* Adds the counts to the result, and the reason if the grid ended early. */
static void add_result(const Run *run, const GpuGrid *grid) {
    GpuResult *result = grid->result;
    result->warp_instructions += run->warp_instructions;
    result->thread_instructions += run->thread_instructions;
    result->time_ps += run->warp_instructions * 1000;
    if (run->context.fault.is_set) {
        gpu_set_fault(result, &run->context.fault);
    } else if (atomic_load(&run->gpu->is_interrupted)) {
        Text text = {0};
        text_add(&text, "interrupted\n    kernel ");
        demangle(grid->launch.function->ptx->name, &text);
        say_waits(run, &text);
        result->status = GPU_INTERRUPTED;
        snprintf(result->message, sizeof result->message, "%s", text_string(&text));
        text_free(&text);
    }
}

void grid_run_functional(Gpu *gpu, GpuGrid *grid, uint64_t until) {
    const IsaLaunch *launch = &grid->launch;
    Run *run = base_calloc(1, sizeof *run);
    run->gpu = gpu;
    run->grid = grid;
    run->limit = left_to_execute(gpu, grid);
    run->context.memory = gpu->memory; /* field by field: the struct is large, and zero already */
    run->context.program = launch->program;
    run->context.launch = launch;
    run->context.drops_addresses = !launch->check;
    run->context.print = gpu->options.print;
    run->context.user = gpu->options.user;
    isa_context_start(&run->context);
    run_ctas(run, grid, until, launch->is_cooperative ? UINT32_MAX : MAX_RESIDENT);
    add_result(run, grid);
    free(run);
}
