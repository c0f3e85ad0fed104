/* Why warps stand where they stand: a look at the issue stage, which changes nothing of it. */
#include "sm/classic/issue.h"

/* Warps whose scheduler issued. */
static uint64_t beside_one_that_issued(const SmIssue *issue, const SmContext *sm) {
    uint64_t warps = 0;
    for (uint32_t s = 0; s < sm->view.schedulers; s++)
        if (issue->outcome[s] == SM_ISSUED) warps |= sm->view.scheduler_warps[s];
    return warps;
}

SmStanding issue_standing(const SmIssue *issue, const SmContext *sm, bool has_looked) {
    const TytoSmView *view = &sm->view;
    const SmWarps *warps = &sm->warps;
    SmStanding standing = {{0}};
    uint64_t left = view->resident;
    uint64_t owing = issue->slots.owing, none = ~(view->has_instruction | owing);
    uint64_t issued = sm->profile ? sm->profile->has_issued : 0;
    standing_take(&standing, &left, issued, PROFILE_cycles_issued);
    standing_take(&standing, &left, view->exited, PROFILE_cycles_exited);
    standing_take(&standing, &left, view->at_barrier | warps->phase_waits, PROFILE_cycles_barrier);
    standing_take(&standing, &left, warps->atomic_waits, PROFILE_cycles_atomic);
    standing_take(&standing, &left, warps->fenced, PROFILE_cycles_fence);
    standing_take(&standing, &left, warps->copy_waits, PROFILE_cycles_copy);
    standing_take(&standing, &left, warps->load_waits, PROFILE_cycles_memory);
    standing_take(&standing, &left, none & issue->fetch->waits, PROFILE_cycles_fetch_miss);
    standing_take(&standing, &left, none & (issue->fetch->redirected | issue->stale),
                  PROFILE_cycles_branch);
    standing_take(&standing, &left, none, PROFILE_cycles_fetch);
    standing_take(&standing, &left, ~issue->clear & ~owing & view->waits_memory,
                  PROFILE_cycles_memory);
    standing_take(&standing, &left, ~issue->clear & ~owing, PROFILE_cycles_result);
    if (!left) return standing;
    standing_take(&standing, &left, ~issue->allowed, PROFILE_cycles_policy);
    if (!has_looked)
        standing_take(&standing, &left, issue_with_place(issue, sm), PROFILE_cycles_turn);
    standing_take(&standing, &left, beside_one_that_issued(issue, sm), PROFILE_cycles_turn);
    standing_take(&standing, &left, issue_with_place(issue, sm), PROFILE_cycles_policy);
    standing_take(&standing, &left, issue_waiting_for_lsu(issue), PROFILE_cycles_lsu);
    standing_take(&standing, &left, UINT64_MAX, PROFILE_cycles_pipeline);
    return standing;
}

void issue_note_standing(const SmIssue *issue, SmContext *sm) {
    SmProfile *profile = sm->profile;
    SmStanding now = issue_standing(issue, sm, true);
    uint64_t moved = profile->has_issued, gone_on = moved | sm->view.exited;
    for (int b = 0; b < SM_STANDING_BITS; b++)
        moved |= now.bit[b] ^ profile->standing.bit[b];
    for (moved &= sm->view.resident; moved; moved &= moved - 1) {
        int warp = bits_lowest64(moved);
        uint32_t pc = gone_on >> warp & 1 ? profile->issued[warp] : sm->warps.warp[warp].pc;
        sm_profile_move(profile, warp, pc, sm->cycle);
    }
    profile->standing = now;
    profile->has_issued = 0;
}
