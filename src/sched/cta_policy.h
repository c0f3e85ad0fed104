/* CTA schedulers: how many CTAs an SM may hold. Which SM takes the next one is the same under all:
 * the machine's dispatcher goes round the SMs and skips those that are full. Its SMs measure.
 *
 * A CTA scheduler is a constant CtaPolicy, one file each, one row in cta_policy.c. One state object
 * exists per kernel launch. Every function but `limit` may be NULL. */
#ifndef TYTO_SCHED_CTA_POLICY_H
#define TYTO_SCHED_CTA_POLICY_H

#include <stdbool.h>

#include "base/diag.h"
#include "tyto/policy.h"

enum { CTA_NO_SM = -1 };

/* What a CTA scheduler may know. Valid during a call. */
typedef struct CtaView {
    uint32_t sms;       /* SMs of the GPU */
    uint32_t capacity;  /* CTAs of this kernel that an SM's resources allow, at least 1 */
    uint32_t cta_warps; /* warps of a CTA of this kernel */
    uint32_t l1d_lines; /* lines of an SM's L1D */
} CtaView;

/* What an SM has counted since the kernel's start. */
typedef struct CtaMeasurement {
    uint64_t warp_instructions; /* issued */
    uint64_t l1d_accesses;      /* lookups of loads and stores */
    uint64_t dram_reads;        /* lines that the L1D asked for */
    uint64_t fetches;           /* of those, the ones answered */
    uint64_t fetch_cycles;      /* sum of their latencies, SM cycles */
} CtaMeasurement;

typedef struct CtaPolicy {
    const char *name;    /* on the command line */
    const char *summary; /* one line */
    const TytoPolicyParameter *parameters;
    uint32_t parameter_count;
    size_t state_bytes;
    bool is_uneven; /* SMs hold unequal numbers of CTAs: a small grid is not dealt out evenly */

    /* When a kernel starts; the state is all zeros, nothing is dispatched yet. */
    void (*start)(void *state, const CtaView *view, const double *values);
    /* Most CTAs that the SM may hold now. Those it holds beyond that stay until they finish. */
    uint32_t (*limit)(const void *state, const CtaView *view, uint32_t sm);
    /* A CTA has finished on the SM, which has measured this much. */
    void (*finished)(void *state, const CtaView *view, uint32_t sm, const CtaMeasurement *measured);
    /* The SM whose L1D misses it wants to be told of, CTA_NO_SM for none. NULL: none. */
    int (*watched_sm)(const void *state);
    /* A load of the watched SM missed the line of `address`. */
    void (*l1d_miss)(void *state, uint64_t address);
    /* Tells its numbers at the end of the kernel. */
    void (*report)(const void *state, const TytoReport *out);
} CtaPolicy;

/* The CTA schedulers that come with Tyto, one file each: POLICY(name) is the constant cta_NAME. */
#define CTA_POLICIES(POLICY) POLICY(round_robin) POLICY(limit) POLICY(md)

#define CTA_DECLARE(name) extern const CtaPolicy cta_##name;
CTA_POLICIES(CTA_DECLARE)
#undef CTA_DECLARE

/* The i-th CTA scheduler of the table; NULL past the end. */
const CtaPolicy *cta_policy_at(int i);

/* A CTA scheduler as chosen. Cold, never changed. */
typedef struct CtaSched {
    const CtaPolicy *policy; /* the table's */
    const double *values;    /* of its parameters, in their rows' order */
    const char *text; /* the policy and the values that are not initial ones, as in a command */
} CtaSched;

/* Reads `name[:parameter=value,...]`. NULL, with the reasons told to `diag`, when there is no such
 * CTA scheduler, parameter or value. */
CtaSched *cta_sched_new(const char *text, Diag *diag);
void cta_sched_free(CtaSched *sched); /* NULL is allowed */

/* Memory for the state of a launch, freed with free(); and the start of a kernel in it. */
void *cta_sched_state_new(const CtaSched *sched);
void cta_sched_start(const CtaSched *sched, void *state, const CtaView *view);

#endif
