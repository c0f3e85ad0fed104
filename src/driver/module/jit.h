/* Options of module loading: log buffers that the program wants filled, and variables in the
 * program's own memory. All other options control a compiler that Tyto does not have; they are
 * accepted without effect. */
#ifndef TYTO_DRIVER_MODULE_JIT_H
#define TYTO_DRIVER_MODULE_JIT_H

#include "base/arena.h"
#include "base/diag.h"
#include "engine/launch/gpu.h"
#include "tyto/cuda.h"

typedef struct JitLogs {
    char *info;         /* buffer of the caller; NULL: none */
    size_t info_bytes;  /* its size */
    void **info_filled; /* where to store the number of bytes written; NULL: nowhere */
    char *error;        /* likewise */
    size_t error_bytes;
    void **error_filled;
} JitLogs;

/* Reads the log buffers from an option list. Returns CUDA_ERROR_INVALID_VALUE if a list is
 * missing. */
CUresult jit_read_options(unsigned count, const CUjit_option *options, void **values,
                          JitLogs *logs);
/* Reads the variables that must be in the program's memory (CU_JIT_GLOBAL_SYMBOL_...), allocated in
 * `arena`. Returns their number. */
size_t jit_read_places(unsigned count, const CUjit_option *options, void **values, Arena *arena,
                       GpuPlace **places);
/* Writes the messages to the error buffer, or to stderr if there is none. */
void jit_write_logs(const JitLogs *logs, Diag *diag);

#endif
