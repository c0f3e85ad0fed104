/* A lane's call of a function that the device itself provides. */
#ifndef TYTO_ISA_BUILTIN_H
#define TYTO_ISA_BUILTIN_H

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
/* Sets the first return value, if the caller wants one. */
void builtin_set_result(const BuiltinCall *call, uint64_t result);

/* A block of the device heap, 0 when there is no room; and free(). */
uint64_t builtin_allocate(const BuiltinCall *call, uint64_t size);
void builtin_free(const BuiltinCall *call);

/* ---- The device runtime (device_runtime.c) ---- */

void device_runtime_call(const BuiltinCall *call, PtxBuiltin which);

#endif
