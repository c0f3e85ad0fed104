// What linked.cu calls and reads.
__device__ int table[4] = {100, 200, 300, 400};
__constant__ int bias = 7;
#ifdef RECURSIVE
__device__ int triple(int x) { return x > 0 ? 3 + triple(x - 1) : 0; }
#else
__device__ int triple(int x) { return 3 * x; }
#endif
