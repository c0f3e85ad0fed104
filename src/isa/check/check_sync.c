/* Misuse of barriers and of warp-wide instructions, by the rules of the PTX ISA.
 *
 * bar.warp.sync may appear on both sides of a branch: it is complete when all of its lanes have
 * reached one of them. The mask may name lanes that exited before. It is an error if a lane exits
 * while others wait for it. The other instructions (shfl, vote, match, redux) are executed by the
 * lanes that are present, and every lane that the mask names must be present. */
#include "isa/check/check_internal.h"

#include "base/bits.h"
#include "isa/flow/converge.h"

/* Adds a finding, with one line of text, at a place. */
static void __attribute__((format(printf, 6, 7))) add(const IsaContext *context,
                                                      const IsaWarp *warp, uint32_t pc, int lane,
                                                      const char *what, const char *format, ...) {
    Text text = {0};
    va_list args;
    va_start(args, format);
    text_vprintf(&text, format, args);
    va_end(args);
    const CheckPlace place = {context->launch, warp, pc, lane, 0, ISA_NO_PC};
    check_add(check_of(context), FINDING_SYNC, what, &place, &text, NULL);
}

/* Kinds of errors; they distinguish findings at one instruction. */
enum Wrong {
    WRONG_OWN_LANE,
    WRONG_ABSENT_LANES,
    WRONG_MASKS,
    WRONG_SOURCE,
    WRONG_DIVERGENCE,
    WRONG_COUNTS,
    WRONG_PLACES
};

static bool note(const IsaContext *context, uint32_t pc, enum Wrong wrong) {
    return check_note(check_of(context), FINDING_SYNC, pc, 0, (uint64_t)wrong);
}

/* ---- Lanes of a warp ---- */

static void check_own_lane(const IsaContext *context, const IsaWarp *warp, const uint32_t *members,
                           uint32_t mask) {
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = bits_lowest32(rest);
        if (members[lane] >> lane & 1 || !note(context, warp->pc, WRONG_OWN_LANE)) continue;
        add(context, warp, warp->pc, lane, "lane not in its mask",
            "lane %d is not in its own mask 0x%08x", lane, members[lane]);
    }
}

static void check_same_mask(const IsaContext *context, const IsaWarp *warp, const uint32_t *members,
                            uint32_t mask) {
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = bits_lowest32(rest);
        uint32_t others = members[lane] & mask;
        for (; others; others &= others - 1) {
            int other = bits_lowest32(others);
            if (members[other] == members[lane] || !(members[other] >> lane & 1)) continue;
            if (!note(context, warp->pc, WRONG_MASKS)) return;
            add(context, warp, warp->pc, lane, "different masks",
                "lane %d has mask 0x%08x, and lane %d, which is in it, 0x%08x", lane, members[lane],
                other, members[other]);
            return;
        }
    }
}

static void report_absent(const IsaContext *context, const IsaWarp *warp, uint32_t pc, int lane,
                          uint32_t members, uint32_t arrived) {
    uint32_t absent = members & warp->alive & ~arrived;
    uint32_t *awaited = warp->cta->check->awaited[warp->index];
    for (uint32_t rest = arrived; rest; rest &= rest - 1) {
        absent |= awaited[bits_lowest32(rest)] & ~warp->alive;
        awaited[bits_lowest32(rest)] = 0;
    }
    if (absent && note(context, pc, WRONG_ABSENT_LANES))
        add(context, warp, pc, lane, "lanes do not take part",
            "lanes 0x%08x are in mask 0x%08x and do not take part: only 0x%08x do", absent, members,
            arrived);
}

/* bar.warp.sync by the lanes of `mask`. */
static void meet_or_wait(const IsaContext *context, const IsaWarp *warp, uint32_t members,
                         uint32_t mask) {
    PendingSync *pending = &warp->cta->check->sync[warp->index];
    if (pending->members && (pending->members != members || pending->arrived & mask)) {
        report_absent(context, warp, pending->pc, pending->lane, pending->members,
                      pending->arrived);
        pending->members = 0;
    }
    if (!pending->members) *pending = (PendingSync){members, 0, warp->pc, bits_lowest32(mask)};
    pending->arrived |= mask;
    if (members & warp->alive & ~pending->arrived) return;
    report_absent(context, warp, warp->pc, bits_lowest32(mask), members, pending->arrived);
    pending->members = 0;
}

static void check_sources(const IsaContext *context, const IsaWarp *warp, const uint32_t *members,
                          uint32_t mask, const int32_t *sources) {
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = bits_lowest32(rest), from = sources[lane];
        if (from < 0 || (mask & members[lane]) >> from & 1) continue;
        if (!note(context, warp->pc, WRONG_SOURCE)) return;
        add(context, warp, warp->pc, lane, "shuffle from an inactive lane",
            "lane %d shuffles from lane %d, which %s; it gets 0", lane, from,
            mask >> from & 1 ? "is not in the mask" : "does not execute the instruction");
        return;
    }
}

void sync_members(IsaContext *context, const IsaWarp *warp, const uint32_t *members, uint32_t mask,
                  const int32_t *sources, bool is_barrier) {
    int first = bits_lowest32(mask);
    check_own_lane(context, warp, members, mask);
    check_same_mask(context, warp, members, mask);
    if (sources) check_sources(context, warp, members, mask, sources);
    for (uint32_t rest = mask; rest;) { /* groups of lanes with the same mask */
        uint32_t word = members[bits_lowest32(rest)], group = 0;
        for (uint32_t r = rest; r; r &= r - 1)
            if (members[bits_lowest32(r)] == word) group |= r & (0 - r);
        if (is_barrier) meet_or_wait(context, warp, word, group);
        else report_absent(context, warp, warp->pc, first, word, mask);
        rest &= ~group;
    }
}

void sync_exit(const IsaContext *context, const IsaWarp *warp) {
    (void)context;
    PendingSync *pending = &warp->cta->check->sync[warp->index];
    /* the missing lanes left `alive` when they exited, without having arrived */
    if (pending->members && note(context, pending->pc, WRONG_ABSENT_LANES))
        add(context, warp, pending->pc, pending->lane, "lanes do not take part",
            "lanes 0x%08x are in mask 0x%08x and never take part: only 0x%08x do",
            pending->members & ~pending->arrived, pending->members, pending->arrived);
}

/* ---- Barriers of a CTA ---- */

void sync_divergence(const IsaContext *context, const IsaWarp *warp, uint32_t pc, uint32_t lanes) {
    uint32_t others = warp->alive & ~lanes & ~converge_exiting(warp, context->program);
    if (others && note(context, pc, WRONG_DIVERGENCE))
        add(context, warp, pc, bits_lowest32(lanes), "divergent barrier",
            "divergent barrier: only lanes 0x%08x of the warp's live lanes 0x%08x reach it", lanes,
            warp->alive);
}

void sync_arrival(const IsaContext *context, const IsaWarp *warp, uint32_t number, uint32_t count,
                  uint32_t mask) {
    const IsaCtaCheck *own = warp->cta->check;
    int lane = bits_lowest32(mask);
    if (mask != warp->alive) sync_divergence(context, warp, warp->pc, mask);
    if (own->participants[number] && own->counts[number] != count &&
        note(context, warp->pc, WRONG_COUNTS))
        add(context, warp, warp->pc, lane, "two counts on a barrier",
            "barrier %u for %u threads, at which others wait for %u (0: all of the CTA)", number,
            count, own->counts[number]);
}

/* All threads of the CTA have reached barrier `number`. Was it the same instruction? */
void sync_completion(const IsaContext *context, const IsaCta *cta, uint32_t number) {
    const IsaCtaCheck *own = cta->check;
    uint32_t warps = own->participants[number];
    if (!warps || own->counts[number]) return; /* a count is for producers and consumers */
    uint32_t first = own->pc[bits_lowest32(warps)];
    for (uint32_t rest = warps; rest; rest &= rest - 1) {
        const IsaWarp *warp = &cta->warps[bits_lowest32(rest)];
        uint32_t pc = own->pc[warp->index];
        if (pc == first || !note(context, pc, WRONG_PLACES)) continue;
        Text where = {0};
        isa_say_line(context->program, first, &where);
        add(context, warp, pc, bits_lowest32(warp->alive ? warp->alive : 1),
            "divergence within the CTA",
            "the CTA diverges at barrier %u: warp %u comes to it here, warp %d at %s", number,
            warp->index, bits_lowest32(warps), text_string(&where));
        text_free(&where);
    }
}
