/* Clusters: CTAs of a grid that run at the same time and reach each other's shared memory (PTX ISA,
 * section 2.2.2). Only launches whose clusters have several CTAs keep them.
 *
 * A shared address has the CTA's rank in its cluster in bits 24 to 27: machine code builds its
 * addresses that way, and PTX's mapa gives such. Programs that do nothing with clusters see
 * addresses without ranks.
 *
 * Clusters of a launch share records that one host thread at a time may use. */
#ifndef TYTO_ISA_CLUSTER_H
#define TYTO_ISA_CLUSTER_H

#include "isa/launch.h"

enum {
    ISA_MOST_CLUSTER = 16, /* CTAs: the most that a kernel of sm_90 can allow */
    ISA_RANK_SHIFT = 24,
    ISA_RANK_OFFSETS = (1 << ISA_RANK_SHIFT) - 1, /* bits of an offset in a CTA's shared memory */
    ISA_NO_RANK = UINT16_MAX
};

typedef struct IsaCluster {
    uint64_t number;               /* in the grid */
    IsaCta *cta[ISA_MOST_CLUSTER]; /* by rank; NULL: not begun, or ended */
    uint32_t begun, ended;         /* CTAs */
    uint32_t alive, arrived;       /* threads; arrived at the barrier in its present phase */
    bool is_over;                  /* all threads have arrived: those that wait are released
                                      soon */
    struct IsaCluster *next;       /* in its list */
} IsaCluster;

/* The clusters of a launch. Zeroed memory is an empty one. */
typedef struct IsaClusters {
    IsaCluster *running, *unused;
} IsaClusters;

void isa_clusters_free(IsaClusters *clusters);

/* CTAs go out cluster by cluster: the linear index of that one which goes out in that place. */
uint64_t isa_cluster_order(const IsaLaunch *launch, uint64_t place);

/* A CTA begins: it joins its cluster. Called by isa_cta_start. */
void isa_cluster_join(IsaCta *cta);
/* Threads of the warp end. */
void isa_cluster_exit(IsaContext *context, IsaWarp *warp, uint32_t lanes);

/* The CTA of that rank; NULL: there is none, it did not begin yet, or it has ended. */
static inline IsaCta *isa_cluster_cta(const IsaCta *cta, uint64_t rank) {
    if (!cta->cluster) return rank ? NULL : (IsaCta *)(uintptr_t)cta;
    return rank < ISA_MOST_CLUSTER ? cta->cluster->cta[rank] : NULL;
}
/* A shared address of the CTA's own without its rank; others stay. */
static inline uint64_t isa_cluster_own(const IsaCta *cta, uint64_t address) {
    return address >> ISA_RANK_SHIFT == cta->tag >> ISA_RANK_SHIFT ? address - cta->tag : address;
}
/* Says why there is none. */
void isa_cluster_say_missing(const IsaCta *cta, uint64_t rank, Text *out);

/* barrier.cluster: the lanes arrive; and whether they have to wait for the others (then the CTA's
 * `waiting` has the warp's bit). */
void isa_cluster_arrive(IsaContext *context, IsaWarp *warp, uint32_t lanes);
bool isa_cluster_wait(IsaContext *context, IsaWarp *warp, uint32_t lanes);
/* Releases those that wait at the barrier of cluster `number`, to which the CTA belongs or
 * belonged. */
void isa_cluster_release(IsaCta *cta, uint64_t number);

#endif
