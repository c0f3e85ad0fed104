/* What a policy sees of full units (see the header). */
#include "sm/classic/stalls.h"

void stalls_show(const SmIssue *issue, SmContext *sm, const SmL1d *l1d, const SmPort *port) {
    TytoSmView *view = &sm->view;
    const uint64_t ready = issue_ready(issue, sm) & view->has_instruction;
    const uint64_t full = ready & ~issue_with_place(issue, sm);
    view->lsu_full = full & issue_waiting_for_lsu(issue);
    view->unit_full = full & ~view->lsu_full;
    l1d_show_room(l1d, port, view, ready);
}
