/* Lazy CTA scheduling: an SM begins with as many CTAs as fit, under a greedy warp scheduler. When
 * its first CTA finishes, the instructions that its CTAs have issued until then show how many CTAs
 * the SM can use. This number n is their sum divided by the most that one CTA has issued, rounded
 * up. From then on at most n CTAs run on the SM.
 *
 * It needs a greedy warp scheduler (gto), under which the oldest CTA finishes first. Under
 * round-robin all CTAs have issued the same number of instructions, so n is the number of all CTAs.
 * Left out: the free slots are not given to another kernel (the paper's mixed concurrent kernels),
 * though kernels of several streams may use them. The dispatcher chooses the SM that a CTA goes to.
 * Storage: an instruction counter for each CTA slot, and the limit. Source: M. Lee, S. Song, J.
 * Moon, J. Kim, W. Seo, Y. Cho and S. Ryu, "Improving GPGPU Resource Utilization Through
 * Alternative Thread Block Scheduling", HPCA 2014. */
#include "sched/cta_policy.h"

#include "base/bits.h"

enum { ROUND };
enum { ROUND_UP, ROUND_DOWN };

static const char *const ROUNDS[] = {"up", "down", NULL};
static const TytoPolicyParameter PARAMETERS[] = {
    [ROUND] = {"round", TYTO_CHOICE, ROUND_UP, 0, 1, ROUNDS,
               "how the quotient becomes a number of CTAs (at least one)",
               "Lee et al. (HPCA 2014): up; down is ours"},
};

typedef struct Lcs {
    bool rounds_down;
    uint32_t capacity, sms;
    uint32_t limits[TYTO_MAX_SMS]; /* by SM: CTAs; 0: not decided */
} Lcs;

static void start(void *state, const TytoGridView *view, const double *values) {
    Lcs *s = state;
    s->rounds_down = values[ROUND] == ROUND_DOWN;
    s->capacity = view->capacity;
    s->sms = view->sms;
}

static uint32_t limit(const void *state, const TytoGridView *view, uint32_t sm) {
    const Lcs *s = state;
    return s->limits[sm] ? s->limits[sm] : view->capacity;
}

static uint32_t limit_of(const Lcs *s, uint64_t sum, uint64_t most) {
    if (!most) return s->capacity;
    const uint64_t quotient = s->rounds_down ? sum / most : (sum + most - 1) / most;
    const uint64_t ctas = quotient ? quotient : 1;
    return ctas < s->capacity ? (uint32_t)ctas : s->capacity;
}

static void finished(void *state, const TytoGridView *view, uint32_t sm,
                     const TytoSmMeasurement *measured) {
    (void)measured;
    Lcs *s = state;
    TytoCtaProgress cta;
    uint64_t sum = 0, most = 0;
    if (s->limits[sm]) return;
    for (uint32_t slot = 0; slot < view->cta_slots; slot++) {
        if (!tyto_grid_cta(view, sm, slot, &cta)) continue;
        sum += cta.instructions;
        if (cta.instructions > most) most = cta.instructions;
    }
    s->limits[sm] = limit_of(s, sum, most);
}

static void report(const void *state, const TytoReport *out) {
    const Lcs *s = state;
    double limits[TYTO_MAX_SMS];
    for (uint32_t sm = 0; sm < s->sms; sm++)
        limits[sm] = s->limits[sm];
    out->list(out->context, "limits", "CTAs, by SM; 0: not decided", limits, s->sms);
}

const TytoCtaPolicy cta_lcs = {
    TYTO_CTA_POLICY_HEAD,
    .name = "lcs",
    .summary =
        "lazy: the first CTA that finishes on an SM shows how many CTAs it can use, with gto",
    .parameters = PARAMETERS,
    .parameter_count = sizeof PARAMETERS / sizeof *PARAMETERS,
    .state_bytes = sizeof(Lcs),
    .start = start,
    .limit = limit,
    .finished = finished,
    .report = report,
};
