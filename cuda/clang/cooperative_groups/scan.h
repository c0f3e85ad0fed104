/* Inclusive and exclusive prefix sums over tiles of a warp and coalesced threads. */
#ifndef TYTO_COOPERATIVE_GROUPS_SCAN_H
#define TYTO_COOPERATIVE_GROUPS_SCAN_H

#include "reduce.h"

namespace cooperative_groups {

template <class Group, class T, class Operation>
__device__ inline T inclusive_scan(const Group &group, T value, Operation &&operation) {
    for (unsigned by = 1; by < group.num_threads(); by *= 2) {
        T other = group.shfl_up(value, by);
        if (group.thread_rank() >= by) value = operation(other, value);
    }
    return value;
}
template <class Group, class T> __device__ inline T inclusive_scan(const Group &group, T value) {
    return inclusive_scan(group, value, plus<T>());
}

/* The first thread gets T(). */
template <class Group, class T, class Operation>
__device__ inline T exclusive_scan(const Group &group, T value, Operation &&operation) {
    T before = group.shfl_up(inclusive_scan(group, value, operation), 1);
    return group.thread_rank() ? before : T();
}
template <class Group, class T> __device__ inline T exclusive_scan(const Group &group, T value) {
    return exclusive_scan(group, value, plus<T>());
}

} // namespace cooperative_groups

#endif
