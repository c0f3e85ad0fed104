/* The x86-64 psABI levels for which the execution files can be compiled, if the compiler supports
 * them. "base" is the level of all other code. The build uses this file too when it is configured
 * for its own host only. */
#ifndef TYTO_ISA_EXEC_LEVELS_H
#define TYTO_ISA_EXEC_LEVELS_H

#include <stdbool.h>
#include <string.h>

/* Whether this host's processor supports a level. */
static inline bool isa_host_has(const char *level) {
#ifdef __x86_64__
    bool has_v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    if (strcmp(level, "v3") == 0) return has_v3;
    if (strcmp(level, "v4") == 0)
        return has_v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl");
#endif
    return strcmp(level, "base") == 0;
}

#endif
