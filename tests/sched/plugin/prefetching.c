/* A policy that wants rows prefetched: at least `lines` of each, twice as many while little waits.
 * 13 of them are one scheme that does not exist, and 14 an order. */
#include "tyto/policy.h"

static const TytoPolicyParameter parameters[] = {
    {"lines", TYTO_INTEGER, 4, 0, 64, NULL, "least lines of a row", "this test"}};

static TytoPrefetch prefetch(const double *values) {
    uint32_t lines = (uint32_t)values[0];
    return (TytoPrefetch){.scheme = lines == 13 ? (TytoPrefetchScheme)13 : TYTO_PREFETCH_MIN,
                          .lower = lines,
                          .higher = 2 * lines,
                          .skips_cached = true,
                          .order = lines == 14 ? (TytoPrefetchOrder)14 : TYTO_PREFETCH_FROM_START};
}

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    (void)state, (void)view, (void)scheduler;
    return tyto_lowest(ready);
}

const TytoPolicy tyto_policy = {.version = TYTO_POLICY_VERSION,
                                .name = "prefetching",
                                .summary = "the lowest slot, and rows prefetched",
                                .parameters = parameters,
                                .parameter_count = 1,
                                .prefetch = prefetch,
                                .pick = pick};
