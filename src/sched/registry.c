/* The table of warp schedulers, and how one is chosen (see the header). */
#include "sched/registry.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/bits.h"
#include "sched/policies.h"
#include "sched/spec.h"

#define ADDRESS(name) &sched_##name,
static const TytoPolicy *const POLICIES[] = {SCHED_POLICIES(ADDRESS)};
enum { POLICY_COUNT = sizeof POLICIES / sizeof *POLICIES };

static const DramPrefetchScheme SCHEMES[] = {[TYTO_PREFETCH_NONE] = DRAM_PREFETCH_NONE,
                                             [TYTO_PREFETCH_STOP] = DRAM_PREFETCH_STOP,
                                             [TYTO_PREFETCH_MIN] = DRAM_PREFETCH_MIN};
enum { SCHEME_COUNT = sizeof SCHEMES / sizeof *SCHEMES };

/* One allocation's worth of what a choice consists of. */
typedef struct Choice {
    SchedPolicy policy; /* first, so that freeing finds the rest */
    Arena *arena;       /* owns this and all that `policy` points to */
} Choice;

const TytoPolicy *sched_policy_at(int i) { return i >= 0 && i < POLICY_COUNT ? POLICIES[i] : NULL; }

static const TytoPolicy *find(const char *name, Diag *diag) {
    const char *names[POLICY_COUNT];
    for (int i = 0; i < POLICY_COUNT; i++) {
        if (!strcmp(POLICIES[i]->name, name)) return POLICIES[i];
        names[i] = POLICIES[i]->name;
    }
    spec_unknown("warp scheduler", name, names, POLICY_COUNT, diag);
    return NULL;
}

/* ---- Shared objects ---- */

/* Length of the path at the head of `text`; 0 when it begins with a name of the table. */
static size_t path_length(const char *text) {
    const char *end = strstr(text, ".so");
    while (end && end[3] && end[3] != ':')
        end = strstr(end + 1, ".so");
    if (end) return (size_t)(end - text) + 3;
    const char *slash = strrchr(text, '/');
    return slash ? (size_t)(slash - text) + strcspn(slash, ":") : 0;
}

/* What keeps a loaded policy from being used; NULL when nothing does. Nothing past the version may
 * be looked at before the version is known to be right. */
static const char *check_loaded(const TytoPolicy *policy) {
    if (!policy->name || !*policy->name) return "its policy has no name";
    if (!policy->summary) return "its policy has no summary";
    if (!policy->pick) return "its policy has no function `pick`";
    if (policy->events && !policy->event)
        return "its policy wants events, but has no function for them";
    return spec_check_rows(policy->parameters, policy->parameter_count);
}

/* The policy of the shared object, which is handed over in *library. */
static const TytoPolicy *load(const char *path, void **library, Diag *diag) {
    *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!*library) {
        diag_error(diag, path, 0, 0, "is no shared object that can be loaded: %s", dlerror());
        return NULL;
    }
    const TytoPolicy *policy = dlsym(*library, "tyto_policy");
    const char *fault = NULL;
    if (!policy) diag_error(diag, path, 0, 0, "has no symbol `tyto_policy` (a const TytoPolicy)");
    else if (policy->version != TYTO_POLICY_VERSION)
        diag_error(diag, path, 0, 0,
                   "is built for version %u of tyto/policy.h, this is version %d: build it again",
                   policy->version, TYTO_POLICY_VERSION);
    else if ((fault = check_loaded(policy)) != NULL) diag_error(diag, path, 0, 0, "%s", fault);
    else return policy;
    dlclose(*library);
    *library = NULL;
    return NULL;
}

/* ---- A choice ---- */

/* Asks the policy what it wants prefetched, which must be something that there is. */
static bool ask_prefetch(SchedPolicy *chosen, Diag *diag) {
    const TytoPolicy *policy = chosen->policy;
    if (policy->prefetch) chosen->prefetch = policy->prefetch(chosen->values);
    if ((unsigned)chosen->prefetch.scheme < SCHEME_COUNT) return true;
    diag_error(diag, NULL, 0, 0, "%s: asks for a prefetch scheme %d; there are 0 to %d",
               policy->name, (int)chosen->prefetch.scheme, SCHEME_COUNT - 1);
    return false;
}

static bool choose(Choice *choice, const char *text, Diag *diag) {
    SchedPolicy *chosen = &choice->policy;
    size_t path = path_length(text), length = path ? path : strcspn(text, ":");
    const char *name = arena_strndup(choice->arena, text, length);
    chosen->policy = path ? load(name, &chosen->library, diag) : find(name, diag);
    if (!chosen->policy) return false;
    const TytoPolicy *policy = chosen->policy;
    const SpecOwner owner = {policy->name, policy->parameters, policy->parameter_count};
    chosen->values = spec_read(&owner, text + length, choice->arena, diag);
    if (!chosen->values) return false;
    chosen->text = spec_write(&owner, name, chosen->values, choice->arena);
    return ask_prefetch(chosen, diag);
}

SchedPolicy *sched_policy_new(const char *text, Diag *diag) {
    Arena *arena = arena_new();
    Choice *choice = ARENA_NEW(arena, Choice);
    choice->arena = arena;
    if (choose(choice, text, diag)) return &choice->policy;
    sched_policy_free(&choice->policy);
    return NULL;
}

void sched_policy_free(SchedPolicy *policy) {
    if (!policy) return;
    if (policy->library) dlclose(policy->library);
    arena_free(((Choice *)(void *)policy)->arena);
}

double sched_policy_value(const SchedPolicy *policy, const char *parameter, double otherwise) {
    for (uint32_t i = 0; i < policy->policy->parameter_count; i++)
        if (!strcmp(policy->policy->parameters[i].name, parameter)) return policy->values[i];
    return otherwise;
}

void sched_policy_prefetch(const SchedPolicy *policy, DramPrefetchConfig *config) {
    const TytoPrefetch *wanted = &policy->prefetch;
    config->scheme = SCHEMES[wanted->scheme];
    config->lower = wanted->lower;
    config->higher = wanted->higher;
    config->threshold = wanted->threshold;
    config->skips_cached = wanted->skips_cached;
}

/* ---- States ---- */

static size_t state_bytes(const SchedPolicy *policy, const TytoSmView *view) {
    size_t bytes = (size_t)bits_align_up(policy->policy->state_bytes, 64);
    if (policy->policy->extra_bytes) bytes += policy->policy->extra_bytes(view, policy->values);
    return bytes;
}

void *sched_state_new(const SchedPolicy *policy, const TytoSmView *view) {
    return base_alloc_lines(state_bytes(policy, view) + 64);
}

void sched_state_start(const SchedPolicy *policy, void *state, const TytoSmView *view) {
    memset(state, 0, state_bytes(policy, view));
    if (policy->policy->start) policy->policy->start(state, view, policy->values);
}

void sched_explain_pick(const SchedPolicy *policy, const TytoSmView *view, int warp, uint64_t ready,
                        char *text, size_t size) {
    const char *why = warp < 0 || warp >= (int)view->warp_count ? "is no warp slot"
                      : !tyto_has(view->resident, warp)         ? "holds no warp"
                                                                : "cannot issue now";
    snprintf(text, size,
             "warp scheduler %s: cycle %llu, SM %u: picked warp %d, which %s (ready: 0x%llx)",
             policy->text, (unsigned long long)view->cycle, view->sm, warp, why,
             (unsigned long long)ready);
}
