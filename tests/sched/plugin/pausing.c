/* A CTA policy that alternately pauses the even and the odd CTA slots, and dispatches CTAs from the
 * end of the grid. Checks that paused CTAs issue nothing. */
#include "tyto/cta_policy.h"

enum { EVERY, REVERSE, WRONG };
static const TytoPolicyParameter parameters[] = {
    [EVERY] = {"every", TYTO_INTEGER, 1000, 0, 1000000, NULL, "cycles; 0: no pauses", "this test"},
    [REVERSE] = {"reverse", TYTO_INTEGER, 1, 0, 1, NULL, "from the end", "this test"},
    [WRONG] = {"wrong", TYTO_INTEGER, 0, 0, 2, NULL, "a CTA again; a CTA beyond", "this test"}};

enum { SMS = 8 };

typedef struct State {
    uint64_t every;
    bool reverse;
    int wrong;
    bool odd; /* the odd slots are paused now, otherwise the even ones */
    uint64_t samples;
    uint64_t moved;           /* samples at which a CTA that was not paused had issued something */
    uint64_t cheated;         /* samples at which a paused CTA had issued something */
    uint64_t unpaused;        /* samples at which a CTA was wrongly paused or running */
    uint64_t finished, total; /* CTAs; their warp instructions */
    uint64_t strange;         /* unexpected answers to questions in `finished` */
    struct {
        uint64_t index, instructions;
        bool is_paused; /* since the last sample */
    } cta[SMS][TYTO_MAX_CTAS];
} State;

static void start(void *state, const TytoGridView *view, const double *values) {
    (void)view;
    State *s = state;
    *s = (State){.every = (uint64_t)values[EVERY],
                 .reverse = values[REVERSE] != 0,
                 .wrong = (int)values[WRONG]};
    for (int sm = 0; sm < SMS; sm++)
        for (int slot = 0; slot < TYTO_MAX_CTAS; slot++)
            s->cta[sm][slot].index = UINT64_MAX;
}

static uint64_t order(void *state, const TytoGridView *view, uint32_t sm) {
    (void)sm;
    const State *s = state;
    if (s->wrong == 1) return 0;
    if (s->wrong == 2) return view->ctas;
    return s->reverse ? view->ctas - 1 - view->next : view->next;
}

static uint64_t sample_every(const void *state, const TytoGridView *view) {
    (void)view;
    return ((const State *)state)->every;
}

static void check(State *s, uint32_t sm, uint32_t slot, const TytoCtaProgress *now) {
    const bool is_same = s->cta[sm][slot].index == now->index;
    const bool has_moved = is_same && now->instructions != s->cta[sm][slot].instructions;
    const bool was_paused = is_same && s->cta[sm][slot].is_paused;
    s->cheated += was_paused && has_moved;
    s->moved += !was_paused && has_moved;
    s->unpaused += was_paused != now->is_paused;
}

static void sample(void *state, const TytoGridView *view) {
    State *s = state;
    s->samples++;
    s->odd = !s->odd;
    for (uint32_t sm = 0; sm < view->sms && sm < SMS; sm++) {
        const uint64_t paused = UINT64_C(0x5555555555555555) << s->odd;
        for (uint32_t slot = 0; slot < view->cta_slots; slot++) {
            TytoCtaProgress now;
            if (!tyto_grid_cta(view, sm, slot, &now)) continue;
            check(s, sm, slot, &now);
            s->cta[sm][slot].index = now.index;
            s->cta[sm][slot].instructions = now.instructions;
            s->cta[sm][slot].is_paused = paused >> slot & 1;
        }
        tyto_pause(view, sm, paused);
    }
}

static void finished(void *state, const TytoGridView *view, uint32_t sm,
                     const TytoSmMeasurement *measured) {
    State *s = state;
    TytoCtaProgress done, other;
    TytoSmMeasurement again;
    s->finished++;
    if (tyto_grid_cta(view, sm, measured->cta_slot, &done)) s->total += done.instructions;
    else s->strange++;
    s->strange += done.warps != 0;
    s->strange += tyto_grid_cta(view, (sm + 1) % view->sms, measured->cta_slot, &other);
    s->strange +=
        !tyto_grid_sm(view, sm, &again) || again.warp_instructions != measured->warp_instructions;
}

static void report(const void *state, const TytoReport *out) {
    const State *s = state;
    out->value(out->context, "samples", "", (double)s->samples);
    out->value(out->context, "moved", "", (double)s->moved);
    out->value(out->context, "cheated", "", (double)s->cheated);
    out->value(out->context, "unpaused", "", (double)s->unpaused);
    out->value(out->context, "finished", "", (double)s->finished);
    out->value(out->context, "total", "", (double)s->total);
    out->value(out->context, "strange", "", (double)s->strange);
}

const TytoCtaPolicy tyto_cta_policy = {TYTO_CTA_POLICY_HEAD,
                                       .name = "pausing",
                                       .summary = "pauses half of the CTAs in turn",
                                       .parameters = parameters,
                                       .parameter_count = 3,
                                       .state_bytes = sizeof(State),
                                       .start = start,
                                       .finished = finished,
                                       .report = report,
                                       .order = order,
                                       .sample_every = sample_every,
                                       .sample = sample};
