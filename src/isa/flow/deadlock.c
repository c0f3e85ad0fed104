/* Warps that poll for a store of another thread, such as a taken lock or a flag that is not set.
 * Can one of them leave its loop if no thread stores anything?
 *
 * Many rounds of a loop prove nothing: a loop of a million volatile loads looks the same. But a
 * warp whose state (its place, its lanes, its registers) comes back, with the memory that it sees
 * unchanged, does the same again and again. The states are compared with that of an earlier look.
 * This reference state is taken again at each power of two (Brent's search for a cycle), so that
 * the loop may be of any number of looks. Independent threads have paths that take turns: only the
 * running path's place is in the state, but all lanes' registers are. What a path does without a
 * change of registers ends before its turns are as many as the states that must come back.
 *
 * A loop that counts its rounds, or reads the clock, never comes back. It is given up after more
 * rounds than any program makes on purpose, unless it may not be such a loop: machine code does not
 * say which loads from shared memory are volatile. */
#include "isa/launch.h"

#include "base/hash.h"

enum { RETURNS = 256, EVER = 1 << 24 };

void isa_reset_polls(IsaWarp *warp) { warp->polls = warp->returns = 0; }

static uint64_t state_of(const IsaWarp *warp) {
    const uint32_t place[] = {warp->pc,    warp->active,      warp->alive,
                              warp->depth, warp->frame_count, warp->carry};
    return hash_add_large(hash_add_large(HASH_START, place, sizeof place), warp->registers,
                          warp->register_bytes);
}

static void compare(IsaWarp *warp) {
    if (warp->returns >= RETURNS) return;
    const uint64_t state = state_of(warp);
    if (warp->polls & (warp->polls - 1)) {
        warp->returns += state == warp->poll_state;
    } else {
        warp->poll_state = state;
        warp->returns = 0;
    }
}

void isa_note_poll(const IsaContext *context, IsaWarp *warp, bool is_certain) {
    warp->may_poll = !is_certain;
    if (warp->polls_since != context->changes) isa_reset_polls(warp);
    warp->polls_since = context->changes;
    if (warp->polls < UINT32_MAX) warp->polls++;
    if (__builtin_expect(context->proves_polls, false)) compare(warp);
}

bool isa_only_polls(const IsaContext *context, const IsaWarp *warp, uint32_t rounds) {
    if (warp->cta->waiting >> warp->index & 1) return true;
    if (warp->polls_since != context->changes || warp->polls < rounds) return false;
    return !warp->may_poll || !context->proves_polls || warp->returns >= RETURNS;
}

bool isa_polls_forever(const IsaContext *context, const IsaWarp *warp, uint32_t rounds) {
    if (!isa_only_polls(context, warp, rounds)) return false;
    const bool is_at_barrier = warp->cta->waiting >> warp->index & 1;
    return is_at_barrier || warp->returns >= RETURNS || warp->polls >= EVER;
}
