/* A fabricated SM (see the header). */
#include "fabricated.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"

uint64_t warps(int first, int last) { return bits_low_mask(last + 1) & ~bits_low_mask(first); }

void fabricate(Fabricated *f, const char *policy, FabricatedSize size) {
    *f = (Fabricated){0};
    Diag *diag = diag_new();
    f->policy = sched_policy_new(policy, diag);
    if (!f->policy) print_error("%s", diag_text(diag));
    diag_free(diag);
    assert_non_null(f->policy);
    TytoSmView *view = &f->view;
    *view = (TytoSmView){SCHED_VIEW_HEAD};
    view->sm = size.sm;
    view->sms = size.sms ? size.sms : 1;
    view->schedulers = size.schedulers ? size.schedulers : 1;
    view->warp_count = size.warps ? size.warps : 64;
    view->warps_per_cta = size.warps_per_cta ? size.warps_per_cta : 1;
    view->cta_count = view->cta_limit =
        size.ctas ? size.ctas : view->warp_count / view->warps_per_cta;
    view->pipeline_depth = 5;
    view->issue_interval = size.issue_interval ? size.issue_interval : 1;
    view->line_bytes = view->fill_bytes = 128;
    view->l1d_places = view->l1d_lines = 128; /* 16 KiB */
    for (uint32_t w = 0; w < view->warp_count; w++)
        view->scheduler_warps[w % view->schedulers] |= UINT64_C(1) << w;
    sched_agent_init(&f->agent, f->policy, view, NULL);
    f->state = f->agent.state;
    sched_agent_start(&f->agent, view);
}

void fabricated_free(Fabricated *f) {
    sched_agent_free(&f->agent);
    sched_policy_free(f->policy);
}

static void notify(Fabricated *f, TytoEvent event) {
    sched_agent_event(&f->agent, &f->view, &event);
}

static TytoEvent event_of(TytoEventKind kind, int warp, int cta_slot) {
    return (TytoEvent){.kind = kind, .warp = warp, .cta_slot = cta_slot, .owner = TYTO_NO_WARP};
}

void launch(Fabricated *f, int cta_slot, uint64_t index) {
    int size = (int)f->view.warps_per_cta;
    uint64_t set = warps(cta_slot * size, cta_slot * size + size - 1);
    sched_view_launch(&f->view, cta_slot, set, index, f->next_age);
    f->next_age += (uint64_t)size;
    f->view.has_instruction |= set;
    TytoEvent event = event_of(TYTO_EVENT_CTA_LAUNCHED, TYTO_NO_WARP, cta_slot);
    event.warps = set;
    notify(f, event);
}

void launch_all(Fabricated *f) {
    for (uint32_t i = 0; i < f->view.cta_limit; i++)
        launch(f, (int)i, i);
}

void finish_warp(Fabricated *f, int warp) {
    int cta = f->view.warp[warp].cta_slot;
    sched_view_retire(&f->view, warp);
    notify(f, event_of(TYTO_EVENT_WARP_FINISHED, warp, cta));
    if (f->view.cta[cta].warps) return;
    sched_view_finish(&f->view, cta);
    TytoEvent event = event_of(TYTO_EVENT_CTA_FINISHED, TYTO_NO_WARP, cta);
    event.warps = f->view.cta[cta].all;
    notify(f, event);
}

void arrive(Fabricated *f, int warp) {
    f->view.at_barrier |= UINT64_C(1) << warp;
    TytoEvent event = event_of(TYTO_EVENT_WARP_AT_BARRIER, warp, f->view.warp[warp].cta_slot);
    event.warps = UINT64_C(1) << warp;
    notify(f, event);
}

void release_some(Fabricated *f, int cta_slot, uint64_t set) {
    TytoEvent event = event_of(TYTO_EVENT_BARRIER_RELEASED, TYTO_NO_WARP, cta_slot);
    event.warps = set;
    f->view.at_barrier &= ~event.warps;
    notify(f, event);
}

void release(Fabricated *f, int cta_slot) {
    release_some(f, cta_slot, f->view.cta[cta_slot].warps & f->view.at_barrier);
}

void block(Fabricated *f, uint64_t set) { f->view.waits_memory |= set; }
void unblock(Fabricated *f, uint64_t set) { f->view.waits_memory &= ~set; }

void pass(Fabricated *f, uint64_t cycles) {
    f->view.cycle += cycles;
    sched_agent_elapsed(&f->agent, &f->view, cycles);
}

int pick_of(Fabricated *f, int scheduler, uint64_t ready) {
    ready &= sched_agent_may_issue(&f->agent, &f->view);
    if (!ready) return TYTO_NO_WARP;
    int warp = sched_agent_pick(&f->agent, &f->view, scheduler, ready);
    char text[200] = "";
    if (!sched_check_pick(f->policy, &f->view, warp, ready, text, sizeof text))
        fail_msg("%s", text);
    return warp;
}

int pick(Fabricated *f, uint64_t ready) { return pick_of(f, 0, ready); }

int pick_any(Fabricated *f) {
    return pick(f, sched_view_unblocked(&f->view) & f->view.has_instruction &
                       f->view.scheduler_warps[0]);
}

void issue_lanes(Fabricated *f, int warp, int lanes) {
    f->view.warp[warp].instructions++;
    f->view.warp[warp].thread_instructions += (uint64_t)lanes;
    TytoIssue issue = {.warp = warp,
                       .scheduler = warp % (int)f->view.schedulers,
                       .lanes = (uint32_t)bits_low_mask(lanes)};
    sched_agent_issued(&f->agent, &f->view, &issue);
}

void issue(Fabricated *f, int warp) { issue_lanes(f, warp, 32); }

int step(Fabricated *f) {
    int warp = pick_any(f);
    if (warp != TYTO_NO_WARP) issue(f, warp);
    pass(f, 1);
    return warp;
}

static void l1d(Fabricated *f, TytoEventKind kind, int warp, int owner, uint64_t address) {
    TytoEvent event = event_of(kind, warp, TYTO_NO_WARP);
    event.owner = owner;
    event.address = address & ~(f->view.line_bytes - 1);
    event.offset = (uint32_t)(address & (f->view.line_bytes - 1));
    notify(f, event);
}

void l1d_hit(Fabricated *f, int warp, uint64_t address) {
    l1d(f, TYTO_EVENT_L1D_HIT, warp, warp, address);
}
void l1d_miss(Fabricated *f, int warp, uint64_t address) {
    l1d(f, TYTO_EVENT_L1D_MISS, warp, TYTO_NO_WARP, address);
}

void l1d_miss_again(Fabricated *f, int warp, uint64_t address) {
    TytoEvent event = event_of(TYTO_EVENT_L1D_MISS, warp, TYTO_NO_WARP);
    event.address = address & ~(f->view.line_bytes - 1);
    event.offset = (uint32_t)(address & (f->view.line_bytes - 1));
    event.repeats_line = true;
    notify(f, event);
}

void l1d_join(Fabricated *f, int warp, uint64_t address) {
    TytoEvent event = event_of(TYTO_EVENT_L1D_MISS, warp, TYTO_NO_WARP);
    event.address = address & ~(f->view.line_bytes - 1);
    event.offset = (uint32_t)(address & (f->view.line_bytes - 1));
    event.is_pending = true;
    notify(f, event);
}

void l1d_evict(Fabricated *f, int owner, uint64_t address) {
    l1d(f, TYTO_EVENT_L1D_EVICTED, TYTO_NO_WARP, owner, address);
}

void l1d_evict_by(Fabricated *f, int warp, int owner, uint64_t address) {
    l1d(f, TYTO_EVENT_L1D_EVICTED, warp, owner, address);
}

void l1d_store(Fabricated *f, int warp, uint64_t address) {
    l1d(f, TYTO_EVENT_L1D_STORED, warp, TYTO_NO_WARP, address);
}

void issue_load(Fabricated *f, int warp, uint32_t pc) {
    f->view.warp[warp].instructions++;
    TytoIssue issue = {.warp = warp,
                       .scheduler = warp % (int)f->view.schedulers,
                       .lanes = UINT32_MAX,
                       .is_load = true,
                       .is_long = true,
                       .pc = pc};
    sched_agent_issued(&f->agent, &f->view, &issue);
}

void l1d_look_up(Fabricated *f, int warp, uint32_t pc, uint64_t address, int owner) {
    l1d_find(f, warp, pc, address, owner, owner == TYTO_NO_WARP ? TYTO_NO_PC : pc);
}

void l1d_find(Fabricated *f, int warp, uint32_t pc, uint64_t address, int owner,
              uint32_t owner_pc) {
    const bool is_hit = owner != TYTO_NO_WARP;
    TytoEvent event = event_of(is_hit ? TYTO_EVENT_L1D_HIT : TYTO_EVENT_L1D_MISS, warp, -1);
    event.owner = owner;
    event.pc = pc;
    event.owner_pc = owner_pc;
    event.address = address & ~(f->view.line_bytes - 1);
    event.offset = (uint32_t)(address & (f->view.line_bytes - 1));
    notify(f, event);
}

void branch_lanes(Fabricated *f, int warp, uint32_t pc, uint32_t target, int lanes) {
    const uint32_t all = UINT32_MAX, mask = lanes < 32 ? ~(all >> lanes) : all;
    TytoEvent event = event_of(TYTO_EVENT_BRANCH, warp, -1);
    event.pc = pc;
    event.target = target;
    event.lanes_before = all;
    event.lanes_after = mask;
    event.is_divergent = mask != all;
    notify(f, event);
}

void branch(Fabricated *f, int warp, uint32_t pc, uint32_t target, bool is_divergent) {
    TytoEvent event = event_of(TYTO_EVENT_BRANCH, warp, -1);
    event.pc = pc;
    event.target = target;
    event.is_divergent = is_divergent;
    notify(f, event);
}

void last_cta(Fabricated *f) {
    f->view.last_cta_dispatched = true;
    notify(f, event_of(TYTO_EVENT_LAST_CTA, TYTO_NO_WARP, -1));
}

uint64_t may_load(Fabricated *f) {
    return sched_agent_may_load(&f->agent, &f->view) & f->view.resident;
}
uint64_t may_issue(Fabricated *f) {
    return sched_agent_may_issue(&f->agent, &f->view) & f->view.resident;
}

/* ---- Reports ---- */

typedef struct Wanted {
    const char *name;
    double *values;
    int most, count; /* count: -1 until found */
} Wanted;

static void keep_list(void *context, const char *name, const char *unit, const double *values,
                      size_t count) {
    Wanted *wanted = context;
    assert_non_null(unit);
    if (strcmp(name, wanted->name)) return;
    assert_in_range(count, 0, wanted->most);
    wanted->count = (int)count;
    memcpy(wanted->values, values, count * sizeof *values);
}

static void keep_value(void *context, const char *name, const char *unit, double value) {
    keep_list(context, name, unit, &value, 1);
}

int reported_list(Fabricated *f, const char *name, double *values, int most) {
    Wanted wanted = {name, values, most, -1};
    TytoReport out = {sizeof out, &wanted, keep_value, keep_list};
    sched_agent_report(&f->agent, &f->view, &out);
    if (wanted.count < 0) fail_msg("%s reports no %s", f->policy->text, name);
    return wanted.count;
}

double reported(Fabricated *f, const char *name) {
    double value;
    assert_int_equal(reported_list(f, name, &value, 1), 1);
    return value;
}
