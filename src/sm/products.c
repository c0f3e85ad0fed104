/* Products of warpgroups (see the header). */
#include "sm/products.h"

#include <stdlib.h>

#include "sm/parts.h"

enum { ROWS = 64, WARPS = 4, UNIT_BYTES = 32 /* bytes along K of a row of A or a column of B */ };

void products_init(SmProducts *products, Sm *owner) {
    *products = (SmProducts){.owner = owner, .next = UINT64_MAX};
}

void products_free(SmProducts *products) { free(products->under_way); }

/* ---- Duration of a product ---- */

uint32_t products_cycles(const SmConfig *config, const IsaInfo *info) {
    static const uint16_t depth[ISA_TENSORS] = {[ISA_TENSOR_FP16] = 16,
                                                [ISA_TENSOR_TF32] = 8,
                                                [ISA_TENSOR_FP8] = 32,
                                                [ISA_TENSOR_INT8] = 32,
                                                [ISA_TENSOR_BIT] = 256};
    const SmWgmmaConfig *wgmma = &config->wgmma;
    const uint32_t rate = wgmma->rate[info->element_bytes], columns = 8u * info->vector;
    if (!rate) return 0;
    const uint32_t sums = ROWS / WARPS * columns * depth[info->element_bytes];
    const uint32_t of_b = info->prefetch & ISA_PRODUCT_IS_SPARSE ? 2 * columns : columns;
    const uint32_t rows = of_b + (info->prefetch & ISA_PRODUCT_A_IS_SHARED ? ROWS : 0);
    const uint32_t adding = (sums + rate - 1) / rate;
    const uint32_t reading = (rows * UNIT_BYTES + wgmma->shared_bytes - 1) / wgmma->shared_bytes;
    return adding > reading ? adding : reading;
}

/* ---- Products in flight ---- */

static void end_due(SmProducts *products, SmContext *sm) {
    uint32_t kept = 0;
    products->next = UINT64_MAX;
    for (uint32_t i = 0; i < products->count; i++) {
        const SmProduct product = products->under_way[i];
        if (product.end <= sm->cycle) {
            warps_product_done(&sm->warps, product.warp, product.group);
            events_post(&sm->events, SM_EVENT_WAIT_DONE, product.warp);
            continue;
        }
        products->under_way[kept++] = product;
        if (product.end < products->next) products->next = product.end;
    }
    products->count = kept;
}

static void step(void *agent, SmContext *sm, SmPort *port) {
    SmProducts *products = agent;
    (void)port;
    if (products->next <= sm->cycle) end_due(products, sm);
}

static uint64_t next_step(const void *agent) { return ((const SmProducts *)agent)->next; }

static const SmAgentOps operations = {.step = step, .next_step = next_step};

static void begin(SmProducts *products, SmContext *sm, int warp, uint32_t cycles) {
    const uint32_t subcore = (uint32_t)warp % sm->view.schedulers;
    uint64_t *free_at = &products->free_at[subcore];
    if (!products->is_attached) sm_attach(products->owner, &operations, products);
    products->is_attached = true;
    products->starts[subcore] = *free_at > sm->cycle ? *free_at : sm->cycle;
    *free_at = products->starts[subcore] + cycles;
    products->under_way = base_grow(products->under_way, products->count, &products->capacity,
                                    sizeof *products->under_way);
    const SmProduct product = {.end = *free_at + sm->config->wgmma.latency,
                               .warp = (uint8_t)warp,
                               .group = warps_product_issued(&sm->warps, warp)};
    products->under_way[products->count++] = product;
    if (product.end < products->next) products->next = product.end;
    warps_issued(&sm->warps, warp);
}

void products_follow(SmProducts *products, SmContext *sm, int warp, const IsaInfo *info) {
    switch ((IsaWarpgroup)info->advice) {
    case ISA_WARPGROUP_PRODUCT: {
        const uint32_t cycles =
            info->prefetch & ISA_PRODUCT_IS_NONE ? 0 : products_cycles(sm->config, info);
        if (cycles) begin(products, sm, warp, cycles);
        if (info->prefetch & ISA_PRODUCT_ENDS_GROUP) warps_products_commit(sm, warp);
        break;
    }
    case ISA_WARPGROUP_COMMIT: warps_products_commit(sm, warp); break;
    case ISA_WARPGROUP_WAIT: warps_products_wait(sm, warp, info->element_bytes); break;
    case ISA_WARPGROUP_REGISTERS: warps_set_registers(sm, warp, 8u * info->vector); break;
    }
}
