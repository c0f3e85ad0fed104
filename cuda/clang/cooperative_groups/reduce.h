/* Reductions over tiles of a warp and coalesced threads. */
#ifndef TYTO_COOPERATIVE_GROUPS_REDUCE_H
#define TYTO_COOPERATIVE_GROUPS_REDUCE_H

#include "../cooperative_groups.h"

namespace cooperative_groups {

#define TYTO_OPERATION(name, result)                                                               \
    template <class T = void> struct name {                                                        \
        __device__ T operator()(const T &a, const T &b) const { return result; }                   \
    };
TYTO_OPERATION(plus, a + b)
TYTO_OPERATION(less, b < a ? b : a)
TYTO_OPERATION(greater, a < b ? b : a)
TYTO_OPERATION(bit_and, a &b)
TYTO_OPERATION(bit_or, a | b)
TYTO_OPERATION(bit_xor, a ^ b)
#undef TYTO_OPERATION

/* Every thread gets the result. */
template <unsigned SIZE, class Parent, class T, class Operation>
__device__ inline T reduce(const thread_block_tile<SIZE, Parent> &tile, T value,
                           Operation &&operation) {
    for (unsigned lanes = SIZE / 2; lanes; lanes /= 2)
        value = operation(value, tile.shfl_xor(value, lanes));
    return value;
}

template <class T, class Operation>
__device__ inline T reduce(const coalesced_group &group, T value, Operation &&operation) {
    T result = group.shfl(value, 0);
    for (unsigned rank = 1; rank < group.num_threads(); rank++)
        result = operation(result, group.shfl(value, (int)rank));
    return result;
}

} // namespace cooperative_groups

#endif
