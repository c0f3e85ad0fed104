/* A fabricated SM: a view and a policy's state, driven by hand without a GPU. */
#ifndef TYTO_TESTS_SCHED_FABRICATED_H
#define TYTO_TESTS_SCHED_FABRICATED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sched/agent.h"
#include "sched/view.h"

typedef struct Fabricated {
    SchedPolicy *policy;
    SchedAgent agent;
    void *state; /* that of the agent */
    TytoSmView view;
    uint64_t next_age; /* of the next warp */
} Fabricated;

typedef struct FabricatedSize {
    uint32_t sm, sms;        /* its number, and the number of SMs; 0 SMs: 1 */
    uint32_t schedulers;     /* 0: 1 */
    uint32_t warps;          /* slots; 0: 64 */
    uint32_t ctas;           /* at most resident at once; 0: as many as fit */
    uint32_t warps_per_cta;  /* 0: 1 */
    uint32_t issue_interval; /* cycles; 0: 1 */
} FabricatedSize;

/* An empty SM under a policy named as on the command line. Fails the test if there is no such
 * policy. */
void fabricate(Fabricated *f, const char *policy, FabricatedSize size);
void fabricated_free(Fabricated *f);

/* The set of the warps first to last. */
uint64_t warps(int first, int last);

void launch(Fabricated *f, int cta_slot, uint64_t index); /* its warps have an instruction each */
void launch_all(Fabricated *f);                           /* CTA i in slot i, up to the limit */
void finish_warp(Fabricated *f, int warp);                /* and its CTA with the last warp */
void arrive(Fabricated *f, int warp);                     /* at a barrier */
void release(Fabricated *f, int cta_slot);                /* from the barrier */
void release_some(Fabricated *f, int cta_slot, uint64_t set); /* from one of several barriers */
void block(Fabricated *f, uint64_t set);                      /* these wait for memory */
void unblock(Fabricated *f, uint64_t set);
void pass(Fabricated *f, uint64_t cycles);

/* The policy's pick for scheduler 0 (pick_of: any) among `ready`, or among all warps that nothing
 * blocks. */
int pick_of(Fabricated *f, int scheduler, uint64_t ready);
int pick(Fabricated *f, uint64_t ready);
int pick_any(Fabricated *f);
/* The warp issues an instruction of 32 lanes, or of `lanes`. */
void issue(Fabricated *f, int warp);
void issue_lanes(Fabricated *f, int warp, int lanes);
/* Picks among all warps that nothing blocks, and lets the picked warp issue. */
int step(Fabricated *f);

void l1d_hit(Fabricated *f, int warp, uint64_t address);
void l1d_miss(Fabricated *f, int warp, uint64_t address);
/* A further sector of the same load and line. */
void l1d_miss_again(Fabricated *f, int warp, uint64_t address);
void l1d_join(Fabricated *f, int warp, uint64_t address); /* a miss on a line under way */
void l1d_evict(Fabricated *f, int owner, uint64_t address);
void l1d_evict_by(Fabricated *f, int warp, int owner, uint64_t address); /* for a miss of `warp` */
void l1d_store(Fabricated *f, int warp, uint64_t address);
void last_cta(Fabricated *f);
void issue_load(Fabricated *f, int warp, uint32_t pc); /* through the L1D */
/* The load at `pc` finds the line that `owner` brought in, or misses it (TYTO_NO_WARP). */
void l1d_look_up(Fabricated *f, int warp, uint32_t pc, uint64_t address, int owner);
/* The same, for a line that the load at `owner_pc` brought in. */
void l1d_find(Fabricated *f, int warp, uint32_t pc, uint64_t address, int owner, uint32_t owner_pc);
/* A branch at `pc` after which the warp continues at `target`; call it before the branch's
 * issue. */
void branch(Fabricated *f, int warp, uint32_t pc, uint32_t target, bool is_divergent);
void branch_lanes(Fabricated *f, int warp, uint32_t pc, uint32_t target, int lanes);
uint64_t may_load(Fabricated *f);  /* of the resident ones */
uint64_t may_issue(Fabricated *f); /* of the resident ones */

/* The value that the policy reports under `name`; fails the test if there is none. */
double reported(Fabricated *f, const char *name);
/* Writes the list reported under `name` to values[] and returns its length; fails the test if there
 * is none. */
int reported_list(Fabricated *f, const char *name, double *values, int most);

#endif
