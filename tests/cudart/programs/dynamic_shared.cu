// Several arrays in dynamic shared memory, its limit as an attribute of the kernel.
#include "check.h"

__global__ void sort_pairs(const int *keys, const char *names, int *out_keys, char *out_names,
                           int n) {
    extern __shared__ int shared[];
    int *key = shared;
    char *name = (char *)&key[n];
    int t = threadIdx.x;
    key[t] = keys[t];
    name[t] = names[t];
    __syncthreads();
    int rank = 0;
    for (int i = 0; i < n; i++)
        rank += key[i] < key[t] || (key[i] == key[t] && i < t);
    out_keys[rank] = key[t];
    out_names[rank] = name[t];
}

int main() {
    const int n = 200;
    int keys[n], out_keys[n], *d_keys, *d_out_keys;
    char names[n], out_names[n], *d_names, *d_out_names;
    unsigned state = 9;
    for (int i = 0; i < n; i++) {
        keys[i] = next_random(state) % 50;
        names[i] = (char)(keys[i] + 1);
    }
    cudaFuncAttributes attributes;
    CHECK(cudaFuncSetAttribute(sort_pairs, cudaFuncAttributeMaxDynamicSharedMemorySize, 8192));
    CHECK(cudaFuncSetCacheConfig(sort_pairs, cudaFuncCachePreferShared));
    CHECK(cudaFuncGetAttributes(&attributes, sort_pairs));
    EXPECT(attributes.maxDynamicSharedSizeBytes == 8192 && attributes.sharedSizeBytes == 0);
    CHECK(cudaMalloc(&d_keys, sizeof keys));
    CHECK(cudaMalloc(&d_out_keys, sizeof keys));
    CHECK(cudaMalloc(&d_names, sizeof names));
    CHECK(cudaMalloc(&d_out_names, sizeof names));
    CHECK(cudaMemcpy(d_keys, keys, sizeof keys, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_names, names, sizeof names, cudaMemcpyHostToDevice));
    sort_pairs<<<1, n, n * (sizeof(int) + 1)>>>(d_keys, d_names, d_out_keys, d_out_names, n);
    CHECK(cudaMemcpy(out_keys, d_out_keys, sizeof keys, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(out_names, d_out_names, sizeof names, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        EXPECT(i == 0 || out_keys[i - 1] <= out_keys[i]);
        EXPECT(out_names[i] == out_keys[i] + 1);
    }
    return passed();
}
