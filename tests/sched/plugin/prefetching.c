/* A policy that requests prefetching of rows: at least `lines` of each, twice as many while few
 * requests wait. 13 requests a scheme, 14 an order and 15 a start that does not exist. */
#include "tyto/policy.h"

static const TytoPolicyParameter parameters[] = {
    {"lines", TYTO_INTEGER, 4, 0, 64, NULL, "least lines of a row", "this test"}};

static void dram_prefetch(const double *values, TytoDramPrefetch *wanted) {
    uint32_t lines = (uint32_t)values[0];
    wanted->scheme = lines == 13 ? (TytoDramPrefetchScheme)13 : TYTO_PREFETCH_MIN;
    wanted->lower = lines;
    wanted->higher = 2 * lines;
    wanted->skips_cached = true;
    wanted->order = lines == 14 ? (TytoDramPrefetchOrder)14 : TYTO_PREFETCH_FROM_START;
    wanted->start = lines == 15 ? (TytoDramPrefetchStart)15 : TYTO_PREFETCH_ALWAYS;
}

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    (void)state, (void)view, (void)scheduler;
    return tyto_lowest(ready);
}

const TytoPolicy tyto_policy = {TYTO_POLICY_HEAD,
                                .name = "prefetching",
                                .summary = "the lowest slot, and rows prefetched",
                                .parameters = parameters,
                                .parameter_count = 1,
                                .dram_prefetch = dram_prefetch,
                                .pick = pick};
