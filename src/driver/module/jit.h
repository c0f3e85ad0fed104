/* Options of module loading: the log buffers that the program wants filled, and variables that lie
 * in its own memory. All other options steer a compiler that Tyto does not have; they are accepted
 * without effect. */
#ifndef TYTO_DRIVER_MODULE_JIT_H
#define TYTO_DRIVER_MODULE_JIT_H

#include "base/arena.h"
#include "base/diag.h"
#include "engine/launch/gpu.h"
#include "tyto/cuda.h"

typedef struct JitLogs {
    char *info;         /* caller's buffer, NULL: none */
    size_t info_bytes;  /* its size */
    void **info_filled; /* where the bytes written are stored, NULL: nowhere */
    char *error;        /* likewise */
    size_t error_bytes;
    void **error_filled;
} JitLogs;

/* Picks the log buffers out of an option list. CUDA_ERROR_INVALID_VALUE when a list is missing. */
CUresult jit_read_options(unsigned count, const CUjit_option *options, void **values,
                          JitLogs *logs);
/* The variables that shall lie in memory of the program's (CU_JIT_GLOBAL_SYMBOL_...), in `arena`;
 * their number. */
size_t jit_read_places(unsigned count, const CUjit_option *options, void **values, Arena *arena,
                       GpuPlace **places);
/* Hands the messages over: into the error buffer, or to stderr when there is none. */
void jit_write_logs(const JitLogs *logs, Diag *diag);

#endif
