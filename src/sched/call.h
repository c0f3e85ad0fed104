/* Records which function of a policy is running, so that a policy that crashes or never returns can
 * be named. The simulating thread writes the record; any thread, and a signal handler, may read
 * it. */
#ifndef TYTO_SCHED_CALL_H
#define TYTO_SCHED_CALL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/line.h"
#include "base/thread_pool.h"

/* Every function of a policy that is called while a kernel runs: FUNCTION(name). */
#define SCHED_FUNCTIONS(FUNCTION)                                                                  \
    FUNCTION(start)                                                                                \
    FUNCTION(pick)                                                                                 \
    FUNCTION(may_load)                                                                             \
    FUNCTION(may_issue)                                                                            \
    FUNCTION(issued)                                                                               \
    FUNCTION(event)                                                                                \
    FUNCTION(elapsed)                                                                              \
    FUNCTION(next_change)                                                                          \
    FUNCTION(looks_at)                                                                             \
    FUNCTION(report)                                                                               \
    FUNCTION(limit)                                                                                \
    FUNCTION(choose)                                                                               \
    FUNCTION(dispatched)                                                                           \
    FUNCTION(finished)                                                                             \
    FUNCTION(watched_sm)                                                                           \
    FUNCTION(l1d_load)                                                                             \
    FUNCTION(insert)                                                                               \
    FUNCTION(victim)                                                                               \
    FUNCTION(order)                                                                                \
    FUNCTION(sample_every)                                                                         \
    FUNCTION(sample)

#define SCHED_FUNCTION(name) SCHED_CALL_##name,
typedef enum SchedFunction {
    SCHED_CALL_NONE, /* no function is running */
    SCHED_FUNCTIONS(SCHED_FUNCTION) SCHED_CALLS
} SchedFunction;
#undef SCHED_FUNCTION

/* Record for one state of a policy: of an SM, or of the CTA scheduler. */
typedef struct SchedCall {
    atomic_int function;        /* SchedFunction */
    atomic_uint_fast64_t cycle; /* SM cycle at which it was called */
} SchedCall;

/* A record in an array that different threads write. */
typedef struct SchedCallPlace {
    SchedCall call;
    char apart[THREAD_POOL_LINE - sizeof(SchedCall)];
} SchedCallPlace;

static inline void sched_call_begin(SchedCall *call, SchedFunction function, uint64_t cycle) {
    atomic_store_explicit(&call->cycle, cycle, memory_order_relaxed);
    atomic_store_explicit(&call->function, (int)function, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
}

static inline void sched_call_end(SchedCall *call) {
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&call->function, SCHED_CALL_NONE, memory_order_relaxed);
}

enum { SCHED_CALL_NO_SM = -1 };

/* Writes the running function: kind and name of the policy, cycle, SM (SCHED_CALL_NO_SM: none) and
 * the function. Returns false and writes nothing if no function is running. Async-signal-safe. */
bool sched_call_write(const SchedCall *call, const char *kind, const char *policy, int sm,
                      Line *line);

#endif
