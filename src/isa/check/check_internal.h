/* Shared by the files of the checks. */
#ifndef TYTO_ISA_CHECK_CHECK_INTERNAL_H
#define TYTO_ISA_CHECK_CHECK_INTERNAL_H

#include "isa/check/check.h"
#include "memory/shadow.h"

/* ---- Races ---- */

enum { RELEASES = 8 }; /* releases remembered per warp */

/* Accesses of a warp up to some time. Others that acquire later are ordered after them. */
typedef struct Release {
    uint64_t up_to;   /* accesses before this time are released ... */
    uint64_t time;    /* ... at this time */
    bool is_cta_wide; /* to the CTA only */
} Release;

typedef struct Releases {
    Release ring[RELEASES]; /* in order of time; the oldest is overwritten */
    uint32_t count;         /* releases so far, including overwritten ones */
    uint64_t forgotten;     /* up_to of the last one overwritten */
} Releases;

enum { CHECK_GROUPS = 8 }; /* committed product groups of a warp; a wait leaves at most 7 */

/* For each warp and lane of a CTA: the time up to which it is ordered after the accesses of the
 * others. Time is the number of ordering or writing events of the launch so far. */
typedef struct CtaClocks {
    uint64_t known[ISA_MAX_WARPS_PER_CTA][ISA_MAX_WARPS_PER_CTA]; /* [this warp][other warp] */
    uint64_t acquired[ISA_MAX_WARPS_PER_CTA]; /* last time the warp acquired what others had
                                               * released */
    uint64_t arrived[ISA_BARRIERS][ISA_MAX_WARPS_PER_CTA]; /* time of arrival at a barrier that is
                                                            * not complete */
    uint64_t proxy_fence;                                  /* time of the last fence.proxy.async of
                                                            * any warp */
    /* committed: when each warp committed its latest groups of products, by group number modulo the
     * array size. products_over: commit time of the last group that its warpgroup has waited
     * for. */
    uint64_t committed[ISA_MAX_WARPS_PER_CTA][CHECK_GROUPS];
    uint64_t products_over[ISA_MAX_WARPS_PER_CTA];
    uint64_t (*lanes)[ISA_LANES][ISA_LANES]; /* per warp, [this lane][other lane]; NULL: the lanes
                                              * of a warp run in lockstep */
    uint32_t lanes_capacity;                 /* allocated size of lanes, in warps */
} CtaClocks;

/* ---- The objects ---- */

/* A bar.warp.sync at which some lanes have not arrived yet. */
typedef struct PendingSync {
    uint32_t members; /* 0: none is pending */
    uint32_t arrived;
    uint32_t pc; /* of the first lane that arrived */
    int lane;    /* the first lane that arrived */
} PendingSync;

/* One bit per byte of a thread's local memory: one byte here holds the bits of a 4-byte word. */
typedef struct LocalWritten {
    uint8_t *words; /* word w of lane l at [w * 32 + l] */
    uint32_t count; /* words per lane */
} LocalWritten;

typedef struct IsaCtaCheck {
    uint8_t *shared_written; /* a bit per byte */
    uint32_t shared_capacity;
    Shadow *shared;                          /* NULL: the race check is off */
    CtaClocks clocks;                        /* unused if the race check is off */
    uint32_t participants[ISA_BARRIERS];     /* warps that have arrived, one bit each */
    uint32_t counts[ISA_BARRIERS];           /* the thread count that the first of them named */
    uint32_t pc[ISA_MAX_WARPS_PER_CTA];      /* of the barrier at which each warp arrived last */
    PendingSync sync[ISA_MAX_WARPS_PER_CTA]; /* pending bar.warp.sync of each warp */
    uint32_t awaited[ISA_MAX_WARPS_PER_CTA][ISA_LANES]; /* lanes that each lane has waited for */
    LocalWritten local[ISA_MAX_WARPS_PER_CTA];
} IsaCtaCheck;

struct IsaCheck {
    IsaCheckOptions options;
    Findings *findings; /* borrowed */
    uint64_t program;   /* number of the program of the running launch */
    IsaSite *sites;     /* call sites of device malloc, in order of first use */
    uint32_t site_count;
    /* Races in the running launch: */
    Shadow *global;
    uint64_t now;         /* current time */
    Releases **releases;  /* by warp number in the grid; NULL until the warp's first release */
    uint64_t warps;       /* in the grid */
    bool has_lane_clocks; /* the lanes of a warp may run independently */
};

/* ---- Findings ---- */

/* Records a finding at the warp's instruction; returns true if its text is needed. `other` and
 * `detail` distinguish findings at the same instruction. */
bool check_note(const IsaCheck *check, FindingKind kind, uint32_t pc, uint64_t other,
                uint64_t detail);
/* Adds the finding. `text` is its first line; `behind` follows the place. Takes ownership of
 * both. */
typedef struct CheckPlace {
    const IsaLaunch *launch;
    const IsaWarp *warp;
    uint32_t pc;
    int lane;
    uint64_t address;
    uint32_t other_pc; /* ISA_NO_PC: no second instruction */
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
