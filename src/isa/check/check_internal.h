/* What the files of the checks share. */
#ifndef TYTO_ISA_CHECK_CHECK_INTERNAL_H
#define TYTO_ISA_CHECK_CHECK_INTERNAL_H

#include "isa/check/check.h"
#include "memory/shadow.h"

/* ---- Races ---- */

enum { RELEASES = 8 }; /* of a warp that are remembered */

/* Accesses of a warp up to a time, which others that acquire later may rely on. */
typedef struct Release {
    uint64_t up_to;   /* accesses before this time ... */
    uint64_t time;    /* ... are released at this one */
    bool is_cta_wide; /* to the CTA only */
} Release;

typedef struct Releases {
    Release ring[RELEASES]; /* rising; the oldest is overwritten */
    uint32_t count;         /* ever */
    uint64_t forgotten;     /* up_to of the last one overwritten */
} Releases;

enum { CHECK_GROUPS = 8 }; /* of products that a warp commits; a wait leaves at most 7 */

/* Times up to which warps and lanes of a CTA know of each other. Time is the number of events of
 * the launch that order or write something, so far. */
typedef struct CtaClocks {
    uint64_t known[ISA_MAX_WARPS_PER_CTA][ISA_MAX_WARPS_PER_CTA]; /* by [this warp][of that] */
    uint64_t acquired[ISA_MAX_WARPS_PER_CTA]; /* last time a warp looked at what others released */
    uint64_t arrived[ISA_BARRIERS][ISA_MAX_WARPS_PER_CTA]; /* at a barrier that is not complete */
    uint64_t proxy_fence;                                  /* last fence.proxy.async of any warp */
    /* When each warp committed its last groups of products, by number modulo the array's; up to
     * when its warpgroup has waited for them: */
    uint64_t committed[ISA_MAX_WARPS_PER_CTA][CHECK_GROUPS];
    uint64_t products_over[ISA_MAX_WARPS_PER_CTA];
    uint64_t (*lanes)[ISA_LANES][ISA_LANES]; /* per warp, by [this lane][of that]; NULL: the lanes
                                                of a warp run in lockstep */
    uint32_t lanes_capacity;                 /* warps */
} CtaClocks;

/* ---- The objects ---- */

/* A barrier of a warp's lanes at which some have yet to arrive. */
typedef struct PendingSync {
    uint32_t members; /* 0: none is pending */
    uint32_t arrived;
    uint32_t pc; /* of the first that arrived */
    int lane;    /* likewise */
} PendingSync;

/* One bit per byte of a thread's local memory: those of a word in a byte. */
typedef struct LocalWritten {
    uint8_t *words; /* word w of lane l at [w * 32 + l] */
    uint32_t count; /* words of a lane */
} LocalWritten;

typedef struct IsaCtaCheck {
    uint8_t *shared_written; /* a bit per byte */
    uint32_t shared_capacity;
    Shadow *shared;                          /* NULL: races are not looked for */
    CtaClocks clocks;                        /* likewise */
    uint32_t participants[ISA_BARRIERS];     /* warps that have arrived, bit each */
    uint32_t counts[ISA_BARRIERS];           /* that the first of them named */
    uint32_t pc[ISA_MAX_WARPS_PER_CTA];      /* of the barrier that a warp arrived at last */
    PendingSync sync[ISA_MAX_WARPS_PER_CTA]; /* of the lanes of each warp */
    uint32_t awaited[ISA_MAX_WARPS_PER_CTA][ISA_LANES]; /* by the lanes of each warp */
    LocalWritten local[ISA_MAX_WARPS_PER_CTA];
} IsaCtaCheck;

struct IsaCheck {
    IsaCheckOptions options;
    Findings *findings; /* borrowed */
    uint64_t program;   /* number of the running launch's */
    IsaSite *sites;     /* of device malloc, in the order in which they were met */
    uint32_t site_count;
    /* Races, of the running launch: */
    Shadow *global;
    uint64_t now;         /* time */
    Releases **releases;  /* by warp of the grid, NULL until it released something */
    uint64_t warps;       /* of the grid */
    bool has_lane_clocks; /* the lanes of a warp need not run in lockstep */
};

/* ---- Findings ---- */

/* Notes a finding of a warp's instruction; true when its words are wanted. `other` and `detail`
 * tell findings at one place apart. */
bool check_note(const IsaCheck *check, FindingKind kind, uint32_t pc, uint64_t other,
                uint64_t detail);
/* Adds it: `text` is its first line, and `behind` what follows the place; both are taken over. */
typedef struct CheckPlace {
    const IsaLaunch *launch;
    const IsaWarp *warp;
    uint32_t pc;
    int lane;
    uint64_t address;
    uint32_t other_pc; /* ISA_NO_PC: there is no other */
} CheckPlace;
void check_add(const IsaCheck *check, FindingKind kind, const char *what, const CheckPlace *place,
               Text *text, Text *behind);

static inline IsaCheck *check_of(const IsaContext *context) { return context->launch->check; }

/* ---- One check each ---- */

void race_start(IsaCheck *check, const IsaLaunch *launch);
void race_cta(IsaCta *cta);
void race_access(IsaContext *context, const IsaWarp *warp, const IsaInst *inst, PtxSpace space,
                 uint32_t bytes, uint32_t mask, IsaAccess access);
void race_fence(IsaContext *context, const IsaWarp *warp, bool is_cta_wide);
void race_acquire(IsaCheck *check, const IsaWarp *warp);
void race_proxy_fence(IsaCheck *check, const IsaWarp *warp);
void race_products_committed(IsaCheck *check, const IsaWarp *warp);
void race_products_over(const IsaWarp *warp);
void race_lanes_meet(IsaContext *context, const IsaWarp *warp, uint32_t lanes);
void race_arrival(const IsaContext *context, const IsaWarp *warp, uint32_t number);
void race_completion(const IsaContext *context, const IsaCta *cta, uint32_t number,
                     uint32_t waiting);

void init_cta(IsaCta *cta);
/* Lanes have written to the shared memory of other CTAs. */
void init_cluster_write(const IsaContext *context, const IsaWarp *warp, uint32_t bytes,
                        uint32_t mask);
void init_access(IsaContext *context, const IsaWarp *warp, PtxSpace space, const IsaInst *inst,
                 uint32_t bytes, uint32_t mask, IsaAccess access);

void sync_members(IsaContext *context, const IsaWarp *warp, const uint32_t *members, uint32_t mask,
                  const int32_t *sources, bool is_barrier);
void sync_divergence(const IsaContext *context, const IsaWarp *warp, uint32_t pc, uint32_t lanes);
void sync_arrival(const IsaContext *context, const IsaWarp *warp, uint32_t number, uint32_t count,
                  uint32_t mask);
void sync_completion(const IsaContext *context, const IsaCta *cta, uint32_t number);
void sync_exit(const IsaContext *context, const IsaWarp *warp);

#endif
