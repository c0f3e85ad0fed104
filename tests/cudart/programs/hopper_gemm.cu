// A product of matrices of halves in the manner of Hopper: one warp brings tiles of A and B to shared
// memory by tensor maps (TMA), two warpgroups multiply them by wgmma, mbarriers hand the stages of a
// pipeline from one to the other, and setmaxnreg gives the producer's registers to the consumers.
#include "check.h"

#include <cstdint>
#include <cuda.h>
#include <cuda_fp16.h>

enum {
    TILE_M = 128, // rows of C of a block: 64 for each consumer
    TILE_N = 128,
    TILE_K = 64, // 128 bytes of halves: a row of the widest swizzle
    STAGES = 4,
    WARPGROUP = 128,
    THREADS = 3 * WARPGROUP, // the first warpgroup brings, the others multiply
    A_BYTES = TILE_M * TILE_K * 2,
    B_BYTES = TILE_N * TILE_K * 2,
    SHARED_BYTES = STAGES * (A_BYTES + B_BYTES) + 1024
};

// ---- Barriers ----

__device__ uint32_t address_of(const void *shared) {
    return (uint32_t)__cvta_generic_to_shared(shared);
}

__device__ void init(uint64_t *barrier, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address_of(barrier)), "r"(arrivals));
}

__device__ void arrive(uint64_t *barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address_of(barrier)) : "memory");
}

__device__ void expect(uint64_t *barrier, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address_of(barrier)),
                 "r"(bytes)
                 : "memory");
}

__device__ void wait(uint64_t *barrier, int parity) {
    asm volatile("{ .reg .pred done;\n"
                 "AGAIN: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra AGAIN; }" ::"r"(address_of(barrier)),
                 "r"(parity)
                 : "memory");
}

// ---- Tiles and products ----

__device__ void bring(void *to, const CUtensorMap *map, int x, int y, uint64_t *barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %3}], [%4];" ::"r"(address_of(to)),
                 "l"(map), "r"(x), "r"(y), "r"(address_of(barrier))
                 : "memory");
}

// Rows of 128 bytes with the swizzle of that width; 8 of them are 1,024 bytes.
__device__ uint64_t descriptor(const void *matrix) {
    return (uint64_t)(address_of(matrix) >> 4) | (uint64_t)1 << 16 | (uint64_t)(1024 >> 4) << 32 |
           (uint64_t)1 << 62;
}

__device__ void multiply(float (&d)[64], uint64_t a, uint64_t b, int adds) {
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %66, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
        "%64, %65, p, 1, 1, 0, 0; }"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
          "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
          "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
          "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
          "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
          "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
          "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
          "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
        : "l"(a), "l"(b), "r"(adds));
}

// ---- The kernel ----

struct Barriers {
    uint64_t full[STAGES], empty[STAGES];
};

__device__ void produce(const CUtensorMap *a, const CUtensorMap *b, char *tiles, Barriers *barriers,
                        int steps) {
    for (int step = 0; step < steps; step++) {
        const int stage = step % STAGES, round = step / STAGES;
        char *tile = tiles + stage * (A_BYTES + B_BYTES);
        wait(&barriers->empty[stage], round % 2 ^ 1); // the first time nothing has to be given back
        expect(&barriers->full[stage], A_BYTES + B_BYTES);
        bring(tile, a, step * TILE_K, blockIdx.y * TILE_M, &barriers->full[stage]);
        bring(tile + A_BYTES, b, step * TILE_K, blockIdx.x * TILE_N, &barriers->full[stage]);
    }
}

__device__ void consume(float *c, int columns, char *tiles, Barriers *barriers, int steps) {
    const int consumer = threadIdx.x / WARPGROUP - 1, thread = threadIdx.x % WARPGROUP;
    float d[64];
    for (int step = 0; step < steps; step++) {
        const int stage = step % STAGES;
        const char *tile = tiles + stage * (A_BYTES + B_BYTES);
        const uint64_t a = descriptor(tile + consumer * (A_BYTES / 2)), b = descriptor(tile + A_BYTES);
        wait(&barriers->full[stage], step / STAGES % 2);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int k = 0; k < TILE_K / 16; k++) // 32 bytes further along the rows
            multiply(d, a + 2 * k, b + 2 * k, step + k > 0);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        // the products of the step before are over: its stage is free
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
        if (step && thread == 0) arrive(&barriers->empty[(step - 1) % STAGES]);
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    const int row = blockIdx.y * TILE_M + consumer * 64 + thread / 32 * 16 + thread % 32 / 4;
    const int column = blockIdx.x * TILE_N + thread % 4 * 2;
    for (int i = 0; i < 64; i++)
        c[(size_t)(row + i / 2 % 2 * 8) * columns + column + i / 4 * 8 + i % 2] = d[i];
}

__global__ void __launch_bounds__(THREADS, 1)
    gemm(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float *c,
         int columns, int steps) {
    extern __shared__ char room[];
    __shared__ Barriers barriers;
    char *tiles = room + (1024 - address_of(room) % 1024) % 1024;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            init(&barriers.full[i], 1);
            init(&barriers.empty[i], 2); // one thread of each consumer
        }
        asm volatile("fence.proxy.async;" ::: "memory");
    }
    __syncthreads();
    if (threadIdx.x < WARPGROUP) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 0) produce(&a, &b, tiles, &barriers, steps);
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        consume(c, columns, tiles, &barriers, steps);
    }
}

// ---- The host ----

static CUtensorMap map_of(const __half *matrix, int rows, int depth, int tile_rows) {
    CUtensorMap map;
    const cuuint64_t sizes[] = {(cuuint64_t)depth, (cuuint64_t)rows}, strides[] = {(cuuint64_t)depth * 2};
    const cuuint32_t box[] = {TILE_K, (cuuint32_t)tile_rows}, steps[] = {1, 1};
    const CUresult status = cuTensorMapEncodeTiled(
        &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, (void *)matrix, sizes, strides, box, steps,
        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    EXPECT(status == CUDA_SUCCESS);
    return map;
}

int main(int count, char **words) {
    const int m = count > 1 ? std::atoi(words[1]) : 256, n = count > 2 ? std::atoi(words[2]) : 128;
    const int k = count > 3 ? std::atoi(words[3]) : 512;
    EXPECT(m % TILE_M == 0 && n % TILE_N == 0 && k % TILE_K == 0 && k > 0);
    __half *a = new __half[(size_t)m * k], *b = new __half[(size_t)n * k], *da, *db;
    float *c = new float[(size_t)m * n], *dc;
    unsigned state = 1;
    for (size_t i = 0; i < (size_t)m * k; i++) // sums of such numbers are exact
        a[i] = __float2half((float)(next_random(state) % 9) - 4);
    for (size_t i = 0; i < (size_t)n * k; i++)
        b[i] = __float2half((float)(next_random(state) % 5) - 2);
    CHECK(cudaMalloc(&da, (size_t)m * k * 2));
    CHECK(cudaMalloc(&db, (size_t)n * k * 2));
    CHECK(cudaMalloc(&dc, (size_t)m * n * 4));
    CHECK(cudaMemcpy(da, a, (size_t)m * k * 2, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b, (size_t)n * k * 2, cudaMemcpyHostToDevice));
    CHECK(cudaFuncSetAttribute(gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES));
    gemm<<<dim3(n / TILE_N, m / TILE_M), THREADS, SHARED_BYTES>>>(
        map_of(da, m, k, TILE_M), map_of(db, n, k, TILE_N), dc, n, k / TILE_K);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c, dc, (size_t)m * n * 4, cudaMemcpyDeviceToHost));
    for (int row = 0; row < m; row += m > 512 ? 37 : 1)
        for (int column = 0; column < n; column++) {
            float sum = 0;
            for (int i = 0; i < k; i++)
                sum += __half2float(a[(size_t)row * k + i]) * __half2float(b[(size_t)column * k + i]);
            EXPECT(c[(size_t)row * n + column] == sum);
        }
    return passed();
}
