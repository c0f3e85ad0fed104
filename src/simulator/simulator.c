/* TytoSimulator: the public functions; each of them holds the simulator's lock. */
#include "simulator/simulator.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/host.h"
#include "base/arena.h"
#include "base/columns.h"
#include "base/demangle.h"
#include "base/map.h"
#include "simulator/assemble.h"
#include "simulator/caller.h"
#include "simulator/checks.h"
#include "simulator/journal.h"
#include "simulator/timed_run.h"
#include "simulator/origin.h"
#include "simulator/progress.h"
#include "simulator/record.h"
#include "simulator/selection.h"
#include "stats/report.h"

struct TytoModule {
    TytoSimulator *simulator;
    GpuModule *gpu;      /* owned */
    Arena *arena;        /* number of kernels */
    TytoKernel *kernels; /* kernels, in the order of the text */
    int *functions;      /* for each kernel: its index among the program's functions */
    int kernel_count;    /* memory of kernels and functions */
    TytoModule *next;    /* next of the simulator's modules */
};

const char *tyto_version(void) { return TYTO_VERSION; }

const char *tyto_nearest(const char *word, const char *const *words, int count) {
    return diag_nearest(word, words, count);
}

int tyto_columns(const char *text) { return columns_of(text); }

/* ---- Messages ---- */

static void trim(Text *text) {
    while (text->length && text->bytes[text->length - 1] == '\n')
        text->bytes[--text->length] = '\0';
}

static TytoStatus fail(TytoSimulator *simulator, TytoStatus status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static TytoStatus fail(TytoSimulator *simulator, TytoStatus status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    text_clear(&simulator->message);
    text_vprintf(&simulator->message, format, args);
    text_show_lines(simulator->message.bytes); /* names of files and kernels may be long */
    trim(&simulator->message);
    va_end(args);
    return status;
}

static void copy_message(Diag *diag, char *message, size_t size) {
    if (size == 0) return;
    snprintf(message, size, "%s", diag_text(diag));
    size_t length = strlen(message);
    if (length && message[length - 1] == '\n') message[length - 1] = '\0';
}

const char *tyto_message(const TytoSimulator *simulator) {
    return text_string(&simulator->message);
}

/* ---- Options, construction ---- */

/* Reports errors of combinations of options. */
static bool check_together(const Options *options, Diag *diag) {
    Selection *selection = selection_new(options->kernels, options->skip, diag);
    bool is_right = selection != NULL;
    selection_free(selection);
    return options_check(options, diag) && is_right;
}

TytoStatus tyto_check_options(int count, const char *const *options, char *message, size_t size) {
    Diag *diag = diag_new();
    Options *parsed = options_new();
    bool is_right =
        options_parse(parsed, NULL, count, options, diag) && check_together(parsed, diag);
    Machine *machine = is_right ? timed_run_machine(parsed, diag) : NULL;
    is_right = machine != NULL;
    if (is_right && !parsed->is_functional) {
        RunStats *run = run_new("");
        TimedRun *timed = timed_run_new(parsed, machine, run, diag);
        is_right = timed != NULL;
        timed_run_free(timed);
        run_free(run);
    }
    machine_free(machine);
    copy_message(diag, message, size);
    options_free(parsed);
    diag_free(diag);
    return is_right ? TYTO_OK : TYTO_BAD_OPTION;
}

/* The number of threads requested; 0: the number of processors that the process has. */
static uint32_t threads_of(const Options *options) {
    return options->threads ? (uint32_t)options->threads : host_processors();
}

static GpuOptions gpu_options_of(const Options *options, const Machine *machine, TimedRun *timed,
                                 Findings *findings) {
    return (GpuOptions){
        .machine = timed ? timed->config : NULL,
        .device = machine_config(machine),
        .scheduler = timed ? timed->scheduler : NULL,
        .cta_scheduler = timed ? timed->cta_scheduler : NULL,
        .watch = timed ? &timed->watch : NULL,
        .capability = options->capability.is_given ? &options->capability.value
                                                   : &machine_config(machine)->capability,
        .memory_bytes = options->memory_bytes,
        .heap_bytes = options->heap_bytes,
        .stack_bytes = (uint32_t)options->stack_bytes,
        .threads = threads_of(options),
        .registers = (uint32_t)options->registers,
        .instruction_limit = options->instruction_limit,
        .stop_after = options->stop_after,
        .checks = checks_of(options),
        .findings = findings,
        .padding_bytes = options->padding_bytes,
        .dump_line = options->dump.line,
        .dump_cta = options->dump.cta,
        .dump_warp = options->dump.warp,
    };
}

TytoSimulator *simulator_new(Options *options, Diag *diag) {
    RunStats *run = run_new("");
    TimedRun *timed = NULL;
    Gpu *gpu = NULL;
    run->findings = checks_findings(options);
    Machine *machine = check_together(options, diag) ? timed_run_machine(options, diag) : NULL;
    if (machine) run_set_origin(run, RUN_ORIGIN_machine, machine_config(machine)->name);
    if (machine &&
        (options->is_functional || (timed = timed_run_new(options, machine, run, diag)))) {
        GpuOptions gpu_options = gpu_options_of(options, machine, timed, run->findings);
        if (!timed || timed_run_start(timed, options, diag)) gpu = gpu_new(&gpu_options, diag);
    }
    if (!gpu) {
        timed_run_free(timed);
        machine_free(machine);
        run_free(run);
        options_free(options);
        return NULL;
    }
    TytoSimulator *simulator = base_calloc(1, sizeof *simulator);
    pthread_mutexattr_t recursive; /* callbacks of the driver API may call the simulator again */
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&simulator->lock, &recursive);
    pthread_mutexattr_destroy(&recursive);
    simulator->options = options;
    simulator->gpu = gpu;
    simulator->asker.gpu = gpu;
    gpu_options(gpu)->answers = &driver_answers;
    gpu_options(gpu)->asker = &simulator->asker;
    simulator->run = run;
    simulator->machine = machine;
    simulator->timed = timed;
    if (timed) simulator->selection = selection_new(options->kernels, options->skip, diag);
    if (!options->is_quiet) simulator->progress = progress_new(gpu);
    return simulator;
}

TytoSimulator *tyto_new(int count, const char *const *words, char *message, size_t size) {
    Diag *diag = diag_new();
    Options *options = options_new();
    TytoSimulator *simulator = NULL;
    if (options_parse(options, NULL, count, words, diag)) simulator = simulator_new(options, diag);
    else options_free(options);
    if (!simulator) copy_message(diag, message, size);
    diag_free(diag);
    return simulator;
}

void tyto_free(TytoSimulator *simulator) {
    if (!simulator) return;
    crash_forget(simulator);
    while (simulator->modules)
        tyto_unload(simulator->modules);
    progress_free(simulator->progress);
    journal_free(simulator->journal);
    gpu_free(simulator->gpu);
    timed_run_free(simulator->timed);
    machine_free(simulator->machine);
    run_free(simulator->run);
    selection_free(simulator->selection);
    options_free(simulator->options);
    text_free(&simulator->message);
    text_free(&simulator->arguments);
    pthread_mutex_destroy(&simulator->lock);
    free(simulator);
}

void tyto_interrupt(TytoSimulator *simulator) { gpu_interrupt(simulator->gpu); }

bool tyto_policy_call(const TytoSimulator *simulator, char *text, size_t size) {
    return size && gpu_policy_call(simulator->gpu, false, text, size);
}

/* ---- Programs ---- */

/* The kernel of the same name and parameter sizes in the PTX from which the machine code was made.
 * NULL if there is none, or if `source` is NULL. */
static const PtxFunction *declaration_of(const PtxModule *source, const PtxFunction *kernel) {
    for (int i = 0; source && i < source->function_count; i++) {
        const PtxFunction *found = source->functions[i];
        if (strcmp(found->name, kernel->name) != 0) continue;
        if (found->parameter_count != kernel->parameter_count) return NULL;
        for (int k = 0; k < found->parameter_count; k++)
            if (found->parameters[k].size != kernel->parameters[k].size) return NULL;
        return found;
    }
    return NULL;
}

/* Describes parameters. Machine code only has their sizes; names and types are in its source, if
 * available. */
static void describe_parameters(TytoModule *module, const PtxFunction *ptx,
                                const PtxFunction *declaration, TytoKernel *kernel) {
    TytoParameter *parameters = ARENA_ARRAY(module->arena, TytoParameter, ptx->parameter_count);
    for (int i = 0; i < ptx->parameter_count; i++) {
        const PtxVar *var = &ptx->parameters[i];
        const PtxVar *declared = declaration ? &declaration->parameters[i] : var;
        parameters[i] = (TytoParameter){.name = arena_strdup(module->arena, declared->name),
                                        .type = ptx_type_name(declared->type),
                                        .size_bytes = var->size,
                                        .offset_bytes = var->address};
    }
    kernel->parameters = parameters;
    kernel->parameter_count = ptx->parameter_count;
    kernel->parameter_bytes = ptx->parameter_bytes;
}

/* Most threads per CTA that the kernel's launch bounds and the device allow. */
static uint32_t most_threads(const Gpu *gpu, const PtxFunction *ptx) {
    uint32_t most = gpu_limits(gpu).max_threads_per_cta;
    const uint32_t *bounds[] = {ptx->max_threads, ptx->required_threads};
    for (int i = 0; i < 2; i++) {
        const uint32_t *bound = bounds[i];
        if (!bound[0]) continue;
        uint64_t threads = bound[0];
        for (int axis = 1; axis < 3; axis++)
            threads *= bound[axis] ? bound[axis] : 1;
        if (threads < most) most = (uint32_t)threads;
    }
    return most;
}

/* `source`: the PTX from which the module's machine code was made, or NULL. */
static void describe_kernels(TytoModule *module, const PtxModule *source) {
    const IsaProgram *program = gpu_module_program(module->gpu);
    module->kernels = ARENA_ARRAY(module->arena, TytoKernel, program->function_count);
    module->functions = ARENA_ARRAY(module->arena, int, program->function_count);
    for (uint32_t i = 0; i < program->function_count; i++) {
        const IsaFunction *function = &program->functions[i];
        const PtxFunction *ptx = function->ptx;
        if (!ptx->is_kernel || !ptx->is_defined) continue;
        const PtxFunction *declaration = declaration_of(source, ptx);
        TytoKernel *kernel = &module->kernels[module->kernel_count];
        module->functions[module->kernel_count++] = (int)i;
        *kernel = (TytoKernel){.name = ptx->name,
                               .registers = function->registers,
                               .shared_bytes = function->shared_bytes,
                               .local_bytes = ptx->local_bytes,
                               .instructions = (uint32_t)ptx->inst_count,
                               .max_threads = most_threads(module->simulator->gpu, ptx),
                               .line = declaration ? declaration->line : ptx->line,
                               .refusal = function->refusal};
        Text source_name = {0};
        demangle(ptx->name, &source_name);
        kernel->source_name = arena_strdup(module->arena, text_string(&source_name));
        text_free(&source_name);
        describe_parameters(module, ptx, declaration, kernel);
    }
}

/* Describes the kernels of a module that was loaded from `image`. `source` is the same image, or
 * the PTX from which ptxas made it. */
static void describe_module(TytoModule *module, const GpuImage *source, const GpuImage *image) {
    Diag *ignored = diag_new();
    PtxModule *ptx = image->text == source->text
                         ? NULL
                         : ptx_read(source->name, source->text, source->length, ignored);
    describe_kernels(module, ptx);
    ptx_module_free(ptx);
    diag_free(ignored);
}

TytoStatus tyto_load(TytoSimulator *simulator, const char *name, const char *text, size_t length,
                     TytoModule **module) {
    simulator_lock(simulator);
    Diag *diag = diag_new();
    const GpuImage source = {name, text, length};
    GpuImage image = source;
    Arena *arena = arena_new();
    simulator_assemble(simulator, &image, 1, arena);
    GpuModule *gpu = gpu_load(simulator->gpu, &image, 1, diag);
    TytoStatus status = TYTO_OK;
    *module = NULL;
    if (gpu) {
        simulator_tell_newer(simulator, gpu, name);
        TytoModule *loaded = base_calloc(1, sizeof *loaded);
        loaded->simulator = simulator;
        loaded->gpu = gpu;
        loaded->arena = arena_new();
        loaded->next = simulator->modules;
        simulator->modules = loaded;
        describe_module(loaded, &source, &image);
        if (simulator->run->profile)
            source_files_allow_beside(&simulator->run->profile->files, name);
        *module = loaded;
    } else {
        status = fail(simulator, TYTO_BAD_PTX, "%s", diag_text(diag));
    }
    arena_free(arena);
    diag_free(diag);
    simulator_unlock(simulator);
    return status;
}

void tyto_unload(TytoModule *module) {
    if (!module) return;
    TytoSimulator *simulator = module->simulator;
    simulator_lock(simulator);
    TytoModule **link = &simulator->modules;
    while (*link != module)
        link = &(*link)->next;
    *link = module->next;
    gpu_unload(module->gpu);
    arena_free(module->arena);
    free(module);
    simulator_unlock(simulator);
}

int tyto_kernel_count(const TytoModule *module) { return module->kernel_count; }

const TytoKernel *tyto_kernel(const TytoModule *module, int i) {
    CALLER_CHECK_INDEX("kernel", i, module->kernel_count);
    return &module->kernels[i];
}

int tyto_find_kernel(const TytoModule *module, const char *name) {
    int found = -1, count = 0;
    for (int i = 0; i < module->kernel_count; i++) {
        if (strcmp(module->kernels[i].name, name) == 0) return i;
        if (!selection_is_named(module->kernels[i].name, name)) continue;
        found = i;
        count++;
    }
    return count == 1 ? found : -1;
}

static void add_kernel(Json *json, const TytoKernel *kernel) {
    const struct {
        const char *key;
        uint64_t value;
    } numbers[] = {
        {"registers", kernel->registers},     {"shared_bytes", kernel->shared_bytes},
        {"local_bytes", kernel->local_bytes}, {"instructions", kernel->instructions},
        {"max_threads", kernel->max_threads}, {"parameter_bytes", kernel->parameter_bytes},
        {"line", (uint64_t)kernel->line},
    };
    json_object(json);
    json_key(json, "name");
    json_string(json, kernel->name);
    demangle_write_json(kernel->name, json);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        json_key(json, numbers[i].key);
        json_uint(json, numbers[i].value);
    }
    json_key(json, "parameters");
    json_array(json);
    for (int i = 0; i < kernel->parameter_count; i++) {
        json_object(json);
        json_key(json, "name");
        json_string(json, kernel->parameters[i].name);
        json_key(json, "type");
        json_string(json, kernel->parameters[i].type);
        json_key(json, "size_bytes");
        json_uint(json, kernel->parameters[i].size_bytes);
        json_end_object(json);
    }
    json_end_array(json);
    json_end_object(json);
}

char *tyto_module_json(const TytoModule *module, const char *name) {
    Text out = {0};
    Json json;
    json_begin(&json, &out);
    json_object(&json);
    json_key(&json, "tyto_version");
    json_string(&json, TYTO_VERSION);
    json_key(&json, "file");
    json_string(&json, name);
    json_key(&json, "kernels");
    json_array(&json);
    for (int i = 0; i < module->kernel_count; i++)
        add_kernel(&json, &module->kernels[i]);
    json_end_array(&json);
    json_end_object(&json);
    return out.bytes;
}

char *tyto_control_flow(const TytoModule *module, int i) {
    const PtxModule *ptx = gpu_module_ptx(module->gpu);
    const IsaProgram *program = gpu_module_program(module->gpu);
    Text out = {0};
    if (i != -1) CALLER_CHECK_INDEX("kernel", i, module->kernel_count);
    ptx_write_dot(ptx, i < 0 ? NULL : program->functions[module->functions[i]].ptx, &out);
    return out.bytes ? out.bytes : strdup("");
}

/* ---- Device memory ---- */

static TytoStatus fail_at(TytoSimulator *simulator, const char *what, uint64_t address) {
    Text where = {0};
    mem_describe(simulator_memory(simulator), address, &where);
    TytoStatus status = fail(simulator, TYTO_BAD_ADDRESS, "cannot %s 0x%llx: %s", what,
                             (unsigned long long)address, text_string(&where));
    text_free(&where);
    return status;
}

/* The same for a range that begins at `address`. */
static TytoStatus fail_from(TytoSimulator *simulator, const char *what, uint64_t address,
                            uint64_t size) {
    char bytes[64];
    snprintf(bytes, sizeof bytes, "%s %llu byte%s at", what, (unsigned long long)size,
             text_plural(size));
    return fail_at(simulator, bytes, address);
}

void simulator_say_full(const DeviceMemory *memory, uint64_t size, Text *out) {
    text_printf(out,
                "out of device memory: %llu byte%s asked for, %llu of %llu in use "
                "(--memory SIZE gives more)",
                (unsigned long long)size, text_plural(size), (unsigned long long)mem_used(memory),
                (unsigned long long)mem_capacity(memory));
}

static TytoStatus fail_without_memory(TytoSimulator *simulator, uint64_t size) {
    Text why = {0};
    simulator_say_full(simulator_memory(simulator), size, &why);
    TytoStatus status = fail(simulator, TYTO_OUT_OF_MEMORY, "%s", text_string(&why));
    text_free(&why);
    return status;
}

TytoStatus tyto_alloc(TytoSimulator *simulator, uint64_t size, uint64_t *address) {
    simulator_lock(simulator);
    DeviceMemory *memory = simulator_memory(simulator);
    TytoStatus status = TYTO_OK;
    *address = mem_alloc(memory, size ? size : 1, MEM_ALLOC_ALIGN, MEM_KIND_BUFFER, NULL);
    if (*address) mem_zero(memory, *address, size);
    else status = fail_without_memory(simulator, size);
    simulator_unlock(simulator);
    return status;
}

TytoStatus tyto_release(TytoSimulator *simulator, uint64_t address) {
    simulator_lock(simulator);
    TytoStatus status = TYTO_OK;
    if (!mem_release(simulator_memory(simulator), address))
        status = fail_at(simulator, "free", address);
    simulator_unlock(simulator);
    return status;
}

TytoStatus tyto_write(TytoSimulator *simulator, uint64_t address, const void *bytes,
                      uint64_t size) {
    simulator_lock(simulator);
    TytoStatus status = TYTO_OK;
    if (mem_write(simulator_memory(simulator), address, bytes, size))
        gpu_host_wrote(simulator->gpu, address, size);
    else status = fail_from(simulator, "write", address, size);
    simulator_unlock(simulator);
    return status;
}

TytoStatus tyto_read(TytoSimulator *simulator, uint64_t address, void *bytes, uint64_t size) {
    simulator_lock(simulator);
    TytoStatus status = TYTO_OK;
    if (!mem_read(simulator_memory(simulator), address, bytes, size))
        status = fail_from(simulator, "read", address, size);
    simulator_unlock(simulator);
    return status;
}

/* ---- Launches ---- */

static TytoStatus status_of(GpuStatus status) {
    static const TytoStatus statuses[] = {
        [GPU_OK] = TYTO_OK,
        [GPU_BAD_LAUNCH] = TYTO_BAD_LAUNCH,
        [GPU_REFUSED] = TYTO_BAD_LAUNCH,
        [GPU_FAULT] = TYTO_KERNEL_FAILED,
        [GPU_INTERRUPTED] = TYTO_INTERRUPTED,
        [GPU_STOPPED] = TYTO_STOPPED,
    };
    return statuses[status];
}

static const char *name_of(const GpuLaunch *launch) {
    return gpu_module_program(launch->module)->functions[launch->function].ptx->name;
}

/* Whether the next launch of this kernel runs without timing. */
static bool is_left_out(const TytoSimulator *simulator, const char *name) {
    return simulator->selection && !selection_takes(simulator->selection, name);
}

/* Called when a launch has ended: its code becomes part of the run's origin. */
static void note_in_journal(TytoSimulator *simulator, bool is_kept) {
    const uint64_t code = gpu_code_hash(simulator->gpu);
    if (!journal_knows(simulator->journal, code)) {
        origin_sign(simulator, program_invocation_short_name);
        journal_sign(simulator->journal, simulator->run, code);
    }
    journal_end(simulator->journal, simulator->run, is_kept);
}

/* Records a launch, if it has run, and prints its line. */
static void keep_result(TytoSimulator *simulator, const GpuLaunch *launch, uint32_t stream,
                        const GpuResult *result) {
    const bool is_kept = result->status != GPU_BAD_LAUNCH && result->status != GPU_REFUSED;
    if (is_kept)
        record_launch(simulator->run, simulator->gpu, launch, stream, result,
                      simulator->timed ? &simulator->timed->watch : NULL);
    note_in_journal(simulator, is_kept);
    if (!is_kept || simulator->options->is_quiet) return;
    Text line = {0};
    report_launch(simulator->run, simulator->run->kernel_count - 1, &line);
    fputs(text_string(&line), stderr);
    text_free(&line);
}

/* Runs a launch while nothing else is on the device. */
static GpuStatus launch_one(TytoSimulator *simulator, const GpuLaunch *asked, uint32_t stream,
                            GpuResult *result) {
    const char *name = name_of(asked);
    GpuLaunch launch = *asked;
    launch.is_functional = is_left_out(simulator, name);
    const uint64_t ctas = (uint64_t)launch.grid[0] * launch.grid[1] * launch.grid[2];
    Forecast *forecast = progress_wants_forecast(simulator->progress, name, ctas)
                             ? forecast_begin(simulator->gpu, &launch)
                             : NULL;
    progress_begin(simulator->progress, name, forecast);
    journal_begin(simulator->journal, name);
    GpuStatus status = gpu_launch(simulator->gpu, &launch, result);
    progress_end(simulator->progress);
    forecast_end(forecast);
    if (simulator->selection && status != GPU_BAD_LAUNCH && status != GPU_REFUSED)
        selection_count(simulator->selection, name);
    keep_result(simulator, &launch, stream, result);
    return status;
}

/* ---- Concurrent launches ---- */

void simulator_begin(TytoSimulator *simulator, SimulatorGrid *grid) {
    SimulatorGrid **link = &simulator->grids;
    const char *name = name_of(&grid->launch);
    while (*link)
        link = &(*link)->next;
    *link = grid;
    grid->next = NULL;
    grid->launch.is_functional = is_left_out(simulator, name);
    if (simulator->selection) selection_count(simulator->selection, name);
    simulator->asker.context = grid->context;
    journal_begin(simulator->journal, name);
    grid->gpu = gpu_begin(simulator->gpu, &grid->launch, &grid->stream);
}

/* Runs a kernel that a grid's kernel has launched to its end, while others continue. */
static void run_child(TytoSimulator *simulator, SimulatorGrid *parent, const GpuLaunch *launch) {
    const size_t bytes =
        gpu_module_program(launch->module)->functions[launch->function].ptx->parameter_bytes;
    char *parameters = base_malloc(bytes + 1); /* the next child overwrites these */
    SimulatorGrid child = {.launch = *launch, .stream = parent->stream, .context = parent->context};
    if (bytes) memcpy(parameters, launch->parameters, bytes);
    child.launch.parameters = parameters;
    simulator_begin(simulator, &child);
    while (!simulator_has_ended(&child))
        simulator_advance(simulator);
    parent->status = child.status;
    parent->fault_code = child.fault_code;
    parent->message = child.message;
    free(parameters);
}

/* Takes the result of a grid that has ended. */
static void take_result(TytoSimulator *simulator, SimulatorGrid *grid) {
    const GpuResult *result = gpu_result(simulator->gpu, grid->gpu);
    GpuLaunch child;
    SimulatorGrid **link = &simulator->grids;
    while (*link != grid)
        link = &(*link)->next;
    *link = grid->next;
    grid->status = result->status;
    grid->fault_code = result->fault_code;
    grid->message = grid->status ? strdup(result->message) : NULL;
    keep_result(simulator, &grid->launch, grid->stream.number, result);
    gpu_end(simulator->gpu, grid->gpu, NULL);
    while (grid->status == GPU_OK && gpu_next_child(simulator->gpu, &child))
        run_child(simulator, grid, &child);
    if (grid->status != GPU_OK) gpu_drop_children(simulator->gpu);
    grid->gpu = NULL;
}

bool simulator_advance(TytoSimulator *simulator) {
    SimulatorGrid *grid = simulator->grids;
    if (!grid) return false;
    progress_begin(simulator->progress, name_of(&grid->launch), NULL);
    const GpuGrid *ended = gpu_advance(simulator->gpu);
    progress_end(simulator->progress);
    while (grid->gpu != ended)
        grid = grid->next;
    take_result(simulator, grid);
    if (!simulator->grids) simulator->asker.context = NULL;
    return true;
}

/* Runs a launch to its end, while others continue. */
static GpuStatus launch_among(TytoSimulator *simulator, const GpuLaunch *launch,
                              const GpuStreamInfo *stream, GpuResult *result) {
    SimulatorGrid grid = {
        .launch = *launch, .stream = *stream, .context = simulator->asker.context};
    *result = (GpuResult){0};
    simulator_begin(simulator, &grid);
    while (!simulator_has_ended(&grid))
        simulator_advance(simulator);
    result->status = grid.status;
    result->fault_code = grid.fault_code;
    if (grid.message) snprintf(result->message, sizeof result->message, "%s", grid.message);
    free(grid.message);
    return grid.status;
}

GpuStatus simulator_launch(TytoSimulator *simulator, const GpuLaunch *launch,
                           const GpuStreamInfo *stream, GpuResult *result) {
    GpuLaunch child;
    if (simulator->grids) return launch_among(simulator, launch, stream, result);
    GpuStatus status = launch_one(simulator, launch, stream->number, result);
    while (status == GPU_OK && gpu_next_child(simulator->gpu, &child))
        status = launch_one(simulator, &child, stream->number, result);
    if (status != GPU_OK) gpu_drop_children(simulator->gpu);
    return status;
}

TytoStatus tyto_launch(TytoSimulator *simulator, const TytoLaunch *launch) {
    TytoModule *module = launch->module;
    CALLER_CHECK_INDEX("kernel", launch->kernel, module->kernel_count);
    const TytoKernel *kernel = &module->kernels[launch->kernel];
    simulator_lock(simulator);
    TytoStatus status;
    if (module->simulator != simulator) {
        status = fail(simulator, TYTO_BAD_LAUNCH, "kernel %s was loaded by another simulator",
                      kernel->name);
    } else if (launch->argument_count != kernel->parameter_count && !kernel->refusal) {
        status = fail(simulator, TYTO_BAD_LAUNCH, "kernel %s takes %d arguments, %d are given",
                      kernel->name, kernel->parameter_count, launch->argument_count);
    } else {
        char *parameters = base_calloc(1, kernel->parameter_bytes + 1);
        for (int i = 0; i < kernel->parameter_count && !kernel->refusal; i++)
            memcpy(parameters + kernel->parameters[i].offset_bytes, launch->arguments[i],
                   kernel->parameters[i].size_bytes);
        GpuLaunch gpu_launch_of = {.module = module->gpu,
                                   .function = module->functions[launch->kernel],
                                   .dynamic_shared_bytes = launch->shared_bytes,
                                   .parameters = parameters,
                                   .is_cooperative = launch->is_cooperative};
        memcpy(gpu_launch_of.grid, launch->grid, sizeof launch->grid);
        memcpy(gpu_launch_of.block, launch->block, sizeof launch->block);
        GpuResult result;
        const GpuStreamInfo stream = {.number = 0};
        status = status_of(simulator_launch(simulator, &gpu_launch_of, &stream, &result));
        if (status != TYTO_OK) fail(simulator, status, "%s", result.message);
        free(parameters);
    }
    simulator_unlock(simulator);
    return status;
}

TytoProgress tyto_progress(const TytoSimulator *simulator) {
    GpuProgress now = gpu_progress(simulator->gpu);
    return (TytoProgress){now.done_ctas, now.total_ctas, now.warp_instructions};
}

/* ---- The end ---- */

static void check_selection(const TytoSimulator *simulator, Diag *diag) {
    Map *names = map_new();
    for (int i = 0; i < simulator->run->kernel_count; i++) {
        const char *name = simulator->run->kernels[i].name;
        map_put(names, name, strlen(name), NULL);
    }
    selection_check(simulator->selection, names, diag);
    map_free(names);
}

static void check_dump(const TytoSimulator *simulator, Diag *diag) {
    const OptionDump *dump = &simulator->options->dump;
    if (!dump->line || gpu_has_dumped(simulator->gpu)) return;
    diag_warning(diag, "tyto", 0, 0,
                 "--dump-registers %u:%u:%u: no launch brought warp %u of CTA %u to an instruction "
                 "of line %u, or to one at offset 0x%x of machine code",
                 dump->line, dump->cta, dump->warp, dump->warp, dump->cta, dump->line, dump->line);
}

/* Warns about requests that had no effect. */
static void warn_of_unused(const TytoSimulator *simulator) {
    Diag *diag = diag_new();
    if (simulator->selection) check_selection(simulator, diag);
    check_dump(simulator, diag);
    if (diag_warning_count(diag)) diag_print(diag, stderr);
    diag_free(diag);
}

TytoStatus tyto_finish(TytoSimulator *simulator, const char *program) {
    simulator_lock(simulator);
    const Options *options = simulator->options;
    Diag *diag = diag_new();
    Text found = {0};
    checks_end(simulator);
    record_sign(simulator->run);
    origin_sign(simulator, program);
    const bool has_files = journal_owns_files(simulator->journal);
    bool is_right = !has_files || record_write(simulator->run, options, diag);
    if (simulator->timed && has_files)
        is_right &= timed_run_finish(simulator->timed, options, diag);
    journal_finish(simulator->journal, has_files);
    if (!options->is_quiet && simulator->run->kernel_count) {
        Text out = {0};
        report_run(simulator->run, options->is_verbose, host_columns(STDERR_FILENO), &out);
        fputs(text_string(&out), stderr);
        text_free(&out);
    }
    TytoStatus status = TYTO_OK;
    if (!is_right) status = fail(simulator, TYTO_BAD_FILE, "%s", diag_text(diag));
    else if (checks_summarise(simulator, &found))
        status = fail(simulator, TYTO_CHECKS_FAILED, "%s", text_string(&found));
    text_free(&found);
    diag_free(diag);
    if (!options->is_quiet) warn_of_unused(simulator);
    simulator_unlock(simulator);
    return status;
}
