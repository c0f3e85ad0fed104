/* Log buffers of module loading. */
#include "driver/module/jit.h"

#include <stdint.h>
#include <string.h>

CUresult jit_read_options(unsigned count, const CUjit_option *options, void **values,
                          JitLogs *logs) {
    *logs = (JitLogs){0};
    if (count && (!options || !values)) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        switch ((int)options[i]) {
        case CU_JIT_INFO_LOG_BUFFER: logs->info = values[i]; break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            logs->info_bytes = (uint32_t)(uintptr_t)values[i];
            logs->info_filled = &values[i];
            break;
        case CU_JIT_ERROR_LOG_BUFFER: logs->error = values[i]; break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            logs->error_bytes = (uint32_t)(uintptr_t)values[i];
            logs->error_filled = &values[i];
            break;
        default: break;
        }
    }
    return CUDA_SUCCESS;
}

size_t jit_read_places(unsigned count, const CUjit_option *options, void **values, Arena *arena,
                       GpuPlace **places) {
    const char *const *names = NULL;
    void *const *addresses = NULL;
    size_t place_count = 0;
    for (unsigned i = 0; i < count; i++) {
        switch ((int)options[i]) {
        case CU_JIT_GLOBAL_SYMBOL_NAMES: names = values[i]; break;
        case CU_JIT_GLOBAL_SYMBOL_ADDRESSES: addresses = values[i]; break;
        case CU_JIT_GLOBAL_SYMBOL_COUNT: place_count = (uint32_t)(uintptr_t)values[i]; break;
        default: break;
        }
    }
    if (!names || !addresses) place_count = 0;
    *places = ARENA_ARRAY(arena, GpuPlace, place_count + 1);
    for (size_t i = 0; i < place_count; i++)
        (*places)[i] = (GpuPlace){names[i] ? names[i] : "", (uintptr_t)addresses[i]};
    return place_count;
}

static void fill(char *buffer, size_t size, void **filled, const char *text) {
    size_t length = 0;
    if (buffer && size) {
        length = strlen(text) < size ? strlen(text) : size - 1;
        memcpy(buffer, text, length);
        buffer[length] = '\0';
    }
    if (filled) *filled = (void *)(uintptr_t)length;
}

void jit_write_logs(const JitLogs *logs, Diag *diag) {
    const char *text = diag_text(diag);
    bool is_error = diag_error_count(diag) > 0;
    fill(logs->info, logs->info_bytes, logs->info_filled, is_error ? "" : text);
    fill(logs->error, logs->error_bytes, logs->error_filled, is_error ? text : "");
    if (is_error && !(logs->error && logs->error_bytes)) fputs(text, stderr);
}
