// Where a thread runs and what time it is: %smid, %nsmid, %warpid, %nwarpid, %gridid, clocks and
// %globaltimer, __nanosleep; parameters that stay where they are, and 32,764 bytes of them.
#include "check.h"

const int CTAS = 60, THREADS = 96;

struct Seen {
    unsigned sm, sms, warp, warps, lane, later;
    unsigned long long grid, nanoseconds;
    long long cycles;
};

__device__ unsigned read_smid() { unsigned v; asm volatile("mov.u32 %0, %%smid;" : "=r"(v)); return v; }
__device__ unsigned read_nsmid() { unsigned v; asm volatile("mov.u32 %0, %%nsmid;" : "=r"(v)); return v; }
__device__ unsigned read_warpid() { unsigned v; asm volatile("mov.u32 %0, %%warpid;" : "=r"(v)); return v; }
__device__ unsigned read_nwarpid() { unsigned v; asm volatile("mov.u32 %0, %%nwarpid;" : "=r"(v)); return v; }
__device__ unsigned read_laneid() { unsigned v; asm volatile("mov.u32 %0, %%laneid;" : "=r"(v)); return v; }
__device__ unsigned long long read_gridid() { unsigned long long v; asm volatile("mov.u64 %0, %%gridid;" : "=l"(v)); return v; }
__device__ unsigned long long read_timer() { unsigned long long v; asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(v)); return v; }

__global__ void look(Seen *seen) {
    Seen *mine = &seen[blockIdx.x * THREADS + threadIdx.x];
    long long start = clock64();
    unsigned long long time = read_timer();
    mine->sm = read_smid();
    mine->sms = read_nsmid();
    mine->warp = read_warpid();
    mine->warps = read_nwarpid();
    mine->lane = read_laneid();
    mine->grid = read_gridid();
    __nanosleep(2000);
    unsigned later = (unsigned)clock();
    unsigned long long nanoseconds = read_timer() - time; // nothing is stored between the two
    long long cycles = clock64() - start;
    mine->nanoseconds = nanoseconds;
    mine->cycles = cycles;
    mine->later = (unsigned)clock() - later < 1u << 31;
    mine->sm |= read_smid() != mine->sm ? 1u << 31 : 0; // no thread moves to another SM
}

struct Large {
    int words[8190];
};
struct Pair {
    int words[2000];
};

__device__ int third(const Pair *pair) { return pair->words[threadIdx.x * 3]; }

__global__ void from_parameters(const __grid_constant__ Pair pair, int *out) { out[threadIdx.x] = third(&pair); }
__global__ void from_many(Large large) {
    int *out = *(int **)&large.words[0];
    out[threadIdx.x] = large.words[8189 - threadIdx.x];
}
__global__ void __launch_bounds__(64, 1) changes_its_copy(Pair pair, int *out) {
    pair.words[threadIdx.x] += 5;
    out[threadIdx.x] = pair.words[threadIdx.x];
}

static void expect_parameters() {
    static Pair pair;
    static Large large;
    int out[64], *d_out;
    CHECK(cudaMalloc(&d_out, sizeof out));
    for (int i = 0; i < 2000; i++) pair.words[i] = i * i;
    for (int i = 0; i < 8190; i++) large.words[i] = i;
    from_parameters<<<1, 64>>>(pair, d_out);
    CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++) EXPECT(out[i] == 9 * i * i);
    *(int **)&large.words[0] = d_out;
    from_many<<<1, 64>>>(large);
    CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++) EXPECT(out[i] == 8189 - i);
    changes_its_copy<<<1, 64>>>(pair, d_out);
    CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++) EXPECT(out[i] == i * i + 5);
}

int main() {
    static Seen seen[CTAS * THREADS];
    Seen *d_seen;
    int sms, clock_khz;
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0));
    CHECK(cudaMalloc(&d_seen, sizeof seen));
    for (int run = 0; run < 2; run++) {
        unsigned long long before = seen[0].grid;
        look<<<CTAS, THREADS>>>(d_seen);
        CHECK(cudaMemcpy(seen, d_seen, sizeof seen, cudaMemcpyDeviceToHost));
        for (int i = 0; i < CTAS * THREADS; i++) {
            const Seen &s = seen[i], &first = seen[i - i % 32];
            EXPECT(s.sm < s.sms && s.sms == (unsigned)sms && s.warp < s.warps && s.lane == i % 32u);
            EXPECT(s.sm == seen[i - i % THREADS].sm && s.warp == first.warp && s.grid == seen[0].grid);
            EXPECT(s.cycles > 0 && s.nanoseconds > 0 && s.later);
            EXPECT(i % THREADS < 32 || s.warp != seen[i - 32].warp); // neighbours are at once on an SM
            double nanoseconds = s.cycles * 1e6 / clock_khz;
            const int step = 32; // of a GPU's timer; ours has none
            EXPECT(s.nanoseconds <= nanoseconds + step + 2 &&
                   s.nanoseconds + 200 * 1e6 / clock_khz + step + 2 > nanoseconds / 2);
        }
        EXPECT(run == 0 || seen[0].grid != before);
    }
    expect_parameters();
    return passed();
}
