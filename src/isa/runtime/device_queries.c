/* Queries of kernels to the device runtime about the device: attributes, limits, kernels, the texts
 * of errors. The answers are the same as on the host; the code that runs the device provides them
 * (DeviceQueries). Source: CUDA C++ Programming Guide, "CUDA Dynamic Parallelism", API
 * reference. */
#include "isa/runtime/builtin.h"
#include "isa/runtime/device_runtime.h"

static const DeviceRuntime *runtime_of(const BuiltinCall *call) {
    return call->context->launch->runtime;
}

/* cudaError_t (int *value, cudaDeviceAttr, int device) */
static void get_attribute(const BuiltinCall *call, const DeviceQueries *answers) {
    int value = 0;
    uint32_t error = CUDA_INVALID_DEVICE;
    if (builtin_argument(call, 2) == 0)
        error = answers->attribute(runtime_of(call)->asker, (int)builtin_argument(call, 1), &value);
    if (error) device_runtime_finish(call, error);
    else device_runtime_give(call, &value, sizeof value);
}

/* cudaError_t (size_t *value, cudaLimit) */
static void get_limit(const BuiltinCall *call, const DeviceQueries *answers) {
    uint64_t value = 0;
    uint32_t error =
        answers->limit(runtime_of(call)->asker, (int)builtin_argument(call, 1), &value);
    if (error) device_runtime_finish(call, error);
    else device_runtime_give(call, &value, sizeof value);
}

/* cudaError_t (cudaFuncCache *) */
static void get_cache_config(const BuiltinCall *call, const DeviceQueries *answers) {
    int cache, banks;
    answers->preferences(runtime_of(call)->asker, &cache, &banks);
    device_runtime_give(call, &cache, sizeof cache);
}

/* cudaError_t (cudaSharedMemConfig *) */
static void get_shared_mem_config(const BuiltinCall *call, const DeviceQueries *answers) {
    int cache, banks;
    answers->preferences(runtime_of(call)->asker, &cache, &banks);
    device_runtime_give(call, &banks, sizeof banks);
}

/* cudaError_t (int *version) */
static void get_version(const BuiltinCall *call, const DeviceQueries *answers) {
    device_runtime_give(call, &answers->version, sizeof answers->version);
}

/* cudaError_t (cudaFuncAttributes *, const void *kernel) */
static void get_function(const BuiltinCall *call, const DeviceQueries *answers) {
    _Alignas(8) uint8_t attributes[DEVICE_FUNCTION_BYTES];
    uint32_t function, error = CUDA_INVALID_FUNCTION;
    if (device_runtime_find(call, builtin_argument(call, 1), &function))
        error = answers->function(runtime_of(call)->asker, function, attributes);
    if (error) device_runtime_finish(call, error);
    else device_runtime_give(call, attributes, sizeof attributes);
}

/* cudaError_t (int *ctas, const void *kernel, int threads, size_t shared_bytes[, flags]). A flag
 * would turn off a cache, which makes no difference here. */
static void get_occupancy(const BuiltinCall *call, const DeviceQueries *answers) {
    uint32_t function, error = CUDA_INVALID_VALUE;
    uint32_t threads = (uint32_t)builtin_argument(call, 2);
    uint64_t shared = builtin_argument(call, 3);
    int ctas = 0;
    if (!device_runtime_find(call, builtin_argument(call, 1), &function))
        error = CUDA_INVALID_FUNCTION;
    else if (threads - 1 < INT32_MAX && shared <= UINT32_MAX)
        error =
            answers->occupancy(runtime_of(call)->asker, function, threads, (uint32_t)shared, &ctas);
    if (error) device_runtime_finish(call, error);
    else device_runtime_give(call, &ctas, sizeof ctas);
}

/* const char *(cudaError_t): returns NULL if device memory has no room for the text. */
static void give_text(const BuiltinCall *call, const DeviceQueries *answers, bool is_name) {
    const DeviceRuntime *runtime = runtime_of(call);
    const char *text = answers->error_text((uint32_t)builtin_argument(call, 0), is_name);
    builtin_set_result(call, runtime->keep_text(runtime->user, text));
}

static void get_error_name(const BuiltinCall *call, const DeviceQueries *answers) {
    give_text(call, answers, true);
}

static void get_error_string(const BuiltinCall *call, const DeviceQueries *answers) {
    give_text(call, answers, false);
}

void device_runtime_answer(const BuiltinCall *call, PtxBuiltin which) {
    static void (*const questions[PTX_BUILTIN_COUNT])(const BuiltinCall *,
                                                      const DeviceQueries *) = {
        [PTX_BUILTIN_GET_ERROR_NAME] = get_error_name,
        [PTX_BUILTIN_GET_ERROR_STRING] = get_error_string,
        [PTX_BUILTIN_RUNTIME_GET_VERSION] = get_version,
        [PTX_BUILTIN_GET_ATTRIBUTE] = get_attribute,
        [PTX_BUILTIN_GET_LIMIT] = get_limit,
        [PTX_BUILTIN_GET_CACHE_CONFIG] = get_cache_config,
        [PTX_BUILTIN_GET_SHARED_MEM_CONFIG] = get_shared_mem_config,
        [PTX_BUILTIN_FUNC_GET_ATTRIBUTES] = get_function,
        [PTX_BUILTIN_OCCUPANCY] = get_occupancy,
        [PTX_BUILTIN_OCCUPANCY_WITH_FLAGS] = get_occupancy,
    };
    const DeviceQueries *answers = runtime_of(call)->answers;
    if (answers) questions[which](call, answers);
    else
        isa_fault(call->context, call->warp, call->lane, ISA_FAULT_CALL,
                  "a question about the device, which has no answer in this launch");
}
