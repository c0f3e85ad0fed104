/* Block CTA scheduling: consecutive CTAs go to one SM as a block, at the same time, so that the
 * lines that they share are in one L1D. An SM waits until it has room for a whole block. Blocks
 * begin at multiples of their size; the rest of a grid is a shorter block. On an SM that can never
 * hold a block, a block is as many CTAs as fit. If a grid has fewer blocks than SMs, some SMs stay
 * empty. CTAs of clusters are dispatched by cluster, without this policy.
 *
 * Left out: the paper's warp scheduler, which treats the CTAs of a block alike; `cta-aware` has
 * groups of CTAs. Storage: only the number of the next CTA. Source: M. Lee, S. Song, J. Moon, J.
 * Kim, W. Seo, Y. Cho and S. Ryu, "Improving GPGPU Resource Utilization Through Alternative Thread
 * Block Scheduling", HPCA 2014. */
#include "sched/cta_policy.h"

enum { BLOCK };

static const TytoPolicyParameter PARAMETERS[] = {
    [BLOCK] = {"block", TYTO_INTEGER, 2, 1, TYTO_MAX_CTAS, NULL, "consecutive CTAs of a block",
               "Lee et al. (HPCA 2014): two"},
};

typedef struct Bcs {
    uint64_t block; /* CTAs */
    uint64_t left;  /* CTAs of the current block that have not been dispatched */
    int sm;         /* SM that gets the current block, or got the last one */
} Bcs;

static void start(void *state, const TytoGridView *view, const double *values) {
    Bcs *s = state;
    s->block = (uint64_t)values[BLOCK];
    if (s->block > view->capacity) s->block = view->capacity;
    s->sm = TYTO_NO_SM;
}

/* The next SM in turn that has room for a block; TYTO_NO_SM: none. */
static int sm_for(const Bcs *s, const TytoGridView *view, const TytoSmSet *room, uint64_t ctas) {
    int sm = s->sm;
    for (uint32_t i = 0; i < view->sms; i++) {
        sm = tyto_sm_next(room, sm);
        if (view->resident[sm] + ctas <= view->capacity) return sm;
    }
    return TYTO_NO_SM;
}

static int choose(void *state, const TytoGridView *view, const TytoSmSet *room) {
    Bcs *s = state;
    if (!s->left) {
        const uint64_t rest = view->ctas - view->next;
        const uint64_t ctas = rest < s->block ? rest : s->block;
        const int sm = sm_for(s, view, room, ctas);
        if (sm == TYTO_NO_SM) return sm;
        s->sm = sm;
        s->left = ctas;
    }
    return tyto_sm_has(room, s->sm) ? s->sm : TYTO_NO_SM;
}

/* Also called for CTAs of clusters, which belong to no block. */
static void dispatched(void *state, const TytoGridView *view, uint32_t sm) {
    (void)view, (void)sm;
    Bcs *s = state;
    if (s->left) s->left--;
}

const TytoCtaPolicy cta_bcs = {
    TYTO_CTA_POLICY_HEAD,
    .name = "bcs",
    .summary = "blocks of consecutive CTAs go to one SM, when it has room for a whole block",
    .parameters = PARAMETERS,
    .parameter_count = sizeof PARAMETERS / sizeof *PARAMETERS,
    .state_bytes = sizeof(Bcs),
    .is_uneven = true,
    .start = start,
    .choose = choose,
    .dispatched = dispatched,
};
