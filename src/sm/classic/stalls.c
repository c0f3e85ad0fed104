/* What a policy sees of full units (see the header). */
#include "sm/classic/stalls.h"

void stalls_show(const SmIssue *issue, SmContext *sm, const SmL1d *l1d, const SmPort *port) {
    TytoSmView *view = &sm->view;
    const SmSendQueue *misses = &port->misses[MEM_CLIENT_L1D];
    const uint64_t ready = issue_ready(issue, sm) & view->has_instruction;
    const uint64_t full = ready & ~issue_with_place(issue, sm);
    view->lsu_full = full & issue_waiting_for_lsu(issue);
    view->unit_full = full & ~view->lsu_full;
    view->mshrs_full = mshr_is_full(&l1d->mshr) ? ready & view->wants_load : 0;
    view->l1d_mshrs_free = mshr_has_place(&l1d->mshr) ? l1d->mshr.entry_count - l1d->mshr.used : 0;
    view->l1d_misses_free = misses->capacity - misses->count;
}
