/* Races: two accesses of two threads to a byte, at least one of them a write, that nothing orders.
 *
 * These order accesses:
 * - A barrier of the CTA: every warp that waits is ordered after the accesses of all warps that
 *   arrived, and after everything these were ordered after.
 * - An instruction for several lanes of a warp (bar.warp.sync, shfl.sync, vote.sync ...), for the
 *   lanes that take part. Before sm_70 the lanes of a warp run in lockstep, so all instructions of
 *   a warp are ordered; two lanes of one store still race.
 * - A release by the first warp after its access, followed by an acquire by the second warp before
 *   its own access. Fences and atomics do both. Strong loads (volatile, relaxed, acquire) acquire;
 *   strong stores other than volatile ones release. A release includes what a barrier has ordered
 *   before the warp. The check does not test whether the two used the same address, so any such
 *   pair counts. It may miss races, but it reports no false ones.
 * - wgmma.wait_group, for the reads of wgmma by the four warps of its warpgroup.
 *
 * Two strong accesses (volatile, atomic, reductions of bulk copies ...) never race. Two writes of
 * the same value never race either, because programs set flags that way.
 *
 * Bulk copies and wgmma belong to the asynchronous proxy. They may read what ordinary instructions
 * wrote before the last fence.proxy.async of any warp of the CTA. What wgmma reads may be
 * overwritten after its warpgroup has waited for it (PTX ISA, "Async proxy"). Other effects of bulk
 * copies are not checked.
 *
 * The time stamps are Lamport's clocks (CACM 21(7), 1978), kept per warp and, where lanes run
 * independently, per lane. Each word remembers its last writers and two readers, similar to
 * FastTrack (Flanagan and Freund, PLDI 2009), which keeps one or all. */
#include "isa/check/check_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bits.h"
#include "isa/exec/wgmma.h"

enum { FREE_LANES_TARGET = 70 }; /* from 7.0 on, lanes are scheduled independently */

/* ---- ShadowAccess.where ---- */

enum { STRONG_BIT = 1, PRODUCT_BIT = 2 /* of wgmma */, LANE_SHIFT = 2, PC_SHIFT = 7 };

static uint32_t where_of(uint32_t pc, int lane, uint32_t bits) {
    return pc << PC_SHIFT | (uint32_t)lane << LANE_SHIFT | bits;
}
static uint32_t pc_of(const ShadowAccess *access) { return access->where >> PC_SHIFT; }
static int lane_of(const ShadowAccess *access) {
    return (int)(access->where >> LANE_SHIFT) & (ISA_LANES - 1);
}

/* ---- The launch and its CTAs ---- */

void race_start(IsaCheck *check, const IsaLaunch *launch) {
    check->now = 0;
    check->warps = launch->ctas * launch->warps;
    check->releases = base_calloc(check->warps, sizeof *check->releases);
    check->has_lane_clocks = launch->program->module->target >= FREE_LANES_TARGET;
    shadow_forget(check->global);
}

void race_cta(IsaCta *cta) {
    IsaCtaCheck *own = cta->check;
    CtaClocks *clocks = &own->clocks;
    if (!own->shared) own->shared = shadow_new();
    shadow_forget(own->shared);
    memset(clocks->known, 0, sizeof clocks->known);
    memset(clocks->acquired, 0, sizeof clocks->acquired);
    memset(clocks->committed, 0, sizeof clocks->committed);
    memset(clocks->products_over, 0, sizeof clocks->products_over);
    clocks->proxy_fence = 0;
    uint32_t warps = cta->launch->check->has_lane_clocks ? cta->launch->warps : 0;
    if (clocks->lanes_capacity < warps) {
        free(clocks->lanes);
        clocks->lanes = base_malloc(warps * sizeof *clocks->lanes);
        clocks->lanes_capacity = warps;
    }
    if (warps) memset(clocks->lanes, 0, warps * sizeof *clocks->lanes);
}

/* ---- Order ---- */

/* The time at which an access of a warp at `time` was released to the device, or to the warp's CTA;
 * UINT64_MAX: not yet. */
static uint64_t released_at(const IsaCheck *check, uint32_t warp, uint64_t time, bool is_same_cta) {
    const Releases *releases = check->releases[warp];
    if (!releases) return UINT64_MAX;
    if (time < releases->forgotten) return 0;
    uint32_t kept = releases->count < RELEASES ? releases->count : RELEASES;
    for (uint32_t age = kept; age > 0; age--) {
        const Release *release = &releases->ring[(releases->count - age) % RELEASES];
        if (time < release->up_to && (is_same_cta || !release->is_cta_wide)) return release->time;
    }
    return UINT64_MAX;
}

/* Whether the access belongs to a wgmma that the program still has to wait for. */
static bool products_are_under_way(const IsaCta *cta, const ShadowAccess *access) {
    const uint32_t warp = access->warp % cta->launch->warps;
    return access->where & PRODUCT_BIT && access->time >= cta->check->clocks.products_over[warp];
}

/* Whether an access is ordered before what the lane does now. */
static bool is_before(const IsaCheck *check, const ShadowAccess *access, const IsaWarp *warp,
                      int lane) {
    const IsaLaunch *launch = warp->cta->launch;
    const CtaClocks *clocks = &warp->cta->check->clocks;
    bool is_same_cta = access->warp / launch->warps == warp->cta->index;
    uint32_t other = access->warp % launch->warps;
    if (products_are_under_way(warp->cta, access)) return false;
    const bool is_own_group = other / ISA_WGMMA_WARPS == warp->index / ISA_WGMMA_WARPS;
    if (access->where & PRODUCT_BIT && is_own_group) return true; /* the wait covers all four */
    if (is_same_cta && other == warp->index) {
        if (lane_of(access) == lane || !check->has_lane_clocks) return true;
        if (access->time < clocks->lanes[warp->index][lane][lane_of(access)]) return true;
    } else if (is_same_cta && access->time < clocks->known[warp->index][other]) {
        return true;
    }
    return released_at(check, access->warp, access->time, is_same_cta) <=
           clocks->acquired[warp->index];
}

static void add_release(IsaCheck *check, uint64_t warp, Release release) {
    Releases *releases = check->releases[warp];
    if (!releases) releases = check->releases[warp] = base_calloc(1, sizeof *releases);
    Release *place = &releases->ring[releases->count % RELEASES];
    if (releases->count >= RELEASES) releases->forgotten = place->up_to;
    *place = release;
    releases->count++;
}

static bool is_newer(const Releases *releases, Release release) {
    if (!releases) return true;
    const Release *last = &releases->ring[(releases->count - 1) % RELEASES];
    return release.up_to > last->up_to || (last->is_cta_wide && !release.is_cta_wide);
}

/* The warp releases its own accesses and those of its CTA that it is ordered after. */
static void release_all(IsaCheck *check, const IsaWarp *warp, bool is_cta_wide) {
    const IsaCta *cta = warp->cta;
    uint64_t first = cta->index * cta->launch->warps, time = ++check->now;
    for (uint32_t i = 0; i < cta->launch->warps; i++) {
        uint64_t up_to = i == warp->index ? time : cta->check->clocks.known[warp->index][i];
        Release release = {up_to, time, is_cta_wide};
        if (up_to && is_newer(check->releases[first + i], release))
            add_release(check, first + i, release);
    }
}

void race_acquire(IsaCheck *check, const IsaWarp *warp) {
    warp->cta->check->clocks.acquired[warp->index] = ++check->now;
}

void race_fence(IsaContext *context, const IsaWarp *warp, bool is_cta_wide) {
    release_all(check_of(context), warp, is_cta_wide);
    race_acquire(check_of(context), warp);
}

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

void race_proxy_fence(IsaCheck *check, const IsaWarp *warp) {
    warp->cta->check->clocks.proxy_fence = ++check->now;
}

void race_products_committed(IsaCheck *check, const IsaWarp *warp) {
    uint64_t *committed = warp->cta->check->clocks.committed[warp->index];
    committed[warp->groups % CHECK_GROUPS] = ++check->now;
}

void race_products_over(const IsaWarp *warp) {
    CtaClocks *clocks = &warp->cta->check->clocks;
    const uint32_t first = warp->index / ISA_WGMMA_WARPS * ISA_WGMMA_WARPS;
    if (!warp->awaited_groups) return;
    for (uint32_t i = first; i < first + ISA_WGMMA_WARPS && i < warp->cta->launch->warps; i++) {
        const uint64_t when = clocks->committed[i][(warp->awaited_groups - 1) % CHECK_GROUPS];
        clocks->products_over[i] = later(clocks->products_over[i], when);
    }
}

void race_lanes_meet(IsaContext *context, const IsaWarp *warp, uint32_t lanes) {
    IsaCheck *check = check_of(context);
    if (!check->has_lane_clocks) return;
    uint64_t(*clock)[ISA_LANES] = warp->cta->check->clocks.lanes[warp->index];
    uint64_t all[ISA_LANES] = {0}, now = ++check->now;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        int lane = bits_lowest32(rest);
        clock[lane][lane] = now;
        for (int i = 0; i < ISA_LANES; i++)
            all[i] = later(all[i], clock[lane][i]);
    }
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        memcpy(clock[bits_lowest32(rest)], all, sizeof all);
}

void race_arrival(const IsaContext *context, const IsaWarp *warp, uint32_t number) {
    warp->cta->check->clocks.arrived[number][warp->index] = ++check_of(context)->now;
}

void race_completion(const IsaContext *context, const IsaCta *cta, uint32_t number,
                     uint32_t waiting) {
    IsaCheck *check = check_of(context);
    CtaClocks *clocks = &cta->check->clocks;
    uint64_t known[ISA_MAX_WARPS_PER_CTA] = {0}, acquired = 0, now = ++check->now;
    for (uint32_t rest = cta->check->participants[number]; rest; rest &= rest - 1) {
        int warp = bits_lowest32(rest);
        acquired = later(acquired, clocks->acquired[warp]);
        for (uint32_t i = 0; i < cta->launch->warps; i++)
            known[i] = later(known[i], clocks->known[warp][i]);
        known[warp] = later(known[warp], clocks->arrived[number][warp]);
    }
    for (uint32_t rest = waiting; rest; rest &= rest - 1) {
        int warp = bits_lowest32(rest);
        clocks->acquired[warp] = later(clocks->acquired[warp], acquired);
        for (uint32_t i = 0; i < cta->launch->warps; i++)
            clocks->known[warp][i] = later(clocks->known[warp][i], known[i]);
        if (!check->has_lane_clocks) continue;
        for (int lane = 0; lane < ISA_LANES; lane++)
            for (int i = 0; i < ISA_LANES; i++)
                clocks->lanes[warp][lane][i] = now;
    }
}

/* ---- Accesses ---- */

/* The access of the lanes of one instruction. */
typedef struct Deed {
    IsaContext *context;
    const IsaWarp *warp;
    const IsaInst *inst;
    PtxSpace space;
    IsaAccess access;
    bool is_strong;
    uint64_t time;
    bool is_product;      /* a read of wgmma */
    bool is_bulk;         /* by a bulk copy, in shared memory */
    bool is_copy;         /* by a bulk copy, in any memory */
    bool is_asynchronous; /* by the asynchronous proxy: a product or a bulk copy */
} Deed;

static void add_finding(const Deed *deed, int lane, const ShadowAccess *other, uint64_t address,
                        const char *what, Text *text) {
    const IsaLaunch *launch = deed->context->launch;
    const IsaCheck *check = check_of(deed->context);
    const uint32_t pc = deed->warp->pc;
    Text before = {0};
    text_add(&before, "\n    the other thread: ");
    isa_say_instruction(launch->program, pc_of(other), &before);
    text_add(&before, "\n    ");
    isa_say_thread(launch, other->warp, lane_of(other), &before);
    const CheckPlace place = {launch, deed->warp, pc, lane, address, pc_of(other)};
    check_add(check, FINDING_RACE, what, &place, text, &before);
}

/* Further kinds of findings, in addition to the kinds of races. */
enum { DETAIL_REUSE = 1 << 16, DETAIL_PROXY };

/* Whether no such finding was reported before. */
static bool is_new(const Deed *deed, const ShadowAccess *other, uint64_t detail) {
    return check_note(check_of(deed->context), FINDING_RACE, deed->warp->pc, pc_of(other), detail);
}

static void report_race(const Deed *deed, int lane, const ShadowAccess *other, uint64_t address,
                        bool was_write) {
    static const char *const names[2][2] = {{NULL, "read after write"},
                                            {"write after read", "write after write"}};
    const bool is_write = deed->access != ISA_ACCESS_READ;
    if (!is_new(deed, other, (uint64_t)deed->space * 4 + is_write * 2u + was_write)) return;
    Text text = {0};
    text_printf(&text,
                "%s %s address 0x%" PRIx64 " after a %s by another thread, and nothing orders the "
                "two",
                deed->access == ISA_ACCESS_ATOMIC ? "atomic access to"
                : is_write                        ? "write to"
                                                  : "read of",
                ptx_space_name(deed->space) + 1, address, was_write ? "write" : "read");
    add_finding(deed, lane, other, address, names[is_write][was_write], &text);
}

/* A write to memory that a product may still read: no warp has waited for the product. */
static void report_reuse(const Deed *deed, int lane, const ShadowAccess *product,
                         uint64_t address) {
    if (!is_new(deed, product, DETAIL_REUSE)) return;
    Text text = {0};
    text_printf(&text,
                "write to shared address 0x%" PRIx64 " while wgmma may still read it: no "
                "wgmma.wait_group of that warpgroup came between",
                address);
    add_finding(deed, lane, product, address, "write before wgmma.wait_group", &text);
}

/* The asynchronous proxy reads what the generic proxy wrote, with no fence between. */
static void report_proxy(const Deed *deed, int lane, const ShadowAccess *write, uint64_t address) {
    if (!is_new(deed, write, DETAIL_PROXY)) return;
    Text text = {0};
    text_printf(&text,
                "%s reads shared address 0x%" PRIx64 " after an ordinary write, with no "
                "fence.proxy.async between the two",
                deed->is_product ? "wgmma" : "a bulk copy", address);
    add_finding(deed, lane, write, address, "read without fence.proxy.async", &text);
}

/* The bytes that a lane of a store writes. */
static void stored_bytes(const Deed *deed, int lane, uint8_t *bytes) {
    const IsaInst *inst = deed->inst;
    for (int e = 0; e < inst->vector; e++) {
        bool is_wide = inst->flags & ISA_DST_IS_64;
        uint64_t value = is_wide ? isa_row64(deed->warp, inst->operand[e])[lane]
                                 : isa_row32(deed->warp, inst->operand[e])[lane];
        memcpy(bytes + e * inst->size, &value, inst->size);
    }
}

enum { MOST_BYTES = 64 }; /* of a lane's access */

/* Whether a store writes the value that the bytes of a cell already have, or that another lane of
 * the same store writes. */
static bool writes_the_same(const Deed *deed, int lane, const ShadowAccess *other, uint64_t address,
                            uint32_t bytes) {
    uint8_t own[MOST_BYTES], theirs[MOST_BYTES];
    const uint64_t *lanes = deed->context->did.address;
    if (deed->access != ISA_ACCESS_WRITE || !deed->inst) return false;
    stored_bytes(deed, lane, own);
    const uint8_t *there = deed->space == PTX_SPACE_SHARED
                               ? deed->warp->cta->shared + address
                               : mem_host(deed->context->memory, address);
    if (other->time == deed->time) { /* a write of the same instruction */
        int before = lane_of(other);
        if (lanes[before] > address) return false;
        stored_bytes(deed, before, theirs);
        there = theirs + (address - lanes[before]);
    }
    return memcmp(own + (address - lanes[lane]), there, bytes) == 0;
}

static bool may_race(const Deed *deed, const ShadowAccess *other) {
    return other->time && !(deed->is_strong && other->where & STRONG_BIT);
}

/* Whether another lane of the warp started the copy that wrote, by the same instruction. Programs
 * let all lanes of a warp start one copy, because its machine code starts it once per warp. */
static bool is_same_copy(const Deed *deed, const ShadowAccess *write) {
    return deed->is_copy && write->warp == isa_warp_number(deed->warp) &&
           pc_of(write) == deed->warp->pc;
}

static bool races_with_write(const Deed *deed, int lane, const ShadowAccess *write,
                             uint64_t address, uint32_t bytes) {
    if (!may_race(deed, write) || is_same_copy(deed, write)) return false;
    bool is_own_store = deed->access == ISA_ACCESS_WRITE && write->time == deed->time;
    if (deed->is_product && write->warp == isa_warp_number(deed->warp)) return false; /* aligned */
    if (!is_own_store && is_before(check_of(deed->context), write, deed->warp, lane)) return false;
    return deed->access == ISA_ACCESS_READ || !writes_the_same(deed, lane, write, address, bytes);
}

/* Only two readers are kept: those that a later write is most likely to race with. */
static void remember_reader(const Deed *deed, ShadowCell *cell, const ShadowAccess *reader,
                            int lane) {
    const IsaCheck *check = check_of(deed->context);
    int place = 1;
    for (int i = 1; i >= 0; i--)
        if (!cell->read[i].time || is_before(check, &cell->read[i], deed->warp, lane)) place = i;
    cell->read[place] = *reader;
}

static bool is_before_now(const Deed *deed, const ShadowAccess *access, int lane) {
    return is_before(check_of(deed->context), access, deed->warp, lane);
}

/* Whether the asynchronous proxy reads data that the generic proxy wrote after the last proxy
 * fence. */
static bool misses_fence(const Deed *deed, const ShadowAccess *write) {
    const bool is_read = deed->access == ISA_ACCESS_READ;
    return deed->is_asynchronous && is_read && write->time &&
           write->time > deed->warp->cta->check->clocks.proxy_fence;
}

static void check_writes(const Deed *deed, int lane, const ShadowCell *cell, uint64_t address,
                         uint32_t bytes) {
    const ShadowAccess *writes[] = {&cell->write, &cell->strong_write};
    for (int i = 0; i < 2; i++) {
        if (misses_fence(deed, writes[i])) report_proxy(deed, lane, writes[i], address);
        else if (!deed->is_bulk && races_with_write(deed, lane, writes[i], address, bytes))
            report_race(deed, lane, writes[i], address, true);
    }
}

/* Checks the reads of a cell that is about to be written. */
static void check_reads(const Deed *deed, int lane, const ShadowCell *cell, uint64_t address) {
    for (int i = 0; i < 2; i++) {
        const ShadowAccess *read = &cell->read[i];
        if (!may_race(deed, read) || is_before_now(deed, read, lane)) continue;
        if (products_are_under_way(deed->warp->cta, read)) report_reuse(deed, lane, read, address);
        else if (!deed->is_bulk) report_race(deed, lane, read, address, false);
    }
}

static void touch_cell(const Deed *deed, int lane, ShadowCell *cell, uint64_t address,
                       uint32_t bytes) {
    const uint32_t bits = (deed->is_strong ? STRONG_BIT : 0) | (deed->is_product ? PRODUCT_BIT : 0);
    const ShadowAccess mine = {deed->time, (uint32_t)isa_warp_number(deed->warp),
                               where_of(deed->warp->pc, lane, bits)};
    const bool is_read = deed->access == ISA_ACCESS_READ;
    check_writes(deed, lane, cell, address, bytes);
    if (!is_read) check_reads(deed, lane, cell, address);
    /* an mbarrier or a group orders the effects of a bulk copy: forget earlier writes */
    if (deed->is_bulk && !is_read) cell->write = cell->strong_write = (ShadowAccess){0};
    if (deed->is_bulk) return;
    if (is_read) remember_reader(deed, cell, &mine, lane);
    else if (deed->is_strong) cell->strong_write = mine;
    else *cell = (ShadowCell){.write = mine};
}

void race_access(IsaContext *context, const IsaWarp *warp, const IsaInst *inst, PtxSpace space,
                 uint32_t bytes, uint32_t mask, IsaAccess access) {
    IsaCheck *check = check_of(context);
    uint32_t flags = context->program->infos[warp->pc].flags;
    const bool is_shared = space == PTX_SPACE_SHARED;
    const Deed deed = {
        .context = context,
        .warp = warp,
        .inst = inst,
        .space = space,
        .access = access,
        .is_strong = flags & ISA_IS_STRONG || access == ISA_ACCESS_ATOMIC,
        .time = ++check->now,
        .is_product = is_shared && flags & ISA_IS_WARPGROUP,
        .is_bulk = is_shared && flags & ISA_IS_BULK,
        .is_copy = flags & ISA_IS_BULK,
        .is_asynchronous = is_shared && flags & (ISA_IS_WARPGROUP | ISA_IS_BULK),
    };
    Shadow *shadow = is_shared ? warp->cta->check->shared : check->global;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = bits_lowest32(rest);
        uint64_t address = context->did.address[lane];
        uint32_t cell_bytes;
        ShadowCell *cells = shadow_cells(shadow, address, bytes, &cell_bytes);
        for (uint32_t i = 0; i < bytes / cell_bytes; i++)
            touch_cell(&deed, lane, &cells[i], address + i * cell_bytes, cell_bytes);
    }
    if (!deed.is_strong) return;
    bool is_write = access != ISA_ACCESS_READ;
    if (is_write && !(flags & ISA_IS_VOLATILE)) release_all(check, warp, false);
    if (access == ISA_ACCESS_ATOMIC ? !(flags & ISA_IS_REDUCTION) : !is_write)
        race_acquire(check, warp);
}
