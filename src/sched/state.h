/* Memory of a policy's state. Before and after that of a plug-in are pages that cannot be accessed:
 * a write far from the state ends the process at once. Bytes between the state and these pages are
 * checked for a write nearby. */
#ifndef TYTO_SCHED_STATE_H
#define TYTO_SCHED_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct SchedState {
    unsigned char *bytes; /* the policy's own, aligned to 64, and from the next line on those that
                             it wants beyond them */
    size_t own;           /* of them its own */
    size_t size;          /* of them all, without what fills the last line */
    void *mapping;        /* with a page on each side; NULL: a block of the heap, without guards */
    size_t mapped;        /* bytes of the mapping */
    size_t front;         /* bytes of it between the first page and the state */
} SchedState;

/* Zeroed. */
void sched_state_init(SchedState *state, size_t own_bytes, size_t extra_bytes, bool is_guarded);
void sched_state_free(SchedState *state);
void sched_state_clear(SchedState *state);

/* Where a guarded state's policy has written: "past" or "before" its state; NULL: in it alone. */
const char *sched_state_overrun(const SchedState *state);

/* The same, quickly: writes past the state and up to 256 bytes before it are noticed at once,
 * others by calls in a few dozen different cycles. */
bool sched_state_has_whole_guards(const SchedState *state, uint64_t cycle);
static inline bool sched_state_is_whole(const SchedState *state, uint64_t cycle) {
    return !state->mapping || sched_state_has_whole_guards(state, cycle);
}

#endif
