/* OWL: scheduling for bank-level parallelism on the SMs, and opportunistic prefetching in the
 * memory controllers. The prefetcher is a part of the DRAM channel (dram/); the parameters from
 * `prefetch` on configure it. On the SM this is cta-aware-locality-blp. Source: OWL sections 4.3
 * and 4.4. */
#include "sched/policies.h"

#include "sched/cta_locality.h"

enum { GROUP_SIZE, STALL, PREFETCH, LOWER, HIGHER, THRESHOLD, SKIP, ORDER, START };

enum { SKIP_SENT, SKIP_CACHED };

static const char *const SCHEMES[] = {[TYTO_PREFETCH_NONE] = "none",
                                      [TYTO_PREFETCH_STOP] = "stop",
                                      [TYTO_PREFETCH_MIN] = "min",
                                      NULL};
static const char *const SKIPS[] = {[SKIP_SENT] = "sent", [SKIP_CACHED] = "cached", NULL};
static const char *const ORDERS[] = {[TYTO_PREFETCH_FROM_START] = "row",
                                     [TYTO_PREFETCH_AROUND] = "demand",
                                     [TYTO_PREFETCH_ONWARD] = "onward",
                                     NULL};
static const char *const STARTS[] = {
    [TYTO_PREFETCH_ALWAYS] = "always", [TYTO_PREFETCH_IDLE] = "idle", NULL};
static const TytoPolicyParameter PARAMETERS[] = {
    [GROUP_SIZE] = CTA_GROUPS_SIZE,
    [STALL] = CTA_GROUPS_STALL,
    [PREFETCH] = {"prefetch", TYTO_CHOICE, TYTO_PREFETCH_MIN, 0, 2, SCHEMES,
                  "when prefetching ends: at the first demand to another row, or after a minimum",
                  "OWL section 4.4"},
    [LOWER] = {"lower", TYTO_INTEGER, 8, 0, 128, NULL, "least lines to prefetch (scheme min)",
               "OWL section 4.4"},
    [HIGHER] = {"higher", TYTO_INTEGER, 16, 0, 128, NULL,
                "least lines to prefetch while fewer requests than `threshold` wait",
                "OWL section 4.4"},
    [THRESHOLD] = {"threshold", TYTO_INTEGER, 0, 0, 4096, NULL,
                   "waiting requests of a channel; 0: the mean of their number so far",
                   "OWL section 4.4"},
    [SKIP] = {"skip", TYTO_CHOICE, SKIP_SENT, 0, 1, SKIPS,
              "lines not to prefetch: those sent since the row was opened, or also those in L2",
              "OWL sections 4.4 and 4.5: bits reset when a row is opened; cached is ours"},
    [ORDER] = {"order", TYTO_CHOICE, TYTO_PREFETCH_AROUND, 0, 2, ORDERS,
               "which line is prefetched next: from the row's first line on (row), from the line "
               "sent last on, around the row (demand) or only to its end (onward)",
               "OWL section 4.4: sequentially; where from is not given"},
    [START] = {"start", TYTO_CHOICE, TYTO_PREFETCH_IDLE, 0, 1, STARTS,
               "when prefetching of a row may begin: always, or only while no request to another "
               "row of its bank waits",
               "OWL section 4.4: it is kept up after a demand to another row arrives"},
};

static void dram_prefetch(const double *values, TytoDramPrefetch *wanted) {
    wanted->scheme = (TytoDramPrefetchScheme)values[PREFETCH];
    wanted->lower = (uint32_t)values[LOWER];
    wanted->higher = (uint32_t)values[HIGHER];
    wanted->threshold = (uint32_t)values[THRESHOLD];
    wanted->skips_cached = values[SKIP] == SKIP_CACHED;
    wanted->order = (TytoDramPrefetchOrder)values[ORDER];
    wanted->start = (TytoDramPrefetchStart)values[START];
}

static void start(void *state, const TytoSmView *view, const double *values) {
    cta_locality_start(state, view, (uint32_t)values[GROUP_SIZE], values[STALL] != 0, view->sm);
}

static void storage(const double *values, const TytoMachineSizes *m, const TytoStorage *out) {
    const bool is_min = values[PREFETCH] == TYTO_PREFETCH_MIN;
    const char *source = "OWL section 4.5";
    cta_groups_storage(values, m, out);
    if (values[PREFETCH] != TYTO_PREFETCH_NONE)
        out->bits(out->context, "lines of each bank's open row that have been sent", source, 0,
                  (uint64_t)m->banks * (m->row_bytes / m->prefetch_bytes));
    if (is_min && values[THRESHOLD] == 0)
        out->bits(out->context, "mean of the requests waiting", source, 0, tyto_bits_for(m->queue));
}

const TytoPolicy sched_owl = {
    TYTO_POLICY_HEAD,
    .name = "owl",
    .summary = "cta-aware-locality-blp, and memory controllers that prefetch the rest of open rows",
    .parameters = PARAMETERS,
    .parameter_count = sizeof PARAMETERS / sizeof *PARAMETERS,
    .state_bytes = sizeof(CtaLocality),
    .events = CTA_GROUPS_EVENTS,
    .dram_prefetch = dram_prefetch,
    .start = start,
    .pick = cta_locality_pick,
    .issued = cta_locality_issued,
    .event = cta_locality_event,
    .report = cta_locality_report,
    .storage = storage,
};
