/* Draws from Zipf's distribution by a binary search of the cumulative weights. */
#include "zipf.h"

#include <math.h>

#define DRAWS (1u << 31) /* the most different values of workload_random */

Zipf zipf_new(Workload *workload, uint32_t count, uint32_t hundredths) {
    Zipf zipf = {.count = count,
                 .cumulative = workload_host_alloc(workload, count, sizeof(double))};
    double sum = 0.0;
    for (uint32_t rank = 0; rank < count; rank++) {
        sum += pow((double)rank + 1.0, -(double)hundredths / 100.0);
        zipf.cumulative[rank] = sum;
    }
    return zipf;
}

uint32_t zipf_draw(Workload *workload, const Zipf *zipf) {
    double share = (workload_random(workload, DRAWS) + 0.5) / DRAWS;
    double sum = share * zipf->cumulative[zipf->count - 1];
    uint32_t first = 0, last = zipf->count - 1;
    while (first < last) {
        uint32_t middle = first + (last - first) / 2;
        if (zipf->cumulative[middle] < sum) first = middle + 1;
        else last = middle;
    }
    return first;
}

uint32_t zipf_scatter(uint32_t rank, uint32_t count) {
    /* A prime near 2^32 divided by the golden ratio (Knuth, The Art of Computer Programming,
     * section 6.4). It has no factor in common with a smaller count. */
    return (uint32_t)((uint64_t)rank * 2654435761u % count);
}
