/* Products of warpgroups (wgmma), an agent of the SM that uses no network. Each sub-core's tensor
 * pipeline works on one product of a warp at a time, in the order of issue, and holds one more that
 * waits. A product takes as many cycles as its multiplications do at the pipeline's rate, or as the
 * reads of shared memory do where that is more: B once for the four warps, and A's 64 rows.
 * wgmma.latency cycles after that it is over, and its group has one product less.
 *
 * Left out: products and other accesses do not wait for each other at shared memory, and mma and
 * wgmma do not at the tensor pipeline. A machine that has no rate for a type (wgmma.*: 0) has
 * products that are over as they issue.
 *
 * setmaxnreg: the registers of a CTA that its warps have given back, and who waits for them. A warp
 * that ends keeps its own until the CTA ends. */
#ifndef TYTO_SM_PRODUCTS_H
#define TYTO_SM_PRODUCTS_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/info.h"
#include "sm/sm_config.h"

typedef struct Sm Sm;
struct SmContext;

/* A product that is not over. */
typedef struct SmProduct {
    uint64_t end; /* the cycle in which it is */
    uint8_t warp;
    uint8_t group; /* place of its group */
} SmProduct;

typedef struct SmProducts {
    Sm *owner;
    SmProduct *under_way; /* owned; in the order of issue */
    uint32_t count, capacity;
    uint64_t next;                       /* the first end, UINT64_MAX */
    uint64_t starts[SM_MAX_SCHEDULERS];  /* cycle in which a sub-core's last product starts ... */
    uint64_t free_at[SM_MAX_SCHEDULERS]; /* ... and in which its pipeline is free after it */
    bool is_attached;                    /* it is an agent of its SM: from the first product on */
} SmProducts;

void products_init(SmProducts *products, Sm *owner);
void products_free(SmProducts *products);

/* Cycles for which a product keeps its tensor pipeline; 0: the machine does not say. */
uint32_t products_cycles(const SmConfig *config, const IsaInfo *info);
/* The warp has just executed an instruction of ISA_IS_WARPGROUP. */
void products_follow(SmProducts *products, struct SmContext *sm, int warp, const IsaInfo *info);
/* The first cycle in which the sub-core can issue another product. */
static inline uint64_t products_issue_from(const SmProducts *products, uint32_t subcore) {
    return products->starts[subcore];
}

#endif
