/* The levels of the x86-64 psABI that instructions are executed on, as far as the compiler was
 * allowed to use them; "base" is what everything is compiled for. The build asks this too, when it
 * is set up for its host alone. */
#ifndef TYTO_ISA_EXEC_LEVELS_H
#define TYTO_ISA_EXEC_LEVELS_H

#include <stdbool.h>
#include <string.h>

/* Whether this host's processor has a level. */
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
