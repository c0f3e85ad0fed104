/* Copies by tensor maps, with tiles and im2col: compares random maps with a model that looks up
 * each element; and what cuTensorMapEncode... refuses. TYTO_OPTIONS determine what executes, and
 * whether the run is timed. Argument: the number of maps of each kind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "isa/tensor_map.h"
#include "tyto/cuda.h"

#define assert_cuda(call) assert_int_equal((call), CUDA_SUCCESS)

enum { BYTES = 1 << 18, TILE_BYTES = 1 << 13, RANK = 5, TRIALS = 40, MADE_TRIALS = 6 };

static int trials = TRIALS;

static const char head[] =
    ".address_size 64\n.extern .shared .align 1024 .b8 room[];\n"
    ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 p, .param .u32 n,"
    " .param .u32 x0, .param .u32 x1, .param .u32 x2, .param .u32 x3, .param .u32 x4,"
    " .param .u16 o0, .param .u16 o1, .param .u16 o2, .param .u64 work,"
    " .param .align 8 .b8 values[168]) {\n"
    "  .reg .b64 %a, %l; .reg .b32 %m, %r, %n, %t, %c<5>; .reg .b16 %o<3>; .reg .pred pp, pq;\n"
    "  .shared .align 8 .b64 barrier;\n"
    "  mov.b64 %l, map; cvta.param.u64 %l, %l; ld.param.u64 %a, [p]; ld.param.u32 %n, [n];\n"
    "  ld.param.u32 %c0, [x0]; ld.param.u32 %c1, [x1]; ld.param.u32 %c2, [x2];\n"
    "  ld.param.u32 %c3, [x3]; ld.param.u32 %c4, [x4];\n"
    "  ld.param.u16 %o0, [o0]; ld.param.u16 %o1, [o1]; ld.param.u16 %o2, [o2];\n"
    "  mov.u32 %m, barrier; mov.u32 %r, room; add.u32 %r, %r, 1023; and.b32 %r, %r, -1024;\n"
    "  mov.u32 %t, %tid.x; setp.eq.u32 pp, %t, 0;\n"
    "  @pp mbarrier.init.shared::cta.b64 [%m], 1; fence.proxy.async; bar.sync 0;\n";
static const char one[] =
    "  @!pp bra WAIT; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%m], %n;\n";
/* Copies a tile of the tensor to p, or p to a tile. */
static const char loads[] =
    "  cp.async.bulk.tensor.%1$dd.shared::cluster.global.%3$s.mbarrier::complete_tx::bytes"
    " [%%r], [%%l, {%2$s}], [%%m]%5$s;\n"
    "WAIT: mbarrier.try_wait.parity.shared::cta.b64 pq, [%%m], 0; @!pq bra WAIT;\n"
    "  @pp cp.async.bulk.global.shared::cta.bulk_group [%%a], [%%r], %%n;\n";
static const char stores[] =
    "  cp.async.bulk.prefetch.tensor.%1$dd.L2.global.%3$s [%%l, {%2$s}]%5$s;\n"
    "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
    " [%%r], [%%a], %%n, [%%m];\n"
    "WAIT: mbarrier.try_wait.parity.shared::cta.b64 pq, [%%m], 0; @!pq bra WAIT;\n"
    "  @pp cp.async.bulk.tensor.%1$dd.global.shared::cta.%4$s.bulk_group [%%l, {%2$s}], [%%r];\n";
static const char reduces[] =
    "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
    " [%%r], [%%a], %%n, [%%m];\n"
    "WAIT: mbarrier.try_wait.parity.shared::cta.b64 pq, [%%m], 0; @!pq bra WAIT;\n"
    "  @pp cp.reduce.async.bulk.tensor.%1$dd.global.shared::cta.or.%4$s.bulk_group"
    " [%%l, {%2$s}], [%%r];\n";
/* Stores the cycles of a load to p. */
static const char times[] =
    "  .reg .b32 %%s, %%e; mov.u32 %%s, %%clock;\n"
    "  cp.async.bulk.tensor.%1$dd.shared::cluster.global.%3$s.mbarrier::complete_tx::bytes"
    " [%%r], [%%l, {%2$s}], [%%m]%5$s;\n"
    "WAIT: mbarrier.try_wait.parity.shared::cta.b64 pq, [%%m], 0; @!pq bra WAIT;\n"
    "  mov.u32 %%e, %%clock; sub.u32 %%e, %%e, %%s; mov.u32 %%s, %%ctaid.x;\n"
    "  setp.eq.and.u32 pq, %%s, 0, pp; @pq st.global.u32 [%%a], %%e;\n";
static const char tail[] =
    "  @!pp bra DONE; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\nDONE: ret;\n}\n";

typedef enum Way { LOADS, STORES, REDUCES, TIMES, WAYS } Way;

static CUcontext context;
static CUdeviceptr tensor, tile, work;       /* work: two maps */
static CUfunction kernel[2][WAYS][RANK + 1]; /* [1]: for im2col */
static uint32_t random_state = 1;

static uint32_t draw(uint32_t below) {
    random_state = random_state * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)(random_state >> 8) * below >> 24);
}

static int load_kernel(bool is_im2col, Way way, int rank) {
    static const char *const ways[] = {loads, stores, reduces, times};
    static const char *const coordinates[] = {
        "", "%c0", "%c0, %c1", "%c0, %c1, %c2", "%c0, %c1, %c2, %c3", "%c0, %c1, %c2, %c3, %c4"};
    static const char *const offsets[] = {", {%o0}", ", {%o0, %o1}", ", {%o0, %o1, %o2}"};
    char body[2048], ptx[8192];
    CUmodule module;
    snprintf(body, sizeof body, ways[way], rank, coordinates[rank], is_im2col ? "im2col" : "tile",
             is_im2col ? "im2col_no_offs" : "tile", is_im2col ? offsets[rank - 3] : "");
    snprintf(ptx, sizeof ptx, ".version 8.0\n.target sm_90\n%s%s%s%s", head, one, body, tail);
    return cuModuleLoadData(&module, ptx) ||
           cuModuleGetFunction(&kernel[is_im2col][way][rank], module, "k");
}

static int start(void **state) {
    (void)state;
    if (cuInit(0) || cuCtxCreate(&context, NULL, 0, 0) || cuMemAlloc(&tensor, BYTES) ||
        cuMemAlloc(&work, 256) || cuMemAlloc(&tile, TILE_BYTES))
        return 1;
    for (int way = 0; way < WAYS; way++)
        for (int rank = 1; rank <= RANK; rank++)
            if (load_kernel(false, (Way)way, rank) ||
                (rank >= 3 && load_kernel(true, (Way)way, rank)))
                return 1;
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
    CUtensorMapInterleave interleave;
    CUtensorMapSwizzle swizzle;
    CUtensorMapFloatOOBfill fill;
    cuuint32_t rank, box[RANK], steps[RANK];
    uint64_t sizes[RANK], strides[RANK - 1], offset;
    int32_t at[RANK];
    uint32_t element_bytes, bytes; /* bytes of the tile */
    uint32_t slice, slices;        /* interleaved: channels per slice, slices of the box */
    bool is_im2col;
    cuuint32_t pixels;
    int lower[RANK - 2], upper[RANK - 2];
    uint16_t offsets[RANK - 2];
    CUfunction made; /* NULL: use kernel[] */
} Trial;

/* The values from which a kernel makes a map, in the order of its fields. Box, sizes, strides and
 * steps have one value per dimension. */
static uint64_t values[21];

static const uint32_t widths[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

/* A multiple of it is a valid address or stride. */
static uint32_t unit_of(const Trial *t) {
    return t->interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? 32 : 16;
}

static cuuint32_t count_of(const Trial *t, cuuint32_t i) {
    return (t->box[i] + t->steps[i] - 1) / t->steps[i];
}

/* Type, interleave, swizzle and channels; `bytes` becomes that of a pixel in shared memory. Half
 * of the interleaved boxes are whole slices. */
static void draw_channels(Trial *t) {
    t->type = (CUtensorMapDataType)draw(13);
    t->element_bytes = widths[t->type];
    t->interleave = (CUtensorMapInterleave)(t->rank < 3 ? 0 : draw(3));
    t->swizzle = (CUtensorMapSwizzle)(t->interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? 1 : draw(4));
    t->fill = (CUtensorMapFloatOOBfill)(t->type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16 && draw(2));
    t->steps[0] = 1;
    if (t->interleave) {
        const bool is_whole = draw(2);
        t->slice = unit_of(t) / t->element_bytes;
        t->box[0] = is_whole ? t->slice * (1 + draw(4)) : 1 + draw(4 * t->slice);
        if (!is_whole) t->steps[0] = 1 + draw(3);
        t->slices = (count_of(t, 0) + t->slice - 1) / t->slice;
        t->bytes = t->slices * unit_of(t);
    } else {
        const uint32_t units = t->swizzle ? 1u << t->swizzle : 1 + draw(6); /* 16 bytes each */
        t->box[0] = 16 * units / t->element_bytes;
        t->bytes = 16 * units;
    }
    t->sizes[0] = 1 + draw(3 * t->box[0]);
}

/* Strides without overlaps, after the sizes. Returns the bytes of the tensor. */
static uint64_t draw_strides(Trial *t) {
    const uint32_t unit = unit_of(t), last = t->rank - 1;
    uint64_t stride = t->interleave ? unit : (t->sizes[0] * t->element_bytes + 15) / 16 * 16;
    stride += unit * draw(3);
    for (cuuint32_t i = 1; i < t->rank; i++) {
        if (t->interleave && i == last) {
            const uint64_t slices = (t->sizes[0] + t->slice - 1) / t->slice;
            stride = t->strides[last - 2] * t->sizes[last - 1] * slices + unit * draw(2);
        }
        t->strides[i - 1] = stride;
        stride = stride * t->sizes[i] + unit * draw(2);
    }
    return stride;
}

/* The tile fits, and its swizzle leads to no byte outside of it: the kernels copy only its bytes.
 */
static bool is_good_tile(const Trial *t) {
    return t->bytes <= TILE_BYTES && t->bytes % (16u << t->swizzle) == 0;
}

static void draw_trial(Trial *t) {
    do {
        memset(t, 0, sizeof *t);
        t->rank = 1 + draw(RANK);
        draw_channels(t);
        for (cuuint32_t i = 1; i < t->rank; i++) {
            t->box[i] = 1 + draw(6);
            t->steps[i] = 1 + draw(3);
            t->sizes[i] = 1 + draw(9);
            t->bytes *= count_of(t, i);
        }
        const uint64_t bytes = draw_strides(t);
        t->offset = unit_of(t) * draw(8);
        for (cuuint32_t i = 0; i < t->rank; i++)
            t->at[i] = (int32_t)draw((uint32_t)t->sizes[i] + 6) - 3;
        if (t->offset + bytes <= BYTES && is_good_tile(t)) break;
    } while (true);
    assert_cuda(cuTensorMapEncodeTiled(&t->map, t->type, t->rank, (void *)(tensor + t->offset),
                                       t->sizes, t->strides, t->box, t->steps, t->interleave,
                                       t->swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, t->fill));
}

/* The filter is within its box, as the PTX ISA requires; its offsets may lead anywhere. */
static void draw_filter(Trial *t) {
    static const uint32_t most_offset[] = {UINT16_MAX, UINT8_MAX, 31};
    t->at[0] = (int32_t)draw((uint32_t)t->sizes[0] + 6) - 3;
    t->at[t->rank - 1] = (int32_t)draw((uint32_t)t->sizes[t->rank - 1] + 2) - 1;
    for (cuuint32_t i = 0; i < t->rank - 2; i++) {
        int last;
        do {
            t->lower[i] = (int)draw(8) - 4;
            t->upper[i] = (int)draw(8) - 4;
            last = (int)t->sizes[i + 1] - 1 + t->upper[i];
        } while (last < t->lower[i]);
        t->at[i + 1] = t->lower[i] + (int)draw((uint32_t)(last - t->lower[i]) + 1);
        t->offsets[i] = (uint16_t)(draw(20) ? draw(4) : draw(most_offset[t->rank - 3] + 1));
    }
}

static void draw_im2col(Trial *t) {
    do {
        memset(t, 0, sizeof *t);
        t->is_im2col = true;
        t->rank = 3 + draw(RANK - 2);
        draw_channels(t);
        t->pixels = 1 + draw(64);
        t->bytes *= t->pixels;
        for (cuuint32_t i = 1; i < t->rank; i++) {
            t->sizes[i] = 1 + draw(7);
            t->steps[i] = 1 + draw(3);
        }
        const uint64_t bytes = draw_strides(t);
        t->offset = unit_of(t) * draw(8);
        draw_filter(t);
        if (t->offset + bytes <= BYTES && is_good_tile(t)) break;
    } while (true);
    assert_cuda(cuTensorMapEncodeIm2col(&t->map, t->type, t->rank, (void *)(tensor + t->offset),
                                        t->sizes, t->strides, t->lower, t->upper, t->box[0],
                                        t->pixels, t->steps, t->interleave, t->swizzle,
                                        CU_TENSOR_MAP_L2_PROMOTION_L2_128B, t->fill));
}

/* Position of byte `at` of the tile in shared memory; the tile starts at a multiple of 1,024. */
static uint32_t swizzled(const Trial *t, uint32_t at) {
    const uint32_t unit = at / 16, row = at / 128;
    switch (t->swizzle) {
    case CU_TENSOR_MAP_SWIZZLE_32B: return (unit ^ (row & 1)) * 16 + at % 16;
    case CU_TENSOR_MAP_SWIZZLE_64B: return (unit ^ (row & 3)) * 16 + at % 16;
    case CU_TENSOR_MAP_SWIZZLE_128B: return (unit ^ (row & 7)) * 16 + at % 16;
    default: return at;
    }
}

/* Number of positions of a filter in a dimension of its box, starting at `first`. */
static int64_t positions(const Trial *t, cuuint32_t i, int64_t first) {
    return ((int64_t)t->sizes[i] - 1 + t->upper[i - 1] - first) / t->steps[i] + 1;
}

/* The position of filter `number` of a copy in dimension `i`. Replaces `number` by the count of
 * full turns of that dimension before it. The first turn starts at the given coordinate, others at
 * the lower corner. */
static int64_t position(const Trial *t, cuuint32_t i, int64_t *number) {
    const int64_t in_first = positions(t, i, t->at[i]), low = t->lower[i - 1];
    const int64_t in_each = positions(t, i, low), n = *number;
    *number = n < in_first ? 0 : 1 + (n - in_first) / in_each;
    return n < in_first ? t->at[i] + n * t->steps[i] : low + (n - in_first) % in_each * t->steps[i];
}

/* Where an element of a tile comes from: number `channel` of the box of pixel `pixel`. An
 * interleaved tile has, of each image, the first slice of all its pixels, then the next slice; a
 * copy of im2col counts as one image. */
static void split(const Trial *t, uint32_t index, uint32_t *channel, uint32_t *pixel) {
    const uint32_t lanes = t->interleave ? t->slice : t->box[0];
    uint32_t pixels = 1; /* of an image */
    if (t->is_im2col) pixels = t->pixels;
    for (cuuint32_t i = 1; i + 1 < t->rank && !t->is_im2col; i++)
        pixels *= count_of(t, i);
    const uint32_t slices = t->interleave ? t->slices : 1, row = index / lanes;
    *channel = row / pixels % slices * lanes + index % lanes;
    *pixel = row / pixels / slices * pixels + row % pixels;
}

/* Bytes from a pixel's first channel to number `number` of the box; -1 if that is outside. */
static int64_t channel_place(const Trial *t, uint32_t number) {
    const int64_t channel = t->at[0] + (int64_t)number * t->steps[0];
    if (number >= count_of(t, 0) || channel < 0 || channel >= (int64_t)t->sizes[0]) return -1;
    if (!t->interleave) return channel * t->element_bytes;
    const uint64_t stride = t->strides[t->rank - 3] * t->sizes[t->rank - 2];
    return channel / t->slice * (int64_t)stride + channel % t->slice * t->element_bytes;
}

/* Bytes from the first pixel of the tensor to pixel `number` of an im2col copy; -1 if that is
 * outside. */
static int64_t filter_place(const Trial *t, uint32_t pixel, bool has_offsets) {
    int64_t number = pixel, place = 0;
    bool is_inside = true;
    for (cuuint32_t i = 1; i < t->rank; i++) {
        const bool is_image = i == t->rank - 1; /* the image number has no box */
        const int64_t x = is_image
                              ? t->at[i] + number
                              : position(t, i, &number) + (has_offsets ? t->offsets[i - 1] : 0);
        is_inside &= x >= 0 && x < (int64_t)t->sizes[i];
        place += x * (int64_t)t->strides[i - 1];
    }
    return is_inside ? place : -1;
}

/* The same for pixel `number` of a tile. */
static int64_t pixel_place(const Trial *t, uint32_t number) {
    int64_t place = 0;
    for (cuuint32_t i = 1; i < t->rank; i++) {
        const uint32_t count = count_of(t, i);
        const int64_t x = t->at[i] + (int64_t)(number % count * t->steps[i]);
        number /= count;
        if (x < 0 || x >= (int64_t)t->sizes[i]) return -1;
        place += x * (int64_t)t->strides[i - 1];
    }
    return place;
}

/* Byte in the tensor of element `index` of the tile; -1 if it is outside. */
static int64_t place_of(const Trial *t, uint32_t index, Way way) {
    uint32_t channel, pixel;
    split(t, index, &channel, &pixel);
    const int64_t of_channel = channel_place(t, channel);
    const int64_t of_pixel =
        t->is_im2col ? filter_place(t, pixel, way == LOADS) : pixel_place(t, pixel);
    return of_channel < 0 || of_pixel < 0 ? -1 : (int64_t)t->offset + of_pixel + of_channel;
}

static void run_grid(const Trial *t, Way way, unsigned ctas) {
    void *arguments[] = {(void *)&t->map,
                         &tile,
                         (void *)&t->bytes,
                         (void *)&t->at[0],
                         (void *)&t->at[1],
                         (void *)&t->at[2],
                         (void *)&t->at[3],
                         (void *)&t->at[4],
                         (void *)&t->offsets[0],
                         (void *)&t->offsets[1],
                         (void *)&t->offsets[2],
                         &work,
                         values};
    assert_cuda(cuLaunchKernel(t->made ? t->made : kernel[t->is_im2col][way][t->rank], ctas, 1, 1,
                               32, 1, 1, TILE_BYTES + 2048, NULL, arguments, NULL));
    assert_cuda(cuCtxSynchronize());
}

static void run(const Trial *t, Way way) { run_grid(t, way, 1); }

static void fill_random(unsigned char *bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        bytes[i] = (unsigned char)draw(256);
}

/* ---- Tests ---- */

static unsigned char given[BYTES], expected[BYTES], found[BYTES], part[TILE_BYTES];

static void check_loads(void (*const draw_map)(Trial *), int count) {
    static const unsigned char nan[] = {0xff, 0x7f, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f,
                                        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f};
    fill_random(given, BYTES);
    assert_cuda(cuMemcpyHtoD(tensor, given, BYTES));
    for (int trial = 0; trial < count; trial++) {
        Trial t;
        draw_map(&t);
        memset(expected, 0xee, TILE_BYTES);
        for (uint32_t i = 0; i < t.bytes / t.element_bytes; i++) {
            const int64_t place = place_of(&t, i, LOADS);
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

static void check_stores(void (*const draw_map)(Trial *), Way way) {
    for (int trial = 0; trial < trials; trial++) {
        Trial t;
        draw_map(&t);
        if (way == REDUCES &&
            (t.type < CU_TENSOR_MAP_DATA_TYPE_UINT32 || t.type > CU_TENSOR_MAP_DATA_TYPE_INT64))
            continue;
        fill_random(part, TILE_BYTES);
        fill_random(given, 4096);
        memcpy(expected, given, BYTES);
        for (uint32_t i = 0; i < t.bytes / t.element_bytes; i++) {
            const int64_t place = place_of(&t, i, way);
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

static void tiles_are_loaded(void **state) {
    (void)state;
    check_loads(draw_trial, trials);
}

static void tiles_are_stored(void **state) {
    (void)state;
    check_stores(draw_trial, STORES);
}

static void tiles_are_combined_with_what_is_there(void **state) {
    (void)state;
    check_stores(draw_trial, REDUCES);
}

static void pixels_are_loaded(void **state) {
    (void)state;
    check_loads(draw_im2col, trials);
}

static void pixels_are_stored(void **state) {
    (void)state;
    check_stores(draw_im2col, STORES);
}

static void pixels_are_combined_with_what_is_there(void **state) {
    (void)state;
    check_stores(draw_im2col, REDUCES);
}

/* The channels of the pixels of the PTX ISA's third example: Traversal strides of 2, positions from
 * -1 to 12 in W, and from -1 to 6 in H, offsets of 1. */
static void the_example_of_the_ptx_isa(void **state) {
    (void)state;
    Trial t = {.is_im2col = true,
               .type = CU_TENSOR_MAP_DATA_TYPE_UINT8,
               .rank = 4,
               .box = {16},
               .steps = {1, 2, 2, 1},
               .sizes = {64, 14, 8, 4},
               .strides = {64, 64 * 14, 64 * 14 * 8},
               .at = {0, 7, 5, 0},
               .element_bytes = 1,
               .bytes = 32 * 16,
               .pixels = 32,
               .lower = {-1, -1},
               .upper = {-1, -1},
               .offsets = {1, 1}};
    /* tensor coordinates of the first pixels; their filters are at 7, 9, 11 of line 5, ... */
    static const struct {
        int n, h, w;
    } first[] = {{0, 6, 8}, {0, 6, 10}, {0, 6, 12}, {1, 0, 0},  {1, 0, 2}, {1, 0, 4},
                 {1, 0, 6}, {1, 0, 8},  {1, 0, 10}, {1, 0, 12}, {1, 2, 0}};
    fill_random(given, BYTES);
    assert_cuda(cuMemcpyHtoD(tensor, given, BYTES));
    assert_cuda(cuTensorMapEncodeIm2col(&t.map, t.type, t.rank, (void *)tensor, t.sizes, t.strides,
                                        t.lower, t.upper, t.box[0], t.pixels, t.steps, 0, 0, 0, 0));
    run(&t, LOADS);
    assert_cuda(cuMemcpyDtoH(found, tile, t.bytes));
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        assert_memory_equal(
            found + 16 * i,
            given + first[i].n * 64 * 14 * 8 + first[i].h * 64 * 14 + first[i].w * 64, 16);
}

static uint32_t cycles_of(const Trial *t) {
    uint32_t cycles;
    run(t, TIMES);
    assert_cuda(cuMemcpyDtoH(&cycles, tile, sizeof cycles));
    return cycles;
}

/* An im2col copy of an image with a border of 1 sends as many requests as a tile of the image,
 * because pixels outside need none. Cycles may differ by OTHERS, because its instruction has more
 * operands. */
static void pixels_take_the_time_of_the_rows_of_a_tile(void **state) {
    (void)state;
    enum { SIDE = 8, CHANNELS = 64, STRIDE = 1088, OTHERS = 3, UNIT_CYCLES = 100, MANY_SMS = 132 };
    Trial t = {.rank = 4,
               .box = {CHANNELS, SIDE, SIDE, 1},
               .steps = {1, 1, 1, 1},
               .sizes = {CHANNELS, SIDE, SIDE, 2},
               .strides = {STRIDE, STRIDE * (SIDE + 2), STRIDE * (SIDE + 2) * SIDE},
               .bytes = CHANNELS * SIDE * SIDE};
    CUdeviceptr images;
    assert_cuda(cuMemAlloc(&images, 4 * STRIDE * SIDE * SIDE));
    void *const first = (void *)(images + STRIDE * SIDE * SIDE);
    static const int lower[] = {-1, -1}, upper[] = {1, 1};
    const cuuint32_t pixels = (SIDE + 2) * (SIDE + 2);
    assert_cuda(cuTensorMapEncodeTiled(&t.map, CU_TENSOR_MAP_DATA_TYPE_UINT8, t.rank, first,
                                       t.sizes, t.strides, t.box, t.steps, 0, 0, 0, 0));
    for (t.at[3] = 1; t.at[3] >= 0; t.at[3]--)
        run_grid(&t, TIMES, 2 * MANY_SMS); /* loads only both images into both halves of L2 */
    t.at[3] = 0;
    const uint32_t of_tile = cycles_of(&t);
    assert_cuda(cuTensorMapEncodeIm2col(&t.map, CU_TENSOR_MAP_DATA_TYPE_UINT8, t.rank, first,
                                        t.sizes, t.strides, lower, upper, CHANNELS, pixels, t.steps,
                                        0, 0, 0, 0));
    t.is_im2col = true;
    t.bytes = pixels * CHANNELS;
    t.at[1] = t.at[2] = -1;
    const uint32_t of_pixels = cycles_of(&t);
    t.at[2] = SIDE / 2 - 1; /* 5 rows of this image, and 3 of the next */
    const uint32_t of_both = cycles_of(&t);
    t.at[3] = 1; /* 5 rows of the last image */
    const uint32_t of_last = cycles_of(&t);
    assert_in_range(of_pixels, of_tile - OTHERS, of_tile + OTHERS);
    assert_in_range(of_both, of_tile - OTHERS, of_tile + OTHERS);
    assert_cuda(cuMemFree(images));
    if (of_tile < UNIT_CYCLES) return; /* not timed, or copies complete at once */
    const uint32_t fewer = 3 * SIDE;   /* requests, each one or more cycles */
    assert_in_range(of_last, of_both - 4 * fewer, of_both - fewer);
}

/* Slices that are adjacent in global memory are requested as one row, so an interleaved tile takes
 * the time of other rows of the same bytes. Pixels of im2col take a reply for each slice. */
static void slices_take_the_time_of_rows(void **state) {
    (void)state;
    enum { TILE = 2048, SECTOR = 32, PIXELS = 64, OTHERS = 3, UNIT_CYCLES = 100, MANY_SMS = 132 };
    Trial plain = {.rank = 4,
                   .box = {256, 8, 1, 1},
                   .steps = {1, 1, 1, 1},
                   .sizes = {256, 8, 1, 1},
                   .strides = {256, TILE, TILE}};
    Trial sliced = {.rank = 4,
                    .box = {32, 8, 8, 1},
                    .steps = {1, 1, 1, 1},
                    .sizes = {32, 8, 8, 1},
                    .strides = {16, 128, TILE},
                    .interleave = CU_TENSOR_MAP_INTERLEAVE_16B};
    static const int corner[] = {0, 0};
    Trial *const trials_of[] = {&plain, &sliced};
    for (int i = 0; i < 2; i++) {
        Trial *t = trials_of[i];
        t->bytes = TILE;
        assert_cuda(cuTensorMapEncodeTiled(&t->map, CU_TENSOR_MAP_DATA_TYPE_UINT8, t->rank,
                                           (void *)tensor, t->sizes, t->strides, t->box, t->steps,
                                           t->interleave, 0, 0, 0));
        run_grid(t, TIMES, 2 * MANY_SMS); /* loads the tile into both halves of L2 */
    }
    const uint32_t of_rows = cycles_of(&plain), of_slices = cycles_of(&sliced);
    if (of_rows < UNIT_CYCLES) return; /* not timed, or copies complete at once */
    assert_in_range(of_slices, of_rows - OTHERS, of_rows + OTHERS);
    assert_cuda(cuTensorMapEncodeIm2col(&sliced.map, CU_TENSOR_MAP_DATA_TYPE_UINT8, sliced.rank,
                                        (void *)tensor, sliced.sizes, sliced.strides, corner,
                                        corner, sliced.box[0], PIXELS, sliced.steps,
                                        sliced.interleave, 0, 0, 0));
    sliced.is_im2col = true;
    const uint32_t of_pixels = cycles_of(&sliced);
    const uint32_t more = 2 * PIXELS - TILE / SECTOR; /* replies, one a cycle */
    assert_in_range(of_pixels, of_rows + more - OTHERS, of_rows + more + 32);
}

/* ---- Maps that a kernel makes ---- */

/* The number of a type in the PTX ISA. */
static const int ptx_types[] = {0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 8, 11, 12};

typedef struct Kernel {
    char ptx[16384];
    size_t used;
} Kernel;

static void add(Kernel *k, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    k->used += (size_t)vsnprintf(k->ptx + k->used, sizeof k->ptx - k->used, format, arguments);
    va_end(arguments);
    assert_true(k->used < sizeof k->ptx);
}

/* Replaces a field by value number `value`; alternates the writable spaces. */
static void add_field(Kernel *k, const char *field, int bits, int ordinal, int value,
                      bool is_shared) {
    const char *space = is_shared ? ".shared::cta" : value % 2 ? ".global" : "";
    add(k, "  ld.param.b%d %s, [values+%d];\n  tensormap.replace.tile.%s%s.b1024.b%d [%s], ", bits,
        bits == 64 ? "%v" : "%s", 8 * value, field, space, bits, is_shared ? "%q" : "%w");
    if (ordinal >= 0) add(k, "%d, ", ordinal);
    add(k, "%s;\n", bits == 64 ? "%v" : "%s");
}

static void add_choice(Kernel *k, const char *field, int value, bool is_shared) {
    add(k, "  tensormap.replace.tile.%s.%s.b1024.b32 [%s], %d;\n", field,
        is_shared ? "shared::cta" : "global", is_shared ? "%q" : "%w", value);
}

/* The first thread makes the trial's map from another map, in global memory, or in shared memory
 * with a copy afterwards. */
static void add_making(Kernel *k, const Trial *t, bool is_shared) {
    const int rank = (int)t->rank;
    add(k, "  .reg .b64 %%w, %%v; .reg .b32 %%q, %%s; .shared .align 128 .b8 made[128];\n"
           "  ld.param.u64 %%w, [work]; shl.b32 %%q, %%t, 2; cvt.u64.u32 %%v, %%q;\n"
           "  add.u64 %%v, %%v, %%w; ld.global.b32 %%s, [%%v+128]; mov.u32 %%q, made;\n"
           "  mad.lo.u32 %%q, %%t, 4, %%q; st.shared.b32 [%%q], %%s; mov.u32 %%q, made;\n"
           "  bar.sync 0; @!pp bra MADE;\n");
    add_field(k, "global_address", 64, -1, 0, is_shared);
    add_field(k, "rank", 32, -1, 1, is_shared);
    for (int i = 0; i < rank; i++) {
        add_field(k, "box_dim", 32, i, 2 + i, is_shared);
        add_field(k, "global_dim", 32, i, 7 + i, is_shared);
        if (i) add_field(k, "global_stride", 64, i - 1, 12 + i - 1, is_shared);
        add_field(k, "element_stride", 32, i, 16 + i, is_shared);
    }
    add_choice(k, "elemtype", ptx_types[t->type], is_shared);
    add_choice(k, "interleave_layout", (int)t->interleave, is_shared);
    add_choice(k, "swizzle_mode", (int)t->swizzle, is_shared);
    add_choice(k, "fill_mode", (int)t->fill, is_shared);
    add(k, is_shared ? "MADE: bar.sync 0;\n  tensormap.cp_fenceproxy.global.shared::cta"
                       ".tensormap::generic.release.gpu.sync.aligned [%%w], [%%q], 128;\n"
                     : "  fence.proxy.tensormap::generic.release.gpu;\nMADE: bar.sync 0;\n");
    add(k, "  fence.proxy.tensormap::generic.acquire.gpu [%%w], 128; mov.u64 %%l, %%w;\n");
}

static void list_values(const Trial *t) {
    memset(values, 0, sizeof values);
    values[0] = tensor + t->offset;
    values[1] = t->rank - 1;
    for (cuuint32_t i = 0; i < t->rank; i++) {
        values[2 + i] = t->box[i];
        values[7 + i] = t->sizes[i];
        if (i) values[12 + i - 1] = t->strides[i - 1];
        values[16 + i] = t->steps[i];
    }
}

static Kernel text;

/* Compiles the kernel that makes the trial's map from the one in `work`. */
static void draw_made(Trial *t, bool is_shared) {
    static const char *const coordinates[] = {
        "", "%c0", "%c0, %c1", "%c0, %c1, %c2", "%c0, %c1, %c2, %c3", "%c0, %c1, %c2, %c3, %c4"};
    CUmodule module;
    Trial other;
    do /* machine code leaves one bit of tf32 unchanged */
        draw_trial(&other);
    while (other.type >= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32);
    assert_cuda(cuMemcpyHtoD(work + sizeof other.map, &other.map, sizeof other.map));
    if (is_shared) assert_cuda(cuMemsetD8(work, 0, sizeof other.map));
    else assert_cuda(cuMemcpyHtoD(work, &other.map, sizeof other.map));
    draw_trial(t);
    list_values(t);
    text.used = 0;
    add(&text, ".version 8.3\n.target sm_90a\n%s", head);
    add_making(&text, t, is_shared);
    add(&text, "%s", one);
    add(&text, loads, (int)t->rank, coordinates[t->rank], "tile", "", "");
    add(&text, "%s", tail);
    assert_cuda(cuModuleLoadData(&module, text.ptx));
    assert_cuda(cuModuleGetFunction(&t->made, module, "k"));
    memset(&t->map, 0, sizeof t->map); /* unused */
}

static void draw_made_in_global(Trial *t) { draw_made(t, false); }
static void draw_made_in_shared(Trial *t) { draw_made(t, true); }

static void a_kernel_makes_maps_in_global_memory(void **state) {
    (void)state;
    check_loads(draw_made_in_global, MADE_TRIALS);
}

static void a_kernel_makes_maps_in_shared_memory(void **state) {
    (void)state;
    check_loads(draw_made_in_shared, MADE_TRIALS);
}

/* Launches a warp; stores the first 4,095 characters of what is printed on stderr in `said`. */
static CUresult launch_and_listen(CUfunction function, void **arguments, char *said) {
    FILE *file = tmpfile();
    fflush(stderr);
    const int saved = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    CUresult status =
        cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, TILE_BYTES + 2048, NULL, arguments, NULL);
    if (status == CUDA_SUCCESS) status = cuCtxSynchronize();
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    rewind(file);
    said[fread(said, 1, 4095, file)] = '\0';
    fclose(file);
    return status;
}

/* Any bytes may be where a map is expected. */
static void bytes_that_are_no_map_are_told(void **state) {
    (void)state;
    static const struct {
        size_t at;
        unsigned char value;
        const char *said;
    } rows[] = {
        {64, 0, "there is no tensor map at"}, /* the mark */
        {8, 0x50, "is not valid: its rank"},  /* 6 dimensions, of u8 */
        {9, 0x07, "is not valid: its element type"},
        {9, 0x18, "is not valid: its interleave"},
        {55, 0xff, "is not valid: its rows are longer than its swizzle"}, /* 256 elements */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Trial t;
        do
            draw_trial(&t);
        while (!t.swizzle || t.interleave || t.type != CU_TENSOR_MAP_DATA_TYPE_UINT8);
        unsigned char *byte = (unsigned char *)&t.map + rows[i].at;
        *byte = rows[i].at == 9 ? *byte | rows[i].value : rows[i].value;
        void *arguments[] = {&t.map,        &tile,    &t.bytes, t.at,      t.at + 1,
                             t.at + 2,      t.at + 3, t.at + 4, t.offsets, t.offsets + 1,
                             t.offsets + 2, &work,    values};
        char said[4096];
        const CUresult status = launch_and_listen(kernel[0][LOADS][t.rank], arguments, said);
        if (!strstr(said, rows[i].said)) fail_msg("row %zu: %s", i, said);
        assert_int_equal(status, CUDA_ERROR_ILLEGAL_ADDRESS);
        cuCtxDestroy(context); /* a device error makes the context unusable */
        assert_int_equal(start(NULL), 0);
    }
}

static void what_no_map_can_have_is_refused(void **state) {
    (void)state;
    static const uint64_t sizes[] = {64, 8, 8, 8, 8}, odd_strides[] = {260}, strides[] = {256};
    static const cuuint32_t box[] = {16, 4}, wide[] = {64, 4}, short_row[] = {3, 4},
                            none[] = {0, 4};
    static const uint64_t all_strides[] = {256, 2048, 16384, 131072}, by_16[] = {272, 2048};
    static const cuuint32_t few[] = {3, 4, 2}, many[] = {64, 4, 2}, far_channels[] = {9, 1, 1};
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
        {3, 0, all_strides, many, far_channels, 0, 0, 0, CUDA_SUCCESS}, /* ignored */
        {3, 0, by_16, few, all_steps, 1, 0, 0, CUDA_SUCCESS},
        {3, 16, by_16, many, all_steps, 1, 3, 0, CUDA_SUCCESS},
        {5, 0, all_strides, all_steps, all_steps, 2, 1, 0, CUDA_SUCCESS},
        {2, 0, strides, box, steps, 1, 0, 0, CUDA_ERROR_INVALID_VALUE},
        {2, 0, strides, box, steps, 2, 1, 0, CUDA_ERROR_INVALID_VALUE},
        {3, 0, by_16, few, far_channels, 1, 0, 0, CUDA_ERROR_INVALID_VALUE},
        {3, 8, by_16, few, all_steps, 1, 0, 0, CUDA_ERROR_INVALID_VALUE},
        {3, 0, by_16, few, all_steps, 2, 1, 0, CUDA_ERROR_INVALID_VALUE},
        {3, 16, all_strides, few, all_steps, 2, 1, 0, CUDA_ERROR_INVALID_VALUE},
        {3, 0, all_strides, few, all_steps, 2, 0, 0, CUDA_ERROR_INVALID_VALUE},
        {3, 0, all_strides, few, all_steps, 2, 2, 0, CUDA_ERROR_INVALID_VALUE},
        {3, 0, all_strides, few, all_steps, 3, 1, 0, CUDA_ERROR_INVALID_VALUE},
        {3, 0, all_strides, few, all_steps, 2, 1, 0, CUDA_SUCCESS}, /* stays in `map` */
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
    assert_cuda(cuTensorMapReplaceAddress(&map, (void *)(tile + 32)));
    static const uint64_t bad[] = {4, 16};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(cuTensorMapReplaceAddress(&map, (void *)(tile + bad[i])),
                         CUDA_ERROR_INVALID_VALUE);
}

static void what_no_map_of_im2col_can_have_is_refused(void **state) {
    (void)state;
    static const uint64_t sizes[] = {64, 8, 8, 8, 8}, strides[] = {256, 2048, 16384, 131072};
    static const cuuint32_t steps[] = {1, 1, 1, 1, 1}, far_steps[] = {1, 9, 1, 1, 1};
    static const cuuint32_t far_channels[] = {9, 1, 1};
    static const struct {
        cuuint32_t rank, channels, pixels;
        int lower, upper; /* the same for all dimensions */
        const cuuint32_t *steps;
        int interleave, swizzle;
        CUresult status;
    } rows[] = {
        {3, 16, 64, 0, 0, steps, 0, 0, CUDA_SUCCESS},
        {5, 16, 64, 0, 0, steps, 0, 0, CUDA_SUCCESS},
        {5, 16, 1024, -16, 15, steps, 0, 0, CUDA_SUCCESS},
        {4, 16, 64, -128, 127, steps, 0, 0, CUDA_SUCCESS},
        {3, 16, 64, -32768, 32767, steps, 0, 0, CUDA_SUCCESS},
        {3, 256, 1024, 0, -7, steps, 0, 0, CUDA_SUCCESS},
        {2, 16, 64, 0, 0, steps, 0, 0, CUDA_ERROR_INVALID_VALUE},
        {6, 16, 64, 0, 0, steps, 0, 0, CUDA_ERROR_INVALID_VALUE},
        {5, 16, 64, -17, 0, steps, 0, 0, CUDA_ERROR_INVALID_VALUE},
        {5, 16, 64, 0, 16, steps, 0, 0, CUDA_ERROR_INVALID_VALUE},
        {4, 16, 64, -129, 0, steps, 0, 0, CUDA_ERROR_INVALID_VALUE},
        {4, 16, 64, 0, 128, steps, 0, 0, CUDA_ERROR_INVALID_VALUE},
        {3, 16, 64, 0, 32768, steps, 0, 0, CUDA_ERROR_INVALID_VALUE},
        {3, 16, 64, 0, -8, steps, 0, 0, CUDA_ERROR_INVALID_VALUE},
        {3, 16, 0, 0, 0, steps, 0, 0, CUDA_ERROR_INVALID_VALUE},
        {3, 16, 1025, 0, 0, steps, 0, 0, CUDA_ERROR_INVALID_VALUE},
        {3, 0, 64, 0, 0, steps, 0, 0, CUDA_ERROR_INVALID_VALUE},
        {3, 260, 64, 0, 0, steps, 0, 0, CUDA_ERROR_INVALID_VALUE},
        {3, 3, 64, 0, 0, steps, 0, 0, CUDA_ERROR_INVALID_VALUE},
        {3, 64, 64, 0, 0, steps, 0, 3, CUDA_ERROR_INVALID_VALUE},
        {3, 16, 64, 0, 0, far_steps, 0, 0, CUDA_ERROR_INVALID_VALUE},
        {3, 3, 64, 0, 0, steps, 1, 0, CUDA_SUCCESS},
        {5, 256, 64, 0, 0, steps, 2, 1, CUDA_SUCCESS},
        {3, 64, 64, 0, 0, steps, 1, 3, CUDA_SUCCESS},
        {3, 16, 64, 0, 0, steps, 2, 0, CUDA_ERROR_INVALID_VALUE},
        {3, 16, 64, 0, 0, steps, 3, 0, CUDA_ERROR_INVALID_VALUE},
        {3, 16, 64, 0, 0, far_channels, 1, 0, CUDA_ERROR_INVALID_VALUE},
    };
    CUtensorMap map;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const int lower[] = {rows[i].lower, rows[i].lower, rows[i].lower};
        const int upper[] = {rows[i].upper, rows[i].upper, rows[i].upper};
        if (cuTensorMapEncodeIm2col(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, rows[i].rank,
                                    (void *)tensor, sizes, strides, lower, upper, rows[i].channels,
                                    rows[i].pixels, rows[i].steps,
                                    (CUtensorMapInterleave)rows[i].interleave,
                                    (CUtensorMapSwizzle)rows[i].swizzle, 0, 0) != rows[i].status)
            fail_msg("row %zu", i);
    }
    assert_cuda(cuTensorMapReplaceAddress(&map, (void *)tile));
}

/* Each kernel uses the map of the other kind. */
static void a_map_of_the_other_kind_is_told(void **state) {
    (void)state;
    for (int is_im2col = 0; is_im2col < 2; is_im2col++) {
        Trial t;
        do {
            if (is_im2col) draw_im2col(&t);
            else draw_trial(&t);
        } while (t.rank < 3);
        void *arguments[] = {&t.map,        &tile,    &t.bytes, t.at,      t.at + 1,
                             t.at + 2,      t.at + 3, t.at + 4, t.offsets, t.offsets + 1,
                             t.offsets + 2, &work,    values};
        CUresult status = cuLaunchKernel(kernel[!is_im2col][LOADS][t.rank], 1, 1, 1, 32, 1, 1,
                                         TILE_BYTES + 2048, NULL, arguments, NULL);
        if (status == CUDA_SUCCESS) status = cuCtxSynchronize();
        assert_int_equal(status, CUDA_ERROR_ILLEGAL_ADDRESS);
        cuCtxDestroy(context);
        assert_int_equal(start(NULL), 0);
    }
}

int main(int count, char **words) {
    if (count > 1) trials = atoi(words[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_are_loaded),
        cmocka_unit_test(tiles_are_stored),
        cmocka_unit_test(tiles_are_combined_with_what_is_there),
        cmocka_unit_test(pixels_are_loaded),
        cmocka_unit_test(pixels_are_stored),
        cmocka_unit_test(pixels_are_combined_with_what_is_there),
        cmocka_unit_test(the_example_of_the_ptx_isa),
        cmocka_unit_test(a_kernel_makes_maps_in_global_memory),
        cmocka_unit_test(a_kernel_makes_maps_in_shared_memory),
        cmocka_unit_test(pixels_take_the_time_of_the_rows_of_a_tile),
        cmocka_unit_test(slices_take_the_time_of_rows),
        cmocka_unit_test(bytes_that_are_no_map_are_told),
        cmocka_unit_test(a_map_of_the_other_kind_is_told),
        cmocka_unit_test(what_no_map_can_have_is_refused),
        cmocka_unit_test(what_no_map_of_im2col_can_have_is_refused),
    };
    return cmocka_run_group_tests(tests, start, end);
}
