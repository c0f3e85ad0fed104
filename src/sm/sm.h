/* One streaming multiprocessor (SM), cycle by cycle.
 *
 * An instruction is fetched through the L1I, decoded into its warp's buffer, picked by a scheduler
 * when its registers are free, executed functionally at that moment (isa/source.h), and goes its
 * timed way: operand collector, pipeline or load/store unit, write-back. Stages run back to front
 * inside a cycle, so that what a later stage frees can be used by an earlier one in the same cycle,
 * as docs/sm.md describes with the timeline of an instruction.
 *
 * An SM in which nothing can happen sleeps: SmEnvironment.wake says until when, and the cycles left
 * out are accounted for with the outcome of the last one. SMs meet other units, and each other,
 * only through the networks. */
#ifndef TYTO_SM_SM_H
#define TYTO_SM_SM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pages.h"
#include "cache/l1d_trace.h"
#include "dram/address_map.h"
#include "isa/source.h"
#include "noc/noc.h"
#include "partition/request.h"
#include "sched/agent.h"
#include "sm/agent.h"
#include "sm/grid.h"
#include "sm/profile.h"
#include "sm/sm_config.h"
#include "stats/counters.h"
#include "stats/histogram.h"
#include "stats/sets.h"
#include "stats/warp_states.h"
#include "tyto/cta_policy.h"

typedef struct Sm Sm;

/* What an SM is built into. Everything is borrowed and must outlive it. */
typedef struct SmEnvironment {
    uint64_t *wake; /* where the SM keeps the next cycle in which sm_step has something to do,
                       UINT64_MAX: not before a reply or a CTA comes. The owner's, who asks
                       all SMs in every cycle */
    struct SmOrder *order; /* of SMs that several threads step (order.h); NULL: one thread only */
    bool never_sleeps;     /* step in every cycle, needed or not, and issue as machines do that have
                              everything (tests) */
    bool is_l1_perfect;    /* every access hits its L1 cache, but those of instructions */
    bool is_profiled;      /* count by instruction too */
    bool l2_takes_hints;   /* as in partition_config.h */
    uint32_t index;        /* number of the SM */
    uint32_t node;         /* of both networks; other SMs may have the same */
    Noc *requests;         /* request network */
    Noc *replies;          /* reply network, into which the SM's agent sends that serves others */
    const AddressMap *map; /* address to L2 slice */
    uint32_t first_slice_node; /* node of L2 slice 0 in both networks */
    uint32_t half_slices;      /* L2 slices of each half; 0: L2 is one (partition/remote_l2.h) */
    uint32_t half;             /* that the SM is near to */
    uint32_t header_bytes;     /* of a packet without data */
    uint32_t l2_sector_bytes;  /* what a partition splits requests into */
    uint32_t sms;              /* of the GPU */
    SetCounts *l1d_sets;       /* what each set of its L1D counts; NULL: not counted */
    Pages *pages;              /* where it lies; NULL: anywhere */
    const SmConfig *config;
    const struct SmCore *core; /* of the SM; NULL: the one that the configuration names */
    const SchedPolicy *policy; /* warp scheduling policy */
    SchedCall *policy_call;    /* where its calls are noted; NULL: not wanted */
} SmEnvironment;

/* A CTA that ran on an SM from its launch to the retirement of its last warp. */
typedef struct SmCtaEnd {
    uint64_t cta;        /* linear index in the grid */
    uint64_t start, end; /* SM cycles */
    void *grid;          /* SmGridStart.user */
    uint32_t sm;         /* number of the SM */
    uint32_t slot;       /* CTA slot */
    bool has_triggered;  /* it has let dependents begin (SmListener) */
} SmCtaEnd;

/* What happens on an SM that others want to hear of (timeline, recorded L1D stream, CTA
 * dispatcher). */
typedef struct SmListener {
    void (*cta_finished)(void *user, const SmCtaEnd *end);
    /* A CTA of the grid (SmGridStart.user) lets grids that depend on this one begin: called the
     * first time that it says so. NULL: not wanted. */
    void (*cta_triggered)(void *user, void *grid);
    /* A load looked for the line of `address`; NULL: not wanted. */
    void (*l1d_load)(void *user, uint32_t sm, uint64_t address);
    /* The L1D was looked up (not refused), filled or emptied; NULL: not wanted. */
    void (*l1d_record)(void *user, const L1dRecord *record);
    /* At the end of the cycle sm_look_again is to be called for that CTA. Only grids with clusters
     * say so. */
    void (*look_again)(void *user, SourcePlace place);
    void *user;
} SmListener;

Sm *sm_new(const SmEnvironment *environment);
void sm_free(Sm *sm);

/* Requests that the SM waits for, replies that it holds among them; of how many at most it handles
 * the last reply in a cycle: one by the fetch unit and one by the load/store unit. */
enum { SM_MOST_ANSWERS = 2 };
uint32_t sm_requests_under_way(const Sm *sm);
/* The pool in which the SM's memory requests live (MemRequestPools). */
MemRequest *sm_request_pool(Sm *sm);
/* Gives a new SM one more agent; its number. */
uint32_t sm_attach(Sm *sm, const SmAgentOps *ops, void *agent);

/* What an SM is given of a grid. Everything but the listener, which is copied, is borrowed until
 * the grid ends. */
typedef struct SmGridStart {
    WarpSource *source;         /* executes its warps on this SM */
    const SmOp *ops;            /* rows of its program for the SM's machine (sm_ops_new) */
    const void *rows;           /* the core's own rows (SmCore.rows); NULL: it has none */
    const SmListener *listener; /* of the SM from now on */
    void *user;                 /* SmCtaEnd.grid */
    uint32_t registers;         /* of the SM that a CTA takes, ... */
    uint32_t shared_bytes;      /* ... and of its shared memory */
    uint32_t ctas;              /* at most this many of its CTAs will be resident at once */
    bool waits;                 /* a grid that it depends on still runs (sm_end_wait) */
} SmGridStart;

/* A grid begins at `cycle`. If no other has begun and not ended, all counters start at 0, and
 * caches are flushed as their configuration says. At most SM_MAX_GRIDS at once. The warp scheduler
 * goes on as it is when a grid begins next to another; its view has the first one's `cta_limit` and
 * `warps_per_cta`. */
SmGrid *sm_begin_grid(Sm *sm, const SmGridStart *start, uint64_t cycle);
/* It has ended, as it had to or early: no CTA of it is launched any more. What it left (counters,
 * warps that are resident, its profile) can be read until another grid begins. */
void sm_end_grid(Sm *sm, SmGrid *grid);

/* Between steps: what the grid depends on has ended. Its warps that wait for that (griddepcontrol)
 * go on. */
void sm_end_wait(Sm *sm, SmGrid *grid, uint64_t cycle);

/* Between steps: SmEnvironment.wake is there from now on, and so is what it says. */
void sm_move_wake(Sm *sm, uint64_t *wake);

/* Before a kernel: its share of a store that L1D and shared memory divide (carve_out.h). */
void sm_carve_out(Sm *sm, uint32_t shared_bytes);
/* Whether warp slots, CTA slots, registers and shared memory are left for a CTA of the grid, next
 * to the CTAs of all grids. Where it is the only grid since the SM was empty, SmGridStart.ctas says
 * the same. */
bool sm_has_room(const Sm *sm, const SmGrid *grid);
/* Gives the SM, which must have room for it, a CTA of the grid at the end of `cycle`. */
void sm_launch_cta(Sm *sm, SmGrid *grid, uint64_t cta, uint64_t cycle);
/* From the end of `cycle` on the warps of the grid's CTAs in these slots issue nothing, and those
 * of its other CTAs may. The slots among these that hold a CTA of the grid. */
uint64_t sm_pause_ctas(Sm *sm, const SmGrid *grid, uint64_t slots, uint64_t cycle);
/* What another SM has done may let warps of the CTA in the slot go on, from the end of `cycle` on:
 * at a barrier of its cluster, or at an mbarrier. */
void sm_look_again(Sm *sm, uint32_t slot, uint64_t cycle);
/* What the CTA in a slot has done, or the last one that was there; whether one of the grid is
 * there.
 */
bool sm_cta_progress(const Sm *sm, const SmGrid *grid, uint32_t slot, TytoCtaProgress *progress);
/* The grid has no CTA left to dispatch. */
void sm_last_cta(Sm *sm, SmGrid *grid, uint64_t cycle);

/* Lets the warp scheduler tell its numbers. */
void sm_report_policy(Sm *sm, const TytoReport *out);

/* The first part of a cycle, before the networks move: a reply that is the SM's is offered to it,
 * by its handle. False: it has no room, and must be offered it again. */
__attribute__((noinline)) bool sm_offer(Sm *sm, uint64_t cycle,
                                        uint32_t handle); /* a unit of its own in profiles */
/* The same of a request whose target the SM is, and which its agents serve. */
bool sm_offer_request(Sm *sm, uint64_t cycle, MemRequest *request);
/* The SM's own cycle. */
__attribute__((noinline)) void sm_step(Sm *sm, uint64_t cycle); /* likewise */

/* No CTA is resident and nothing is under way. */
bool sm_is_idle(const Sm *sm);
uint32_t sm_resident_ctas(const Sm *sm);
/* Set when an instruction failed: the launch is over, and the SM of no further use. */
const IsaFault *sm_fault(const Sm *sm);
/* SmGridStart.user of the grid whose instruction it was; NULL: the policy failed. */
void *sm_failed_grid(const Sm *sm);
/* What the SM has counted of a grid alone. */
SmGridCounts sm_grid_counts(const Sm *sm, const SmGrid *grid);

/* Brings the sums over cycles up to, not including, `cycle`; then the counters are complete. */
void sm_settle(Sm *sm, uint64_t cycle);
const Counters *sm_counters(const Sm *sm);
/* Its MemoryBlockCycles up to the cycle that it is in, settled or not. */
uint64_t sm_memory_cycles(const Sm *sm);
const Histograms *sm_histograms(const Sm *sm);
/* All 0 where the core does not count them. */
const WarpStates *sm_warp_states(const Sm *sm);

/* Called for each resident warp by warp slot, with the cause for which it waits. */
typedef void SmVisitStallReasons(void *user, const SourceWarp *warp, uint32_t pc, int slot,
                                 ProfileColumn cause);
/* Deadlock detection (WarpSourceType): changes by all resident grids; whether all warps on the SM
 * do nothing but look for stores of others, or have issued nothing since SM_POLLS_NOW was last
 * asked though nothing of theirs is under way (then `has_starved` is set); and they compare their
 * states, or no longer do. */
typedef enum SmPolls {
    SM_POLLS_NOW,     /* they do */
    SM_POLLS_STILL,   /* they do, and warps that had issued nothing then still have issued
                         nothing */
    SM_POLLS_FOR_EVER /* the same, and will forever */
} SmPolls;
uint64_t sm_changes(const Sm *sm);
bool sm_all_poll(Sm *sm, uint32_t rounds, SmPolls asked, bool *has_starved);
void sm_prove_polls(Sm *sm, bool proves);

void sm_visit_stall_reasons(const Sm *sm, SmVisitStallReasons *visit, void *user);

/* What was counted of each instruction, complete after sm_settle; NULL: not wanted. */
const SmProfile *sm_profile(const Sm *sm);

#endif
