/* Grids on the device: from a launch to its result (see the header). */
#include "engine/launch/grid.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/demangle.h"
#include "base/host.h"
#include "engine/engine.h"
#include "engine/launch/gpu_internal.h"
#include "isa/check/check.h"
#include "isa/exec/texture_query.h"
#include "isa/sass/code.h"
#include "issue_stream/interpreter.h"
#include "sm/carve_out.h"
#include "sm/core.h"

enum { PARAMETER_SLACK = 64 /* readable bytes past a parameter area (IsaLaunch.parameters) */ };

/* ---- Records ---- */

/* Takes an unused record, or allocates one, and appends it to the submitted grids. */
static GpuGrid *add_grid(Gpu *gpu) {
    GpuGrid *grid = gpu->free_grids, **last = &gpu->grids;
    if (grid) gpu->free_grids = grid->after;
    else grid = base_calloc(1, sizeof *grid);
    while (*last)
        last = &(*last)->after;
    grid->after = NULL;
    return *last = grid;
}

static void remove_grid(Gpu *gpu, GpuGrid *grid) {
    GpuGrid **link = &gpu->grids;
    while (*link != grid)
        link = &(*link)->after;
    *link = grid->after;
    grid->after = gpu->free_grids;
    gpu->free_grids = grid;
}

static void free_list(GpuGrid *grid) {
    while (grid) {
        GpuGrid *after = grid->after;
        free(grid->parameters);
        isa_banks_free(&grid->banks);
        free(grid);
        grid = after;
    }
}

void grid_free_all(Gpu *gpu) {
    free_list(gpu->grids);
    free_list(gpu->free_grids);
}

/* ---- Begin ---- */

static void copy_parameters(GpuGrid *grid, const void *parameters, uint32_t bytes) {
    if (grid->room_bytes < bytes + PARAMETER_SLACK) {
        free(grid->parameters);
        grid->room_bytes = bytes + PARAMETER_SLACK;
        grid->parameters = base_alloc_lines(grid->room_bytes);
    }
    memset(grid->parameters, 0, bytes + PARAMETER_SLACK);
    if (bytes) memcpy(grid->parameters, parameters, bytes);
}

/* Whether the module's machine code reads what the driver knows of a texture or surface. */
static bool asks_textures(const GpuModule *module) {
    return module->program->code && module->program->code->asks_textures;
}

/* Fills in what all CTAs of a checked launch share. */
static void prepare(Gpu *gpu, const GpuLaunch *request, GpuGrid *grid) {
    const IsaFunction *kernel = &request->module->program->functions[request->function];
    GpuLimits limits = gpu_limits(gpu);
    grid->launch = (IsaLaunch){
        .program = request->module->program,
        .function = kernel,
        .threads = request->block[0] * request->block[1] * request->block[2],
        .ctas = (uint64_t)request->grid[0] * request->grid[1] * request->grid[2],
        .shared_bytes = kernel->shared_bytes + request->dynamic_shared_bytes,
        .dynamic_shared_bytes = request->dynamic_shared_bytes,
        .shared_extent =
            kernel->system_shared_bytes + kernel->shared_bytes + request->dynamic_shared_bytes,
        .taken_shared_bytes =
            gpu_shared_taken(gpu, kernel->shared_bytes + request->dynamic_shared_bytes),
        .reserved_shared_bytes = limits.shared_reserved,
        .carve_out = (int)request->carve_out - 1,
        .window = request->window,
        .parameters = grid->parameters,
        .parameter_bytes = kernel->ptx->parameter_bytes,
        .stack_bytes = gpu->options.stack_bytes,
        .sms = limits.sms,
        .warps_per_sm = limits.threads_per_sm / ISA_LANES,
        .grid_id = ++gpu->launches,
        .ps_per_cycle = UINT64_C(1000000000) / limits.clock_khz,
        .is_cooperative = request->is_cooperative,
        .has_independent_threads = request->module->program->code || !gpu->options.machine ||
                                   gpu->options.machine->sm.divergence == SM_DIVERGENCE_INDEPENDENT,
        .check = gpu->check,
        .dump_line = gpu->options.dump_line,
        .dump_cta = gpu->options.dump_cta,
        .dump_warp = gpu->options.dump_warp,
        .has_dumped = &gpu->has_dumped,
        .heap = gpu->heap,
        .grid_workspace = request->is_cooperative ? gpu->grid_workspace : 0,
        .texture_table = asks_textures(request->module) ? gpu->texture_table : 0,
        .runtime = &grid->runtime,
        .set_condition = gpu->options.set_condition,
        .condition_user = gpu->options.condition_user,
    };
    IsaLaunch *launch = &grid->launch;
    memcpy(launch->grid, request->grid, sizeof launch->grid);
    memcpy(launch->block, request->block, sizeof launch->block);
    launch->warps = (launch->threads + ISA_LANES - 1) / ISA_LANES;
    gpu_cluster(request, launch->cluster);
    launch->cluster_ctas = launch->cluster[0] * launch->cluster[1] * launch->cluster[2];
    launch->clusters = launch->cluster_ctas > 1 ? &grid->clusters : NULL;
    launch->has_ranks = launch->program->code || launch->program->has_clusters;
}

/* The memory through which a cooperative grid synchronizes: its size, and the word that counts
 * arrivals, in the layout of the vendor's cooperative_groups headers. */
static const uint32_t workspace[2] = {sizeof workspace, 0};

/* Whether there is a table for all textures that there are. One that has become too small stays, as
 * a grid may be reading it. */
static bool has_texture_table(Gpu *gpu) {
    enum { LEAST_ENTRIES = 256 };
    const uint32_t needed = mem_texture_end(gpu->memory);
    if (gpu->texture_table && needed <= gpu->texture_table_entries) return true;
    uint32_t entries = LEAST_ENTRIES;
    while (entries < needed)
        entries *= 2;
    const uint64_t table = mem_alloc(gpu->memory, (uint64_t)entries * ISA_TEXTURE_ENTRY_BYTES,
                                     MEM_ALLOC_ALIGN, MEM_KIND_GLOBAL, "the table of textures");
    if (!table) return false;
    gpu->texture_table = table;
    gpu->texture_table_entries = entries;
    return true;
}

/* Allocates the device memory that the kernel needs besides its arguments. Returns false if there
 * is no room. */
static bool allocate(Gpu *gpu, const GpuLaunch *request, const PtxFunction *kernel,
                     GpuResult *result) {
    if (request->module->uses_heap && !gpu->heap) {
        gpu->heap = mem_heap_new(gpu->memory, gpu->options.heap_bytes);
        if (!gpu->heap) {
            gpu_refuse_kernel(result, kernel,
                              ": no room in device memory for its heap of %llu bytes",
                              (unsigned long long)gpu->options.heap_bytes);
            return false;
        }
    }
    if (request->is_cooperative && !gpu->grid_workspace) {
        gpu->grid_workspace = mem_alloc(gpu->memory, sizeof workspace, MEM_ALLOC_ALIGN,
                                        MEM_KIND_GLOBAL, "the grid's workspace");
        if (!gpu->grid_workspace) {
            gpu_refuse_kernel(result, kernel, ": no room in device memory to synchronize its grid");
            return false;
        }
    }
    if (asks_textures(request->module) && !has_texture_table(gpu)) {
        gpu_refuse_kernel(result, kernel, ": no room in device memory to describe its textures");
        return false;
    }
    return true;
}

/* The program's rows for the machine, computed at its first launch there. */
static const SmOp *ops_of(GpuModule *module) {
    const SmConfig *sm = &module->gpu->options.machine->sm;
    if (module->ops) return module->ops;
    module->rows = interpreter_program(module->program, sm->instructions != SM_INSTRUCTIONS_PTX);
    module->ops = sm_ops_new(sm, &module->rows);
    const SmCore *core = sm_core_of(sm->core);
    if (!core->rows) return module->ops;
    module->rows.leaders = interpreter_leaders(module->program);
    module->core_rows = core->rows(sm, &module->rows);
    return module->ops;
}

/* Fills in what the machine needs to know of a grid that will run there. */
static void prepare_for_machine(const Gpu *gpu, const GpuLaunch *request, GpuGrid *grid) {
    const IsaLaunch *launch = &grid->launch;
    grid->ops = ops_of(request->module);
    grid->registers = gpu_registers_taken(gpu, launch->function, launch->threads);
    Occupancy *occupancy = &grid->result->occupancy;
    *occupancy = gpu_occupancy_limits(gpu, request->module, request->function, launch->threads,
                                      request->dynamic_shared_bytes);
    const uint32_t fit = occupancy_ctas(occupancy);
    grid->ctas_per_sm =
        carve_out_ctas(&gpu->options.machine->sm, launch->shared_bytes, fit, launch->carve_out);
    if (grid->ctas_per_sm < fit) occupancy->ctas[OCCUPANCY_shared] = grid->ctas_per_sm;
    grid->result->ctas_per_sm = grid->ctas_per_sm;
}

/* Reading the processor's clock is expensive: a quarter of a small launch. A launch that begins
 * right after another counts the time between them as CPU time. */
static HostTime time_at_start(const Gpu *gpu) {
    const double right_behind = 10e-6; /* seconds */
    const double wall = host_wall_seconds(), gap = wall - gpu->last_end.wall;
    return (HostTime){wall, gap < right_behind ? gpu->last_end.cpu + gap : host_cpu_seconds()};
}

/* Progress counts the grids that overlap. It is reset when a grid begins alone. */
static void count_in(Gpu *gpu, const GpuGrid *grid) {
    if (gpu->grids->after == NULL || gpu->depth) {
        atomic_store(&gpu->done_ctas, 0);
        atomic_store(&gpu->begun_ctas, 0);
        atomic_store(&gpu->done_instructions, 0);
        atomic_store(&gpu->total_ctas, grid->launch.ctas);
    } else {
        atomic_fetch_add(&gpu->total_ctas, grid->launch.ctas);
    }
}

/* Notes the grids that a launch depends on. */
static void add_prerequisites(GpuGrid *grid, const GpuLaunch *request) {
    grid->before_count = 0;
    for (uint32_t i = 0; i < request->after_count; i++) {
        GpuGrid *before = request->after[i].grid;
        if (before->state == GRID_ENDED) continue;
        before->has_dependent = true;
        grid->before[grid->before_count++] = request->after[i];
    }
}

/* Submits a launch. Its result goes to `result`, or to the grid's record if that is NULL. */
static GpuGrid *begin(Gpu *gpu, const GpuLaunch *request, const GpuStreamInfo *stream,
                      GpuResult *result) {
    const IsaFunction *kernel = &request->module->program->functions[request->function];
    const HostTime start = time_at_start(gpu);
    GpuGrid *grid = add_grid(gpu);
    grid->result = result ? result : &grid->own;
    *grid->result = (GpuResult){0};
    grid->host_start = start;
    grid->module = request->module;
    grid->stream = stream ? *stream : (GpuStreamInfo){0};
    grid->ops = NULL;
    grid->next = grid->done = grid->triggered = 0;
    grid->has_dependent = false;
    add_prerequisites(grid, request);
    grid->waited.has_any = grid->has_overlapped = grid->runs_alone = grid->is_on_machine = false;
    grid->is_complete = false;
    grid->state = GRID_ENDED;
    grid->is_refused = true;
    if (gpu_check_kernel(gpu, request, grid->result) != GPU_OK) return grid;
    if (!allocate(gpu, request, kernel->ptx, grid->result)) return grid;
    grid->is_refused = false;
    copy_parameters(grid, request->parameters, kernel->ptx->parameter_bytes);
    grid->runtime = (DeviceRuntime){.wait = gpu->check ? NULL : children_wait,
                                    .keep_text = gpu_keep_text,
                                    .answers = gpu->options.answers,
                                    .user = gpu,
                                    .asker = gpu->options.asker};
    children_begin(gpu, &grid->runtime);
    prepare(gpu, request, grid);
    isa_banks_fill(&grid->banks, &grid->launch, gpu->memory);
    if (grid->launch.texture_table)
        isa_describe_textures(gpu->memory, gpu->texture_table, gpu->texture_table_entries);
    if (!gpu->depth && gpu->grids == grid) atomic_store(&gpu->is_interrupted, false);
    count_in(gpu, grid);
    grid->state = GRID_WAITING;
    if (gpu->engine && !request->is_functional) {
        prepare_for_machine(gpu, request, grid);
        engine_begin(gpu->engine, gpu, grid);
    }
    return grid;
}

GpuGrid *gpu_begin(Gpu *gpu, const GpuLaunch *launch, const GpuStreamInfo *stream) {
    return begin(gpu, launch, stream, NULL);
}

void grid_start(Gpu *gpu, GpuGrid *grid) {
    grid->state = GRID_RUNNING;
    gpu->running = grid;
    if (gpu->check) isa_check_start(gpu->check, &grid->launch, grid->module->number);
    if (grid->launch.grid_workspace)
        mem_write(gpu->memory, gpu->grid_workspace, workspace, sizeof workspace);
}

/* ---- Advance ---- */

/* A launch that ended early leaves requests behind, so the next one gets a new machine at rest. */
static void restart_engine(Gpu *gpu) {
    engine_free(gpu->engine);
    gpu->engine = engine_new(&gpu->options, gpu->calls);
}

/* Grids that overlap end at different times; the time of all of them is that of the last one. */
static void note_time(Gpu *gpu, const GpuGrid *grid) {
    const GpuResult *result = grid->result;
    const uint64_t end = result->start_ps + result->time_ps;
    if (!gpu->depth && end > gpu->time_ps) gpu->time_ps = end;
}

/* Called when `ended` has ended: `grid` no longer depends on it. */
static void drop_prerequisite(const Gpu *gpu, GpuGrid *grid, const GpuGrid *ended) {
    const bool has_waited = grid_awaits(grid);
    uint32_t left = 0;
    for (uint32_t i = 0; i < grid->before_count; i++)
        if (grid->before[i].grid != ended) grid->before[left++] = grid->before[i];
    grid->before_count = left;
    if (has_waited && !grid_awaits(grid) && gpu->engine) engine_end_wait(gpu->engine, grid);
}

void grid_finish(Gpu *gpu, GpuGrid *grid) {
    GpuResult *result = grid->result;
    grid->state = GRID_ENDED;
    isa_clusters_free(&grid->clusters);
    if (grid->waited.has_any) gpu_add_result(result, &grid->waited.sum);
    if (grid->ops && !gpu->depth) gpu->timed_instructions += result->thread_instructions;
    result->has_overlapped = grid->has_overlapped;
    if (gpu->running == grid) gpu->running = NULL;
    note_time(gpu, grid);
    for (GpuGrid *other = gpu->grids; other; other = other->after)
        drop_prerequisite(gpu, other, grid);
}

void grid_finish_others(Gpu *gpu, const GpuGrid *failed) {
    const GpuResult *why = failed->result;
    for (GpuGrid *grid = gpu->grids; grid; grid = grid->after) {
        GpuResult *result = grid->result;
        if (grid == failed || grid->state == GRID_ENDED) continue;
        result->status = why->status;
        result->fault_code = why->fault_code;
        snprintf(result->message, sizeof result->message,
                 "ended with another kernel on the device: %.*s",
                 (int)(sizeof result->message - 64), why->message);
        grid_finish(gpu, grid);
    }
}

static void run_functional(Gpu *gpu, GpuGrid *grid) {
    grid->result->start_ps = gpu->time_ps;
    grid_start(gpu, grid);
    grid_run_functional(gpu, grid, grid->launch.ctas);
    grid_finish(gpu, grid);
    if (grid->result->status != GPU_OK) grid_finish_others(gpu, grid);
}

static void run_timed(Gpu *gpu) {
    const Watch *watch = gpu->options.watch;
    const GpuGrid *ended = engine_advance(gpu->engine, gpu, UINT64_MAX);
    if (ended && watch && watch->profile) gpu_profile_add(gpu, ended);
}

/* The functional grid that runs next: the first submitted of those with the highest priority. */
static GpuGrid *next_functional(const Gpu *gpu) {
    GpuGrid *next = NULL;
    for (GpuGrid *grid = gpu->grids; grid; grid = grid->after) {
        if (grid->state != GRID_WAITING || grid->ops || grid->before_count) continue;
        if (!next || grid->stream.priority > next->stream.priority) next = grid;
    }
    return next;
}

/* Runs submitted grids until another one has ended. Functional grids run first, one by one. */
static void advance(Gpu *gpu) {
    GpuGrid *grid = next_functional(gpu);
    if (grid) run_functional(gpu, grid);
    else run_timed(gpu);
    if (gpu->engine && engine_is_spent(gpu->engine)) restart_engine(gpu);
}

static GpuGrid *find_ended(const Gpu *gpu) {
    GpuGrid *grid = gpu->grids;
    while (grid && grid->state != GRID_ENDED)
        grid = grid->after;
    return grid;
}

GpuGrid *gpu_advance(Gpu *gpu) {
    while (gpu->grids) {
        GpuGrid *ended = find_ended(gpu);
        if (ended) return ended;
        advance(gpu);
    }
    return NULL;
}

/* ---- End ---- */

const GpuResult *gpu_result(Gpu *gpu, GpuGrid *grid) {
    assert(grid->state == GRID_ENDED);
    if (!grid->is_refused && !grid->is_complete) {
        const HostTime last = gpu->last_end;
        const bool was_idle = grid->host_start.wall > last.wall;
        const HostTime start = was_idle ? grid->host_start : last;
        children_end(gpu, &grid->runtime, grid->module, grid->result->status == GPU_OK);
        gpu->last_end = (HostTime){host_wall_seconds(), host_cpu_seconds()};
        grid->result->wall_seconds = gpu->last_end.wall - start.wall;
        grid->result->cpu_seconds = gpu->last_end.cpu - start.cpu;
    }
    grid->is_complete = true;
    return grid->result;
}

GpuStatus gpu_end(Gpu *gpu, GpuGrid *grid, GpuResult *result) {
    const GpuResult *found = gpu_result(gpu, grid);
    const GpuStatus status = found->status;
    if (result && result != found) *result = *found;
    remove_grid(gpu, grid);
    return status;
}

GpuStatus gpu_launch(Gpu *gpu, const GpuLaunch *request, GpuResult *result) {
    GpuGrid *grid = begin(gpu, request, NULL, result);
    while (grid->state != GRID_ENDED)
        advance(gpu);
    return gpu_end(gpu, grid, result);
}

/* ---- Deadlocks ---- */

/* The first grid that must wait for its turn while this one runs. */
static const GpuGrid *waiting_behind(const Gpu *gpu) {
    const GpuGrid *other = gpu->grids;
    while (other && other->state != GRID_WAITING)
        other = other->after;
    return other;
}

void grid_explain_deadlock(const Gpu *gpu, const GpuGrid *grid, Text *out) {
    const GpuGrid *behind = waiting_behind(gpu);
    if (!grid_has_begun_all(grid))
        text_printf(out,
                    "\n    CTA %" PRIu64 " of %" PRIu64 " waits for room: %" PRIu64
                    " are on the machine, and it begins when one of them has ended. A barrier of "
                    "all CTAs needs all of them there at once: cudaLaunchCooperativeKernel "
                    "refuses more than fit",
                    grid->next, grid->launch.ctas, grid->next - grid->done);
    if (behind) {
        text_add(out, "\n    kernel ");
        demangle(behind->launch.function->ptx->name, out);
        text_printf(out, " of stream %u waits for its turn behind this one", behind->stream.number);
    } else if (grid->stream.number && (!grid->ops || grid->runs_alone || !gpu->engine)) {
        text_printf(out,
                    "\n    it may wait for a kernel of another stream than its own, %u: kernels "
                    "run one at a time here (functionally, with --serial-kernels, or with checks)",
                    grid->stream.number);
    } else if (grid->stream.number) {
        text_add(out, "\n    kernel ");
        demangle(grid->launch.function->ptx->name, out);
        text_printf(out,
                    " of stream %u may wait for another stream or for the host, but the host "
                    "submits nothing more during the call that runs the kernel",
                    grid->stream.number);
    }
    if (mem_is_seen_outside(gpu->memory))
        text_add(
            out,
            "\n    it may wait for the host, with which it shares memory (page-locked, managed "
            "or registered): the host cannot answer during the call that runs the kernel");
}

/* ---- Queries ---- */

const GpuModule *gpu_running_module(const Gpu *gpu) { return gpu->running->module; }
uint64_t gpu_time_ps(const Gpu *gpu) { return gpu->time_ps; }
