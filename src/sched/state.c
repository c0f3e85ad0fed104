/* Memory of policies' states (see the header). */
#include "sched/state.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/bits.h"

enum {
    ALIGNMENT = 64,
    NEAR_BYTES = 256, /* bytes before the state that every check covers: an element or two of an
                         array of structures */
    GUARD = 0xa7      /* value of guard bytes; not a small number, address or character */
};

/* Guard bytes from the end of the policy's own bytes, or of all its bytes, to the end of the
 * line. */
typedef struct Gap {
    size_t from, to;
} Gap;

static Gap gap_after(size_t bytes) { return (Gap){bytes, (size_t)bits_align_up(bytes, ALIGNMENT)}; }

/* Maps memory that ends where the state's last line ends, between two inaccessible pages. */
static void map_guarded(SchedState *state) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t whole = gap_after(state->size).to;
    const size_t pages = (size_t)bits_align_up(whole + NEAR_BYTES, page);
    state->mapped = pages + 2 * page;
    char *mapping = mmap(NULL, state->mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED || mprotect(mapping + page, pages, PROT_READ | PROT_WRITE) != 0)
        base_out_of_memory(state->mapped);
    state->mapping = mapping;
    state->front = pages - whole;
    state->bytes = (unsigned char *)mapping + page + state->front;
}

void sched_state_init(SchedState *state, size_t own_bytes, size_t extra_bytes, bool is_guarded) {
    bool is_absurd = extra_bytes > SIZE_MAX / 4; /* more than any host has; the sum must not wrap */
    const size_t extra = is_absurd ? SIZE_MAX / 4 : extra_bytes;
    *state =
        (SchedState){.own = own_bytes, .size = extra ? gap_after(own_bytes).to + extra : own_bytes};
    if (is_guarded) map_guarded(state);
    else state->bytes = base_alloc_lines(state->size + ALIGNMENT);
    sched_state_clear(state);
}

void sched_state_free(SchedState *state) {
    if (state->mapping) munmap(state->mapping, state->mapped);
    else free(state->bytes);
    *state = (SchedState){0};
}

void sched_state_clear(SchedState *state) {
    memset(state->bytes, 0, state->size);
    if (!state->mapping) return;
    const Gap gaps[] = {gap_after(state->own), gap_after(state->size)};
    for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++)
        memset(state->bytes + gaps[i].from, GUARD, gaps[i].to - gaps[i].from);
    memset(state->bytes - state->front, GUARD, state->front);
}

static bool is_guard(const unsigned char *bytes, size_t count) {
    return count == 0 || (*bytes == GUARD && memcmp(bytes, bytes + 1, count - 1) == 0);
}

static bool has_gaps(const SchedState *state) {
    const Gap gaps[] = {gap_after(state->own), gap_after(state->size)};
    for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++)
        if (!is_guard(state->bytes + gaps[i].from, gaps[i].to - gaps[i].from)) return false;
    return true;
}

const char *sched_state_overrun(const SchedState *state) {
    if (!state->mapping) return NULL;
    if (!has_gaps(state)) return "past";
    return is_guard(state->bytes - state->front, state->front) ? NULL : "before";
}

bool sched_state_has_whole_guards(const SchedState *state, uint64_t cycle) {
    const size_t line = ALIGNMENT * (1 + (size_t)(cycle % (state->front / ALIGNMENT)));
    return is_guard(state->bytes - NEAR_BYTES, NEAR_BYTES) && has_gaps(state) &&
           is_guard(state->bytes - line, ALIGNMENT);
}
