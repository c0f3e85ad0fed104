/* Motion estimation: the sums of absolute differences of all 41 blocks of every macroblock of 16 x
 * 16 pixels (16 of 4 x 4 to one of 16 x 16), at 33 x 33 positions of the frame before. */
#include "common/workload.h"

#include <stdlib.h>

enum { RANGE = 16, SEARCH = 2 * RANGE + 1, POSITIONS = SEARCH * SEARCH, PADDED = 1096 };
enum { THREADS_4X4 = 61, THREADS = 32, BLOCK = 4, MACROBLOCK = 16 };

enum { WIDTH, HEIGHT };

static const WorkloadInfo INFO = {
    .name = "sad",
    .summary = "Sums of absolute differences for motion estimation.",
    .parameters =
        {
            [WIDTH] = {"width", "of the frames", {48, 80, 176}, 1920, MACROBLOCK},
            [HEIGHT] = {"height", "of the frames", {32, 64, 144}, 1920, MACROBLOCK},
        },
};

/* The blocks of a macroblock, in the order of their buffers. The blocks of a quarter are adjacent,
 * except for blocks that span two quarters. */
typedef struct Shape {
    int width, height; /* pixels */
} Shape;

enum { SHAPES = 7 };
static const Shape SHAPE[SHAPES] = {{4, 4}, {8, 4}, {4, 8}, {8, 8}, {16, 8}, {8, 16}, {16, 16}};

static int blocks_of(Shape shape) { return MACROBLOCK / shape.width * (MACROBLOCK / shape.height); }

/* The corner of block `index` within its macroblock. */
static void locate(Shape shape, int index, int *x, int *y) {
    bool is_by_quarter = shape.width * shape.height == 32;
    int side = is_by_quarter ? 8 : MACROBLOCK,
        per_region = side * side / shape.width / shape.height;
    int region = index / per_region, rest = index % per_region, across = side / shape.width;
    *x = (is_by_quarter ? region % 2 * 8 : 0) + rest % across * shape.width;
    *y = (is_by_quarter ? region / 2 * 8 : 0) + rest / across * shape.height;
}

static int clamp(int value, int limit) {
    return value < 0 ? 0 : value >= limit ? limit - 1 : value;
}

/* The frame with its outermost pixels repeated RANGE times on every side. */
static uint16_t *add_border(Workload *workload, const uint16_t *frame, int width, int height) {
    int across = width + 2 * RANGE, down = height + 2 * RANGE;
    uint16_t *bordered = workload_host_alloc(workload, (size_t)(across * down), sizeof *bordered);
    for (int i = 0; i < across * down; i++)
        bordered[i] =
            frame[clamp(i / across - RANGE, height) * width + clamp(i % across - RANGE, width)];
    return bordered;
}

/* Adds the differences of the 4 x 4 block at (x, y) to the sums of all positions. */
static void add_block(const uint16_t *current, const uint16_t *before, int width, int x, int y,
                      uint32_t *sums) {
    int across = width + 2 * RANGE;
    for (int position = 0; position < POSITIONS; position++)
        for (int i = 0; i < BLOCK * BLOCK; i++) {
            int row = y + i / BLOCK, column = x + i % BLOCK;
            int there = (row + position / SEARCH) * across + column + position % SEARCH;
            sums[position] += (uint32_t)abs(current[row * width + column] - before[there]);
        }
}

static uint16_t *generate_frame(Workload *workload, size_t pixels) {
    uint16_t *frame = workload_host_alloc(workload, pixels, sizeof *frame);
    for (size_t i = 0; i < pixels; i++)
        frame[i] = (uint16_t)workload_random(workload, 256);
    return frame;
}

/* Checks one buffer against sums over the 4 x 4 blocks, `of_4x4` by place in the frame. */
static bool check_shape(Workload *workload, Shape shape, CUdeviceptr buffer, const uint32_t *of_4x4,
                        int width, int height) {
    int macroblocks = width * height / (MACROBLOCK * MACROBLOCK), blocks = blocks_of(shape);
    size_t rows = (size_t)(macroblocks * blocks);
    uint16_t *got = workload_host_alloc(workload, rows * PADDED, sizeof *got);
    workload_copy_to_host(got, buffer, rows * PADDED * sizeof *got);
    for (int i = 0; i < macroblocks * blocks; i++) {
        uint32_t sums[2][POSITIONS] = {0}; /* ours and the device's */
        int x, y, macroblock = i / blocks, across = width / MACROBLOCK;
        locate(shape, i % blocks, &x, &y);
        x += macroblock % across * MACROBLOCK;
        y += macroblock / across * MACROBLOCK;
        for (int part = 0; part < shape.width * shape.height / (BLOCK * BLOCK); part++) {
            int row = y / BLOCK + part / (shape.width / BLOCK);
            int column = x / BLOCK + part % (shape.width / BLOCK);
            for (int p = 0; p < POSITIONS; p++)
                sums[0][p] += of_4x4[(row * (width / BLOCK) + column) * POSITIONS + p];
        }
        for (int p = 0; p < POSITIONS; p++)
            sums[1][p] = got[i * PADDED + p];
        if (!workload_compare_words(workload, sums[1], sums[0], POSITIONS)) return false;
    }
    return true;
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    int width = (int)workload.values[WIDTH], height = (int)workload.values[HEIGHT];
    size_t pixels = (size_t)(width * height);
    uint16_t *current = generate_frame(&workload, pixels);
    uint16_t *frame_before = generate_frame(&workload, pixels);
    uint16_t *before = add_border(&workload, frame_before, width, height);

    CUdeviceptr device_current = workload_upload(current, pixels * sizeof *current);
    CUtexObject before_texture =
        workload_upload_texture(frame_before, (size_t)width, (size_t)height,
                                CU_AD_FORMAT_UNSIGNED_INT16, 1, CU_TRSF_READ_AS_INTEGER);
    CUdeviceptr sums[SHAPES];
    unsigned across = (unsigned)width / MACROBLOCK, down = (unsigned)height / MACROBLOCK;
    for (int i = 0; i < SHAPES; i++)
        sums[i] = workload_upload_zeros(across * down * (unsigned)blocks_of(SHAPE[i]) * PADDED *
                                        sizeof(uint16_t));
    workload_launch(&workload, "sad_4x4", (WorkloadShape){4 * across, 4 * down, THREADS_4X4, 1},
                    (void *[]){&device_current, &before_texture, &sums[0], &width});
    workload_launch(&workload, "sad_8x8", (WorkloadShape){across, down, THREADS, 4},
                    (void *[]){&sums[0], &sums[1], &sums[2], &sums[3]});
    workload_launch(&workload, "sad_16x16", (WorkloadShape){across, down, THREADS, 1},
                    (void *[]){&sums[3], &sums[4], &sums[5], &sums[6]});

    uint32_t *of_4x4 = workload_host_alloc(&workload, pixels / 16 * POSITIONS, sizeof *of_4x4);
    for (int i = 0; i < width * height / (BLOCK * BLOCK); i++)
        add_block(current, before, width, i % (width / BLOCK) * BLOCK, i / (width / BLOCK) * BLOCK,
                  of_4x4 + i * POSITIONS);
    bool is_right = true;
    for (int i = 0; i < SHAPES && is_right; i++)
        is_right = check_shape(&workload, SHAPE[i], sums[i], of_4x4, width, height);
    return workload_finish(&workload, is_right, "macroblocks", (size_t)across * down);
}
