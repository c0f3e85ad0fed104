/* CTA dispatch: which SM gets the grid's next thread block (CTA), and when. The CTA scheduler
 * limits how many CTAs an SM may hold, and may choose the next SM. If it does not choose, SMs with
 * room are served round-robin.
 *
 * A cluster is dispatched as a whole, in one cycle, to a group of SMs (GPC) that has room for all
 * its CTAs. Groups are served round-robin, each at most once per cycle. Within a group, CTAs are
 * spread as evenly as the room allows. For clusters the CTA scheduler only limits the CTAs per SM;
 * it does not choose SMs or CTAs. */
#ifndef TYTO_ENGINE_DISPATCH_H
#define TYTO_ENGINE_DISPATCH_H

#include "machine/machine.h"
#include "isa/launch.h"
#include "sched/cta_agent.h"
#include "sm/sm.h"

enum { DISPATCH_ANY_SM = -1 };

typedef struct Dispatch {
    const CtaConfig *config;
    CtaAgent agent;      /* the CTA scheduler and its state */
    TytoGridView view;   /* what the CTA scheduler sees; `next` and `ctas` count the grid's CTAs */
    uint32_t *resident;  /* by SM: CTAs of the grid on the SM; the view points to it */
    uint32_t *given;     /* by SM: CTAs dispatched to it in this cycle */
    uint64_t not_before; /* SM cycle of the first dispatch (launch latency) */
    uint32_t limit;      /* CTAs of the grid per SM; set before dispatch_start */
    Sm *const *sms;      /* SMs that receive the CTAs, ... */
    SmGrid *const *grid; /* ... and the grid on each of them */
    const IsaLaunch *launch; /* DispatchGrid.clusters */
    uint32_t gpcs;           /* groups of SMs, at least 1 */
    uint32_t last_gpc;       /* group that received the last cluster */
    const Counters *marks;   /* DispatchGrid.marks */
    bool shares_sms;    /* other grids have been on the SMs, so ask each SM whether it has room */
    uint32_t last;      /* SM that received the last CTA */
    bool is_over;       /* all CTAs are dispatched, and the SMs know */
    int asked_sm;       /* the only SM that the CTA scheduler may ask about now; DISPATCH_ANY_SM */
    int asked_slot;     /* the slot of this SM whose CTA has just finished; -1: none */
    uint64_t sample_at; /* SM cycle of the next call of `sample`; UINT64_MAX: never */
    uint64_t *paused;   /* by SM: CTA slots that the CTA scheduler has paused, bit each, ... */
    bool has_paused;    /* ... and whether this changed since the SMs were informed */
    uint64_t *gone;     /* CTAs already dispatched, bit each; only if the policy orders CTAs */
    IsaFault fault;     /* why the CTA scheduler's choice was invalid */
} Dispatch;

/* Initializes a dispatcher under `sched` (borrowed; NULL: as many CTAs as fit). `sizes` has the
 * sizes of the L1D. The CTA scheduler's calls are recorded in `call` (cta_agent_init). */
void dispatch_init(Dispatch *dispatch, const CtaConfig *config, const CtaSched *sched,
                   const TytoGridView *sizes, SchedCall *call);
void dispatch_free(Dispatch *dispatch);
/* The most CTAs of a grid of `ctas` CTAs that an SM will hold at once, if its resources allow
 * `ctas_per_sm`. */
uint32_t dispatch_limit(const Dispatch *dispatch, uint64_t ctas, uint32_t ctas_per_sm);
/* What a dispatcher needs to know about a grid. */
typedef struct DispatchGrid {
    uint64_t next, ctas;       /* the next CTA to dispatch, and the number of CTAs */
    Sm *const *sms;            /* SMs that receive the CTAs; borrowed, like `grid` */
    SmGrid *const *grid;       /* the grid on each SM */
    const IsaLaunch *clusters; /* the launch, if its clusters have several CTAs; NULL otherwise */
    uint32_t warps;            /* warps per CTA */
    uint32_t l1d_lines;        /* lines of an SM's L1D while the grid runs, ... */
    uint32_t l1d_ways;         /* ... and of one of its sets */
    uint64_t given;            /* SM cycle from which the launch latency counts */
    uint32_t last;             /* the search for room starts after this SM */
    bool shares_sms;           /* other grids are on the SMs, too */
    const Counters *marks;     /* by SM: its counters when the grid's turn came; NULL: all were 0 */
} DispatchGrid;
/* Starts the dispatch of a grid at SM cycle `cycle`. */
void dispatch_start(Dispatch *dispatch, const DispatchGrid *grid, uint64_t cycle);
/* What an SM has counted since the grid's turn came, and in how many SM cycles all its warps waited
 * for memory. */
void dispatch_count(const Dispatch *dispatch, uint32_t sm, Counters *counters,
                    uint64_t *memory_cycles);
/* Informs the CTA scheduler that a CTA has finished at `cycle` in a slot of the SM. `counters` is
 * what the SM has counted since the kernel's start; in `memory_cycles` of the cycles all its warps
 * waited for memory. */
void dispatch_finished(Dispatch *dispatch, uint32_t sm, uint32_t slot, const Counters *counters,
                       uint64_t memory_cycles, uint64_t cycle);
/* Lets the CTA scheduler inspect the SMs and pause CTAs, if it is time. Called at the end of a
 * cycle, before dispatch_step. Returns whether SMs have something to do. */
bool dispatch_sample(Dispatch *dispatch, uint64_t cycle);
/* SM cycles after `cycle`, the current one, in which dispatch_sample need not be called. */
static inline uint64_t dispatch_quiet(const Dispatch *dispatch, uint64_t cycle) {
    if (dispatch->sample_at == UINT64_MAX) return UINT64_MAX;
    return dispatch->sample_at > cycle ? dispatch->sample_at - cycle - 1 : 0;
}
/* Informs the CTA scheduler that a load of the SM looked up a line in its L1D. */
void dispatch_l1d_load(Dispatch *dispatch, uint32_t sm, uint64_t address);
/* Lets the CTA scheduler report its numbers. */
void dispatch_report(Dispatch *dispatch, const TytoReport *out);
/* Whether the CTA scheduler wants dispatch_l1d_load to be called. */
bool dispatch_wants_loads(const Dispatch *dispatch);
/* Dispatches CTAs of the grid to SMs with room, at the end of a cycle. Returns false if the CTA
 * scheduler's choice was invalid: see `fault`. */
bool dispatch_step(Dispatch *dispatch, uint64_t cycle);

#endif
