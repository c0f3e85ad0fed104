/* Answers to what kernels ask about the device through the device runtime; the same as the host
 * gets. */
#include <string.h>

#include "driver/driver.h"
#include "isa/runtime/device_runtime.h"
#include "tyto/cuda_runtime_api.h"

enum { DEVICE_RUNTIME_VERSION = 6000 }; /* as measured on any host (docs/real-gpu.md) */

static_assert(sizeof(struct cudaFuncAttributes) == DEVICE_FUNCTION_BYTES, "what a kernel is given");

/* Without a context, CUDA's defaults apply. */
static const Context defaults = {.printf_bytes = PRINTF_BYTES,
                                 .stack_bytes = STACK_TOLD_BYTES,
                                 .fetch_bytes = FETCH_BYTES,
                                 .pending = PENDING_LAUNCHES};

static const Context *context_of(const DeviceAsker *asker) {
    return asker->context ? asker->context : &defaults;
}

static uint32_t attribute(void *user, int which, int *value) {
    const DeviceAsker *asker = user;
    return (uint32_t)device_attribute(asker->gpu, (CUdevice_attribute)which, value);
}

static uint32_t limit(void *user, int which, uint64_t *value) {
    const DeviceAsker *asker = user;
    return (uint32_t)context_limit(asker->gpu, context_of(asker), (CUlimit)which, value);
}

static void preferences(void *user, int *cache, int *banks) {
    const Context *context = context_of(user);
    *cache = (int)context->cache;
    *banks = (int)context->bank_size;
}

/* The host's functions set attributes of handles; these settings are not visible here. */
static uint32_t function(void *user, uint32_t index, void *out) {
    const DeviceAsker *asker = user;
    const GpuModule *module = gpu_running_module(asker->gpu);
    const FunctionFacts facts =
        function_facts(asker->gpu, module, &gpu_module_program(module)->functions[index]);
    const struct cudaFuncAttributes attributes = {
        .sharedSizeBytes = facts.shared_bytes,
        .constSizeBytes = facts.constant_bytes,
        .localSizeBytes = facts.local_bytes,
        .maxThreadsPerBlock = (int)facts.max_threads,
        .numRegs = (int)facts.registers,
        .ptxVersion = facts.target,
        .binaryVersion = facts.target,
        .maxDynamicSharedSizeBytes = (int)facts.dynamic_shared_bytes,
        .preferredShmemCarveout = CU_SHAREDMEM_CARVEOUT_DEFAULT};
    memcpy(out, &attributes, sizeof attributes);
    return CUDA_SUCCESS;
}

static uint32_t occupancy(void *user, uint32_t index, uint32_t threads, uint32_t shared_bytes,
                          int *ctas) {
    const DeviceAsker *asker = user;
    *ctas = (int)gpu_occupancy(asker->gpu, gpu_running_module(asker->gpu), (int)index, threads,
                               shared_bytes);
    return CUDA_SUCCESS;
}

static const char *error_text(uint32_t error, bool is_name) {
    static const struct {
        uint32_t code;
        const char *name, *text;
    } rows[] = {
#define ROW(code, text) {code, #code, text},
#include "driver/runtime_error.def"
#undef ROW
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *text = rows[i].text;
        if (rows[i].code != error) continue;
        if (is_name) return rows[i].name;
        if (!text) cuGetErrorString((CUresult)error, &text);
        return text;
    }
    return "unrecognized error code";
}

const DeviceQueries driver_answers = {
    .attribute = attribute,
    .limit = limit,
    .preferences = preferences,
    .function = function,
    .occupancy = occupancy,
    .error_text = error_text,
    .version = DEVICE_RUNTIME_VERSION,
};
