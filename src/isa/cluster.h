/* Clusters: CTAs of a grid that run at the same time and can access each other's shared memory (PTX
 * ISA, section 2.2.2). Only launches whose clusters have several CTAs have these objects.
 *
 * A shared address has the CTA's rank in its cluster in bits 24 to 27. Machine code builds its
 * addresses that way, and PTX's mapa returns such addresses. Programs that do not use clusters see
 * addresses without ranks.
 *
 * The clusters of a launch share records; only one host thread at a time may use them. */
#ifndef TYTO_ISA_CLUSTER_H
#define TYTO_ISA_CLUSTER_H

#include "isa/launch.h"

enum {
    ISA_MOST_CLUSTER = 16, /* in CTAs: the maximum that a kernel of sm_90 can allow */
    ISA_RANK_SHIFT = 24,
    ISA_RANK_OFFSETS = (1 << ISA_RANK_SHIFT) - 1, /* mask of the offset in a CTA's shared memory */
    ISA_NO_RANK = UINT16_MAX
};

typedef struct IsaCluster {
    uint64_t number;               /* in the grid */
    IsaCta *cta[ISA_MOST_CLUSTER]; /* by rank; NULL: not started or ended */
    uint32_t begun, ended;         /* in CTAs */
    uint32_t alive, arrived;       /* in threads; arrived: at the barrier in its current phase */
    bool is_over;                  /* all threads have arrived; waiting warps will be released */
    struct IsaCluster *next;       /* in its list */
} IsaCluster;

/* The clusters of a launch. Zeroed memory is an empty one. */
typedef struct IsaClusters {
    IsaCluster *running, *unused;
} IsaClusters;

void isa_clusters_free(IsaClusters *clusters);

/* CTAs are dispatched cluster by cluster. Returns the linear index of the CTA that is dispatched at
 * that place. */
uint64_t isa_cluster_order(const IsaLaunch *launch, uint64_t place);

/* A CTA starts and joins its cluster. Called by isa_cta_start. */
void isa_cluster_join(IsaCta *cta);
/* Threads of the warp exit. */
void isa_cluster_exit(IsaContext *context, IsaWarp *warp, uint32_t lanes);

/* The CTA of that rank; NULL: no such rank, not started yet, or already ended. */
static inline IsaCta *isa_cluster_cta(const IsaCta *cta, uint64_t rank) {
    if (!cta->cluster) return rank ? NULL : (IsaCta *)(uintptr_t)cta;
    return rank < ISA_MOST_CLUSTER ? cta->cluster->cta[rank] : NULL;
}
/* Removes the rank from a shared address of the CTA itself; returns other addresses unchanged. */
static inline uint64_t isa_cluster_own(const IsaCta *cta, uint64_t address) {
    return address >> ISA_RANK_SHIFT == cta->tag >> ISA_RANK_SHIFT ? address - cta->tag : address;
}
/* Writes why isa_cluster_cta returned NULL. */
void isa_cluster_say_missing(const IsaCta *cta, uint64_t rank, Text *out);

/* barrier.cluster. arrive: the lanes arrive. wait: returns whether the lanes have to wait for the
 * others; if so, sets the warp's bit in the CTA's `waiting`. */
void isa_cluster_arrive(IsaContext *context, IsaWarp *warp, uint32_t lanes);
bool isa_cluster_wait(IsaContext *context, IsaWarp *warp, uint32_t lanes);
/* Releases the warps that wait at the barrier of cluster `number`, which the CTA belongs or
 * belonged to. */
void isa_cluster_release(IsaCta *cta, uint64_t number);

#endif
