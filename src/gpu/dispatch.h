/* CTA dispatch: which SM gets the grid's next thread block (CTA), and when. */
#ifndef TYTO_GPU_DISPATCH_H
#define TYTO_GPU_DISPATCH_H

#include "gpu/machine.h"
#include "isa/launch.h"
#include "sm/sm.h"

typedef struct Dispatch {
    const CtaConfig *config;
    uint64_t next;      /* linear index of the CTA to go out next */
    uint64_t count;     /* CTAs of the grid */
    uint64_t not_before; /* SM cycle of the first dispatch (launch latency) */
    uint32_t limit;     /* CTAs per SM */
    uint32_t last;      /* SM that got the last CTA */
    bool is_over;       /* every CTA has gone out, and the SMs know */
} Dispatch;

/* A kernel begins at `cycle`. `ctas_per_sm` is what resources allow. */
void dispatch_start(Dispatch *dispatch, const CtaConfig *config, uint64_t ctas, uint32_t sms,
                    uint32_t ctas_per_sm, uint64_t cycle);
/* The end of a cycle: SMs with a free slot get CTAs. True when some CTA went out. */
bool dispatch_step(Dispatch *dispatch, Sm *const *sms, uint32_t sm_count, uint64_t cycle);

#endif
