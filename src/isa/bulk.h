/* The end of a bulk copy: its transactions on an mbarrier are over. */
#ifndef TYTO_ISA_BULK_H
#define TYTO_ISA_BULK_H

#include "isa/async.h"
#include "isa/isa.h"

/* The copy, which the warp began, is over. May set a fault. */
void isa_bulk_done(IsaContext *context, const IsaWarp *warp, const IsaBulk *bulk);

#endif
