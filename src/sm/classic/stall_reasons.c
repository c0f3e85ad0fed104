/* Stall reasons of warps: only reads the issue stage. */
#include "sm/classic/issue.h"
#include "sm/parts.h"

/* Warps of schedulers that issued. */
static uint64_t beside_one_that_issued(const SmIssue *issue, const SmContext *sm) {
    uint64_t warps = 0;
    for (uint32_t s = 0; s < sm->view.schedulers; s++)
        if (issue->outcome[s] == SM_ISSUED) warps |= sm->view.scheduler_warps[s];
    return warps;
}

SmStallReasons issue_stall_reasons(const SmIssue *issue, const SmContext *sm, bool has_looked) {
    const TytoSmView *view = &sm->view;
    SmStallReasons reasons = {{0}};
    uint64_t left = view->resident;
    uint64_t owing = issue->slots.owing, none = ~(view->has_instruction | owing);
    sm_take_warp_reasons(&reasons, &left, sm, 0);
    stall_reasons_take(&reasons, &left, none & issue->fetch->waits, PROFILE_cycles_fetch_miss);
    stall_reasons_take(&reasons, &left, none & (issue->fetch->redirected | issue->stale),
                       PROFILE_cycles_branch);
    stall_reasons_take(&reasons, &left, none, PROFILE_cycles_fetch);
    stall_reasons_take(&reasons, &left, ~issue->clear & ~owing & view->waits_memory,
                       PROFILE_cycles_memory);
    stall_reasons_take(&reasons, &left, ~issue->clear & ~owing, PROFILE_cycles_result);
    if (!left) return reasons;
    stall_reasons_take(&reasons, &left, ~issue->allowed, PROFILE_cycles_policy);
    if (!has_looked)
        stall_reasons_take(&reasons, &left, issue_with_place(issue, sm), PROFILE_cycles_turn);
    stall_reasons_take(&reasons, &left, beside_one_that_issued(issue, sm), PROFILE_cycles_turn);
    stall_reasons_take(&reasons, &left, issue_with_place(issue, sm), PROFILE_cycles_policy);
    stall_reasons_take(&reasons, &left, issue_waiting_for_lsu(issue), PROFILE_cycles_lsu);
    stall_reasons_take(&reasons, &left, UINT64_MAX, PROFILE_cycles_pipeline);
    return reasons;
}

void issue_note_stall_reasons(const SmIssue *issue, SmContext *sm) {
    sm_note_stall_reasons(sm, issue_stall_reasons(issue, sm, true));
}
