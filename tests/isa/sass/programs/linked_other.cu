// What linked.cu calls and reads.
__device__ int table[4] = {100, 200, 300, 400};
__constant__ int bias = 7;
__device__ int triple(int x) { return 3 * x; }
