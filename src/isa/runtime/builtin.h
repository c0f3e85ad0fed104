/* A lane's call of a function that the device itself provides. */
#ifndef TYTO_ISA_RUNTIME_BUILTIN_H
#define TYTO_ISA_RUNTIME_BUILTIN_H

#include "isa/launch.h"

typedef struct BuiltinCall {
    IsaContext *context;
    IsaWarp *warp;
    const IsaCall *list;
    int lane;
} BuiltinCall;

/* The argument of at most 8 bytes, zero-extended; or the first `size` bytes of a structure. */
uint64_t builtin_argument(const BuiltinCall *call, uint32_t i);
void builtin_structure(const BuiltinCall *call, uint32_t i, void *bytes, uint32_t size);
/* Sets the first return value if the caller uses it. */
void builtin_set_result(const BuiltinCall *call, uint64_t result);

/* Allocates a block of the device heap; 0 if there is no room. / Frees the block that the first
 * argument names. */
uint64_t builtin_allocate(const BuiltinCall *call, uint64_t size);
void builtin_free(const BuiltinCall *call);

/* ---- The device runtime (device_runtime.c) ---- */

/* cudaError_t: errors that the device runtime returns itself */
enum {
    CUDA_SUCCEEDED = 0,
    CUDA_INVALID_VALUE = 1,
    CUDA_OUT_OF_MEMORY = 2,
    CUDA_INVALID_CONFIGURATION = 9,
    CUDA_INVALID_PITCH = 12,
    CUDA_TOO_DEEP = 65,
    CUDA_INVALID_FUNCTION = 98,
    CUDA_INVALID_DEVICE = 101
};

void device_runtime_call(const BuiltinCall *call, PtxBuiltin which);
/* Queries about the device (device_queries.c). */
void device_runtime_answer(const BuiltinCall *call, PtxBuiltin which);

/* Ends a call and returns that error. */
void device_runtime_finish(const BuiltinCall *call, uint32_t error);
/* Writes the value to the address in the first argument, and ends the call. */
void device_runtime_give(const BuiltinCall *call, const void *value, uint32_t size);
/* Finds the kernel of a handle, as its index in the program. Returns false if the handle is not a
 * kernel's. */
bool device_runtime_find(const BuiltinCall *call, uint64_t handle, uint32_t *function);

#endif
