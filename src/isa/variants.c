/* The variants of this build and which of them the host can run. */
#include "isa/handlers.h"

#include <string.h>

extern IsaExec *const isa_exec_table_base[ISA_DO_COUNT];

#if defined __x86_64__ && !defined ISA_BASE_ALONE
#define HAS_LEVELS
extern IsaExec *const isa_exec_table_v3[ISA_DO_COUNT];
extern IsaExec *const isa_exec_table_v4[ISA_DO_COUNT];

/* The levels of the x86-64 psABI, as far as the compiler was allowed to use them. */
static bool has_v3(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}
static bool has_v4(void) {
    return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}
#endif

static bool has_base(void) { return true; }

typedef struct Candidate {
    IsaVariant variant;
    bool (*is_usable)(void);
} Candidate;

static const Candidate candidates[] = {
#ifdef HAS_LEVELS
    {{"v4", isa_exec_table_v4}, has_v4},
    {{"v3", isa_exec_table_v3}, has_v3},
#endif
    {{"base", isa_exec_table_base}, has_base},
};
enum { CANDIDATE_COUNT = sizeof candidates / sizeof candidates[0] };

int isa_variant_count(void) { return CANDIDATE_COUNT; }

const IsaVariant *isa_variant(int index) {
    return candidates[index].is_usable() ? &candidates[index].variant : NULL;
}

const IsaVariant *isa_find_variant(const char *name) {
    for (int i = 0; i < CANDIDATE_COUNT; ++i) {
        const IsaVariant *variant = isa_variant(i);
        if (variant && (!name || strcmp(name, variant->name) == 0)) return variant;
    }
    return NULL;
}
