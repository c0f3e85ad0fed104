/* Formation and order of groups of CTAs (see the header). */
#include "sched/cta_groups.h"

#include <string.h>

#include "base/bits.h"

const char *const cta_groups_stalls[] = {"memory", "any", NULL};

uint32_t cta_groups_sizes(uint32_t ctas, uint32_t warps_per_cta, uint32_t least_warps,
                          uint32_t sizes[TYTO_MAX_CTAS]) {
    uint32_t size = (least_warps + warps_per_cta - 1) / warps_per_cta;
    if (size > ctas) size = ctas; /* too few warps for a full group: one smaller group */
    uint32_t groups = ctas / size;
    for (uint32_t g = 0; g < groups; g++)
        sizes[g] = size;
    sizes[groups - 1] += ctas % size;
    return groups;
}

void cta_groups_start(CtaGroups *groups, const TytoSmView *view, uint32_t least_warps,
                      uint32_t first) {
    uint32_t sizes[TYTO_MAX_CTAS];
    *groups = (CtaGroups){0};
    groups->count = cta_groups_sizes(view->cta_limit, view->warps_per_cta, least_warps, sizes);
    uint32_t slot = 0;
    groups->first = (uint8_t)(first % groups->count);
    for (uint32_t g = 0; g < groups->count; g++) {
        groups->by_age[g] = (uint8_t)g;
        for (uint32_t i = 0; i < sizes[g]; i++, slot++) {
            groups->of_slot[slot] = (uint8_t)g;
            groups->group[g].slots |= UINT32_C(1) << slot;
        }
    }
}

static void become_youngest(CtaGroups *groups, uint32_t g) {
    uint32_t number = 0;
    while (groups->by_age[number] != g)
        number++;
    memmove(&groups->by_age[number], &groups->by_age[number + 1], groups->count - 1 - number);
    groups->by_age[groups->count - 1] = (uint8_t)g;
}

static void admit(CtaGroup *group, uint32_t slot, uint64_t warps) {
    group->warps |= warps;
    if (group->is_full) group->coming |= slot;
    else group->serving |= slot;
}

/* Removes the CTA in `slot`. Returns whether it was the last of its generation. */
static bool dismiss(CtaGroup *group, uint32_t slot) {
    bool was_last = group->serving == slot;
    group->is_full = true;
    group->serving &= ~slot;
    group->coming &= ~slot;
    if (!was_last) return false;
    group->serving = group->coming;
    group->coming = 0;
    group->is_full = false;
    return true;
}

void cta_groups_event(CtaGroups *groups, const TytoEvent *event) {
    uint32_t g = groups->of_slot[event->cta_slot], slot = UINT32_C(1) << event->cta_slot;
    CtaGroup *group = &groups->group[g];
    if (event->kind == TYTO_EVENT_CTA_LAUNCHED) admit(group, slot, event->warps);
    else if (event->kind == TYTO_EVENT_WARP_FINISHED) group->warps &= ~(UINT64_C(1) << event->warp);
    else if (event->kind == TYTO_EVENT_CTA_FINISHED && dismiss(group, slot))
        become_youngest(groups, g);
}

void cta_groups_rotate(CtaGroups *groups) { become_youngest(groups, cta_groups_at(groups, 0)); }

void cta_groups_report_sizes(const CtaGroups *groups, const TytoReport *out) {
    double sizes[TYTO_MAX_CTAS];
    for (uint32_t g = 0; g < groups->count; g++)
        sizes[g] = bits_count32(groups->group[g].slots);
    out->list(out->context, "group_sizes", "CTAs", sizes, groups->count);
}

void cta_groups_report_priorities(const CtaGroups *groups, const TytoReport *out) {
    double priorities[TYTO_MAX_CTAS];
    for (uint32_t priority = 0; priority < groups->count; priority++)
        priorities[cta_groups_at(groups, priority)] = priority;
    out->list(out->context, "priorities", "0 is the highest", priorities, groups->count);
}

void cta_groups_storage(const double *values, const TytoMachineSizes *sizes,
                        const TytoStorage *out) {
    (void)values, (void)sizes;
    out->bits(out->context, "formation of groups, priorities",
              "OWL section 4.5, which gives an area (0.18 mm2 for 28 SMs) and no bits", 0, 0);
}
