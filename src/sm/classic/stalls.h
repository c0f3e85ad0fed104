/* Ready warps that find a unit full: what a policy with TYTO_NEEDS_STALLS sees. */
#ifndef TYTO_SM_CLASSIC_STALLS_H
#define TYTO_SM_CLASSIC_STALLS_H

#include "sm/classic/issue.h"
#include "sm/l1d.h"

/* Updates that part of the view. Must be called after the schedulers' picks in every step of the
 * SM. The view then holds the state until the next step. */
void stalls_show(const SmIssue *issue, SmContext *sm, const SmL1d *l1d, const SmPort *port);

#endif
