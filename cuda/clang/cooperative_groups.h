/* Cooperative groups for clang: blocks, grids of a cooperative launch, tiles of a warp, coalesced
 * threads, clusters, and their collectives. Names are CUDA's, the text is our own. Not supported:
 * multi-grid groups, tiles of more than a warp.
 *
 * A grid waits at a word of the cooperative launch's workspace, whose address is in %envreg1 and 2:
 * its first block flips the upper bit after all others have been counted. Without a cooperative
 * launch this address is 0, and waiting there is a fault. */
#ifndef TYTO_COOPERATIVE_GROUPS_H
#define TYTO_COOPERATIVE_GROUPS_H

#include "cuda_runtime.h"

namespace cooperative_groups {

/* ---- Shuffles of any type, a word of 32 bits at a time ---- */

namespace tyto_detail {

template <class T, class Shuffle> __device__ __forceinline__ T shuffle(T value, Shuffle move) {
    enum { WORDS = (sizeof(T) + 3) / 4 };
    unsigned words[WORDS] = {};
    __builtin_memcpy(words, &value, sizeof value);
    for (int i = 0; i < WORDS; i++)
        words[i] = move(words[i]);
    __builtin_memcpy(&value, words, sizeof value);
    return value;
}

__device__ __forceinline__ unsigned lane() { return __nvvm_read_ptx_sreg_laneid(); }
__device__ __forceinline__ unsigned lanes_below() { return (1u << lane()) - 1; }

/* Lanes of the mask with the same value, of any type of at most 8 bytes. */
template <class T> __device__ __forceinline__ unsigned match(unsigned mask, T value) {
    unsigned long long bits = 0;
    static_assert(sizeof value <= sizeof bits, "8 bytes at most");
    __builtin_memcpy(&bits, &value, sizeof value);
    return sizeof value > 4 ? __match_any_sync(mask, bits) : __match_any_sync(mask, (unsigned)bits);
}

/* The lane in `mask` that comes after `rank` others. */
__device__ __forceinline__ unsigned lane_of(unsigned mask, unsigned rank) {
    for (; rank; rank--)
        mask &= mask - 1;
    return __ffs((int)mask) - 1;
}

} // namespace tyto_detail

/* ---- Blocks and grids ---- */

class thread_block {
  public:
    __device__ static void sync() { __syncthreads(); }
    __device__ static unsigned thread_rank() {
        return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    }
    __device__ static unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
    __device__ static unsigned size() { return num_threads(); }
    __device__ static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    __device__ static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
    __device__ static dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
    __device__ static dim3 dim_threads() { return group_dim(); }
};

__device__ inline thread_block this_thread_block() { return thread_block(); }

class grid_group {
    unsigned long long workspace;

  public:
    __device__ grid_group() {
        unsigned high, low;
        asm("mov.u32 %0, %%envreg1;" : "=r"(high));
        asm("mov.u32 %0, %%envreg2;" : "=r"(low));
        workspace = (unsigned long long)high << 32 | low;
    }
    __device__ bool is_valid() const { return workspace != 0; }
    __device__ void sync() const {
        __syncthreads();
        if (thread_block::thread_rank() == 0) {
            volatile unsigned *word = (volatile unsigned *)(workspace + 4);
            unsigned step = block_rank() == 0 ? 0x80000000u - ((unsigned)num_blocks() - 1) : 1;
            __threadfence();
            unsigned before = atomicAdd((unsigned *)word, step);
            while (!((before ^ *word) & 0x80000000u)) {
            }
            __threadfence();
        }
        __syncthreads();
    }
    __device__ static unsigned long long num_blocks() {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    }
    __device__ static unsigned long long block_rank() {
        return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    __device__ static unsigned long long num_threads() {
        return num_blocks() * thread_block::num_threads();
    }
    __device__ static unsigned long long size() { return num_threads(); }
    __device__ static unsigned long long thread_rank() {
        return block_rank() * thread_block::num_threads() + thread_block::thread_rank();
    }
    __device__ static dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
    __device__ static dim3 dim_blocks() { return group_dim(); }
    __device__ static dim3 block_index() { return thread_block::group_index(); }
};

__device__ inline grid_group this_grid() { return grid_group(); }

/* ---- Clusters ---- */

#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 900

#define TYTO_CLUSTER_REGISTER(name, register)                                                      \
    static __device__ __forceinline__ unsigned name() {                                            \
        unsigned value;                                                                            \
        asm volatile("mov.u32 %0, %%" register ";" : "=r"(value));                                 \
        return value;                                                                              \
    }

namespace tyto_detail {
TYTO_CLUSTER_REGISTER(cluster_x, "cluster_ctaid.x")
TYTO_CLUSTER_REGISTER(cluster_y, "cluster_ctaid.y")
TYTO_CLUSTER_REGISTER(cluster_z, "cluster_ctaid.z")
TYTO_CLUSTER_REGISTER(cluster_width, "cluster_nctaid.x")
TYTO_CLUSTER_REGISTER(cluster_height, "cluster_nctaid.y")
TYTO_CLUSTER_REGISTER(cluster_depth, "cluster_nctaid.z")
TYTO_CLUSTER_REGISTER(cluster_rank, "cluster_ctarank")
TYTO_CLUSTER_REGISTER(cluster_size, "cluster_nctarank")
} // namespace tyto_detail

/* The thread blocks of a cluster, which see each other's shared memory (compute capability 9.0). */
class cluster_group {
  public:
    class arrival_token {};

    __device__ static arrival_token barrier_arrive() {
        asm volatile("barrier.cluster.arrive;" ::: "memory");
        return arrival_token();
    }
    __device__ static void barrier_wait(arrival_token &&) { barrier_wait(); }
    __device__ static void barrier_wait() { asm volatile("barrier.cluster.wait;" ::: "memory"); }
    __device__ static void sync() { barrier_wait(barrier_arrive()); }

    /* The rank of the block in whose shared memory the variable is. */
    __device__ static unsigned query_shared_rank(const void *variable) {
        unsigned rank;
        asm volatile("getctarank.u64 %0, %1;" : "=r"(rank) : "l"(variable));
        return rank;
    }
    /* The same variable in the shared memory of another block. */
    template <class T> __device__ static T *map_shared_rank(T *variable, int rank) {
        unsigned long long mapped;
        asm volatile("mapa.u64 %0, %1, %2;" : "=l"(mapped) : "l"(variable), "r"(rank));
        return (T *)mapped;
    }

    __device__ static dim3 block_index() {
        return dim3(tyto_detail::cluster_x(), tyto_detail::cluster_y(), tyto_detail::cluster_z());
    }
    __device__ static dim3 dim_blocks() {
        return dim3(tyto_detail::cluster_width(), tyto_detail::cluster_height(),
                    tyto_detail::cluster_depth());
    }
    __device__ static unsigned block_rank() { return tyto_detail::cluster_rank(); }
    __device__ static unsigned num_blocks() { return tyto_detail::cluster_size(); }
    __device__ static dim3 thread_index() {
        const dim3 block = block_index();
        return dim3(block.x * blockDim.x + threadIdx.x, block.y * blockDim.y + threadIdx.y,
                    block.z * blockDim.z + threadIdx.z);
    }
    __device__ static dim3 dim_threads() {
        const dim3 blocks = dim_blocks();
        return dim3(blocks.x * blockDim.x, blocks.y * blockDim.y, blocks.z * blockDim.z);
    }
    __device__ static unsigned num_threads() { return num_blocks() * thread_block::num_threads(); }
    __device__ static unsigned size() { return num_threads(); }
    __device__ static unsigned thread_rank() {
        return block_rank() * thread_block::num_threads() + thread_block::thread_rank();
    }
};

__device__ inline cluster_group this_cluster() { return cluster_group(); }

#endif

/* ---- Lanes of a warp ---- */

/* The lanes of a mask: the base class of tiles and coalesced threads, to which each of them
 * converts. */
class thread_group {
  protected:
    unsigned mask; /* 0: the whole block */

  public:
    __device__ explicit thread_group(unsigned mask) : mask(mask) {}
    __device__ thread_group(const thread_block &) : mask(0) {}
    __device__ void sync() const {
        if (mask) __syncwarp(mask);
        else __syncthreads();
    }
    __device__ unsigned num_threads() const {
        return mask ? (unsigned)__popc(mask) : thread_block::num_threads();
    }
    __device__ unsigned long long size() const { return num_threads(); }
    __device__ unsigned thread_rank() const {
        return mask ? (unsigned)__popc(mask & tyto_detail::lanes_below())
                    : thread_block::thread_rank();
    }
};

class coalesced_group : public thread_group {
  public:
    __device__ explicit coalesced_group(unsigned mask) : thread_group(mask) {}
    template <class T> __device__ T shfl(T value, int rank) const {
        unsigned lane = tyto_detail::lane_of(mask, (unsigned)rank % num_threads()), all = mask;
        return tyto_detail::shuffle(
            value, [=](unsigned word) { return __shfl_sync(all, word, (int)lane); });
    }
    /* The value of the thread `by` ranks after or before; the thread's own value if there is none.
     */
    template <class T> __device__ T shfl_down(T value, unsigned by) const {
        unsigned rank = thread_rank();
        return shfl(value, (int)(rank + by < num_threads() ? rank + by : rank));
    }
    template <class T> __device__ T shfl_up(T value, unsigned by) const {
        unsigned rank = thread_rank();
        return shfl(value, (int)(rank >= by ? rank - by : rank));
    }
    /* Bits by rank. */
    __device__ unsigned ballot(int predicate) const {
        unsigned votes = __ballot_sync(mask, predicate), packed = 0;
        for (unsigned left = mask, rank = 0; left; left &= left - 1, rank++)
            packed |= (votes & left & -left ? 1u : 0u) << rank;
        return packed;
    }
    __device__ int any(int predicate) const { return __any_sync(mask, predicate); }
    __device__ int all(int predicate) const { return __all_sync(mask, predicate); }
    __device__ unsigned long long meta_group_size() const { return 1; }
    __device__ unsigned long long meta_group_rank() const { return 0; }
    __device__ unsigned tyto_mask() const { return mask; }
};

__device__ inline coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

/* SIZE consecutive threads: a power of two up to 32. */
template <unsigned SIZE, class Parent = void> class thread_block_tile : public thread_group {
    static_assert(SIZE && SIZE <= 32 && (SIZE & (SIZE - 1)) == 0,
                  "a tile has 1, 2, 4, 8, 16 or 32 threads");
    __device__ static unsigned first() { return tyto_detail::lane() & ~(SIZE - 1); }
    __device__ static unsigned own_mask() {
        return (SIZE == 32 ? 0xffffffffu : (1u << (SIZE % 32)) - 1) << first();
    }

  public:
    __device__ thread_block_tile() : thread_group(own_mask()) {}
    __device__ static constexpr unsigned num_threads() { return SIZE; }
    __device__ static constexpr unsigned long long size() { return SIZE; }
    __device__ static unsigned thread_rank() { return tyto_detail::lane() % SIZE; }
    __device__ static unsigned long long meta_group_size() {
        return (thread_block::num_threads() + SIZE - 1) / SIZE;
    }
    __device__ static unsigned long long meta_group_rank() {
        return thread_block::thread_rank() / SIZE;
    }
    __device__ void sync() const { __syncwarp(mask); }
    template <class T> __device__ T shfl(T value, int rank) const {
        unsigned all = mask;
        return tyto_detail::shuffle(
            value, [=](unsigned word) { return __shfl_sync(all, word, rank, SIZE); });
    }
    template <class T> __device__ T shfl_down(T value, unsigned by) const {
        unsigned all = mask;
        return tyto_detail::shuffle(
            value, [=](unsigned word) { return __shfl_down_sync(all, word, by, SIZE); });
    }
    template <class T> __device__ T shfl_up(T value, unsigned by) const {
        unsigned all = mask;
        return tyto_detail::shuffle(
            value, [=](unsigned word) { return __shfl_up_sync(all, word, by, SIZE); });
    }
    template <class T> __device__ T shfl_xor(T value, unsigned lanes) const {
        unsigned all = mask;
        return tyto_detail::shuffle(
            value, [=](unsigned word) { return __shfl_xor_sync(all, word, (int)lanes, SIZE); });
    }
    __device__ unsigned ballot(int predicate) const {
        return (__ballot_sync(mask, predicate) & mask) >> first();
    }
    __device__ int any(int predicate) const { return __any_sync(mask, predicate); }
    __device__ int all(int predicate) const { return __all_sync(mask, predicate); }
    template <class T> __device__ unsigned match_any(T value) const {
        return (tyto_detail::match(mask, value) & mask) >> first();
    }
};

/* ---- Parts of groups ---- */

template <unsigned SIZE, class Group>
__device__ inline thread_block_tile<SIZE, Group> tiled_partition(const Group &) {
    return thread_block_tile<SIZE, Group>();
}

template <class Group>
__device__ inline thread_group tiled_partition(const Group &, unsigned size) {
    unsigned first = tyto_detail::lane() & ~(size - 1);
    return thread_group((size >= 32 ? 0xffffffffu : (1u << size) - 1) << first);
}

/* Threads with the same value of the predicate. */
template <class Group>
__device__ inline coalesced_group binary_partition(const Group &, bool predicate) {
    unsigned all = __activemask(), votes = __ballot_sync(all, predicate);
    return coalesced_group(predicate ? votes : all & ~votes);
}

template <class Group, class Label>
__device__ inline coalesced_group labeled_partition(const Group &, Label label) {
    return coalesced_group(tyto_detail::match(__activemask(), label));
}

/* ---- Functions for any group ---- */

template <class Group> __device__ inline void sync(const Group &group) { group.sync(); }
template <class Group> __device__ inline auto thread_rank(const Group &group) {
    return group.thread_rank();
}
template <class Group> __device__ inline auto group_size(const Group &group) {
    return group.size();
}

} // namespace cooperative_groups

#endif
