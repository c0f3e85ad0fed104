/* Updates of the view (see the header). */
#include "sched/view.h"

#include "base/bits.h"

/* Ages are stored as a matrix, one word of older warps per warp, as in hardware: a few ANDs find
 * the oldest warp of a set. Only launches change the matrix. */
static void set_ages(TytoSmView *view, uint64_t warps, uint64_t first_age) {
    for (int w = 0; w < TYTO_MAX_WARPS; w++)
        view->older[w] &= ~warps;
    uint64_t before = view->resident;
    for (uint64_t rest = warps; rest; rest &= rest - 1) {
        int warp = bits_lowest64(rest);
        view->older[warp] = before;
        view->warp[warp].age = first_age++;
        before |= UINT64_C(1) << warp;
    }
}

void sched_view_launch(TytoSmView *view, int cta_slot, uint64_t warps, uint64_t cta_index,
                       uint64_t first_age) {
    uint8_t index = 0;
    for (uint64_t rest = warps; rest; rest &= rest - 1)
        view->warp[bits_lowest64(rest)] =
            (TytoWarpView){.cta_slot = (uint8_t)cta_slot, .index_in_cta = index++};
    set_ages(view, warps, first_age);
    view->cta[cta_slot] =
        (TytoCtaView){.index = cta_index, .warps = warps, .all = warps, .launched = view->cycle};
    view->ctas |= UINT64_C(1) << cta_slot;
    view->resident |= warps;
}

void sched_view_retire(TytoSmView *view, int warp) {
    uint64_t others = ~(UINT64_C(1) << warp);
    view->resident &= others;
    view->exited &= others;
    view->at_barrier &= others;
    view->has_instruction &= others;
    view->waits_memory &= others;
    view->at_mbarrier &= others;
    view->waits_other &= others;
    view->wants_load &= others;
    view->cta[view->warp[warp].cta_slot].warps &= others;
}

void sched_view_finish(TytoSmView *view, int cta_slot) { view->ctas &= ~(UINT64_C(1) << cta_slot); }

uint64_t sched_view_awaited(const TytoSmView *view) {
    uint64_t awaited = 0;
    const uint64_t waiting = view->at_barrier | view->at_mbarrier;
    for (uint64_t ctas = waiting ? view->ctas : 0; ctas; ctas &= ctas - 1) {
        uint64_t warps = tyto_cta(view, tyto_lowest(ctas))->warps;
        if (warps & waiting) awaited |= warps;
    }
    return awaited;
}

uint64_t sched_view_first(const TytoSmView *view, int limit) {
    uint64_t rest = view->resident & ~view->exited, first = 0;
    for (int i = 0; i < limit && rest; i++) {
        uint64_t oldest = UINT64_C(1) << tyto_oldest(view, rest);
        first |= oldest;
        rest &= ~oldest;
    }
    return first;
}

uint64_t sched_view_oldest(const TytoSmView *view, int limit) {
    return sched_view_first(view, limit) | sched_view_awaited(view);
}
