/* The end of a bulk copy (see the header). */
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

void isa_bulk_done(IsaContext *context, const IsaWarp *warp, const IsaBulk *bulk) {
    if (bulk->kind != ISA_BULK_LOAD && bulk->kind != ISA_BULK_LOCAL) return;
    uint64_t bits;
    uint8_t *object = warp->cta->shared + bulk->barrier;
    memcpy(&bits, object, sizeof bits);
    if (!complete(context, warp, bulk, &bits)) return;
    memcpy(object, &bits, sizeof bits);
    context->changes++;
}
