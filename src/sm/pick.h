/* How every core asks the warp scheduler for a warp and reports elapsed time to it. */
#ifndef TYTO_SM_PICK_H
#define TYTO_SM_PICK_H

#include "sm/context.h"

/* Asks the policy to pick one of the candidates. If it names another warp, sets a fault and returns
 * TYTO_NO_WARP. */
__attribute__((always_inline)) static inline int pick_warp(SmContext *sm, int scheduler,
                                                           uint64_t candidates) {
    IsaFault *fault = &sm->policy_fault;
    int warp = sched_agent_pick(&sm->policy, &sm->view, scheduler, candidates);
    if (sched_agent_is_trusted(&sm->policy) ||
        (sched_agent_keeps_to_its_state(&sm->policy, &sm->view, fault->text, sizeof fault->text) &&
         sched_check_pick(sm->env.policy, &sm->view, warp, candidates, fault->text,
                          sizeof fault->text)))
        return warp;
    fault->is_set = true;
    fault->code = ISA_FAULT_POLICY;
    sm->fault = fault;
    return TYTO_NO_WARP;
}

/* Reports to the policy, if it wants that, the time since the last report. */
static inline void pick_tell_time(SmContext *sm) {
    if (!sched_agent_hears_time(&sm->policy)) return;
    if (sm->cycle > sm->told) sched_agent_elapsed(&sm->policy, &sm->view, sm->cycle - sm->told);
    sm->told = sm->cycle;
}

#endif
