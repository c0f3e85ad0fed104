/* Start and end of bulk copies (see the header). */
#include "isa/bulk.h"

#include <inttypes.h>
#include <string.h>

#include "base/bits.h"
#include "isa/cluster.h"

static void fail(IsaContext *context, const IsaWarp *warp, const IsaBulk *bulk, const char *what) {
    if (bulk->kind == ISA_BULK_ARRIVE)
        isa_fault(context, warp, bulk->lane, ISA_FAULT_BARRIER,
                  "an arrival at the mbarrier at shared address 0x%x of another CTA: %s",
                  bulk->barrier, what);
    else
        isa_fault(context, warp, bulk->lane, ISA_FAULT_BARRIER,
                  "a bulk copy of %u bytes ends on the mbarrier at shared address 0x%x: %s",
                  bulk->bytes, bulk->barrier, what);
}

static bool is_arrival(const IsaBulk *bulk) { return bulk->kind == ISA_BULK_ARRIVE; }

/* The change that the end of the copy makes to an mbarrier. */
static IsaPhaseStep step_of(const IsaBulk *bulk) {
    if (is_arrival(bulk)) return (IsaPhaseStep){bulk->global, bulk->transactions, bulk->drops};
    return (IsaPhaseStep){.transactions = -(int64_t)bulk->bytes};
}

/* Sets *bits to the object after the copy has ended. Returns false after a fault. */
static bool complete(IsaContext *context, const IsaWarp *warp, const IsaBulk *bulk,
                     uint64_t *bits) {
    const IsaPhaseStep step = step_of(bulk);
    if (context->program->code) { /* these objects have no mark */
        *bits = isa_phase_after(&isa_phase_of_90, *bits, step);
        return true;
    }
    if (*bits >> 62 != ISA_MBARRIER_MARK) {
        fail(context, warp, bulk, "it was never initialised");
        return false;
    }
    IsaMbarrier barrier = isa_mbarrier_of(*bits);
    if (!isa_mbarrier_add(&barrier, step.transactions)) {
        fail(context, warp, bulk, ISA_MBARRIER_OVERFLOW);
        return false;
    }
    const char *wrong = isa_mbarrier_arrive(&barrier, step.arrivals, step.drops);
    if (wrong) fail(context, warp, bulk, wrong);
    isa_mbarrier_end_phase(&barrier);
    *bits = isa_mbarrier_bits(barrier);
    return !wrong;
}

/* Whether that offset of a CTA's shared memory can hold an mbarrier. */
static bool is_place(const IsaContext *context, uint64_t offset) {
    const uint64_t extent = context->launch->shared_extent, bytes = sizeof(uint64_t);
    return offset % bytes == 0 && bytes <= extent && offset <= extent - bytes;
}

bool isa_bulk_barrier_is_good(IsaContext *context, const IsaWarp *warp, int lane,
                              uint64_t address) {
    const bool has_rank = context->launch->clusters != NULL;
    const uint64_t rank = has_rank ? address >> ISA_RANK_SHIFT : 0;
    const uint64_t offset = has_rank ? address & ISA_RANK_OFFSETS : address;
    if (is_place(context, offset) && (!has_rank || rank < context->launch->cluster_ctas))
        return true;
    isa_fault(context, warp, lane, ISA_FAULT_ADDRESS,
              "the mbarrier of a bulk copy cannot be at shared address 0x%" PRIx64, address);
    return false;
}

void isa_bulk_begun(IsaContext *context, const IsaWarp *warp, const IsaBulk *bulk) {
    if (context->bulk) context->bulk[context->bulk_count++] = *bulk;
    else isa_bulk_done(context, warp, bulk);
}

/* Ends the copy at the mbarrier of one CTA. Returns false after a fault. */
static bool end_at(IsaContext *context, const IsaWarp *warp, const IsaBulk *bulk,
                   const IsaCta *cta) {
    uint64_t bits;
    uint8_t *object = cta->shared + bulk->barrier;
    memcpy(&bits, object, sizeof bits);
    if (!complete(context, warp, bulk, &bits)) return false;
    memcpy(object, &bits, sizeof bits);
    context->changes++;
    return true;
}

void isa_bulk_done(IsaContext *context, const IsaWarp *warp, const IsaBulk *bulk) {
    if (bulk->kind == ISA_BULK_RELEASE) isa_cluster_release(warp->cta, bulk->global);
    if (bulk->kind != ISA_BULK_LOAD && bulk->kind != ISA_BULK_LOCAL && !is_arrival(bulk)) return;
    if (!bulk->ranks) end_at(context, warp, bulk, warp->cta);
    for (uint32_t rest = bulk->ranks; rest; rest &= rest - 1) {
        const uint32_t rank = (uint32_t)bits_lowest32(rest);
        const IsaCta *cta = isa_cluster_cta(warp->cta, rank);
        if (!cta) {
            Text why = {0};
            isa_cluster_say_missing(warp->cta, rank, &why);
            fail(context, warp, bulk, text_string(&why));
            text_free(&why);
        }
        if (!cta || !end_at(context, warp, bulk, cta)) return;
    }
}

uint32_t isa_bulk_ranks(const IsaContext *context, uint64_t shared, uint32_t chosen) {
    if (!context->launch->clusters) return 0;
    const uint32_t all = (1u << context->launch->cluster_ctas) - 1;
    return chosen ? chosen & all : 1u << (shared >> ISA_RANK_SHIFT & (ISA_MOST_CLUSTER - 1));
}
