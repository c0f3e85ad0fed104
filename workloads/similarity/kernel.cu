/* The similarity of documents with MapReduce: a record is a pair of documents. It emits the cosine
 * between their vectors, which is the key for sorting, and the pair. */
#include "../common/mapreduce.cuh"

struct Documents {
    const float *vectors; /* rows of `features` */
};

struct Pair {
    int a, b, features;
};

static __device__ int compare_keys(const unsigned char *a, const unsigned char *b) {
    float score_a = *(const float *)a, score_b = *(const float *)b;
    if (fabsf(score_a - score_b) < 1e-7f) return 0;
    return score_a < score_b ? 1 : -1;
}

extern "C" __global__ void similarity_count(Input input, Totals totals) {
    if (map_thread() >= input.count) return;
    count_record(totals, sizeof(float), sizeof(int2));
}

extern "C" __global__ void similarity_map(Input input, Output output) {
    unsigned i = map_thread();
    if (i >= input.count) return;
    Record record = input.records[i];
    const float *vectors = ((const Documents *)(input.keys + record.x))->vectors;
    const Pair pair = *(const Pair *)(input.values + record.z);
    const float4 *a = (const float4 *)(vectors + pair.a * pair.features);
    const float4 *b = (const float4 *)(vectors + pair.b * pair.features);
    float product = 0.0f, square_a = 0.0f, square_b = 0.0f;
    for (int quad = 0; quad < pair.features / 4; quad++) {
        float4 x = a[quad], y = b[quad];
        product += x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
        square_a += x.x * x.x + x.y * x.y + x.z * x.z + x.w * x.w;
        square_b += y.x * y.x + y.y * y.y + y.z * y.z + y.w * y.w;
    }
    int *own = own_words();
    *(float *)own = product / (sqrtf(square_a) * sqrtf(square_b));
    own[1] = pair.a;
    own[2] = pair.b;
    __syncthreads();
    emit(output, &own[0], &own[1], sizeof(float), sizeof(int2));
}
