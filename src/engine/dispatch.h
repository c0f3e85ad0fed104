/* CTA dispatch: which SM gets the grid's next thread block (CTA), and when. How many an SM may hold
 * is up to the CTA scheduler, and which SM is next too, if it chooses; else SMs with room are
 * served round-robin.
 *
 * A cluster goes out whole, in one cycle, to a group of SMs (GPC) that has room for all its CTAs:
 * groups are served round-robin, each at most once in a cycle, and its SMs as evenly as they have
 * room. A CTA scheduler is not asked which SM or which CTA is next, but how many an SM may hold. */
#ifndef TYTO_ENGINE_DISPATCH_H
#define TYTO_ENGINE_DISPATCH_H

#include "machine/machine.h"
#include "isa/launch.h"
#include "sched/cta_agent.h"
#include "sm/sm.h"

enum { DISPATCH_ANY_SM = -1 };

typedef struct Dispatch {
    const CtaConfig *config;
    CtaAgent agent;          /* CTA scheduler at work */
    TytoGridView view;       /* what it sees; `next` and `ctas` count the grid's CTAs */
    uint32_t *resident;      /* by SM: CTAs of the grid that it holds; the view's */
    uint32_t *given;         /* by SM: CTAs that it has been given in this cycle */
    uint64_t not_before;     /* SM cycle of the first dispatch (launch latency) */
    uint32_t limit;          /* CTAs of the grid per SM; set before dispatch_start */
    Sm *const *sms;          /* that CTAs go to, ... */
    SmGrid *const *grid;     /* ... and what each calls the grid */
    const IsaLaunch *launch; /* DispatchGrid.clusters */
    uint32_t gpcs;           /* groups of SMs, at least 1 */
    uint32_t last_gpc;       /* that got the last cluster */
    const Counters *marks;   /* DispatchGrid.marks */
    bool shares_sms;    /* other grids have been on the SMs, which tell whether there is room */
    uint32_t last;      /* SM that got the last CTA */
    bool is_over;       /* every CTA has gone out, and the SMs know */
    int asked_sm;       /* the only one it may ask about; DISPATCH_ANY_SM */
    int asked_slot;     /* the slot there whose CTA has just finished; -1 */
    uint64_t sample_at; /* SM cycle in which it looks at the SMs next, UINT64_MAX */
    uint64_t *paused;   /* by SM: CTA slots that it has paused, bit each, ... */
    bool has_paused;    /* ... which have changed since the SMs heard of them */
    uint64_t *gone;     /* CTAs that have gone out, bit each; only of a policy that orders them */
    IsaFault fault;     /* the CTA scheduler chose what cannot be */
} Dispatch;

/* A dispatcher under `sched` (borrowed; NULL: as many CTAs as fit), for SMs of such an L1D.
 * The CTA scheduler's calls are noted in `call`, as cta_agent_init has it. */
void dispatch_init(Dispatch *dispatch, const CtaConfig *config, const CtaSched *sched,
                   const TytoGridView *sizes, SchedCall *call);
void dispatch_free(Dispatch *dispatch);
/* The most CTAs of a grid of `ctas` that an SM will hold at once; its resources allow
 * `ctas_per_sm`. */
uint32_t dispatch_limit(const Dispatch *dispatch, uint64_t ctas, uint32_t ctas_per_sm);
/* What a dispatcher must know of a grid. */
typedef struct DispatchGrid {
    uint64_t next, ctas;       /* the first CTA to go out, and how many there are */
    Sm *const *sms;            /* that they go to; borrowed, as the next */
    SmGrid *const *grid;       /* what each calls it */
    const IsaLaunch *clusters; /* of a grid whose clusters have several CTAs; NULL: it has none */
    uint32_t warps;            /* of a CTA */
    uint32_t l1d_lines;        /* of an SM while the grid runs, ... */
    uint32_t l1d_ways;         /* ... and of a set */
    uint64_t given;            /* SM cycle from which the launch latency counts */
    uint32_t last;             /* SM behind which the first CTA looks for room */
    bool shares_sms;           /* other grids are on the SMs */
    const Counters *marks;     /* by SM: its counters when the grid's turn came; NULL: all were 0 */
} DispatchGrid;
/* It begins at `cycle`, after that. */
void dispatch_start(Dispatch *dispatch, const DispatchGrid *grid, uint64_t cycle);
/* What an SM has counted since the grid's turn came, and the cycles of those in which all its warps
 * waited for memory. */
void dispatch_count(const Dispatch *dispatch, uint32_t sm, Counters *counters,
                    uint64_t *memory_cycles);
/* A CTA has finished at `cycle` in a slot of an SM that has counted this much since the kernel's
 * start, and `memory_cycles` in which all its warps waited for memory. */
void dispatch_finished(Dispatch *dispatch, uint32_t sm, uint32_t slot, const Counters *counters,
                       uint64_t memory_cycles, uint64_t cycle);
/* The end of a cycle, before dispatch_step: the CTA scheduler looks at the SMs if it is time, and
 * pauses CTAs. True: SMs have something to do. */
bool dispatch_sample(Dispatch *dispatch, uint64_t cycle);
/* SM cycles after `cycle`, the current one, that need no call of dispatch_sample. */
static inline uint64_t dispatch_quiet(const Dispatch *dispatch, uint64_t cycle) {
    if (dispatch->sample_at == UINT64_MAX) return UINT64_MAX;
    return dispatch->sample_at > cycle ? dispatch->sample_at - cycle - 1 : 0;
}
/* A load of the SM has looked for a line in its L1D. */
void dispatch_l1d_load(Dispatch *dispatch, uint32_t sm, uint64_t address);
/* Lets the CTA scheduler tell its numbers. */
void dispatch_report(Dispatch *dispatch, const TytoReport *out);
/* Whether the CTA scheduler wants to hear of L1D misses. */
bool dispatch_wants_loads(const Dispatch *dispatch);
/* The end of a cycle: SMs with room get CTAs of the grid. False when the CTA scheduler chose
 * wrongly: see `fault`. */
bool dispatch_step(Dispatch *dispatch, uint64_t cycle);

#endif
