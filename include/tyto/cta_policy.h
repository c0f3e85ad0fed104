/* Tyto thread block (CTA) scheduling policies: the plug-in interface, version 8.
 *
 * A CTA policy is a constant TytoCtaPolicy: names, parameters, and a few functions. The policy says
 * how many CTAs an SM may hold, which SM gets the next one and which CTA that is. It can look at
 * the SMs every N cycles, and pause CTAs. One state object exists per kernel on the machine. A
 * policy must not keep mutable globals, so that a process can hold several simulators, and must not
 * depend on addresses or time, so that runs repeat.
 *
 * A shared object exports one symbol, `tyto_cta_policy`, a `const TytoCtaPolicy`. See
 * docs/writing-a-scheduler.md. Every function may be NULL. tyto/policy.h says how the interface
 * grows. */
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

/* What a CTA policy may know of the grid and the GPU. Valid during a call; fields change between
 * calls. */
typedef struct TytoGridView {
    uint32_t size;      /* bytes of this struct */
    uint64_t cycle;     /* SM cycle */
    uint64_t ctas;      /* of the grid */
    uint64_t next;      /* CTAs that have gone out: without `order`, the index of the next one */
    uint32_t sms;       /* SMs of the GPU */
    uint32_t capacity;  /* CTAs of this kernel that an SM will hold at most, at least 1: by its
                           resources, or fewer in a small grid */
    uint32_t cta_warps; /* warps of a CTA of this kernel */
    uint32_t l1d_lines; /* lines of an SM's L1D */
    const uint32_t *resident; /* by SM: CTAs of the kernel that it holds */
    uint32_t l1d_ways;        /* lines of a set of the L1D */
    uint32_t l1d_mshrs;       /* misses that the L1D may be waiting for */
    uint32_t l1d_line_bytes;  /* of a line of it */
    uint32_t l1d_fill_bytes;  /* of what it asks for at a time: a line, or a sector of one */
    uint64_t cta;             /* index of the CTA that went out last */
    uint32_t cta_slots;       /* CTA slots of an SM */
    const struct TytoGridAnswers *answers; /* use tyto_grid_cta, tyto_grid_sm and tyto_pause */
    void *unit;                            /* handed back */
} TytoGridView;

/* What an SM has counted since the kernel's start. */
typedef struct TytoSmMeasurement {
    uint32_t size;              /* bytes of this struct */
    uint64_t warp_instructions; /* issued */
    uint64_t l1d_accesses;      /* lookups of loads and stores */
    uint64_t l1d_loads;         /* of those, lookups of loads */
    uint64_t dram_reads;        /* lines or sectors that the L1D asked for */
    uint64_t reads_answered; /* answers that the SM got from the network: to those, to its atomics,
                               to its other caches and to its fetch of instructions */
    uint64_t load_cycles;    /* sum of these answers' latencies, SM cycles */
    uint64_t memory_cycles;  /* SM cycles in which all its warps waited for memory */
    uint32_t cta_slot;       /* `finished`: slot of the CTA that has finished */
} TytoSmMeasurement;

/* What a CTA has done, resident or just finished. */
typedef struct TytoCtaProgress {
    uint32_t size;                /* bytes of this struct */
    uint32_t warps;               /* its warps that have not finished */
    uint64_t index;               /* linear index in the grid */
    uint64_t launched;            /* SM cycle at which it came */
    uint64_t instructions;        /* warp instructions that it has issued */
    uint64_t thread_instructions; /* the same, active lanes summed */
    bool is_paused;
} TytoCtaProgress;

/* What the simulator answers. */
typedef struct TytoGridAnswers {
    uint32_t size; /* bytes of this struct */
    bool (*cta)(void *unit, uint32_t sm, uint32_t cta_slot, TytoCtaProgress *progress);
    bool (*sm)(void *unit, uint32_t sm, TytoSmMeasurement *measured);
    void (*pause)(void *unit, uint32_t sm, uint64_t cta_slots);
} TytoGridAnswers;

/* What the CTA in a slot of the SM has done; false: the slot is empty, or this is no time to ask.
 * In `finished` only the SM of the CTA can be asked about, and the slot of the CTA that has
 * finished still answers. */
static inline bool tyto_grid_cta(const TytoGridView *view, uint32_t sm, uint32_t cta_slot,
                                 TytoCtaProgress *progress) {
    *progress = (TytoCtaProgress){.size = sizeof *progress};
    return view->answers && view->answers->cta(view->unit, sm, cta_slot, progress);
}

/* What the SM has counted; false: this is no time to ask. */
static inline bool tyto_grid_sm(const TytoGridView *view, uint32_t sm,
                                TytoSmMeasurement *measured) {
    *measured = (TytoSmMeasurement){.size = sizeof *measured};
    return view->answers && view->answers->sm(view->unit, sm, measured);
}

/* Pauses the CTAs in these slots of the SM (bit each) from the end of the cycle on, and lets the
 * others go on. A paused CTA keeps its resources; its warps issue nothing. The CTA that comes to a
 * slot is not paused. The policy must let every CTA go on some day: a kernel in which only paused
 * CTAs are left ends as a deadlock. */
static inline void tyto_pause(const TytoGridView *view, uint32_t sm, uint64_t cta_slots) {
    if (view->answers) view->answers->pause(view->unit, sm, cta_slots);
}

/* The first fields of a policy for CTAs. */
#define TYTO_CTA_POLICY_HEAD                                                                       \
    .version = TYTO_POLICY_VERSION, .size = sizeof(TytoCtaPolicy),                                 \
    .parameter_bytes = sizeof(TytoPolicyParameter)

typedef struct TytoCtaPolicy {
    uint32_t version;         /* TYTO_POLICY_VERSION */
    uint32_t size;            /* bytes of this struct */
    uint32_t parameter_bytes; /* of a row of `parameters`; these three are TYTO_CTA_POLICY_HEAD */
    uint32_t parameter_count; /* rows of `parameters` */
    const char *name;         /* on the command line */
    const char *summary;      /* one line */
    const TytoPolicyParameter *parameters;
    size_t state_bytes; /* of the state, aligned to 64 bytes */
    bool is_uneven;     /* SMs hold unequal numbers of CTAs: a small grid is not dealt out evenly */

    /* Bytes wanted after the state (from state + state_bytes rounded up to 64), asked once. NULL:
     * none. Of the view, only the machine's sizes (sms, l1d_...) are set. */
    size_t (*extra_bytes)(const TytoGridView *view, const double *values);
    /* When a kernel starts; the state is all zeros, `values` are the parameters' values in their
     * rows' order, nothing is dispatched yet. */
    void (*start)(void *state, const TytoGridView *view, const double *values);
    /* Most CTAs that the SM may hold now. Those it holds beyond that stay until they finish. NULL:
     * view->capacity. */
    uint32_t (*limit)(const void *state, const TytoGridView *view, uint32_t sm);
    /* Chooses the SM that gets the next CTA among `room`, a non-empty set of SMs that hold fewer
     * CTAs than they may and can take one in this cycle. Must return a member of `room`, whose CTA
     * then goes out at once, or TYTO_NO_SM to let none go in this cycle. NULL: CTAs go round the
     * SMs. */
    int (*choose)(void *state, const TytoGridView *view, const TytoSmSet *room);
    /* CTA view->cta has gone to the SM. */
    void (*dispatched)(void *state, const TytoGridView *view, uint32_t sm);
    /* A CTA has finished on the SM, which has measured this much. */
    void (*finished)(void *state, const TytoGridView *view, uint32_t sm,
                     const TytoSmMeasurement *measured);
    /* The SM whose loads through the L1D the policy wants reported; TYTO_NO_SM for none. NULL:
     * none. */
    int (*watched_sm)(const void *state);
    /* A load of the watched SM looked for the line, or the sector, that begins at `address`. */
    void (*l1d_load)(void *state, uint64_t address);
    /* Reports the policy's numbers: at the end of a kernel and, where samples are wanted, every N
     * cycles. */
    void (*report)(const void *state, const TytoReport *out);
    /* Chooses the CTA that goes to the SM, which has been chosen before: the index of one that has
     * not gone out. NULL: CTAs go out in the order of their index. */
    uint64_t (*order)(void *state, const TytoGridView *view, uint32_t sm);
    /* SM cycles from one call of `sample` to the next, asked at the kernel's start and after each
     * call; 0: never again. */
    uint64_t (*sample_every)(const void *state, const TytoGridView *view);
    /* Called every N cycles: the policy can look at the SMs, and pause CTAs. The call comes at the
     * end of the cycle, before CTAs are dispatched. */
    void (*sample)(void *state, const TytoGridView *view);
} TytoCtaPolicy;

/* What a shared object defines. */
extern __attribute__((visibility("default"))) const TytoCtaPolicy tyto_cta_policy;

/* Whether the SM, from 0 to TYTO_MAX_SMS - 1, is in the set. */
static inline bool tyto_sm_has(const TytoSmSet *set, int sm) {
    return set->words[sm / 64] >> (sm % 64) & 1;
}

/* The first SM of the set from `sm` on; TYTO_NO_SM when there is none. */
static inline int tyto_sm_from(const TytoSmSet *set, int sm) {
    for (; sm < TYTO_MAX_SMS; sm = (sm / 64 + 1) * 64) {
        uint64_t rest = set->words[sm / 64] >> (sm % 64);
        if (rest) return sm + __builtin_ctzll(rest);
    }
    return TYTO_NO_SM;
}

/* Round-robin: the first SM of the set, which is not empty, that comes after `sm` (TYTO_NO_SM to
 * TYTO_MAX_SMS - 1). */
static inline int tyto_sm_next(const TytoSmSet *set, int sm) {
    int after = tyto_sm_from(set, sm + 1);
    return after != TYTO_NO_SM ? after : tyto_sm_from(set, 0);
}

#ifdef __cplusplus
}
#endif

#endif
