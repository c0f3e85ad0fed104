/* The L1D's questions to a policy (see the header). */
#include "sm/l1d_policy.h"

#include <stdio.h>
#include <string.h>

#include "memory/memory.h"

static uint32_t places_of(const SmL1d *l1d) { return l1d->tags.sets * l1d->tags.stride; }

/* ---- What the policy requests ---- */

/* Records whether prefetches wait; if so, the load/store unit has work. */
static void note_asks(SmPrefetcher *prefetcher) {
    const bool has_asks = prefetcher->count != 0;
    prefetcher->l1d->has_asks = has_asks;
    prefetcher->port->misses_waiting &= ~(uint32_t)SM_ASKS_WAIT;
    if (has_asks) prefetcher->port->misses_waiting |= SM_ASKS_WAIT;
}

/* TytoSmView.prefetch: queues a prefetch. */
static bool ask(void *unit, uint64_t address, uint32_t tag) {
    SmPrefetcher *prefetcher = unit;
    if (prefetcher->count == SM_PREFETCH_ASKS) return false;
    uint32_t place = (prefetcher->first + prefetcher->count++) % SM_PREFETCH_ASKS;
    prefetcher->asks[place] = (SmPrefetchAsk){.address = address, .tag = tag};
    prefetcher->counts.asked++;
    note_asks(prefetcher);
    return true;
}

void l1d_policy_init(SmL1d *l1d, SmContext *sm, SmPort *port) {
    const TytoPolicy *policy = sm->env.policy->policy;
    if (policy->victim) l1d->shown = ARENA_ARRAY(sm->arena, TytoLine, l1d->tags.stride);
    if (!(policy->needs & TYTO_NEEDS_PREFETCH)) return;
    SmPrefetcher *prefetcher = ARENA_NEW(sm->arena, SmPrefetcher);
    prefetcher->l1d = l1d;
    prefetcher->port = port;
    prefetcher->flights = ARENA_ARRAY(sm->arena, SmPrefetchFlight, l1d->mshr.entry_count);
    prefetcher->unwanted = ARENA_ARRAY(sm->arena, uint8_t, places_of(l1d));
    prefetcher->tags = ARENA_ARRAY(sm->arena, uint32_t, places_of(l1d) * l1d->tags.sectors);
    l1d->prefetcher = prefetcher;
}

void l1d_policy_start_kernel(SmL1d *l1d, SmContext *sm) {
    SmPrefetcher *prefetcher = l1d->prefetcher;
    if (!prefetcher) return;
    prefetcher->count = 0;
    note_asks(prefetcher);
    prefetcher->counts = (SmPrefetchCounts){0};
    memset(prefetcher->unwanted, 0, places_of(l1d));
    sm->view.prefetch = ask;
    sm->view.unit = prefetcher;
}

/* ---- What it is asked ---- */

/* Reports that the policy's answer is not one of its choices; this ends the kernel. */
static void refuse(SmContext *sm, const char *function, int answer) {
    IsaFault *fault = &sm->policy_fault;
    if (sm->fault) return;
    snprintf(fault->text, sizeof fault->text,
             "warp scheduler %s: cycle %llu, SM %u: %s answered %d, which is none of its choices",
             sm->env.policy->text, (unsigned long long)sm->cycle, sm->env.index, function, answer);
    fault->is_set = true;
    fault->code = ISA_FAULT_POLICY;
    sm->fault = fault;
}

static TytoMiss miss_of(const SmLookup *lookup, uint64_t key) {
    return (TytoMiss){.size = sizeof(TytoMiss),
                      .warp = lookup->is_policy ? TYTO_NO_WARP : lookup->warp,
                      .address = key,
                      .pc = lookup->pc,
                      .lanes = lookup->access.lanes,
                      .is_store = lookup->is_store};
}

void l1d_policy_insert(SmContext *sm, SmLookup *lookup, uint64_t key) {
    static const uint8_t priorities[TYTO_INSERTIONS] = {[TYTO_INSERT_FIRST] = PRIORITY_FIRST,
                                                        [TYTO_INSERT_LAST] = PRIORITY_LAST,
                                                        [TYTO_INSERT_BYPASS] =
                                                            PRIORITY_NO_ALLOCATE};
    if (lookup->is_asked) return;
    lookup->is_asked = true;
    const TytoMiss miss = miss_of(lookup, key);
    const TytoInsertion answer = sched_agent_insert(&sm->policy, context_view(sm), &miss);
    if ((unsigned)answer >= TYTO_INSERTIONS) refuse(sm, "insert", (int)answer);
    else if (answer != TYTO_INSERT_NORMAL) lookup->access.priority[0] = priorities[answer];
}

/* A line as the policy sees it. */
static TytoLine line_at(const SmL1d *l1d, uint32_t place) {
    const TagArray *tags = &l1d->tags;
    const SmFiller *filler = &l1d->fillers[place];
    return (TytoLine){.address = tag_array_address(tags, (int32_t)place),
                      .order = tags->lines[place].stamp,
                      .place = place,
                      .owner_pc = filler->pc,
                      .owner = filler->warp == SM_NO_WARP ? TYTO_NO_WARP : filler->warp,
                      .can_go = tag_array_can_go(tags, (int32_t)place),
                      .is_dirty = tags->lines[place].dirty != 0,
                      .is_prefetch = l1d->prefetcher && l1d->prefetcher->unwanted[place]};
}

/* Fills in the set of `key` for the policy. Returns false if there is no choice: a way is free, or
 * no line can be evicted. */
static bool show_set(SmL1d *l1d, uint64_t key) {
    const uint32_t base = tag_array_base(&l1d->tags, key);
    bool can_go = false;
    for (uint32_t way = 0; way < l1d->tags.ways; way++) {
        if (l1d->tags.tags[base + way] == TAG_EMPTY) return false;
        l1d->shown[way] = line_at(l1d, base + way);
        can_go |= l1d->shown[way].can_go;
    }
    return can_go;
}

/* The place that the policy chooses; TAG_NONE: the policy leaves the choice to the cache. */
static int32_t ask_victim(SmL1d *l1d, SmContext *sm, const SmLookup *lookup, uint64_t key) {
    const TytoMiss miss = miss_of(lookup, key);
    const TytoLines lines = {.size = sizeof lines,
                             .count = l1d->tags.ways,
                             .line_bytes = sizeof *l1d->shown,
                             .first = l1d->shown};
    const int answer = sched_agent_victim(&sm->policy, context_view(sm), &miss, &lines);
    if (answer == TYTO_ANY_LINE) return TAG_NONE;
    if (answer >= 0 && answer < (int)lines.count && l1d->shown[answer].can_go)
        return (int32_t)l1d->shown[answer].place;
    refuse(sm, "victim", answer);
    return TAG_NONE;
}

int32_t l1d_policy_reserve(SmL1d *l1d, SmContext *sm, const SmLookup *lookup, uint64_t key,
                           uint8_t sectors, TagEviction *eviction) {
    const CachePriority priority = (CachePriority)lookup->access.priority[0];
    int32_t place = TAG_NONE;
    if (l1d->shown && show_set(l1d, key)) place = ask_victim(l1d, sm, lookup, key);
    if (place == TAG_NONE)
        return tag_array_reserve_as(&l1d->tags, key, sectors, priority, eviction);
    tag_array_reserve_at(&l1d->tags, place, key, sectors, priority, eviction);
    return place;
}

/* ---- Outcome of prefetches ---- */

static void tell(SmContext *sm, TytoEventKind kind, uint32_t tag, uint64_t address, int32_t place,
                 bool is_pending) {
    context_notify(sm, &(TytoEvent){.kind = kind,
                                    .warp = TYTO_NO_WARP,
                                    .cta_slot = -1,
                                    .owner = TYTO_NO_WARP,
                                    .is_pending = is_pending,
                                    .address = address,
                                    .pc = TYTO_NO_PC,
                                    .owner_pc = TYTO_NO_PC,
                                    .place = place == TAG_NONE ? TYTO_NO_PLACE : (uint32_t)place,
                                    .tag = tag});
}

static SmPrefetchAsk pop(SmL1d *l1d) {
    SmPrefetcher *prefetcher = l1d->prefetcher;
    const SmPrefetchAsk oldest = prefetcher->asks[prefetcher->first];
    prefetcher->first = (prefetcher->first + 1) % SM_PREFETCH_ASKS;
    prefetcher->count--;
    note_asks(prefetcher);
    return oldest;
}

static void drop(SmL1d *l1d, SmContext *sm) {
    const SmPrefetchAsk oldest = pop(l1d);
    l1d->prefetcher->counts.dropped++;
    tell(sm, TYTO_EVENT_PREFETCH_DROPPED, oldest.tag, oldest.address, TAG_NONE, false);
}

static bool is_memory(const SmContext *sm, uint64_t address) {
    const struct DeviceMemory *memory = sm->grid[bits_lowest32(sm->grids)].source->memory;
    return !memory || mem_is_valid(memory, address, 1);
}

/* Whether a prefetch is useless: the address is not memory, or the line or sector is present or
 * pending. */
static bool is_pointless(const SmL1d *l1d, const SmContext *sm, uint64_t key) {
    const uint8_t sectors = tag_array_sector(&l1d->tags, key);
    int32_t place;
    return sm->env.is_l1_perfect || !is_memory(sm, key) ||
           mshr_find(&l1d->mshr, key) != MSHR_NONE ||
           tag_array_probe(&l1d->tags, key, sectors, &place) <= TAG_PENDING;
}

void l1d_policy_send(SmL1d *l1d, SmContext *sm, SmPort *port) {
    SmPrefetcher *prefetcher = l1d->prefetcher;
    const SmPrefetchAsk oldest = prefetcher->asks[prefetcher->first];
    const uint64_t key = oldest.address & ~(uint64_t)(l1d->fill_bytes - 1);
    if (l1d->refusing || l1d->is_flushing) return;
    if (!sm->view.resident || is_pointless(l1d, sm, key)) {
        drop(l1d, sm);
        return;
    }
    if (!l1d_prefetch_for_policy(l1d, sm, port, key)) return;
    pop(l1d);
    prefetcher->counts.sent++;
    prefetcher->flights[mshr_find(&l1d->mshr, key)] =
        (SmPrefetchFlight){.tag = oldest.tag, .is_prefetch = true, .is_unwanted = true};
    tell(sm, TYTO_EVENT_PREFETCH_SENT, oldest.tag, key, TAG_NONE, false);
}

void l1d_policy_hit(SmL1d *l1d, SmContext *sm, int32_t place, uint8_t sectors) {
    SmPrefetcher *prefetcher = l1d->prefetcher;
    const uint8_t wanted = prefetcher->unwanted[place] & sectors;
    if (!wanted) return;
    const uint32_t sector = (uint32_t)bits_lowest32(wanted);
    prefetcher->unwanted[place] &= (uint8_t)~wanted;
    prefetcher->counts.used++;
    tell(sm, TYTO_EVENT_PREFETCH_USED,
         prefetcher->tags[(uint32_t)place * l1d->tags.sectors + sector],
         tag_array_address(&l1d->tags, place) + (uint64_t)sector * l1d->fill_bytes, place, false);
}

void l1d_policy_joined(SmL1d *l1d, SmContext *sm, int32_t entry, uint64_t key) {
    SmPrefetchFlight *flight = &l1d->prefetcher->flights[entry];
    if (!flight->is_unwanted) return;
    flight->is_unwanted = false;
    l1d->prefetcher->counts.used++;
    l1d->prefetcher->counts.late++;
    tell(sm, TYTO_EVENT_PREFETCH_USED, flight->tag, key, TAG_NONE, true);
}

void l1d_policy_arrived(SmL1d *l1d, SmContext *sm, int32_t entry, int32_t place, uint8_t sectors,
                        uint64_t key) {
    SmPrefetcher *prefetcher = l1d->prefetcher;
    const SmPrefetchFlight flight = prefetcher->flights[entry];
    prefetcher->flights[entry] = (SmPrefetchFlight){0};
    if (!flight.is_unwanted) return;
    if (place == TAG_NONE) {
        prefetcher->counts.unused++;
        tell(sm, TYTO_EVENT_PREFETCH_UNUSED, flight.tag, key, TAG_NONE, false);
        return;
    }
    const uint32_t sector = (uint32_t)bits_lowest32(sectors);
    prefetcher->unwanted[place] |= sectors;
    prefetcher->tags[(uint32_t)place * l1d->tags.sectors + sector] = flight.tag;
}

void l1d_policy_gone(SmL1d *l1d, SmContext *sm, int32_t place, uint64_t line) {
    SmPrefetcher *prefetcher = l1d->prefetcher;
    uint32_t rest = prefetcher->unwanted[place];
    prefetcher->unwanted[place] = 0;
    for (; rest; rest &= rest - 1) {
        const uint32_t sector = (uint32_t)bits_lowest32(rest);
        prefetcher->counts.unused++;
        tell(sm, TYTO_EVENT_PREFETCH_UNUSED,
             prefetcher->tags[(uint32_t)place * l1d->tags.sectors + sector],
             line + (uint64_t)sector * l1d->fill_bytes, place, false);
    }
}

void l1d_policy_flushed(SmL1d *l1d, SmContext *sm) {
    for (uint32_t place = 0; place < places_of(l1d); place++)
        if (l1d->prefetcher->unwanted[place])
            l1d_policy_gone(l1d, sm, (int32_t)place, tag_array_address(&l1d->tags, (int32_t)place));
}

void l1d_policy_report(const SmL1d *l1d, const TytoReport *out) {
    if (!l1d->prefetcher) return;
    const SmPrefetchCounts *counts = &l1d->prefetcher->counts;
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {
        {"l1d_prefetches_asked", counts->asked},   {"l1d_prefetches_sent", counts->sent},
        {"l1d_prefetches_used", counts->used},     {"l1d_prefetches_late", counts->late},
        {"l1d_prefetches_unused", counts->unused}, {"l1d_prefetches_dropped", counts->dropped}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        out->value(out->context, rows[i].name, "prefetches", (double)rows[i].value);
}
