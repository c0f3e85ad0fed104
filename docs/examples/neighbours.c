/* A CTA scheduler of one's own: CTAs that follow each other, and often share data, go to one SM.
 *
 * cc -shared -fPIC $(pkg-config --cflags tyto) neighbours.c -o neighbours.so
 * tyto run --cta-scheduler ./neighbours.so:group=4 matmul */
#include <tyto/cta_policy.h>

enum { GROUP };

static const TytoPolicyParameter parameters[] = {
    [GROUP] = {"group", TYTO_INTEGER, 2, 1, 32, NULL, "consecutive CTAs that go to one SM",
               "after Lee et al., HPCA 2014, block CTA scheduling"},
};

typedef struct Neighbours {
    uint64_t group; /* CTAs that go to one SM */
    int sm;         /* that got the last one, TYTO_NO_SM at first */
} Neighbours;

static void start(void *state, const TytoGridView *view, const double *values) {
    (void)view;
    Neighbours *neighbours = state;
    neighbours->group = (uint64_t)values[GROUP];
    neighbours->sm = TYTO_NO_SM;
}

static int choose(void *state, const TytoGridView *view, const TytoSmSet *room) {
    Neighbours *neighbours = state;
    int sm = neighbours->sm;
    if (view->next % neighbours->group != 0) { /* the group has begun */
        if (tyto_sm_has(room, sm)) return sm;
        if (view->resident[sm] < view->capacity) return TYTO_NO_SM; /* it had one in this cycle */
    }
    return neighbours->sm = tyto_sm_next(room, sm);
}

const TytoCtaPolicy tyto_cta_policy = {
    TYTO_CTA_POLICY_HEAD,
    .name = "neighbours",
    .summary = "groups of consecutive CTAs go to one SM",
    .parameters = parameters,
    .parameter_count = 1,
    .state_bytes = sizeof(Neighbours),
    .start = start,
    .choose = choose,
};
