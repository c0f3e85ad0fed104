/* Memory of a policy's state. After that of a plug-in is a page that cannot be accessed: a write
 * far past the state ends the process at once. Bytes between the two are checked for a write
 * nearby. */
#ifndef TYTO_SCHED_STATE_H
#define TYTO_SCHED_STATE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct SchedState {
    unsigned char *bytes; /* the policy's own, aligned to 64, and from the next line on those that
                             it wants beyond them */
    size_t own;           /* of them its own */
    size_t size;          /* of them all, without what fills the last line */
    void *mapping;        /* with a page on each side; NULL: a block of the heap, without guards */
    size_t mapped;        /* bytes of the mapping */
} SchedState;

/* Zeroed. */
void sched_state_init(SchedState *state, size_t own_bytes, size_t extra_bytes, bool is_guarded);
void sched_state_free(SchedState *state);
void sched_state_clear(SchedState *state);

/* False: a guarded state's policy has written right behind it. */
bool sched_state_has_whole_guards(const SchedState *state);
static inline bool sched_state_is_whole(const SchedState *state) {
    return !state->mapping || sched_state_has_whole_guards(state);
}

#endif
