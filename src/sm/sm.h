/* One streaming multiprocessor (SM), simulated cycle by cycle.
 *
 * An instruction is fetched through the L1I and decoded into its warp's buffer. A scheduler picks
 * it when its registers are free. At that moment it is executed functionally (isa/source.h). Then
 * it takes its timed path: operand collector, pipeline or load/store unit, write-back. Within a
 * cycle the stages run from back to front, so that an earlier stage can use what a later one freed
 * in the same cycle. docs/sm.md describes this with the timeline of an instruction.
 *
 * An SM in which nothing can happen sleeps until SmEnvironment.wake. The skipped cycles are
 * accounted for with the outcome of the last one. SMs interact with other units, and with each
 * other, only through the networks. */
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
#include "sm/deliveries.h"
#include "sm/grid.h"
#include "sm/profile.h"
#include "sm/sm_config.h"
#include "stats/counters.h"
#include "stats/histogram.h"
#include "stats/sets.h"
#include "stats/warp_states.h"
#include "tyto/cta_policy.h"

typedef struct Sm Sm;

/* What an SM is connected to. Everything is borrowed and must outlive the SM. */
typedef struct SmEnvironment {
    uint64_t *wake; /* where the SM stores the next cycle in which sm_step has work; UINT64_MAX:
                       none until a reply or a CTA arrives. It belongs to the owner, which checks
                       all SMs in every cycle */
    struct SmOrder *order; /* order between SMs that several threads step (order.h); NULL: one
                              thread */
    bool never_sleeps;     /* step in every cycle, even without work, and use the issue code that
                              handles every feature (tests) */
    bool is_l1_perfect;    /* every access hits its L1 cache, except instruction fetches */
    bool is_profiled;      /* count per instruction, too */
    bool l2_takes_hints;   /* as in partition_config.h */
    uint32_t index;        /* number of this SM */
    uint32_t node;         /* its node in both networks; several SMs may share one */
    Noc *requests;         /* request network */
    Noc *replies;          /* reply network; the agent that serves other SMs sends to it */
    const AddressMap *map; /* maps addresses to L2 slices */
    uint32_t first_slice_node; /* node of L2 slice 0 in both networks */
    uint32_t half_slices;      /* L2 slices per half; 0: L2 has only one part
                                  (partition/remote_l2.h) */
    uint32_t half;             /* the half that is near to this SM */
    uint32_t header_bytes;     /* bytes of a packet without data */
    uint32_t l2_sector_bytes;  /* the size of the parts that a partition splits requests into */
    uint32_t sms;              /* number of SMs of the GPU */
    SetCounts *l1d_sets;       /* counts per set of its L1D; NULL: not wanted */
    Pages *pages;              /* where its memory is allocated; NULL: anywhere */
    const SmConfig *config;
    const struct SmCore *core; /* core of the SM; NULL: the one that the configuration names */
    const SchedPolicy *policy; /* warp scheduling policy */
    SchedCall *policy_call;    /* records the policy's calls; NULL: not wanted */
} SmEnvironment;

/* A CTA that ran on an SM from its launch to the retirement of its last warp. */
typedef struct SmCtaEnd {
    uint64_t cta;        /* linear index in the grid */
    uint64_t start, end; /* SM cycles */
    void *grid;          /* SmGridStart.user */
    uint32_t sm;         /* number of the SM */
    uint32_t slot;       /* CTA slot */
    bool has_triggered;  /* it has let dependent grids begin (SmListener) */
} SmCtaEnd;

/* Events of an SM for others (timeline, recorded L1D stream, CTA dispatcher). */
typedef struct SmListener {
    void (*cta_finished)(void *user, const SmCtaEnd *end);
    /* A CTA of the grid (SmGridStart.user) lets dependent grids begin; called only the first time.
     * NULL: not wanted. */
    void (*cta_triggered)(void *user, void *grid);
    /* A load looked up the line of `address`; NULL: not wanted. */
    void (*l1d_load)(void *user, uint32_t sm, uint64_t address);
    /* The L1D had a lookup (not refused), a fill or a flush; NULL: not wanted. */
    void (*l1d_record)(void *user, const L1dRecord *record);
    /* sm_look_again must be called for this CTA at the end of the cycle. Only grids with clusters
     * call this. */
    void (*look_again)(void *user, SourcePlace place);
    void *user;
} SmListener;

Sm *sm_new(const SmEnvironment *environment);
void sm_free(Sm *sm);

/* Requests in flight, including those whose replies the SM holds. In one cycle an SM can handle the
 * last reply of at most this many requests: one in the fetch unit and one in the load/store
 * unit. */
enum { SM_MOST_ANSWERS = 2 };
uint32_t sm_requests_under_way(const Sm *sm);
/* The pool of the SM's memory requests (MemRequestPools). */
MemRequest *sm_request_pool(Sm *sm);
/* Adds an agent to a new SM; returns its number. */
uint32_t sm_attach(Sm *sm, const SmAgentOps *ops, void *agent);

/* What an SM gets for a grid. Everything is borrowed until the grid ends, except the listener,
 * which is copied. */
typedef struct SmGridStart {
    WarpSource *source;         /* executes its warps on this SM */
    const SmOp *ops;            /* rows of its program for the SM's machine (sm_ops_new) */
    const void *rows;           /* the core's own rows (SmCore.rows); NULL: none */
    const SmListener *listener; /* the SM's listener from now on */
    void *user;                 /* SmCtaEnd.grid */
    uint32_t registers;         /* registers of the SM per CTA */
    uint32_t shared_bytes;      /* bytes of shared memory per CTA */
    uint32_t ctas;              /* most CTAs of it resident at once */
    bool waits;                 /* a grid that it depends on still runs (sm_end_wait) */
} SmGridStart;

/* Begins a grid at `cycle`. If no other grid is running, all counters are cleared and caches are
 * flushed as configured. At most SM_MAX_GRIDS grids can run at once. If a grid begins next to
 * another, the warp scheduler keeps its state, and its view keeps the `cta_limit` and
 * `warps_per_cta` of the first grid. */
SmGrid *sm_begin_grid(Sm *sm, const SmGridStart *start, uint64_t cycle);
/* Ends a grid, regularly or early: no more CTAs of it are launched. Its results (counters, resident
 * warps, profile) can be read until another grid begins. */
void sm_end_grid(Sm *sm, SmGrid *grid);

/* Called between steps when the grids that this grid depends on have ended. Its warps that wait for
 * them (griddepcontrol) continue. */
void sm_end_wait(Sm *sm, SmGrid *grid, uint64_t cycle);

/* Called between steps: moves SmEnvironment.wake to this address, with its value. */
void sm_move_wake(Sm *sm, uint64_t *wake);

/* Called before a kernel: sets the share of shared memory in a unified store (carve_out.h). */
void sm_carve_out(Sm *sm, uint32_t shared_bytes);
/* Whether warp slots, CTA slots, registers and shared memory are free for another CTA of the grid,
 * next to the CTAs of all grids. If it has been the only grid since the SM was empty,
 * SmGridStart.ctas gives the same answer. */
bool sm_has_room(const Sm *sm, const SmGrid *grid);
/* Launches a CTA of the grid on the SM, which must have room for it, at the end of `cycle`. */
void sm_launch_cta(Sm *sm, SmGrid *grid, uint64_t cta, uint64_t cycle);
/* Pauses the grid's CTAs in these slots and resumes its other CTAs, from the end of `cycle` on.
 * Warps of a paused CTA issue nothing. Returns those of the slots that hold a CTA of the grid. */
uint64_t sm_pause_ctas(Sm *sm, const SmGrid *grid, uint64_t slots, uint64_t cycle);
/* An action of another SM may release warps of the CTA in this slot from the end of `cycle` on: at
 * a barrier of its cluster, or at an mbarrier. */
void sm_look_again(Sm *sm, uint32_t slot, uint64_t cycle);
/* Gets the progress of the CTA in a slot, or of the last one that was there. Returns whether a CTA
 * of this grid is in the slot. */
bool sm_cta_progress(const Sm *sm, const SmGrid *grid, uint32_t slot, TytoCtaProgress *progress);
/* The grid has no CTA left to dispatch. */
void sm_last_cta(Sm *sm, SmGrid *grid, uint64_t cycle);

/* Lets the warp scheduler report its statistics. */
void sm_report_policy(Sm *sm, const TytoReport *out);

/* First part of a cycle, before the networks move: offers the SM one of its replies, by its handle.
 * Returns false if there is no room; then the reply must be offered again. */
__attribute__((noinline)) bool sm_offer(Sm *sm, uint64_t cycle,
                                        uint32_t handle); /* separate in profiles */
/* The copies that a reply, which this SM requested, needs for other SMs. Returns their number. */
uint32_t sm_copies(const Sm *sm, uint32_t handle, SmDelivery copies[SM_MOST_COPIES]);
/* A copy has arrived at the SM that it is for. `sm` is the SM that requested the data. */
void sm_delivered(Sm *sm, uint64_t cycle, uint32_t delivery);
/* Offers a request whose target is this SM and which an agent of it serves; as sm_offer. */
bool sm_offer_request(Sm *sm, uint64_t cycle, MemRequest *request);
/* The SM's own cycle. */
__attribute__((noinline)) void sm_step(Sm *sm, uint64_t cycle); /* likewise */

/* Whether no CTA is resident and nothing is in flight. */
bool sm_is_idle(const Sm *sm);
uint32_t sm_resident_ctas(const Sm *sm);
/* The fault of an instruction or of the policy; NULL: none. After a fault the launch is over, and
 * the SM cannot be used any more. */
const IsaFault *sm_fault(const Sm *sm);
/* SmGridStart.user of the grid whose instruction failed; NULL: the policy failed. */
void *sm_failed_grid(const Sm *sm);
/* What the SM has counted for this grid alone. */
SmGridCounts sm_grid_counts(const Sm *sm, const SmGrid *grid);

/* Accounts for all cycles before `cycle`; after that the counters are complete. */
void sm_settle(Sm *sm, uint64_t cycle);
const Counters *sm_counters(const Sm *sm);
/* MemoryBlockCycles up to the current cycle, including those not yet added to the counters. */
uint64_t sm_memory_cycles(const Sm *sm);
const Histograms *sm_histograms(const Sm *sm);
/* All 0 if the core does not count them. */
const WarpStates *sm_warp_states(const Sm *sm);

/* Called for each resident warp, by warp slot, with its stall reason. */
typedef void SmVisitStallReasons(void *user, const SourceWarp *warp, uint32_t pc, int slot,
                                 ProfileColumn cause);
/* Deadlock detection (WarpSourceType). sm_changes returns the number of changes by all resident
 * grids. sm_all_poll returns whether every warp on the SM only polls for stores of others or is
 * starved. A warp is starved if it has issued nothing since the last call with SM_POLLS_NOW and has
 * nothing in flight; then `has_starved` is set. sm_prove_polls makes the warps compare their
 * states, or stops that. */
typedef enum SmPolls {
    SM_POLLS_NOW,     /* all warps poll now */
    SM_POLLS_STILL,   /* all warps poll, and warps that had issued nothing at SM_POLLS_NOW still
                         have issued nothing */
    SM_POLLS_FOR_EVER /* the same, and they will poll without end */
} SmPolls;
uint64_t sm_changes(const Sm *sm);
bool sm_all_poll(Sm *sm, uint32_t rounds, SmPolls asked, bool *has_starved);
void sm_prove_polls(Sm *sm, bool proves);

void sm_visit_stall_reasons(const Sm *sm, SmVisitStallReasons *visit, void *user);

/* Counts per instruction, complete after sm_settle; NULL: not wanted. */
const SmProfile *sm_profile(const Sm *sm);

#endif
