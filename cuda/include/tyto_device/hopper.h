/* Asynchronous operations of compute capability 9.0 as functions: barriers that count bytes, copies
 * of tiles by tensor maps, and what orders the products of a warpgroup. PTX ISA 8.0, sections on
 * mbarrier, cp.async.bulk.tensor and wgmma. Addresses are in the window of shared memory. Tiles are
 * in shared memory with rows of 128 bytes and the swizzle of this width: the 16 bytes `chunk` of a
 * row are at `chunk ^ row % 8`.
 *
 * tyto_device.h does not include this file, which needs PTX ISA 8.0 and the target sm_90a. */
#ifndef TYTO_DEVICE_HOPPER_H
#define TYTO_DEVICE_HOPPER_H

#include "tyto_device.h"

enum {
    WARPGROUP = 128,     /* threads */
    SWIZZLE_BYTES = 128, /* of a row of a tile */
    SWIZZLE_HALVES = 64, /* the same in halves */
    PATTERN_BYTES =
        1024, /* of the 8 rows after which the swizzle repeats; tiles are aligned to it */
    PRODUCER_REGISTERS =
        40, /* of a thread; with two warpgroups of consumers less than the 65,536 of an SM */
    CONSUMER_REGISTERS = 232
};

/* What cuTensorMapEncodeTiled writes. The kernels read it in global memory, because clang 19 copies
 * a parameter (it lacks __grid_constant__). */
struct TensorMap {
    alignas(64) unsigned long long opaque[16];
};

static __device__ __forceinline__ unsigned shared_address(const void *pointer) {
    unsigned address;
    asm("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }"
        : "=r"(address)
        : "l"(pointer));
    return address;
}

/* ---- Barriers ---- */

static __device__ __forceinline__ void barrier_init(unsigned barrier, unsigned arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals)
                 : "memory");
}

/* Makes the barriers that this thread has initialized visible to copies and to the cluster. */
static __device__ __forceinline__ void barrier_publish() {
    asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async;" ::: "memory");
}

/* Arrives, and has the phase wait for `bytes` more. */
static __device__ __forceinline__ void barrier_expect(unsigned barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
}

static __device__ __forceinline__ void barrier_arrive(unsigned barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/* Arrives at the barrier of thread block `rank` of the cluster. */
static __device__ __forceinline__ void barrier_arrive_at(unsigned barrier, unsigned rank) {
    asm volatile(
        "{ .reg .b32 remote;\n"
        "mapa.shared::cluster.u32 remote, %0, %1;\n"
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote]; }" ::"r"(barrier),
        "r"(rank)
        : "memory");
}

/* Waits for the end of the phase of this parity. */
static __device__ __forceinline__ void barrier_wait(unsigned barrier, unsigned parity) {
    unsigned is_over;
    do {
        asm volatile("{ .reg .pred over;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 over, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, over; }"
                     : "=r"(is_over)
                     : "r"(barrier), "r"(parity)
                     : "memory");
    } while (!is_over);
}

/* Joins the threads of a consumer's warpgroup; `name` is not 0, which is that of __syncthreads. */
static __device__ __forceinline__ void warpgroup_meet(unsigned name) {
    asm volatile("bar.sync %0, 128;" ::"r"(name) : "memory");
}

static __device__ __forceinline__ void cluster_meet() {
    asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
}

static __device__ __forceinline__ unsigned cluster_size() {
    unsigned size;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    return size;
}

static __device__ __forceinline__ unsigned cluster_rank() {
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

/* A place in a ring of `COUNT` tiles, and the parity of the phase in which it is filled. */
template <unsigned COUNT> struct Ring {
    unsigned slot = 0, parity = 0;
    __device__ __forceinline__ void advance() {
        slot++;
        if (slot < COUNT) return;
        slot = 0;
        parity ^= 1;
    }
};

/* ---- Copies by tensor maps ---- */

/* Copies the box at (x, y), innermost first, whose bytes count at `barrier`. */
static __device__ __forceinline__ void fetch(unsigned to, const TensorMap &map, unsigned x,
                                             unsigned y, unsigned barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
                 "l"(&map), "r"(x), "r"(y), "r"(barrier)
                 : "memory");
}

/* The same into each thread block of the cluster that `ranks` has a bit for. */
static __device__ __forceinline__ void fetch_for(unsigned to, const TensorMap &map, unsigned x,
                                                 unsigned y, unsigned barrier,
                                                 unsigned short ranks) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
                 "l"(&map), "r"(x), "r"(y), "r"(barrier), "h"(ranks)
                 : "memory");
}

/* Both for maps of three dimensions. */
static __device__ __forceinline__ void fetch_at(unsigned to, const TensorMap &map, unsigned x,
                                                unsigned y, unsigned z, unsigned barrier) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
                 "l"(&map), "r"(x), "r"(y), "r"(z), "r"(barrier)
                 : "memory");
}
static __device__ __forceinline__ void fetch_at_for(unsigned to, const TensorMap &map, unsigned x,
                                                    unsigned y, unsigned z, unsigned barrier,
                                                    unsigned short ranks) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(to),
                 "l"(&map), "r"(x), "r"(y), "r"(z), "r"(barrier), "h"(ranks)
                 : "memory");
}

static __device__ __forceinline__ void store_box(const TensorMap &map, unsigned x, unsigned y,
                                                 unsigned from) {
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(
            &map),
        "r"(x), "r"(y), "r"(from)
        : "memory");
}

/* For maps of three dimensions. */
static __device__ __forceinline__ void store_box_at(const TensorMap &map, unsigned x, unsigned y,
                                                    unsigned z, unsigned from) {
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], "
                 "[%4];" ::"l"(&map),
                 "r"(x), "r"(y), "r"(z), "r"(from)
                 : "memory");
}

static __device__ __forceinline__ void store_commit() {
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/* Waits until this thread's stores have read shared memory, or have ended. */
static __device__ __forceinline__ void store_wait_read() {
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
static __device__ __forceinline__ void store_wait() {
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

/* Makes this thread's writes to shared memory visible to copies. */
static __device__ __forceinline__ void publish_shared() {
    asm volatile("fence.proxy.async;" ::: "memory");
}

/* ---- Products ---- */

/* Describes a tile for wgmma. Groups of 8 rows follow one another. `leading` is the distance in
 * bytes of the columns of the next 128 bytes; only a transposed B needs it. */
static __device__ __forceinline__ unsigned long long descriptor(unsigned tile,
                                                                unsigned leading = 16) {
    tile &= 0x3ffff; /* in a cluster, higher bits name the thread block */
    return (unsigned long long)(tile >> 4) | (unsigned long long)(leading >> 4) << 16 |
           (unsigned long long)(PATTERN_BYTES >> 4) << 32 | 1ull << 62;
}

static __device__ __forceinline__ void products_begin() {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
static __device__ __forceinline__ void products_commit() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/* Two floats as halves, `low` in the lower bits. */
static __device__ __forceinline__ unsigned pack(float low, float high) {
    unsigned packed;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
    return packed;
}

/* Operands of inline PTX: the names of operands 10 t to 10 t + 7 (or 9), and elements of an array
 * that are read and written. */
#define NAMES4(t)    "%" #t "0, %" #t "1, %" #t "2, %" #t "3, "
#define NAMES8(t)    NAMES4(t) "%" #t "4, %" #t "5, %" #t "6, %" #t "7"
#define NAMES10(t)   NAMES8(t) ", %" #t "8, %" #t "9, "
#define SUMS4(d, i)  "+f"(d[i]), "+f"(d[(i) + 1]), "+f"(d[(i) + 2]), "+f"(d[(i) + 3])
#define SUMS16(d, i) SUMS4(d, i), SUMS4(d, (i) + 4), SUMS4(d, (i) + 8), SUMS4(d, (i) + 12)
#define SUMS64(d, i) SUMS16(d, i), SUMS16(d, (i) + 16), SUMS16(d, (i) + 32), SUMS16(d, (i) + 48)

#endif
