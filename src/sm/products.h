/* Matrix products of warpgroups (wgmma): an agent of the SM that uses no network. Each sub-core's
 * tensor pipeline works on one product of a warp at a time, in issue order, and holds one more that
 * waits. A product takes as many cycles as its multiplications need at the pipeline's rate, or as
 * its reads of shared memory need, if that is more. B is read once for the four warps, and so are
 * A's 64 rows. wgmma.latency cycles later the product completes, and its group has one pending
 * product less.
 *
 * Left out: products and other accesses do not compete for shared memory, and mma and wgmma do not
 * compete for the tensor pipeline. If a machine has no rate for a type (wgmma.* is 0), its products
 * complete when they issue.
 *
 * Also handles setmaxnreg: it keeps the registers of a CTA that its warps have released, and the
 * warps that wait for registers. A warp that exits keeps its registers until the CTA ends. */
#ifndef TYTO_SM_PRODUCTS_H
#define TYTO_SM_PRODUCTS_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/info.h"
#include "sm/sm_config.h"

typedef struct Sm Sm;
struct SmContext;

/* A product in progress. */
typedef struct SmProduct {
    uint64_t end; /* cycle in which it completes */
    uint8_t warp;
    uint8_t group; /* place of its group */
} SmProduct;

typedef struct SmProducts {
    Sm *owner;
    SmProduct *under_way; /* owned; in the order of issue */
    uint32_t count, capacity;
    uint64_t next;                       /* cycle of the first completion; UINT64_MAX: none */
    uint64_t starts[SM_MAX_SCHEDULERS];  /* cycle in which a sub-core's last product starts */
    uint64_t free_at[SM_MAX_SCHEDULERS]; /* cycle in which its pipeline is free after that
                                            product */
    bool is_attached;                    /* it is registered as an agent of its SM; set with the
                                            first product */
} SmProducts;

void products_init(SmProducts *products, Sm *owner);
void products_free(SmProducts *products);

/* Cycles for which a product occupies its tensor pipeline; 0: the machine has no rate for it. */
uint32_t products_cycles(const SmConfig *config, const IsaInfo *info);
/* Handles an instruction of ISA_IS_WARPGROUP that the warp has just executed. */
void products_follow(SmProducts *products, struct SmContext *sm, int warp, const IsaInfo *info);
/* The first cycle in which the sub-core can issue another product. */
static inline uint64_t products_issue_from(const SmProducts *products, uint32_t subcore) {
    return products->starts[subcore];
}

#endif
