/* Sums of absolute differences for motion estimation: every 4 x 4 block of a frame against all
 * positions within 16 pixels in the frame before, which is a texture; the sums of larger blocks are
 * computed from those of smaller ones, with two positions in a word. */
#include "tyto_device.h"

typedef unsigned long long Texture;

enum { RANGE = 16, SEARCH = 2 * RANGE + 1, POSITIONS = SEARCH * SEARCH };
enum { PADDED = 1096, WORDS = PADDED / 2, PAIRS = WORDS / 2, PER_THREAD = 18, BLOCK = 4 };
/* Positions that a thread tries at once, so that it fetches a pixel once for all of them. SEARCH
 * and PER_THREAD are multiples of it. */
enum { AT_ONCE = 3, WARP = 32 };

/* Coordinates are clamped at the frame's edges. They are floats, as for tex2D; with integers a GPU
 * reads zeros beyond the edges. */
static __device__ int fetch_pixel(Texture frame, int x, int y) {
    int pixel;
    asm("{ .reg .u32 y, z, w; tex.2d.v4.u32.f32 {%0, y, z, w}, [%1, {%2, %3}]; }"
        : "=r"(pixel)
        : "l"(frame), "f"((float)x), "f"((float)y));
    return pixel;
}

/* A CTA per 4 x 4 block, with 61 threads of 18 consecutive positions each; the first warp writes
 * the sums. */
extern "C" __global__ void sad_4x4(const unsigned short *current, Texture before,
                                   unsigned short *sums, int width) {
    __shared__ unsigned short pixel[BLOCK * BLOCK];
    __shared__ uint2 own_pairs[PAIRS];
    unsigned short *own = (unsigned short *)own_pairs;
    int thread = (int)threadIdx.x;
    int left = (int)blockIdx.x * BLOCK, top = (int)blockIdx.y * BLOCK;
    if (thread < BLOCK * BLOCK)
        pixel[thread] = current[(top + thread / BLOCK) * width + left + thread % BLOCK];
    if (thread < PADDED - POSITIONS) own[POSITIONS + thread] = 0;
    __syncthreads();

    int first = thread * PER_THREAD, last = min(first + PER_THREAD, (int)POSITIONS);
    int x = left - RANGE + first % SEARCH, y = top - RANGE + first / SEARCH;
    for (int position = first; position < last; position += AT_ONCE) {
        unsigned short sum[AT_ONCE] = {0};
#pragma unroll
        for (int row = 0; row < BLOCK; row++)
#pragma unroll
            for (int column = 0; column < BLOCK + AT_ONCE - 1; column++) {
                int there = fetch_pixel(before, x + column, y + row);
#pragma unroll
                for (int i = 0; i < AT_ONCE; i++)
                    if (column >= i && column - i < BLOCK)
                        sum[i] += abs(there - pixel[row * BLOCK + column - i]);
            }
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            own[position + i] = sum[i];
        x += AT_ONCE;
        if (x == left - RANGE + SEARCH) {
            x -= SEARCH;
            y++;
        }
    }
    __syncthreads();

    int macroblock = (top / 16) * (width / 16) + left / 16;
    int part = top % 16 / BLOCK * 4 + left % 16 / BLOCK;
    uint2 *out = (uint2 *)sums + (macroblock * 16 + part) * PAIRS;
    if (thread < WARP)
        for (int i = thread; i < PAIRS; i += WARP)
            out[i] = own_pairs[i];
}

/* For all positions, the sums of a region of four parts, reading each part once: of its upper and
 * lower halves, its left and right halves, and the whole. No half of a word overflows, because 256
 * pixels differ by at most 65,280. */
static __device__ void add_parts(const unsigned *upper, const unsigned *lower, unsigned *wide,
                                 unsigned *tall, unsigned *whole) {
    for (unsigned i = threadIdx.x; i < (POSITIONS + 1) / 2; i += WARP) {
        unsigned upper_left = upper[i], upper_right = upper[WORDS + i];
        unsigned lower_left = lower[i], lower_right = lower[WORDS + i];
        tall[i] = upper_left + lower_left;
        tall[WORDS + i] = upper_right + lower_right;
        wide[i] = upper_left + upper_right;
        wide[WORDS + i] = lower_left + lower_right;
        whole[i] = upper_left + upper_right + (lower_left + lower_right);
    }
}

/* A CTA per macroblock, a row of threads for each quarter of 8 x 8: from sums of 4 x 4 blocks those
 * of two of 8 x 4, two of 4 x 8, and the quarter's. */
extern "C" __global__ void sad_8x8(const unsigned *of_4x4, unsigned *of_8x4, unsigned *of_4x8,
                                   unsigned *of_8x8) {
    unsigned macroblock = blockIdx.y * gridDim.x + blockIdx.x, quarter = threadIdx.y;
    const unsigned *corner = of_4x4 + (macroblock * 16 + quarter / 2 * 8 + quarter % 2 * 2) * WORDS;
    unsigned halves = (macroblock * 8 + quarter * 2) * WORDS;
    add_parts(corner, corner + 4 * WORDS, of_8x4 + halves, of_4x8 + halves,
              of_8x8 + (macroblock * 4 + quarter) * WORDS);
}

/* A CTA per macroblock: from the quarters' sums those of the halves and of the whole. */
extern "C" __global__ void sad_16x16(const unsigned *of_8x8, unsigned *of_16x8, unsigned *of_8x16,
                                     unsigned *of_16x16) {
    unsigned macroblock = blockIdx.y * gridDim.x + blockIdx.x;
    const unsigned *quarter = of_8x8 + macroblock * 4 * WORDS;
    unsigned halves = macroblock * 2 * WORDS;
    add_parts(quarter, quarter + 2 * WORDS, of_16x8 + halves, of_8x16 + halves,
              of_16x16 + macroblock * WORDS);
}
