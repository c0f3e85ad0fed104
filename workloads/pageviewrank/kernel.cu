/* Ranks pages by their views with MapReduce: a record's key is the count of views, its value the
 * start of the page's name. */
#include "../common/mapreduce.cuh"

static __device__ int compare_keys(const unsigned char *a, const unsigned char *b) {
    int views_a = *(const int *)a, views_b = *(const int *)b;
    return views_a > views_b ? -1 : views_a < views_b;
}

extern "C" __global__ void pageviewrank_count(Input input, Totals totals) {
    if (map_thread() >= input.count) return;
    count_record(totals, sizeof(int), sizeof(int));
}

extern "C" __global__ void pageviewrank_map(Input input, Output output) {
    unsigned i = map_thread();
    if (i >= input.count) return;
    Record record = input.records[i];
    int *own = own_words();
    own[0] = *(const int *)(input.keys + record.x);
    own[1] = *(const int *)(input.values + record.z);
    __syncthreads();
    emit(output, &own[0], &own[1], sizeof(int), sizeof(int));
}
