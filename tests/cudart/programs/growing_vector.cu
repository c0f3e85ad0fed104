// A vector that grows in place: addresses for all that it may become are reserved first, and memory is
// mapped behind the old one as it is needed, so that no element moves.
#include "check.h"

#include <cuda.h>
#include <vector>

static void check_driver(CUresult status, int line) {
    if (status == CUDA_SUCCESS) return;
    std::printf("line %d: CUDA error %d\n", line, (int)status);
    std::exit(1);
}
#define CHECK_DRIVER(call) check_driver(call, __LINE__)

class GrowingVector {
public:
    explicit GrowingVector(size_t most_bytes) {
        property.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        property.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        CHECK_DRIVER(cuMemGetAllocationGranularity(&grain, &property,
                                                   CU_MEM_ALLOC_GRANULARITY_MINIMUM));
        reserved = (most_bytes + grain - 1) / grain * grain;
        CHECK_DRIVER(cuMemAddressReserve(&start, reserved, 0, 0, 0));
    }
    ~GrowingVector() {
        if (mapped) CHECK_DRIVER(cuMemUnmap(start, mapped));
        CHECK_DRIVER(cuMemAddressFree(start, reserved));
    }
    int *grow(size_t bytes) {
        while (mapped < bytes) {
            CUmemGenericAllocationHandle memory;
            CUmemAccessDesc access = {property.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
            CHECK_DRIVER(cuMemCreate(&memory, grain, &property, 0));
            CHECK_DRIVER(cuMemMap(start + mapped, grain, 0, memory, 0));
            CHECK_DRIVER(cuMemSetAccess(start + mapped, grain, &access, 1));
            CHECK_DRIVER(cuMemRelease(memory));
            mapped += grain;
        }
        return (int *)start;
    }
    size_t mapped = 0, grain = 0;

private:
    CUmemAllocationProp property = {};
    CUdeviceptr start = 0;
    size_t reserved = 0;
};

__global__ void append(int *data, size_t from, size_t to) {
    size_t i = from + blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < to) data[i] = (int)(i * 3);
}

__global__ void add_up(const int *data, size_t count, unsigned long long *sum) {
    for (size_t i = threadIdx.x; i < count; i += blockDim.x * (size_t)512)
        atomicAdd(sum, (unsigned long long)data[i]);
}

int main() {
    size_t free_before, free_after, total, count = 0;
    unsigned long long *d_sum, sum = 0, expected = 0;
    CHECK(cudaMalloc((void **)&d_sum, sizeof *d_sum));
    CHECK(cudaMemset(d_sum, 0, sizeof *d_sum));
    CHECK(cudaMemGetInfo(&free_before, &total));
    {
        GrowingVector vector(64 << 20);
        int *data = nullptr;
        for (int step = 0; step < 3; step++) {
            size_t more = vector.grain / sizeof(int) + 1000 - (size_t)step * 7;
            int *grown = vector.grow((count + more) * sizeof(int));
            EXPECT(!data || grown == data);
            data = grown;
            // only the ends, where old and new memory meet, are written
            size_t from = count + more - 2000;
            append<<<8, 256>>>(data, from, count + more);
            count += more;
        }
        EXPECT(vector.mapped == 4 * vector.grain);
        std::vector<int> back(count);
        CHECK(cudaMemcpy(back.data(), data, count * sizeof(int), cudaMemcpyDeviceToHost));
        for (size_t i = count - 2000; i < count; i++)
            EXPECT(back[i] == (int)(i * 3));
        for (size_t i = 0; i < count; i += 256 * 512) {
            for (size_t j = i; j < i + 256 && j < count; j++)
                expected += (unsigned long long)back[j];
        }
        add_up<<<1, 256>>>(data, count, d_sum);
        CHECK(cudaMemcpy(&sum, d_sum, sizeof sum, cudaMemcpyDeviceToHost));
        EXPECT(sum == expected);
    }
    CHECK(cudaMemGetInfo(&free_after, &total));
    EXPECT(free_after == free_before);
    return passed();
}
