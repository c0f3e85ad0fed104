/* Names and meanings of error codes. */
#include "driver/driver.h"

#include <stdlib.h>

typedef struct ErrorRow {
    CUresult code;
    const char *name;
    const char *text;
} ErrorRow;

#define ROW(code, text) {code, #code, text}

static const ErrorRow rows[] = {
    /* in rising code */
    ROW(CUDA_SUCCESS, "no error"),
    ROW(CUDA_ERROR_INVALID_VALUE, "an argument is not valid"),
    ROW(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
    ROW(CUDA_ERROR_NOT_INITIALIZED, "cuInit has not been called"),
    ROW(CUDA_ERROR_DEINITIALIZED, "the driver is shutting down"),
    ROW(CUDA_ERROR_PROFILER_DISABLED, "profiler disabled"),
    ROW(CUDA_ERROR_PROFILER_NOT_INITIALIZED, "profiler not initialized"),
    ROW(CUDA_ERROR_PROFILER_ALREADY_STARTED, "profiler already started"),
    ROW(CUDA_ERROR_PROFILER_ALREADY_STOPPED, "profiler already stopped"),
    ROW(CUDA_ERROR_STUB_LIBRARY, "stub library"),
    ROW(CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, "call requires newer driver"),
    ROW(CUDA_ERROR_DEVICE_UNAVAILABLE, "device unavailable"),
    ROW(CUDA_ERROR_NO_DEVICE, "no device"),
    ROW(CUDA_ERROR_INVALID_DEVICE, "no such device"),
    ROW(CUDA_ERROR_DEVICE_NOT_LICENSED, "device not licensed"),
    ROW(CUDA_ERROR_INVALID_IMAGE, "the module image is not one the device can load"),
    ROW(CUDA_ERROR_INVALID_CONTEXT, "no valid context is current"),
    ROW(CUDA_ERROR_CONTEXT_ALREADY_CURRENT, "context already current"),
    ROW(CUDA_ERROR_MAP_FAILED, "map failed"),
    ROW(CUDA_ERROR_UNMAP_FAILED, "unmap failed"),
    ROW(CUDA_ERROR_ARRAY_IS_MAPPED, "array is mapped"),
    ROW(CUDA_ERROR_ALREADY_MAPPED, "already mapped"),
    ROW(CUDA_ERROR_NO_BINARY_FOR_GPU, "the image has no code for this device"),
    ROW(CUDA_ERROR_ALREADY_ACQUIRED, "already acquired"),
    ROW(CUDA_ERROR_NOT_MAPPED, "not mapped"),
    ROW(CUDA_ERROR_NOT_MAPPED_AS_ARRAY, "not mapped as array"),
    ROW(CUDA_ERROR_NOT_MAPPED_AS_POINTER, "not mapped as pointer"),
    ROW(CUDA_ERROR_ECC_UNCORRECTABLE, "ecc uncorrectable"),
    ROW(CUDA_ERROR_UNSUPPORTED_LIMIT, "no such limit on this device"),
    ROW(CUDA_ERROR_CONTEXT_ALREADY_IN_USE, "context already in use"),
    ROW(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, "no peer access between these devices"),
    ROW(CUDA_ERROR_INVALID_PTX, "the PTX text has mistakes"),
    ROW(CUDA_ERROR_INVALID_GRAPHICS_CONTEXT, "invalid graphics context"),
    ROW(CUDA_ERROR_NVLINK_UNCORRECTABLE, "nvlink uncorrectable"),
    ROW(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, "jit compiler not found"),
    ROW(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "the PTX version is not supported"),
    ROW(CUDA_ERROR_JIT_COMPILATION_DISABLED, "jit compilation disabled"),
    ROW(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY, "unsupported exec affinity"),
    ROW(CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC, "unsupported devside sync"),
    ROW(CUDA_ERROR_CONTAINED, "contained"),
    ROW(CUDA_ERROR_INVALID_SOURCE, "the source is not valid"),
    ROW(CUDA_ERROR_FILE_NOT_FOUND, "file not found"),
    ROW(CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, "shared object symbol not found"),
    ROW(CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, "shared object init failed"),
    ROW(CUDA_ERROR_OPERATING_SYSTEM, "an operating system call failed"),
    ROW(CUDA_ERROR_INVALID_HANDLE, "a handle is not valid"),
    ROW(CUDA_ERROR_ILLEGAL_STATE, "illegal state"),
    ROW(CUDA_ERROR_LOSSY_QUERY, "lossy query"),
    ROW(CUDA_ERROR_NOT_FOUND, "no symbol of that name"),
    ROW(CUDA_ERROR_NOT_READY, "not finished yet"),
    ROW(CUDA_ERROR_ILLEGAL_ADDRESS, "a kernel accessed memory that it may not"),
    ROW(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "the launch asks for more than an SM has"),
    ROW(CUDA_ERROR_LAUNCH_TIMEOUT, "the kernel ran too long"),
    ROW(CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING, "launch incompatible texturing"),
    ROW(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "peer access already enabled"),
    ROW(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "peer access is not enabled"),
    ROW(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, "primary context active"),
    ROW(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the current context has been destroyed"),
    ROW(CUDA_ERROR_ASSERT, "a device-side assertion failed"),
    ROW(CUDA_ERROR_TOO_MANY_PEERS, "too many peers"),
    ROW(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "the host memory is already registered"),
    ROW(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "the host memory is not registered"),
    ROW(CUDA_ERROR_HARDWARE_STACK_ERROR, "a kernel ran out of stack"),
    ROW(CUDA_ERROR_ILLEGAL_INSTRUCTION, "a kernel reached an instruction that is not allowed"),
    ROW(CUDA_ERROR_MISALIGNED_ADDRESS, "a kernel accessed a misaligned address"),
    ROW(CUDA_ERROR_INVALID_ADDRESS_SPACE, "a kernel accessed the wrong address space"),
    ROW(CUDA_ERROR_INVALID_PC, "a kernel jumped to what is no function"),
    ROW(CUDA_ERROR_LAUNCH_FAILED, "the kernel failed"),
    ROW(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
        "the grid of a cooperative launch does not fit on the device"),
    ROW(CUDA_ERROR_TENSOR_MEMORY_LEAK, "tensor memory leak"),
    ROW(CUDA_ERROR_NOT_PERMITTED, "not permitted"),
    ROW(CUDA_ERROR_NOT_SUPPORTED, "not supported"),
    ROW(CUDA_ERROR_SYSTEM_NOT_READY, "system not ready"),
    ROW(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "system driver mismatch"),
    ROW(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, "compat not supported on device"),
    ROW(CUDA_ERROR_MPS_CONNECTION_FAILED, "mps connection failed"),
    ROW(CUDA_ERROR_MPS_RPC_FAILURE, "mps rpc failure"),
    ROW(CUDA_ERROR_MPS_SERVER_NOT_READY, "mps server not ready"),
    ROW(CUDA_ERROR_MPS_MAX_CLIENTS_REACHED, "mps max clients reached"),
    ROW(CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED, "mps max connections reached"),
    ROW(CUDA_ERROR_MPS_CLIENT_TERMINATED, "mps client terminated"),
    ROW(CUDA_ERROR_CDP_NOT_SUPPORTED, "cdp not supported"),
    ROW(CUDA_ERROR_CDP_VERSION_MISMATCH, "cdp version mismatch"),
    ROW(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "stream capture unsupported"),
    ROW(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "stream capture invalidated"),
    ROW(CUDA_ERROR_STREAM_CAPTURE_MERGE, "stream capture merge"),
    ROW(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "stream capture unmatched"),
    ROW(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "stream capture unjoined"),
    ROW(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, "stream capture isolation"),
    ROW(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "stream capture implicit"),
    ROW(CUDA_ERROR_CAPTURED_EVENT, "captured event"),
    ROW(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, "stream capture wrong thread"),
    ROW(CUDA_ERROR_TIMEOUT, "timeout"),
    ROW(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, "graph exec update failure"),
    ROW(CUDA_ERROR_EXTERNAL_DEVICE, "external device"),
    ROW(CUDA_ERROR_INVALID_CLUSTER_SIZE, "invalid cluster size"),
    ROW(CUDA_ERROR_FUNCTION_NOT_LOADED, "function not loaded"),
    ROW(CUDA_ERROR_INVALID_RESOURCE_TYPE, "invalid resource type"),
    ROW(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, "invalid resource configuration"),
    ROW(CUDA_ERROR_KEY_ROTATION, "key rotation"),
    ROW(CUDA_ERROR_UNKNOWN, "unknown error"),
};

static int compare_codes(const void *key, const void *row) {
    CUresult a = *(const CUresult *)key, b = ((const ErrorRow *)row)->code;
    return (a > b) - (a < b);
}

static const ErrorRow *find(CUresult error) {
    return bsearch(&error, rows, sizeof rows / sizeof rows[0], sizeof rows[0], compare_codes);
}

CUresult CUDAAPI cuGetErrorName(CUresult error, const char **name) {
    const ErrorRow *row = find(error);
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    *name = row ? row->name : NULL;
    return row ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult CUDAAPI cuGetErrorString(CUresult error, const char **text) {
    const ErrorRow *row = find(error);
    if (!text) return CUDA_ERROR_INVALID_VALUE;
    *text = row ? row->text : NULL;
    return row ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
