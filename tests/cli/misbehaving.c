/* Policies for warps and for CTAs. In each, one function misbehaves: it crashes, calls abort, exit
 * or _exit, overflows the stack, never returns, writes past or before its state, or picks a warp
 * that does not exist. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tyto/cta_policy.h"

enum { HOW, AT, SM };
enum { NOT, CRASH, ABORT, RECURSE, LOOP, EXIT, WRONG, LEAVE, SPILL, FLOOD, FRONT, AHEAD, FAR };

static const char *const HOWS[] = {"not",   "crash", "abort", "recurse", "loop",  "exit", "wrong",
                                   "leave", "spill", "flood", "front",   "ahead", "far",  NULL};
static const TytoPolicyParameter parameters[] = {
    [HOW] = {"how", TYTO_CHOICE, NOT, 0, FAR, HOWS, "what it does", "this test"},
    [AT] = {"at", TYTO_INTEGER, 100, 0, 1000000, NULL, "SM cycle from which on", "this test"},
    [SM] = {"sm", TYTO_INTEGER, -1, -1, 1000, NULL, "SM whose warps it picks; -1: any",
            "this test"}};

typedef struct State {
    int how;
    uint64_t at;
    int sm;
} State;

static int recurse(volatile int *depth) {
    volatile int deeper[1024];
    deeper[0] = *depth + 1;
    return deeper[0] > 0 ? recurse(deeper) + deeper[0] : 0;
}

static void misbehave(State *s, uint64_t cycle) {
    volatile int nothing = 0;
    if (cycle < s->at) return;
    switch (s->how) {
    case CRASH: *(volatile int *)(uintptr_t)nothing = 1; break;
    case ABORT: abort();
    case EXIT: exit(0);
    case LEAVE: _exit(0);
    case SPILL: memset(s + 1, 1, 1); break;
    case FLOOD: memset(s + 1, 1, 4096); break;
    case FRONT: memset((char *)s - 1, 1, 1); break;
    case AHEAD: memset((char *)s - 1000, 1, 1); break;
    case FAR: memset((char *)s - 8192, 1, 1); break;
    case RECURSE: nothing = recurse(&nothing); break;
    case LOOP:
        while (!nothing)
            ;
        break;
    default: break;
    }
}

static void start(void *state, const TytoSmView *view, const double *values) {
    (void)view;
    *(State *)state = (State){(int)values[HOW], (uint64_t)values[AT], (int)values[SM]};
}

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    (void)scheduler;
    State *s = state;
    if (s->sm < 0 || (uint32_t)s->sm == view->sm) misbehave(s, view->cycle);
    return s->how == WRONG ? TYTO_MAX_WARPS : tyto_lowest(ready);
}

const TytoPolicy tyto_policy = {
    TYTO_POLICY_HEAD,         .name = "misbehaving", .summary = "does what it must not",
    .parameters = parameters, .parameter_count = 3,  .state_bytes = sizeof(State),
    .start = start,           .pick = pick};

static void start_grid(void *state, const TytoGridView *view, const double *values) {
    (void)view;
    *(State *)state = (State){(int)values[HOW], (uint64_t)values[AT], (int)values[SM]};
}

static int choose(void *state, const TytoGridView *view, const TytoSmSet *room) {
    misbehave(state, view->cycle);
    return tyto_sm_from(room, 0);
}

const TytoCtaPolicy tyto_cta_policy = {
    TYTO_CTA_POLICY_HEAD,     .name = "misbehaving", .summary = "does what it must not",
    .parameters = parameters, .parameter_count = 3,  .state_bytes = sizeof(State),
    .start = start_grid,      .choose = choose};
