/* Detects warps that poll for a store of another thread, such as the release of a lock or a flag.
 * Can one of them leave its loop if no thread stores anything?
 *
 * The number of rounds does not answer this: a loop of a million volatile loads looks the same. But
 * a warp repeats itself without end if its state (place, lanes, registers) comes back while the
 * memory that it sees is unchanged. The state is compared with that of an earlier poll. This
 * reference state is replaced whenever the number of polls is a power of two (Brent's cycle
 * search), so the loop may have any length. With independent threads, paths take turns. The state
 * contains only the running path's place, but the registers of all lanes. Whatever a path does
 * without changing registers ends before as many states have come back as are required.
 *
 * A loop that counts its rounds, or reads the clock, never repeats its state. It counts as endless
 * after more rounds than any program makes on purpose. This does not apply to loops that may not
 * poll at all: machine code does not show which loads from shared memory are volatile. */
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
