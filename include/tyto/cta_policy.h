/* Tyto thread block (CTA) scheduling policies: the plug-in interface, version 8.
 *
 * A CTA policy is a constant TytoCtaPolicy: names, parameters, and a few functions. The policy
 * decides how many CTAs an SM may hold, which SM gets the next one and which CTA that is. Every N
 * cycles it can inspect the SMs and pause CTAs. One state object exists per kernel on the machine.
 * A policy must not keep mutable globals, so that a process can hold several simulators. It must
 * not depend on addresses or time, so that runs repeat.
 *
 * A shared object exports one symbol, `tyto_cta_policy`, a `const TytoCtaPolicy`. See
 * docs/writing-a-scheduler.md. Every function may be NULL. tyto/policy.h describes how the
 * interface grows. */
#ifndef TYTO_CTA_POLICY_H
#define TYTO_CTA_POLICY_H

#include "tyto/policy.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TYTO_MAX_SMS = 1024, TYTO_NO_SM = -1 };

/* A set of SMs: bit s % 64 of word s / 64 for SM s. */
typedef struct TytoSmSet {
    uint64_t words[TYTO_MAX_SMS / 64];
} TytoSmSet;

/* What a CTA policy sees of the grid and the GPU. Valid only during a call; fields change between
 * calls. */
typedef struct TytoGridView {
    uint32_t size;      /* bytes of this struct */
    uint64_t cycle;     /* SM cycle */
    uint64_t ctas;      /* CTAs of the grid */
    uint64_t next;      /* CTAs dispatched so far: without `order`, the index of the next one */
    uint32_t sms;       /* SMs of the GPU */
    uint32_t capacity;  /* most CTAs of this kernel that an SM will hold, at least 1: limited by its
                           resources, or by a small grid */
    uint32_t cta_warps; /* warps of a CTA of this kernel */
    uint32_t l1d_lines; /* lines of an SM's L1D */
    const uint32_t *resident; /* by SM: CTAs of the kernel on the SM */
    uint32_t l1d_ways;        /* ways of the L1D: lines of a set */
    uint32_t l1d_mshrs;       /* MSHRs of the L1D: misses that it may wait for */
    uint32_t l1d_line_bytes;  /* bytes of a line of the L1D */
    uint32_t l1d_fill_bytes;  /* bytes that a miss of the L1D requests: a line, or a sector */
    uint64_t cta;             /* index of the CTA dispatched last */
    uint32_t cta_slots;       /* CTA slots of an SM */
    const struct TytoGridAnswers *answers; /* use tyto_grid_cta, tyto_grid_sm and tyto_pause */
    void *unit;                            /* first argument of the functions in `answers` */
} TytoGridView;

/* What an SM has counted since the kernel's start. */
typedef struct TytoSmMeasurement {
    uint32_t size;              /* bytes of this struct */
    uint64_t warp_instructions; /* warp instructions issued */
    uint64_t l1d_accesses;      /* L1D lookups of loads and stores */
    uint64_t l1d_loads;         /* L1D lookups of loads */
    uint64_t dram_reads;        /* lines or sectors that the L1D requested */
    uint64_t reads_answered;    /* replies that the SM received from the network: to these requests,
                                   its atomics, its other caches and its instruction fetches */
    uint64_t load_cycles;       /* sum of the latencies of these replies, SM cycles */
    uint64_t memory_cycles;     /* SM cycles in which all warps of the SM waited for memory */
    uint32_t cta_slot;          /* in `finished` only: slot of the CTA that has finished */
} TytoSmMeasurement;

/* What a CTA, resident or just finished, has done. */
typedef struct TytoCtaProgress {
    uint32_t size;                /* bytes of this struct */
    uint32_t warps;               /* its warps that have not finished */
    uint64_t index;               /* linear index in the grid */
    uint64_t launched;            /* SM cycle at which the SM received it */
    uint64_t instructions;        /* warp instructions that it has issued */
    uint64_t thread_instructions; /* the same, summed over active lanes */
    bool is_paused;
} TytoCtaProgress;

/* What a policy can ask the simulator: use tyto_grid_cta, tyto_grid_sm and tyto_pause. */
typedef struct TytoGridAnswers {
    uint32_t size; /* bytes of this struct */
    bool (*cta)(void *unit, uint32_t sm, uint32_t cta_slot, TytoCtaProgress *progress);
    bool (*sm)(void *unit, uint32_t sm, TytoSmMeasurement *measured);
    void (*pause)(void *unit, uint32_t sm, uint64_t cta_slots);
} TytoGridAnswers;

/* Writes to *progress what the CTA in a slot of the SM has done. Returns false if the slot is
 * empty, or if the simulator cannot answer during this call. In `finished`, only the SM of the
 * finished CTA can be asked about, and the slot of that CTA still counts as occupied. */
static inline bool tyto_grid_cta(const TytoGridView *view, uint32_t sm, uint32_t cta_slot,
                                 TytoCtaProgress *progress) {
    *progress = (TytoCtaProgress){.size = sizeof *progress};
    return view->answers && view->answers->cta(view->unit, sm, cta_slot, progress);
}

/* Writes to *measured what the SM has counted. Returns false if the simulator cannot answer during
 * this call. */
static inline bool tyto_grid_sm(const TytoGridView *view, uint32_t sm,
                                TytoSmMeasurement *measured) {
    *measured = (TytoSmMeasurement){.size = sizeof *measured};
    return view->answers && view->answers->sm(view->unit, sm, measured);
}

/* Pauses the CTAs in `cta_slots` of the SM (bit s for slot s) from the end of the cycle on, and
 * resumes all others. A paused CTA keeps its resources; its warps issue nothing. A CTA that is
 * newly dispatched to a slot is not paused. The policy must resume every CTA eventually: a kernel
 * in which only paused CTAs are left ends as a deadlock. */
static inline void tyto_pause(const TytoGridView *view, uint32_t sm, uint64_t cta_slots) {
    if (view->answers) view->answers->pause(view->unit, sm, cta_slots);
}

/* Initializers of the first fields of a TytoCtaPolicy. */
#define TYTO_CTA_POLICY_HEAD                                                                       \
    .version = TYTO_POLICY_VERSION, .size = sizeof(TytoCtaPolicy),                                 \
    .parameter_bytes = sizeof(TytoPolicyParameter)

typedef struct TytoCtaPolicy {
    uint32_t version;         /* TYTO_POLICY_VERSION */
    uint32_t size;            /* bytes of this struct */
    uint32_t parameter_bytes; /* bytes of a row of `parameters`; TYTO_CTA_POLICY_HEAD sets these
                                 three fields */
    uint32_t parameter_count; /* rows of `parameters` */
    const char *name;         /* as on the command line */
    const char *summary;      /* one line */
    const TytoPolicyParameter *parameters;
    size_t state_bytes; /* bytes of the state; Tyto aligns it to 64 bytes */
    bool is_uneven; /* SMs may hold unequal numbers of CTAs: a small grid is not spread evenly over
                       them */

    /* Returns how many bytes the policy needs after the state (from state + state_bytes rounded up
     * to 64). Called once. Only the machine's sizes (sms, l1d_...) are set in the view. NULL:
     * none. */
    size_t (*extra_bytes)(const TytoGridView *view, const double *values);
    /* Called when a kernel starts, before any CTA is dispatched. The state is all zeros. `values`
     * has the values of the parameters, in the order of their rows. */
    void (*start)(void *state, const TytoGridView *view, const double *values);
    /* Returns how many CTAs the SM may hold now. CTAs beyond that limit stay until they finish.
     * NULL: view->capacity. */
    uint32_t (*limit)(const void *state, const TytoGridView *view, uint32_t sm);
    /* Chooses the SM that gets the next CTA. `room` is a non-empty set of SMs that hold fewer
     * CTAs than they may and can take one in this cycle. Must return a member of `room`, to which
     * a CTA is then dispatched at once, or TYTO_NO_SM to dispatch none in this cycle. NULL:
     * round-robin. */
    int (*choose)(void *state, const TytoGridView *view, const TytoSmSet *room);
    /* Called after CTA view->cta has been dispatched to the SM. */
    void (*dispatched)(void *state, const TytoGridView *view, uint32_t sm);
    /* Called when a CTA has finished on the SM. `measured` has what the SM has counted. */
    void (*finished)(void *state, const TytoGridView *view, uint32_t sm,
                     const TytoSmMeasurement *measured);
    /* Returns the SM whose loads through the L1D are reported to l1d_load, or TYTO_NO_SM. NULL:
     * none. */
    int (*watched_sm)(const void *state);
    /* Called when a load of the watched SM looks up the line or sector that begins at `address`. */
    void (*l1d_load)(void *state, uint64_t address);
    /* Reports the policy's numbers at the end of each kernel and, if samples are wanted, every N
     * cycles. */
    void (*report)(const void *state, const TytoReport *out);
    /* Chooses the CTA that is dispatched to the SM, after the SM has been chosen. Returns the
     * index of a CTA that is not dispatched yet. NULL: CTAs are dispatched in the order of their
     * index. */
    uint64_t (*order)(void *state, const TytoGridView *view, uint32_t sm);
    /* Returns the SM cycles until the next call of `sample`; 0: no more calls. Called at the
     * kernel's start and after each call of `sample`. */
    uint64_t (*sample_every)(const void *state, const TytoGridView *view);
    /* Called at the times that sample_every gives, at the end of the cycle, before CTAs are
     * dispatched. The policy can inspect the SMs and pause CTAs here. */
    void (*sample)(void *state, const TytoGridView *view);
} TytoCtaPolicy;

/* The symbol that a shared object must define. */
extern __attribute__((visibility("default"))) const TytoCtaPolicy tyto_cta_policy;

/* Whether the SM, from 0 to TYTO_MAX_SMS - 1, is in the set. */
static inline bool tyto_sm_has(const TytoSmSet *set, int sm) {
    return set->words[sm / 64] >> (sm % 64) & 1;
}

/* The first SM of the set that is not below `sm`; TYTO_NO_SM if there is none. */
static inline int tyto_sm_from(const TytoSmSet *set, int sm) {
    for (; sm < TYTO_MAX_SMS; sm = (sm / 64 + 1) * 64) {
        uint64_t rest = set->words[sm / 64] >> (sm % 64);
        if (rest) return sm + __builtin_ctzll(rest);
    }
    return TYTO_NO_SM;
}

/* Round-robin: the first SM of the set after `sm` (TYTO_NO_SM to TYTO_MAX_SMS - 1), or else the
 * first of all. The set must not be empty. */
static inline int tyto_sm_next(const TytoSmSet *set, int sm) {
    int after = tyto_sm_from(set, sm + 1);
    return after != TYTO_NO_SM ? after : tyto_sm_from(set, 0);
}

#ifdef __cplusplus
}
#endif

#endif
