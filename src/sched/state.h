/* Memory of a policy's state. A plug-in's state has inaccessible pages before and after it: a write
 * far outside the state ends the process at once. Bytes between the state and these pages are
 * checked for writes nearby. */
#ifndef TYTO_SCHED_STATE_H
#define TYTO_SCHED_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct SchedState {
    unsigned char *bytes; /* the policy's own bytes, aligned to 64; from the next line on its extra
                             bytes */
    size_t own;           /* number of own bytes */
    size_t size;          /* number of all bytes, without the rest of the last line */
    void *mapping;        /* includes a page on each side; NULL: a heap block without guards */
    size_t mapped;        /* bytes of the mapping */
    size_t front;         /* bytes of the mapping between the first page and the state */
} SchedState;

/* Allocates a zeroed state. */
void sched_state_init(SchedState *state, size_t own_bytes, size_t extra_bytes, bool is_guarded);
void sched_state_free(SchedState *state);
void sched_state_clear(SchedState *state);

/* Where the policy has written outside of a guarded state: "past" or "before" it; NULL: nowhere. */
const char *sched_state_overrun(const SchedState *state);

/* The same check, but fast. Writes past the state and up to 256 bytes before it are detected at
 * once, others only by calls in a few dozen different cycles. */
bool sched_state_has_whole_guards(const SchedState *state, uint64_t cycle);
static inline bool sched_state_is_whole(const SchedState *state, uint64_t cycle) {
    return !state->mapping || sched_state_has_whole_guards(state, cycle);
}

#endif
