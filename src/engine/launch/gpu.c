/* The GPU object, and the checks of every launch before it runs: its shape, its parameters and the
 * memory it needs. */
#include "engine/launch/gpu.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bits.h"
#include "base/demangle.h"
#include "engine/engine.h"
#include "engine/gpc.h"
#include "engine/launch/gpu_checks.h"
#include "engine/launch/gpu_internal.h"
#include "machine/machine.h"
#include "isa/check/check.h"
#include "isa/cluster.h"
#include "isa/exec/handlers.h"
#include "sched/choice.h"

enum {
    /* Local memory of a thread outside the functions it calls. Source: CUDA Programming Guide,
     * table of technical specifications. */
    MAX_LOCAL_BYTES = 512 << 10
};

#define DEFAULT_MEMORY_BYTES                                                                       \
    (UINT64_C(16)                                                                                  \
     << 30) /* of a Tesla T4, a device of compute capability 7.5 (NVIDIA's data sheet)             \
             */
#define DEFAULT_HEAP_BYTES                                                                         \
    (UINT64_C(8) << 20) /* CUDA Programming Guide, cudaLimitMallocHeapSize                         \
                         */
#define DEFAULT_STACK_BYTES (UINT32_C(64) << 10)

/* The device without a machine: limits of compute capability 7.5 (CUDA Programming Guide, table of
 * technical specifications), with the shared memory of 9.0 so that newer programs fit. */
static const GpuLimits general_limits = {
    .max_threads_per_cta = 1024,
    .max_block = {1024, 1024, 64},
    .max_grid = {INT32_MAX, 65535, 65535},
    .shared_per_cta = 227 << 10,
    .shared_per_sm = 228 << 10,
    .registers_per_sm = 65536,
    .register_parts = 1,
    .register_granularity = 4,
    .shared_granularity = 1,
    .threads_per_sm = 2048,
    .ctas_per_sm = 32,
    .sms = 16,
    .clock_khz = 1000000,
    .memory_clock_khz = 1000000,
    .bus_width_bits = 256,
    .l2_bytes = 4 << 20,
};

/* The machine whose limits programs see; NULL: the general limits. */
static const MachineConfig *device_of(const GpuOptions *options) {
    return options->machine ? options->machine : options->device;
}

static void print_stdout(void *user, const char *text, size_t length) {
    (void)user;
    fwrite(text, 1, length, stdout);
    fflush(stdout);
}

static void start_checks(Gpu *gpu) {
    const GpuChecks *checks = &gpu->options.checks;
    if (!gpu->options.findings) return;
    if (!checks->races && !checks->init && !checks->sync && !checks->leaks &&
        !checks->reports_faults)
        return;
    gpu->check = isa_check_new((IsaCheckOptions){.races = checks->races,
                                                 .init = checks->init,
                                                 .sync = checks->sync,
                                                 .leaks = checks->leaks,
                                                 .reports_faults = checks->reports_faults},
                               gpu->options.findings);
}

Gpu *gpu_new(const GpuOptions *options, Diag *diag) {
    Gpu *gpu = base_calloc(1, sizeof *gpu);
    gpu->options = *options;
    GpuOptions *o = &gpu->options;
    const MachineConfig *device = device_of(o);
    if (!o->memory_bytes)
        o->memory_bytes = device ? (uint64_t)device->memory_mib << 20 : DEFAULT_MEMORY_BYTES;
    if (!o->heap_bytes) o->heap_bytes = DEFAULT_HEAP_BYTES;
    if (!o->stack_bytes) o->stack_bytes = DEFAULT_STACK_BYTES;
    if (!o->print) o->print = print_stdout;
    gpu->memory = mem_new(o->memory_bytes);
    if (!gpu->memory) {
        diag_error(diag, NULL, 0, 0,
                   "cannot reserve %" PRIu64 " bytes of device memory: choose less (--memory SIZE)",
                   o->memory_bytes);
        free(gpu);
        return NULL;
    }
    gpu->variant = isa_find_variant(o->variant);
    if (!gpu->variant) {
        diag_error(diag, NULL, 0, 0, "this host cannot execute the variant %s",
                   o->variant ? o->variant : "of the build host, the only one in this build");
        gpu_free(gpu);
        return NULL;
    }
    if (o->checks.init) mem_track_writes(gpu->memory);
    mem_set_padding(gpu->memory, o->padding_bytes);
    start_checks(gpu);
    if (o->machine && !engine_check(o->machine, o->scheduler, diag)) {
        gpu_free(gpu);
        return NULL;
    }
    if (o->machine) {
        gpu->calls = base_alloc_lines((o->machine->sms + 1) * sizeof *gpu->calls);
        gpu->engine = engine_new(o, gpu->calls);
    }
    return gpu;
}

void gpu_free_ctas(Gpu *gpu) {
    for (uint32_t i = 0; i < gpu->cta_count; i++) {
        isa_cta_free(gpu->ctas[i]);
        free(gpu->ctas[i]);
    }
    free(gpu->ctas);
}

void gpu_free(Gpu *gpu) {
    if (!gpu) return;
    gpu_free_ctas(gpu);
    grid_free_all(gpu);
    engine_free(gpu->engine);
    free(gpu->calls);
    isa_check_free(gpu->check);
    mem_heap_free(gpu->heap);
    children_free(gpu);
    mem_free(gpu->memory);
    free(gpu);
}

DeviceMemory *gpu_memory(Gpu *gpu) { return gpu->memory; }
GpuOptions *gpu_options(Gpu *gpu) { return &gpu->options; }

const MachineConfig *gpu_machine(const Gpu *gpu) { return gpu->options.machine; }
void gpu_interrupt(Gpu *gpu) { atomic_store(&gpu->is_interrupted, true); }

void gpu_host_wrote(Gpu *gpu, uint64_t address, uint64_t bytes) {
    if (gpu->engine) engine_host_wrote(gpu->engine, mem_seen_address(gpu->memory, address), bytes);
}

void gpu_forget_persisting(Gpu *gpu) {
    if (gpu->engine) engine_forget_persisting(gpu->engine);
}

/* SM cycles that a warp's instructions of a class take if nothing delays them, in thousandths. */
static uint32_t op_cycles(const SmConfig *sm, IsaClass class) {
    const SmOpConfig *op = &sm->ops[class];
    /* (of two kinds the first alone) */
    const SmUnitConfig *unit = &sm->units[op->unit == SM_UNIT_SP_OR_SFU ? SM_UNIT_SP : op->unit];
    uint32_t input = ISA_LANES / unit->lanes;
    uint32_t cycles = op->initiation > input ? op->initiation : input;
    return unit->count ? 1000 * cycles * unit->shared_by / unit->count : 1000 * cycles;
}

static uint32_t single_to_double(const SmConfig *sm) {
    uint32_t f32 = op_cycles(sm, ISA_CLASS_FP32_MAD), f64 = op_cycles(sm, ISA_CLASS_FP64_MAD);
    return f64 > f32 ? (f64 + f32 / 2) / f32 : 1;
}

GpuLimits gpu_limits(const Gpu *gpu) {
    const MachineConfig *machine = device_of(&gpu->options);
    GpuLimits limits = general_limits;
    GpuCapability capability = machine ? machine->capability : GPU_CAPABILITY_75;
    if (gpu->options.capability) capability = *gpu->options.capability;
    limits.capability_major = gpu_capabilities[capability].major;
    limits.capability_minor = gpu_capabilities[capability].minor;
    limits.single_to_double = gpu_capabilities[capability].ratio;
    limits.gpcs = machine && machine->gpcs ? machine->gpcs : 1;
    limits.max_cluster = limits.capability_major >= 9 ? ISA_MOST_CLUSTER : 1;
    if (!machine) return limits;
    limits.single_to_double = single_to_double(&machine->sm);
    limits.shared_per_sm = machine->sm.shared.size_bytes;
    limits.shared_per_cta = sm_config_cta_shared(&machine->sm);
    limits.shared_granularity = machine->sm.shared.granularity_bytes;
    limits.shared_reserved = machine->sm.shared.reserved_bytes;
    limits.registers_per_sm = machine->sm.registers;
    limits.register_parts = machine->sm.subcores;
    limits.register_granularity = machine->sm.register_granularity;
    limits.threads_per_sm = machine->sm.threads;
    limits.ctas_per_sm = machine->sm.ctas;
    limits.sms = machine->sms;
    if (gpu->options.machine) { /* a functional run has a clock of its own */
        limits.clock_khz = machine->clock.sm_khz;
        limits.memory_clock_khz = machine->clock.dram_khz;
    }
    limits.bus_width_bits = machine->dram.bus_bytes * 8 * machine->partitions;
    limits.l2_bytes = (uint32_t)machine_l2_bytes(machine);
    if (machine->partition.takes_hints)
        limits.persisting_bytes = machine->partition.persisting_bytes;
    return limits;
}

bool gpu_has_dumped(const Gpu *gpu) { return gpu->has_dumped; }

GpuProgress gpu_progress(const Gpu *gpu) {
    return (GpuProgress){.done_ctas = atomic_load_explicit(&gpu->done_ctas, memory_order_relaxed),
                         .begun_ctas = atomic_load_explicit(&gpu->begun_ctas, memory_order_relaxed),
                         .total_ctas = atomic_load_explicit(&gpu->total_ctas, memory_order_relaxed),
                         .warp_instructions =
                             atomic_load_explicit(&gpu->done_instructions, memory_order_relaxed)};
}

bool gpu_policy_call(const Gpu *gpu, bool is_own, char *text, size_t size) {
    const GpuOptions *o = &gpu->options;
    Line line = line_begin(text, size);
    for (uint32_t sm = 0; gpu->calls && sm < o->machine->sms; sm++)
        if ((!is_own || engine_is_own(gpu->engine, sm)) &&
            sched_call_write(&gpu->calls[sm].call, sched_kind_warp.noun, o->scheduler->text,
                             (int)sm, &line))
            return true;
    return gpu->calls && o->cta_scheduler &&
           sched_call_write(&gpu->calls[o->machine->sms].call, sched_kind_cta.noun,
                            o->cta_scheduler->text, SCHED_CALL_NO_SM, &line);
}

static uint32_t warp_threads_of(uint32_t threads) {
    return (uint32_t)bits_align_up(threads ? threads : 1, ISA_LANES);
}

static uint32_t registers_by(const Gpu *gpu, const GpuLimits *limits, const IsaFunction *kernel,
                             uint32_t threads) {
    if (gpu->options.registers) return gpu->options.registers;
    uint32_t warps = warp_threads_of(threads) / ISA_LANES, parts = limits->register_parts;
    uint32_t share = limits->registers_per_sm / parts / ((warps + parts - 1) / parts) / ISA_LANES;
    share -= share % limits->register_granularity;
    return share && share < kernel->registers ? share : kernel->registers;
}

uint32_t gpu_registers(const Gpu *gpu, const IsaFunction *kernel, uint32_t threads) {
    const GpuLimits limits = gpu_limits(gpu);
    return registers_by(gpu, &limits, kernel, threads);
}

/* Bytes of an SM's shared memory that a CTA with `bytes` occupies. */
static uint64_t shared_taken(const GpuLimits *limits, uint64_t bytes) {
    return bits_align_up(bytes + limits->shared_reserved, limits->shared_granularity);
}

uint32_t gpu_shared_taken(const Gpu *gpu, uint32_t bytes) {
    GpuLimits limits = gpu_limits(gpu);
    return (uint32_t)shared_taken(&limits, bytes);
}

uint32_t gpu_registers_taken(const Gpu *gpu, const IsaFunction *kernel, uint32_t threads) {
    return warp_threads_of(threads) * (uint32_t)bits_align_up(gpu_registers(gpu, kernel, threads),
                                                              gpu_limits(gpu).register_granularity);
}

/* CTAs of `warps` warps that fit by registers, if a thread has `registers`. */
static uint32_t ctas_by_registers(const GpuLimits *limits, uint32_t registers, uint32_t warps) {
    uint32_t each = (uint32_t)bits_align_up(registers, limits->register_granularity) * ISA_LANES;
    if (!each) return UINT32_MAX;
    return limits->registers_per_sm / limits->register_parts / each * limits->register_parts /
           warps;
}

static Occupancy occupancy_by(const Gpu *gpu, const GpuLimits *limits, const IsaFunction *kernel,
                              uint32_t threads, uint32_t dynamic_shared_bytes) {
    const uint32_t warp_threads = warp_threads_of(threads), warps = warp_threads / ISA_LANES;
    const uint64_t shared =
        shared_taken(limits, (uint64_t)kernel->shared_bytes + dynamic_shared_bytes);
    const bool is_too_large = threads > limits->max_threads_per_cta;
    return (Occupancy){
        .ctas = {[OCCUPANCY_slots] = limits->ctas_per_sm,
                 [OCCUPANCY_warps] = is_too_large ? 0 : limits->threads_per_sm / warp_threads,
                 [OCCUPANCY_registers] =
                     ctas_by_registers(limits, registers_by(gpu, limits, kernel, threads), warps),
                 [OCCUPANCY_shared] =
                     shared ? (uint32_t)(limits->shared_per_sm / shared) : OCCUPANCY_NO_LIMIT},
        .cta_warps = warps,
        .warps = limits->threads_per_sm / ISA_LANES};
}

Occupancy gpu_occupancy_limits(const Gpu *gpu, const GpuModule *module, int function,
                               uint32_t threads, uint32_t dynamic_shared_bytes) {
    const GpuLimits limits = gpu_limits(gpu);
    return occupancy_by(gpu, &limits, &module->program->functions[function], threads,
                        dynamic_shared_bytes);
}

uint32_t gpu_occupancy(const Gpu *gpu, const GpuModule *module, int function, uint32_t threads,
                       uint32_t dynamic_shared_bytes) {
    const Occupancy occupancy =
        gpu_occupancy_limits(gpu, module, function, threads, dynamic_shared_bytes);
    return occupancy_ctas(&occupancy);
}

uint32_t gpu_most_clusters(const Gpu *gpu, const GpuModule *module, int function, uint32_t threads,
                           uint32_t dynamic_shared_bytes, uint32_t ctas) {
    const GpuLimits limits = gpu_limits(gpu);
    const Occupancy occupancy = occupancy_by(gpu, &limits, &module->program->functions[function],
                                             threads, dynamic_shared_bytes);
    const uint32_t ctas_per_sm = occupancy_ctas(&occupancy);
    uint32_t clusters = 0;
    for (uint32_t gpc = 0; gpc < limits.gpcs; ++gpc)
        clusters += gpc_sms(limits.sms, limits.gpcs, gpc) * ctas_per_sm / ctas;
    return clusters;
}

uint32_t gpu_shared_of_each(const Gpu *gpu, uint32_t ctas) {
    GpuLimits limits = gpu_limits(gpu);
    uint32_t each = limits.shared_per_sm / ctas;
    each -= each % limits.shared_granularity;
    each = each > limits.shared_reserved ? each - limits.shared_reserved : 0;
    return each < limits.shared_per_cta ? each : limits.shared_per_cta;
}

/* ---- Blocks of device malloc ---- */

bool gpu_next_heap_block(const Gpu *gpu, GpuHeapBlock *block) {
    uint64_t from = block->address ? block->address + 1 : 0;
    block->address = mem_heap_next(gpu->heap, from, &block->size_bytes);
    if (!block->address) return false;
    uint32_t tag = mem_heap_tag(gpu->heap, block->address);
    block->site = gpu->check ? isa_check_site(gpu->check, tag) : NULL;
    return true;
}

/* ---- Launches ---- */

static void refuse(GpuResult *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void refuse(GpuResult *result, const char *format, ...) {
    va_list args;
    va_start(args, format);
    result->status = GPU_BAD_LAUNCH;
    vsnprintf(result->message, sizeof result->message, format, args);
    va_end(args);
}

void gpu_refuse_kernel(GpuResult *result, const PtxFunction *kernel, const char *format, ...) {
    Text name = {0};
    char why[sizeof result->message];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    demangle_short(kernel->name, &name);
    refuse(result, "kernel %s%s", text_string(&name), why);
    text_free(&name);
}

void gpu_set_fault(GpuResult *result, const IsaFault *fault) {
    result->status = GPU_FAULT;
    result->fault_code = fault->code;
    snprintf(result->message, sizeof result->message, "%s", fault->text);
}

static bool check_dimensions(const GpuLaunch *request, const PtxFunction *kernel, GpuLimits limits,
                             GpuResult *result) {
    uint64_t threads = 1;
    for (int d = 0; d < 3; d++) {
        char axis = (char)('x' + d);
        if (request->block[d] < 1 || request->block[d] > limits.max_block[d]) {
            gpu_refuse_kernel(result, kernel, ": block %c is %u; it must be 1 to %u", axis,
                              request->block[d], limits.max_block[d]);
            return false;
        }
        if (request->grid[d] < 1 || request->grid[d] > limits.max_grid[d]) {
            gpu_refuse_kernel(result, kernel, ": grid %c is %u; it must be 1 to %" PRIu64, axis,
                              request->grid[d], limits.max_grid[d]);
            return false;
        }
        if (kernel->required_threads[0] && kernel->required_threads[d] &&
            kernel->required_threads[d] != request->block[d]) {
            gpu_refuse_kernel(result, kernel,
                              ": block %c is %u, but the kernel requires %u (.reqntid)", axis,
                              request->block[d], kernel->required_threads[d]);
            return false;
        }
        threads *= request->block[d];
    }
    uint64_t most = limits.max_threads_per_cta;
    if (kernel->max_threads[0]) {
        uint64_t bound = 1;
        for (int d = 0; d < 3; d++)
            bound *= kernel->max_threads[d] ? kernel->max_threads[d] : 1;
        if (bound < most) most = bound;
    }
    if (threads > most) {
        gpu_refuse_kernel(result, kernel,
                          ": %" PRIu64 " threads per thread block; at most %" PRIu64
                          " are possible",
                          threads, most);
        return false;
    }
    return true;
}

static bool check_resources(const Gpu *gpu, const GpuLaunch *request, const IsaFunction *kernel,
                            GpuResult *result) {
    const uint32_t threads = request->block[0] * request->block[1] * request->block[2];
    GpuLimits limits = gpu_limits(gpu);
    uint64_t shared = (uint64_t)kernel->shared_bytes + request->dynamic_shared_bytes;
    if (shared > limits.shared_per_cta) {
        gpu_refuse_kernel(
            result, kernel->ptx,
            ": %" PRIu64 " bytes of shared memory (%u static, %u dynamic); a thread block can "
            "have %u",
            shared, kernel->shared_bytes, request->dynamic_shared_bytes, limits.shared_per_cta);
        return false;
    }
    uint32_t local =
        gpu->options.stack_bytes > MAX_LOCAL_BYTES ? gpu->options.stack_bytes : MAX_LOCAL_BYTES;
    if (kernel->local_bytes > local) {
        gpu_refuse_kernel(result, kernel->ptx,
                          ": %u bytes of local memory; a thread can have %u (--stack gives more)",
                          kernel->local_bytes, local);
        return false;
    }
    uint32_t resident = gpu_occupancy(gpu, request->module, request->function, threads,
                                      request->dynamic_shared_bytes);
    if (resident == 0) {
        gpu_refuse_kernel(
            result, kernel->ptx,
            ": %u threads with %u registers each do not fit on an SM with %u registers%s", threads,
            gpu_registers(gpu, kernel, threads), limits.registers_per_sm,
            limits.register_parts > 1 ? ", divided among its sub-cores" : "");
        return false;
    }
    uint64_t ctas = (uint64_t)request->grid[0] * request->grid[1] * request->grid[2];
    if (request->is_cooperative && ctas > (uint64_t)resident * limits.sms) {
        gpu_refuse_kernel(result, kernel->ptx,
                          ": a cooperative launch of %" PRIu64 " thread blocks; at most %" PRIu64
                          " fit on the device at once",
                          ctas, (uint64_t)resident * limits.sms);
        return false;
    }
    return true;
}

bool gpu_check_ctas(const Gpu *gpu, const GpuLaunch *request, GpuResult *result) {
    const IsaFunction *kernel = &request->module->program->functions[request->function];
    return check_dimensions(request, kernel->ptx, gpu_limits(gpu), result) &&
           check_resources(gpu, request, kernel, result);
}

bool gpu_check_launch(const Gpu *gpu, const GpuLaunch *request, GpuResult *result) {
    return gpu_check_ctas(gpu, request, result) && gpu_check_cluster(gpu, request, result);
}

GpuStatus gpu_check_kernel(const Gpu *gpu, const GpuLaunch *request, GpuResult *result) {
    const IsaFunction *kernel = &request->module->program->functions[request->function];
    if (!kernel->ptx->is_kernel) {
        refuse(result, "%s is a device function, not a kernel (.entry)", kernel->ptx->name);
        return result->status;
    }
    if (kernel->refusal) {
        gpu_refuse_kernel(result, kernel->ptx, " cannot run: %s", kernel->refusal);
        return result->status = GPU_REFUSED;
    }
    return gpu_check_launch(gpu, request, result) ? GPU_OK : result->status;
}
