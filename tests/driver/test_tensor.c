/* Copies of tiles by tensor maps: random maps against a model that looks up each element, and what
 * cuTensorMapEncodeTiled refuses. The run's options decide what executes, and whether it is timed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/tensor_map.h"
#include "tyto/cuda.h"

#define assert_cuda(call) assert_int_equal((call), CUDA_SUCCESS)

enum { BYTES = 1 << 18, TILE_BYTES = 1 << 13, RANK = 5, TRIALS = 40 };

static const char head[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.extern .shared .align 1024 .b8 room[];\n"
    ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 p, .param .u32 n,"
    " .param .u32 x0, .param .u32 x1, .param .u32 x2, .param .u32 x3, .param .u32 x4) {\n"
    "  .reg .b64 %a, %l; .reg .b32 %m, %r, %n, %t, %c<5>; .reg .pred pp, pq;\n"
    "  .shared .align 8 .b64 barrier;\n"
    "  mov.b64 %l, map; cvta.param.u64 %l, %l; ld.param.u64 %a, [p]; ld.param.u32 %n, [n];\n"
    "  ld.param.u32 %c0, [x0]; ld.param.u32 %c1, [x1]; ld.param.u32 %c2, [x2];\n"
    "  ld.param.u32 %c3, [x3]; ld.param.u32 %c4, [x4];\n"
    "  mov.u32 %m, barrier; mov.u32 %r, room; add.u32 %r, %r, 1023; and.b32 %r, %r, -1024;\n"
    "  mov.u32 %t, %tid.x; setp.eq.u32 pp, %t, 0;\n"
    "  @pp mbarrier.init.shared::cta.b64 [%m], 1; fence.proxy.async; bar.sync 0;\n"
    "  @!pp bra WAIT; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%m], %n;\n";
/* A tile of the tensor goes to p, or p to a tile. */
static const char loads[] =
    "  cp.async.bulk.tensor.%dd.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
    " [%%r], [%%l, {%s}], [%%m];\n"
    "WAIT: mbarrier.try_wait.parity.shared::cta.b64 pq, [%%m], 0; @!pq bra WAIT;\n"
    "  @pp cp.async.bulk.global.shared::cta.bulk_group [%%a], [%%r], %%n;\n";
static const char stores[] =
    "  cp.async.bulk.prefetch.tensor.%1$dd.L2.global [%%l, {%2$s}];\n"
    "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
    " [%%r], [%%a], %%n, [%%m];\n"
    "WAIT: mbarrier.try_wait.parity.shared::cta.b64 pq, [%%m], 0; @!pq bra WAIT;\n"
    "  @pp cp.async.bulk.tensor.%1$dd.global.shared::cta.bulk_group [%%l, {%2$s}], [%%r];\n";
static const char reduces[] =
    "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
    " [%%r], [%%a], %%n, [%%m];\n"
    "WAIT: mbarrier.try_wait.parity.shared::cta.b64 pq, [%%m], 0; @!pq bra WAIT;\n"
    "  @pp cp.reduce.async.bulk.tensor.%dd.global.shared::cta.or.bulk_group [%%l, {%s}], [%%r];\n";
static const char tail[] =
    "  @!pp bra DONE; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\nDONE: ret;\n}\n";

typedef enum Way { LOADS, STORES, REDUCES, WAYS } Way;

static CUcontext context;
static CUdeviceptr tensor, tile;
static CUfunction kernel[WAYS][RANK + 1];
static uint32_t random_state = 1;

static uint32_t draw(uint32_t below) {
    random_state = random_state * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)(random_state >> 8) * below >> 24);
}

static int start(void **state) {
    (void)state;
    static const char *const ways[] = {loads, stores, reduces};
    static const char *const coordinates[] = {
        "", "%c0", "%c0, %c1", "%c0, %c1, %c2", "%c0, %c1, %c2, %c3", "%c0, %c1, %c2, %c3, %c4"};
    if (cuInit(0) || cuCtxCreate(&context, NULL, 0, 0) || cuMemAlloc(&tensor, BYTES) ||
        cuMemAlloc(&tile, TILE_BYTES))
        return 1;
    for (int way = 0; way < WAYS; way++) {
        for (int rank = 1; rank <= RANK; rank++) {
            char body[2048], ptx[8192];
            CUmodule module;
            snprintf(body, sizeof body, ways[way], rank, coordinates[rank]);
            snprintf(ptx, sizeof ptx, "%s%s%s", head, body, tail);
            if (cuModuleLoadData(&module, ptx) ||
                cuModuleGetFunction(&kernel[way][rank], module, "k"))
                return 1;
        }
    }
    return 0;
}

static int end(void **state) {
    (void)state;
    return cuCtxDestroy(context) != CUDA_SUCCESS;
}

/* ---- Random maps ---- */

typedef struct Trial {
    CUtensorMap map;
    CUtensorMapDataType type;
    CUtensorMapSwizzle swizzle;
    CUtensorMapFloatOOBfill fill;
    cuuint32_t rank, box[RANK], steps[RANK];
    uint64_t sizes[RANK], strides[RANK - 1], offset;
    int32_t at[RANK];
    uint32_t element_bytes, bytes; /* of the tile */
} Trial;

static void draw_trial(Trial *t) {
    static const uint32_t widths[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    do {
        uint64_t stride;
        memset(t, 0, sizeof *t);
        t->rank = 1 + draw(RANK);
        t->type = (CUtensorMapDataType)draw(13);
        t->element_bytes = widths[t->type];
        t->swizzle = (CUtensorMapSwizzle)draw(4);
        t->fill = (CUtensorMapFloatOOBfill)(t->type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16 && draw(2));
        const uint32_t units = t->swizzle ? 1u << t->swizzle : 1 + draw(6); /* of a tile's row */
        t->box[0] = 16 * units / t->element_bytes;
        t->sizes[0] = 1 + draw(3 * t->box[0]);
        t->steps[0] = 1;
        stride = (t->sizes[0] * t->element_bytes + 15) / 16 * 16 + 16 * draw(3);
        t->bytes = 16 * units;
        for (cuuint32_t i = 1; i < t->rank; i++) {
            t->box[i] = 1 + draw(6);
            t->steps[i] = 1 + draw(3);
            t->sizes[i] = 1 + draw(9);
            t->strides[i - 1] = stride;
            stride = stride * t->sizes[i] + 16 * draw(2);
            t->bytes *= (t->box[i] + t->steps[i] - 1) / t->steps[i];
        }
        t->offset = 16 * draw(8);
        for (cuuint32_t i = 0; i < t->rank; i++)
            t->at[i] = (int32_t)draw((uint32_t)t->sizes[i] + 6) - 3;
        if (t->offset + stride <= BYTES && t->bytes <= TILE_BYTES) break;
    } while (true);
    assert_cuda(cuTensorMapEncodeTiled(&t->map, t->type, t->rank, (void *)(tensor + t->offset),
                                       t->sizes, t->strides, t->box, t->steps,
                                       CU_TENSOR_MAP_INTERLEAVE_NONE, t->swizzle,
                                       CU_TENSOR_MAP_L2_PROMOTION_L2_128B, t->fill));
}

/* Where byte `at` of the tile is in shared memory, the tile beginning at a multiple of 1,024. */
static uint32_t swizzled(const Trial *t, uint32_t at) {
    const uint32_t unit = at / 16, row = at / 128;
    switch (t->swizzle) {
    case CU_TENSOR_MAP_SWIZZLE_32B: return (unit ^ (row & 1)) * 16 + at % 16;
    case CU_TENSOR_MAP_SWIZZLE_64B: return (unit ^ (row & 3)) * 16 + at % 16;
    case CU_TENSOR_MAP_SWIZZLE_128B: return (unit ^ (row & 7)) * 16 + at % 16;
    default: return at;
    }
}

/* Byte in the tensor of element `index` of the tile; -1: it lies outside. */
static int64_t place_of(const Trial *t, uint32_t index) {
    int64_t place = (int64_t)t->offset;
    for (cuuint32_t i = 0; i < t->rank; i++) {
        const uint32_t count = (t->box[i] + t->steps[i] - 1) / t->steps[i];
        const int64_t x = t->at[i] + (int64_t)(index % count * t->steps[i]);
        index /= count;
        if (x < 0 || x >= (int64_t)t->sizes[i]) return -1;
        place += x * (int64_t)(i ? t->strides[i - 1] : t->element_bytes);
    }
    return place;
}

static void run(const Trial *t, Way way) {
    void *arguments[] = {(void *)&t->map,   &tile,
                         (void *)&t->bytes, (void *)&t->at[0],
                         (void *)&t->at[1], (void *)&t->at[2],
                         (void *)&t->at[3], (void *)&t->at[4]};
    assert_cuda(cuLaunchKernel(kernel[way][t->rank], 1, 1, 1, 32, 1, 1, TILE_BYTES + 2048, NULL,
                               arguments, NULL));
    assert_cuda(cuCtxSynchronize());
}

static void fill_random(unsigned char *bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        bytes[i] = (unsigned char)draw(256);
}

/* ---- Tests ---- */

static unsigned char given[BYTES], expected[BYTES], found[BYTES], part[TILE_BYTES];

static void tiles_are_loaded(void **state) {
    (void)state;
    static const unsigned char nan[] = {0xff, 0x7f, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f,
                                        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f};
    fill_random(given, BYTES);
    assert_cuda(cuMemcpyHtoD(tensor, given, BYTES));
    for (int trial = 0; trial < TRIALS; trial++) {
        Trial t;
        draw_trial(&t);
        memset(expected, 0xee, TILE_BYTES);
        for (uint32_t i = 0; i < t.bytes / t.element_bytes; i++) {
            const int64_t place = place_of(&t, i);
            unsigned char *to = expected + swizzled(&t, i * t.element_bytes);
            if (place >= 0) memcpy(to, given + place, t.element_bytes);
            else if (!t.fill) memset(to, 0, t.element_bytes);
            else memcpy(to, nan + (t.element_bytes == 2 ? 0 : t.element_bytes), t.element_bytes);
        }
        assert_cuda(cuMemsetD8(tile, 0xee, TILE_BYTES));
        run(&t, LOADS);
        assert_cuda(cuMemcpyDtoH(found, tile, TILE_BYTES));
        if (memcmp(found, expected, TILE_BYTES)) fail_msg("trial %d: rank %u", trial, t.rank);
    }
}

static void check_stores(Way way) {
    for (int trial = 0; trial < TRIALS; trial++) {
        Trial t;
        draw_trial(&t);
        if (way == REDUCES &&
            (t.type < CU_TENSOR_MAP_DATA_TYPE_UINT32 || t.type > CU_TENSOR_MAP_DATA_TYPE_INT64))
            continue;
        fill_random(part, TILE_BYTES);
        fill_random(given, 4096);
        memcpy(expected, given, BYTES);
        for (uint32_t i = 0; i < t.bytes / t.element_bytes; i++) {
            const int64_t place = place_of(&t, i);
            const unsigned char *from = part + swizzled(&t, i * t.element_bytes);
            for (uint32_t b = 0; b < t.element_bytes && place >= 0; b++) {
                if (way == STORES) expected[place + b] = from[b];
                else expected[place + b] |= from[b];
            }
        }
        assert_cuda(cuMemcpyHtoD(tensor, given, BYTES));
        assert_cuda(cuMemcpyHtoD(tile, part, TILE_BYTES));
        run(&t, way);
        assert_cuda(cuMemcpyDtoH(found, tensor, BYTES));
        if (memcmp(found, expected, BYTES)) fail_msg("trial %d: rank %u", trial, t.rank);
    }
}

static void tiles_are_stored(void **state) {
    (void)state;
    check_stores(STORES);
}

static void tiles_are_combined_with_what_is_there(void **state) {
    (void)state;
    check_stores(REDUCES);
}

/* A program can put any bytes where a map is looked for. */
static void bytes_that_are_no_map_are_told(void **state) {
    (void)state;
    static const struct {
        size_t at;
        unsigned char value;
    } rows[] = {
        {offsetof(TensorMap, mark), 0},      {offsetof(TensorMap, type), 200},
        {offsetof(TensorMap, rank), 0},      {offsetof(TensorMap, rank), 9},
        {offsetof(TensorMap, swizzle), 60},  {offsetof(TensorMap, box), 0},
        {offsetof(TensorMap, box) + 1, 200}, {offsetof(TensorMap, step), 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Trial t;
        draw_trial(&t);
        ((unsigned char *)&t.map)[rows[i].at] = rows[i].value;
        if (rows[i].at == offsetof(TensorMap, box)) ((unsigned char *)&t.map)[rows[i].at + 1] = 0;
        void *arguments[] = {&t.map, &tile, &t.bytes, t.at, t.at + 1, t.at + 2, t.at + 3, t.at + 4};
        CUresult status = cuLaunchKernel(kernel[LOADS][t.rank], 1, 1, 1, 32, 1, 1,
                                         TILE_BYTES + 2048, NULL, arguments, NULL);
        if (status == CUDA_SUCCESS) status = cuCtxSynchronize();
        assert_int_equal(status, CUDA_ERROR_ILLEGAL_ADDRESS);
        cuCtxDestroy(context); /* an error of the device ends it */
        assert_int_equal(start(NULL), 0);
    }
}

static void what_no_map_can_have_is_refused(void **state) {
    (void)state;
    static const uint64_t sizes[] = {64, 8, 8, 8, 8}, odd_strides[] = {260}, strides[] = {256};
    static const cuuint32_t box[] = {16, 4}, wide[] = {64, 4}, short_row[] = {3, 4},
                            none[] = {0, 4};
    static const uint64_t all_strides[] = {256, 2048, 16384, 131072};
    static const cuuint32_t huge[] = {256, 256, 256, 256, 256}, all_steps[] = {1, 1, 1, 1, 1};
    static const cuuint32_t steps[] = {1, 1}, far_steps[] = {1, 9};
    const struct {
        cuuint32_t rank;
        uint64_t address;
        const uint64_t *strides;
        const cuuint32_t *box, *steps;
        int interleave, swizzle, fill;
        CUresult status;
    } rows[] = {
        {2, 0, strides, box, steps, 0, 0, 0, CUDA_SUCCESS},
        {2, 0, strides, wide, steps, 0, 0, 0, CUDA_SUCCESS},
        {0, 0, strides, box, steps, 0, 0, 0, CUDA_ERROR_INVALID_VALUE},
        {6, 0, strides, box, steps, 0, 0, 0, CUDA_ERROR_INVALID_VALUE},
        {2, 8, strides, box, steps, 0, 0, 0, CUDA_ERROR_INVALID_VALUE},
        {2, 0, odd_strides, box, steps, 0, 0, 0, CUDA_ERROR_INVALID_VALUE},
        {2, 0, NULL, box, steps, 0, 0, 0, CUDA_ERROR_INVALID_VALUE},
        {2, 0, strides, short_row, steps, 0, 0, 0, CUDA_ERROR_INVALID_VALUE},
        {2, 0, strides, none, steps, 0, 0, 0, CUDA_ERROR_INVALID_VALUE},
        {2, 0, strides, box, far_steps, 0, 0, 0, CUDA_ERROR_INVALID_VALUE},
        {2, 0, strides, wide, steps, 0, 3, 0, CUDA_ERROR_INVALID_VALUE},
        {5, 0, all_strides, huge, all_steps, 0, 0, 0, CUDA_ERROR_INVALID_VALUE},
        {2, 0, strides, box, steps, 0, 4, 0, CUDA_ERROR_INVALID_VALUE},
        {2, 0, strides, box, steps, 0, 0, 1, CUDA_ERROR_INVALID_VALUE},
        {2, 0, strides, box, steps, 1, 0, 0, CUDA_ERROR_NOT_SUPPORTED},
    };
    CUtensorMap map;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, rows[i].rank,
                                   (void *)(tensor + rows[i].address), sizes, rows[i].strides,
                                   rows[i].box, rows[i].steps,
                                   (CUtensorMapInterleave)rows[i].interleave,
                                   (CUtensorMapSwizzle)rows[i].swizzle, 0,
                                   (CUtensorMapFloatOOBfill)rows[i].fill) != rows[i].status)
            fail_msg("row %zu", i);
    assert_cuda(cuTensorMapReplaceAddress(&map, (void *)tile));
    assert_int_equal(cuTensorMapReplaceAddress(&map, (void *)(tile + 4)), CUDA_ERROR_INVALID_VALUE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_are_loaded),
        cmocka_unit_test(tiles_are_stored),
        cmocka_unit_test(tiles_are_combined_with_what_is_there),
        cmocka_unit_test(bytes_that_are_no_map_are_told),
        cmocka_unit_test(what_no_map_can_have_is_refused),
    };
    return cmocka_run_group_tests(tests, start, end);
}
