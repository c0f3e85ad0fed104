/* Clusters (see the header). */
#include "isa/cluster.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "isa/bulk.h"
#include "isa/check/check.h"
#include "isa/exec/handlers.h"

/* ---- Which CTAs form a cluster ---- */

uint64_t isa_cluster_order(const IsaLaunch *launch, uint64_t place) {
    if (launch->cluster_ctas <= 1) return place;
    const uint32_t *shape = launch->cluster;
    uint64_t number = place / launch->cluster_ctas, rank = place % launch->cluster_ctas;
    uint64_t index = 0, stride = 1;
    for (int axis = 0; axis < 3; ++axis) {
        const uint64_t clusters = launch->grid[axis] / shape[axis];
        index += (number % clusters * shape[axis] + rank % shape[axis]) * stride;
        number /= clusters;
        rank /= shape[axis];
        stride *= launch->grid[axis];
    }
    return index;
}

static uint64_t number_of(const IsaCta *cta) {
    const IsaLaunch *launch = cta->launch;
    uint64_t number = 0;
    for (int axis = 2; axis >= 0; --axis)
        number = number * (launch->grid[axis] / launch->cluster[axis]) +
                 cta->id[axis] / launch->cluster[axis];
    return number;
}

static uint32_t rank_of(const IsaCta *cta) {
    const uint32_t *shape = cta->launch->cluster;
    uint32_t rank = 0;
    for (int axis = 2; axis >= 0; --axis)
        rank = rank * shape[axis] + cta->id[axis] % shape[axis];
    return rank;
}

/* ---- Start and end ---- */

static void free_list(IsaCluster *first) {
    while (first) {
        IsaCluster *next = first->next;
        free(first);
        first = next;
    }
}

void isa_clusters_free(IsaClusters *clusters) {
    free_list(clusters->running);
    free_list(clusters->unused);
    *clusters = (IsaClusters){0};
}

/* Finds the cluster with that number, or creates it. */
static IsaCluster *find(IsaClusters *clusters, uint64_t number) {
    for (IsaCluster *each = clusters->running; each; each = each->next)
        if (each->number == number) return each;
    IsaCluster *cluster = clusters->unused;
    if (cluster) clusters->unused = cluster->next;
    else cluster = base_malloc(sizeof *cluster);
    *cluster = (IsaCluster){.number = number, .next = clusters->running};
    clusters->running = cluster;
    return cluster;
}

void isa_cluster_join(IsaCta *cta) {
    const IsaLaunch *launch = cta->launch;
    cta->cluster = find(launch->clusters, number_of(cta));
    cta->rank = rank_of(cta);
    cta->tag = launch->has_ranks ? cta->rank << ISA_RANK_SHIFT : 0;
    cta->cluster->cta[cta->rank] = cta;
    cta->cluster->begun++;
    cta->cluster->alive += launch->threads;
    memset(cta->cluster_lanes, 0, sizeof cta->cluster_lanes);
    cta->cluster_waits = 0;
}

/* The last CTA of a cluster has ended. */
static void retire(IsaClusters *clusters, IsaCluster *cluster) {
    IsaCluster **link = &clusters->running;
    while (*link != cluster)
        link = &(*link)->next;
    *link = cluster->next;
    cluster->next = clusters->unused;
    cluster->number = UINT64_MAX;
    clusters->unused = cluster;
}

void isa_cluster_say_missing(const IsaCta *cta, uint64_t rank, Text *out) {
    const uint32_t ctas = cta->launch->clusters ? cta->launch->cluster_ctas : 1;
    if (rank < ctas)
        text_printf(out, "the CTA of rank %" PRIu64 " of the cluster has exited", rank);
    else
        text_printf(out, "there is no rank %" PRIu64 " in a cluster of %u CTA%s", rank, ctas,
                    text_plural(ctas));
}

/* ---- The barrier ---- */

void isa_cluster_release(IsaCta *cta, uint64_t number) {
    IsaCluster *cluster = cta->cluster;
    if (cluster->number != number || !cluster->is_over) return;
    cluster->is_over = false;
    cluster->arrived = 0;
    for (uint32_t rank = 0; rank < ISA_MOST_CLUSTER; ++rank) {
        IsaCta *each = cluster->cta[rank];
        if (!each) continue;
        memset(each->cluster_lanes, 0, sizeof each->cluster_lanes);
        if (each->launch->check) isa_check_released(each, each->cluster_waits);
        each->waiting &= ~each->cluster_waits;
        each->cluster_waits = 0;
    }
}

/* Ends the phase when every thread has arrived. A timed run releases the waiting warps later. */
static void end_phase(IsaContext *context, IsaWarp *warp) {
    IsaCluster *cluster = warp->cta->cluster;
    const bool is_whole = cluster->begun == warp->cta->launch->cluster_ctas;
    if (!is_whole || cluster->is_over || !cluster->arrived || cluster->arrived < cluster->alive)
        return;
    cluster->is_over = true;
    context->changes++;
    const IsaBulk release = {.kind = ISA_BULK_RELEASE, .global = cluster->number};
    isa_bulk_begun(context, warp, &release);
}

void isa_cluster_arrive(IsaContext *context, IsaWarp *warp, uint32_t lanes) {
    IsaCta *cta = warp->cta;
    uint32_t *arrived = &cta->cluster_lanes[warp->index];
    if (cta->launch->check) isa_check_fence(context, warp, false);
    cta->cluster->arrived += (uint32_t)bits_count32(lanes & ~*arrived);
    *arrived |= lanes;
    end_phase(context, warp);
}

bool isa_cluster_wait(IsaContext *context, IsaWarp *warp, uint32_t lanes) {
    IsaCta *cta = warp->cta;
    end_phase(context, warp); /* other lanes of the warp may have exited since */
    if (!(cta->cluster_lanes[warp->index] & lanes)) {
        if (cta->launch->check) isa_check_fence(context, warp, false);
        return false;
    }
    cta->cluster_waits |= 1u << warp->index;
    cta->waiting |= 1u << warp->index;
    return true;
}

void isa_cluster_exit(IsaContext *context, IsaWarp *warp, uint32_t lanes) {
    IsaCta *cta = warp->cta;
    IsaCluster *cluster = cta->cluster;
    uint32_t *arrived = &cta->cluster_lanes[warp->index];
    context->bulk_count = 0;
    cluster->alive -= (uint32_t)bits_count32(lanes);
    cluster->arrived -= (uint32_t)bits_count32(lanes & *arrived);
    *arrived &= ~lanes;
    end_phase(context, warp);
    if (warp->alive || cta->alive & ~(1u << warp->index)) return;
    cluster->cta[cta->rank] = NULL;
    if (++cluster->ended == cta->launch->cluster_ctas) retire(cta->launch->clusters, cluster);
}

/* ---- Instructions ---- */

/* mapa: operand[0] destination, operand[1] shared address, operand[2] rank; size: bytes of the
 * address, which is generic or a shared address. */
void isa_exec_MAPA(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask) {
    const uint64_t ranks = (uint64_t)(ISA_MOST_CLUSTER - 1) << ISA_RANK_SHIFT;
    const uint32_t ctas = context->launch->clusters ? context->launch->cluster_ctas : 1;
    for (; mask; mask &= mask - 1) {
        const int lane = bits_lowest32(mask);
        const uint64_t rank = isa_row32(warp, inst->operand[2])[lane];
        if (rank >= ctas) {
            isa_fault(context, warp, lane, ISA_FAULT_ADDRESS,
                      "mapa to rank %" PRIu64 " of a cluster of %u CTA%s", rank, ctas,
                      text_plural(ctas));
            return;
        }
        if (inst->size == 8) {
            uint64_t *to = isa_row64(warp, inst->operand[0]);
            to[lane] = (isa_row64(warp, inst->operand[1])[lane] & ~ranks) | rank << ISA_RANK_SHIFT;
        } else {
            uint32_t *to = isa_row32(warp, inst->operand[0]);
            to[lane] = (isa_row32(warp, inst->operand[1])[lane] & (uint32_t)~ranks) |
                       (uint32_t)rank << ISA_RANK_SHIFT;
        }
    }
}

/* getctarank: operand[0] destination, operand[1] an address as in mapa, of `size` bytes. */
void isa_exec_CTA_RANK(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask) {
    (void)context;
    for (; mask; mask &= mask - 1) {
        const int lane = bits_lowest32(mask);
        const uint64_t address = inst->size == 8 ? isa_row64(warp, inst->operand[1])[lane]
                                                 : isa_row32(warp, inst->operand[1])[lane];
        isa_row32(warp, inst->operand[0])[lane] =
            (uint32_t)(address >> ISA_RANK_SHIFT) & (ISA_MOST_CLUSTER - 1);
    }
}
