/* A policy compiled against the struct of version 7 of the header. This is a copy of that
 * struct. */
#include <stddef.h>
#include <stdint.h>

typedef struct TytoSmView TytoSmView;
typedef struct TytoIssue TytoIssue;
typedef struct TytoEvent TytoEvent;
typedef struct TytoReport TytoReport;
typedef struct TytoPolicyParameter TytoPolicyParameter;
typedef struct TytoPrefetch {
    int scheme;
    uint32_t lower, higher, threshold;
} TytoPrefetch;

typedef struct TytoPolicy {
    uint32_t version;
    const char *name;
    const char *summary;
    const TytoPolicyParameter *parameters;
    uint32_t parameter_count;
    size_t state_bytes;
    uint32_t events;
    TytoPrefetch (*prefetch)(const double *values);
    size_t (*extra_bytes)(const TytoSmView *view, const double *values);
    void (*start)(void *state, const TytoSmView *view, const double *values);
    int (*pick)(void *state, const TytoSmView *view, int scheduler, uint64_t ready);
    uint64_t (*may_load)(void *state, const TytoSmView *view);
    uint64_t (*may_issue)(void *state, const TytoSmView *view);
    void (*issued)(void *state, const TytoSmView *view, const TytoIssue *issue);
    void (*event)(void *state, const TytoSmView *view, const TytoEvent *event);
    void (*elapsed)(void *state, const TytoSmView *view, uint64_t count);
    uint64_t (*looks_at)(void *state, const TytoSmView *view);
    uint64_t (*next_change)(void *state, const TytoSmView *view);
    void (*report)(void *state, const TytoSmView *view, const TytoReport *out);
} TytoPolicy;

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    (void)state, (void)view, (void)scheduler;
    return __builtin_ctzll(ready);
}

extern __attribute__((visibility("default"))) const TytoPolicy tyto_policy;
const TytoPolicy tyto_policy = {
    .version = 7, .name = "version7", .summary = "the lowest warp", .pick = pick};
