/* Beginnings and ends of bulk copies (see the header). */
#include "isa/bulk.h"

#include <inttypes.h>
#include <string.h>

#include "isa/launch.h"

static void fail(IsaContext *context, const IsaWarp *warp, const IsaBulk *bulk, const char *what) {
    isa_fault(context, warp, bulk->lane, ISA_FAULT_BARRIER,
              "a bulk copy of %u bytes ends on the mbarrier at shared address 0x%x: %s",
              bulk->bytes, bulk->barrier, what);
}

/* The object after the transactions; false after a fault. */
static bool complete(IsaContext *context, const IsaWarp *warp, const IsaBulk *bulk,
                     uint64_t *bits) {
    if (context->program->code) { /* its objects have no mark */
        *bits = isa_phase_after(&isa_phase_of_90, *bits,
                                (IsaPhaseStep){.transactions = -(int64_t)bulk->bytes});
        return true;
    }
    if (*bits >> 62 != ISA_MBARRIER_MARK) {
        fail(context, warp, bulk, "it was never initialised");
        return false;
    }
    IsaMbarrier barrier = isa_mbarrier_of(*bits);
    if (!isa_mbarrier_add(&barrier, -(int64_t)bulk->bytes)) {
        fail(context, warp, bulk, ISA_MBARRIER_OVERFLOW);
        return false;
    }
    isa_mbarrier_end_phase(&barrier);
    *bits = isa_mbarrier_bits(barrier);
    return true;
}

bool isa_bulk_barrier_is_good(IsaContext *context, const IsaWarp *warp, int lane,
                              uint64_t address) {
    const uint64_t extent = context->launch->shared_extent, bytes = sizeof(uint64_t);
    if (address % bytes == 0 && bytes <= extent && address <= extent - bytes) return true;
    isa_fault(context, warp, lane, ISA_FAULT_ADDRESS,
              "the mbarrier of a bulk copy cannot be at shared address 0x%" PRIx64, address);
    return false;
}

void isa_bulk_begun(IsaContext *context, const IsaWarp *warp, const IsaBulk *bulk) {
    if (context->bulk) context->bulk[context->bulk_count++] = *bulk;
    else isa_bulk_done(context, warp, bulk);
}

void isa_bulk_done(IsaContext *context, const IsaWarp *warp, const IsaBulk *bulk) {
    if (bulk->kind != ISA_BULK_LOAD && bulk->kind != ISA_BULK_LOCAL) return;
    uint64_t bits;
    uint8_t *object = warp->cta->shared + bulk->barrier;
    memcpy(&bits, object, sizeof bits);
    if (!complete(context, warp, bulk, &bits)) return;
    memcpy(object, &bits, sizeof bits);
    context->changes++;
}
