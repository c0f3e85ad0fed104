/* Writes which function of a policy is running (see the header). */
#include "sched/call.h"

static const char *name_of(int function) {
#define NAME(name) [SCHED_CALL_##name] = #name,
    static const char *const names[SCHED_CALLS] = {SCHED_FUNCTIONS(NAME)};
#undef NAME
    return names[function];
}

bool sched_call_write(const SchedCall *call, const char *kind, const char *policy, int sm,
                      Line *line) {
    int function = atomic_load_explicit(&call->function, memory_order_relaxed);
    if (function == SCHED_CALL_NONE) return false;
    line_add(line, kind);
    line_add(line, " ");
    line_add(line, policy);
    line_add(line, ": cycle ");
    line_add_number(line, atomic_load_explicit(&call->cycle, memory_order_relaxed));
    if (sm != SCHED_CALL_NO_SM) {
        line_add(line, ", SM ");
        line_add_number(line, (uint64_t)sm);
    }
    line_add(line, ": ");
    line_add(line, name_of(function));
    return true;
}
