/* Arrays of every geometry, mipmapped arrays, views, surface objects, and texture and surface
 * references: the texels that a kernel reads through each of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <string.h>

#include "tyto/cuda.h"

#define assert_cuda(call) assert_int_equal((call), CUDA_SUCCESS)

#define KERNEL(name, variables, text)                                                              \
    ".visible .entry " name "(.param .u64 out, .param .u64 object) {\n"                            \
    "  .reg .u64 %a, %t, %s;\n  .reg .u32 %i, %r<4>;\n  .reg .f32 %x, %f<4>;\n" variables          \
    "  ld.param.u64 %a, [out];\n  ld.param.u64 %t, [object];\n  mov.u32 %i, %tid.x;\n"             \
    "  mad.wide.u32 %s, %i, 4, %a;\n" text "  st.global.u32 [%s], %r0;\n  ret;\n}\n"

/* Thread i reads texel (i, 1), of layer 2, slice 1 or level 1. With a reference it reads texel
 * i. */
static const char kernels[] =
    ".version 8.0\n.target sm_70\n.address_size 64\n.global .texref image;\n.global .surfref "
    "canvas;\n" KERNEL("layer", "",
                       "  tex.a2d.v4.u32.s32 {%r0, %r1, %r2, %r3}, [%t, {2, %i, 1, 0}];\n")
        KERNEL("slice", "", "  tex.3d.v4.u32.s32 {%r0, %r1, %r2, %r3}, [%t, {%i, 1, 1, 0}];\n")
            KERNEL("level", "",
                   "  tex.level.2d.v4.u32.s32 {%r0, %r1, %r2, %r3}, [%t, {%i, 1}], 1;\n")
                KERNEL("levels", "", "  txq.num_mipmap_levels.b32 %r0, [%t];\n") KERNEL(
                    "reference", "", "  tex.1d.v4.u32.s32 {%r0, %r1, %r2, %r3}, [image, {%i}];\n")
                    KERNEL("draw", "",
                           "  mul.lo.u32 %r1, %i, 4;\n  add.u32 %r0, %i, 100;\n"
                           "  sust.b.3d.b32.trap [%t, {%r1, 1, 1, 0}], %r0;\n")
                        KERNEL("paint", "",
                               "  mul.lo.u32 %r1, %i, 4;\n  add.u32 %r0, %i, 7;\n"
                               "  sust.b.1d.b32.trap [canvas, {%r1}], %r0;\n"
                               "  suld.b.1d.b32.trap %r0, [canvas, {%r1}];\n")
    /* addresses of the references that no compiler can know */
    KERNEL("by_address", ".reg .pred %p;\n",
           "  setp.eq.u64 %p, %t, 0;\n  mov.u64 %t, 0;\n  @%p mov.u64 %t, image;\n"
           "  tex.1d.v4.u32.s32 {%r0, %r1, %r2, %r3}, [%t, {%i}];\n")
        KERNEL("paint_by_address", ".reg .pred %p;\n",
               "  setp.eq.u64 %p, %t, 0;\n  mov.u64 %t, 0;\n  @%p mov.u64 %t, canvas;\n"
               "  mul.lo.u32 %r1, %i, 4;\n  add.u32 %r0, %i, 9;\n"
               "  sust.b.1d.b32.trap [%t, {%r1}], %r0;\n"
               "  suld.b.1d.b32.trap %r0, [%t, {%r1}];\n");

enum { WIDTH = 8, HEIGHT = 4, DEPTH = 3 };

static CUmodule module;
static CUdeviceptr out;

static int start(void **state) {
    CUcontext context;
    (void)state;
    return cuInit(0) || cuCtxCreate(&context, NULL, 0, 0) || cuModuleLoadData(&module, kernels) ||
           cuMemAlloc(&out, WIDTH * 4);
}

static CUresult launch(const char *name, uint64_t object) {
    CUfunction function;
    void *parameters[] = {&out, &object};
    assert_cuda(cuModuleGetFunction(&function, module, name));
    return cuLaunchKernel(function, 1, 1, 1, WIDTH, 1, 1, 0, NULL, parameters, NULL);
}

static const uint32_t *results(void) {
    static uint32_t words[WIDTH];
    assert_cuda(cuMemcpyDtoH(words, out, sizeof words));
    return words;
}

static uint32_t texel(unsigned x, unsigned y, unsigned z) { return 1000 * z + 10 * y + x + 1; }

/* Copies a box of texels to or from an array. */
static void copy_texels(CUarray array, uint32_t *texels, bool is_upload, size_t width,
                        size_t height, size_t depth) {
    CUDA_MEMCPY3D copy = {.WidthInBytes = width * 4, .Height = height, .Depth = depth};
    copy.srcMemoryType = is_upload ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY;
    copy.dstMemoryType = is_upload ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST;
    copy.srcHost = copy.dstHost = texels;
    copy.srcArray = copy.dstArray = array;
    copy.srcPitch = copy.dstPitch = width * 4;
    copy.srcHeight = copy.dstHeight = height;
    assert_cuda(cuMemcpy3D(&copy));
}

static CUDA_ARRAY3D_DESCRIPTOR shape(size_t width, size_t height, size_t depth, unsigned flags) {
    return (CUDA_ARRAY3D_DESCRIPTOR){width, height, depth, CU_AD_FORMAT_UNSIGNED_INT32, 1, flags};
}

static void fill(CUarray array, size_t width, size_t height, size_t depth) {
    uint32_t texels[WIDTH * HEIGHT * 6];
    for (size_t i = 0; i < width * height * depth; i++)
        texels[i] = texel((unsigned)(i % width), (unsigned)(i / width % height),
                          (unsigned)(i / (width * height)));
    copy_texels(array, texels, true, width, height, depth);
}

static const CUDA_TEXTURE_DESC as_they_are = {.flags = CU_TRSF_READ_AS_INTEGER};

static void an_array_is_layered_or_deep_as_its_flags_say(void **state) {
    (void)state;
    CUarray array;
    CUtexObject texture;
    for (int is_layered = 0; is_layered < 2; is_layered++) {
        CUDA_ARRAY3D_DESCRIPTOR box =
            shape(WIDTH, HEIGHT, DEPTH, is_layered ? CUDA_ARRAY3D_LAYERED : 0);
        assert_cuda(cuArray3DCreate(&array, &box));
        fill(array, WIDTH, HEIGHT, DEPTH);
        CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array = {array}};
        assert_cuda(cuTexObjectCreate(&texture, &resource, &as_they_are, NULL));
        assert_cuda(launch(is_layered ? "layer" : "slice", texture));
        for (unsigned i = 0; i < WIDTH; i++)
            assert_int_equal(results()[i], texel(i, 1, is_layered ? 2 : 1));
        assert_cuda(cuTexObjectDestroy(texture));
        assert_cuda(cuArrayDestroy(array));
    }
}

static void impossible_arrays_are_refused(void **state) {
    (void)state;
    const CUDA_ARRAY3D_DESCRIPTOR wrong[] = {
        shape(0, 4, 0, 0),
        shape(4, 0, 4, 0),                     /* depth without height */
        shape(4, 4, 0, CUDA_ARRAY3D_LAYERED),  /* no layers */
        shape(4, 8, 6, CUDA_ARRAY3D_CUBEMAP),  /* faces must be squares */
        shape(4, 4, 12, CUDA_ARRAY3D_CUBEMAP), /* two cubes need layers */
        shape(4, 4, 7, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED),
        {4, 4, 0, CU_AD_FORMAT_FLOAT, 3, 0},
        {4, 4, 0, (CUarray_format)99, 1, 0},
    };
    CUarray array;
    CUmipmappedArray mipmap;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(cuArray3DCreate(&array, &wrong[i]), CUDA_ERROR_INVALID_VALUE);
        assert_int_equal(cuMipmappedArrayCreate(&mipmap, &wrong[i], 2), CUDA_ERROR_INVALID_VALUE);
    }
}

static void a_level_is_half_the_one_before_it(void **state) {
    (void)state;
    CUmipmappedArray mipmap;
    CUarray level;
    CUtexObject texture;
    CUDA_ARRAY3D_DESCRIPTOR box = shape(16, 8, 0, 0), found;
    assert_cuda(cuMipmappedArrayCreate(&mipmap, &box, 99)); /* down to 1 x 1 */
    for (unsigned i = 0; i < 5; i++) {
        assert_cuda(cuMipmappedArrayGetLevel(&level, mipmap, i));
        assert_cuda(cuArray3DGetDescriptor(&found, level));
        assert_int_equal(found.Width, 16 >> i);
        assert_int_equal(found.Height, i < 4 ? 8 >> i : 1);
        assert_int_equal(cuArrayDestroy(level), CUDA_ERROR_INVALID_HANDLE);
    }
    assert_int_equal(cuMipmappedArrayGetLevel(&level, mipmap, 5), CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuMipmappedArrayGetLevel(&level, mipmap, 1));
    fill(level, 8, 4, 1);
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
                                   .res.mipmap = {mipmap}};
    assert_int_equal(cuTexObjectCreate(&texture, &resource, &as_they_are, NULL),
                     CUDA_ERROR_INVALID_VALUE); /* levels require normalised coordinates */
    CUDA_TEXTURE_DESC sampling = as_they_are;
    sampling.flags |= CU_TRSF_NORMALIZED_COORDINATES;
    assert_cuda(cuTexObjectCreate(&texture, &resource, &sampling, NULL));
    assert_cuda(launch("level", texture));
    for (unsigned i = 0; i < WIDTH; i++)
        assert_int_equal(results()[i], texel(i, 1, 0));
    assert_cuda(cuTexObjectDestroy(texture));
    /* a view of levels 1 and 2 */
    CUDA_RESOURCE_VIEW_DESC view = {.firstMipmapLevel = 1, .lastMipmapLevel = 2}, kept;
    assert_cuda(cuTexObjectCreate(&texture, &resource, &sampling, &view));
    assert_cuda(cuTexObjectGetResourceViewDesc(&kept, texture));
    assert_int_equal(kept.lastMipmapLevel, 2);
    assert_cuda(launch("levels", texture));
    assert_int_equal(results()[0], 2);
    assert_cuda(cuTexObjectDestroy(texture));
    view.lastMipmapLevel = 5;
    assert_int_equal(cuTexObjectCreate(&texture, &resource, &sampling, &view),
                     CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuMipmappedArrayDestroy(mipmap));
    assert_int_equal(cuMipmappedArrayDestroy(mipmap), CUDA_ERROR_INVALID_HANDLE);
}

static void a_view_takes_some_layers_and_another_format(void **state) {
    (void)state;
    CUarray array;
    CUtexObject texture;
    CUDA_ARRAY3D_DESCRIPTOR box = shape(WIDTH, HEIGHT, 6, CUDA_ARRAY3D_LAYERED);
    assert_cuda(cuArray3DCreate(&array, &box));
    fill(array, WIDTH, HEIGHT, 6);
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array = {array}};
    CUDA_RESOURCE_VIEW_DESC view = {.format = CU_RES_VIEW_FORMAT_UINT_2X16,
                                    .width = WIDTH,
                                    .height = HEIGHT,
                                    .firstLayer = 3,
                                    .lastLayer = 5};
    assert_cuda(cuTexObjectCreate(&texture, &resource, &as_they_are, &view));
    assert_cuda(launch("layer", texture));
    for (unsigned i = 0; i < WIDTH; i++)
        assert_int_equal(results()[i], texel(i, 1, 5) & 0xffff);
    assert_cuda(cuTexObjectDestroy(texture));
    const CUDA_RESOURCE_VIEW_DESC wrong[] = {
        {.lastLayer = 6},
        {.firstLayer = 2, .lastLayer = 1},
        {.format = CU_RES_VIEW_FORMAT_UINT_4X16},
        {.width = 3},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(cuTexObjectCreate(&texture, &resource, &as_they_are, &wrong[i]),
                         CUDA_ERROR_INVALID_VALUE);
    const CUDA_RESOURCE_VIEW_DESC compressed = {.format = (CUresourceViewFormat)25};
    assert_int_equal(cuTexObjectCreate(&texture, &resource, &as_they_are, &compressed),
                     CUDA_ERROR_NOT_SUPPORTED);
    assert_cuda(cuArrayDestroy(array));
}

static void what_a_kernel_stores_to_a_surface_is_in_the_array(void **state) {
    (void)state;
    uint32_t texels[WIDTH * HEIGHT * DEPTH] = {0};
    CUarray array;
    CUsurfObject surface;
    CUDA_ARRAY3D_DESCRIPTOR box = shape(WIDTH, HEIGHT, DEPTH, 0);
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY}, found;
    assert_cuda(cuArray3DCreate(&array, &box));
    resource.res.array.hArray = array;
    assert_cuda(cuSurfObjectCreate(&surface, &resource)); /* needs no flag on a GPU either */
    assert_cuda(cuSurfObjectDestroy(surface));
    assert_cuda(cuArrayDestroy(array));
    box.Flags = CUDA_ARRAY3D_SURFACE_LDST;
    assert_cuda(cuArray3DCreate(&array, &box));
    copy_texels(array, texels, true, WIDTH, HEIGHT, DEPTH);
    resource.res.array.hArray = array;
    assert_cuda(cuSurfObjectCreate(&surface, &resource));
    assert_int_equal(cuTexObjectDestroy(surface), CUDA_ERROR_INVALID_VALUE); /* not a texture */
    assert_cuda(cuSurfObjectGetResourceDesc(&found, surface));
    assert_ptr_equal(found.res.array.hArray, array);
    assert_cuda(launch("draw", surface));
    copy_texels(array, texels, false, WIDTH, HEIGHT, DEPTH);
    for (unsigned i = 0; i < WIDTH * HEIGHT * DEPTH; i++) {
        const bool is_drawn = i / WIDTH == HEIGHT + 1;
        assert_int_equal(texels[i], is_drawn ? 100 + i % WIDTH : 0);
    }
    assert_cuda(cuSurfObjectDestroy(surface));
    assert_int_equal(cuSurfObjectDestroy(surface), CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuArrayDestroy(array));
}

static void references_lead_to_what_they_are_bound_to(void **state) {
    (void)state;
    CUtexref image, again;
    CUsurfref canvas;
    CUarray array, bound;
    uint32_t words[WIDTH] = {0};
    CUdeviceptr buffer;
    assert_int_equal(cuModuleGetTexRef(&image, module, "canvas"), CUDA_ERROR_NOT_FOUND);
    assert_cuda(cuModuleGetTexRef(&image, module, "image"));
    assert_cuda(cuModuleGetTexRef(&again, module, "image"));
    assert_ptr_equal(image, again);
    assert_cuda(cuModuleGetSurfRef(&canvas, module, "canvas"));
    assert_int_equal(cuTexRefGetArray(&bound, image), CUDA_ERROR_INVALID_VALUE);
    /* with memory, then with an array, then with another setting */
    for (unsigned i = 0; i < WIDTH; i++)
        words[i] = 3 * i;
    assert_cuda(cuMemAlloc(&buffer, sizeof words));
    assert_cuda(cuMemcpyHtoD(buffer, words, sizeof words));
    assert_cuda(cuTexRefSetFormat(image, CU_AD_FORMAT_UNSIGNED_INT32, 1));
    assert_cuda(cuTexRefSetFlags(image, CU_TRSF_READ_AS_INTEGER));
    assert_cuda(cuTexRefSetAddress(NULL, image, buffer, sizeof words));
    assert_cuda(launch("reference", 0));
    assert_int_equal(results()[5], 15);
    CUDA_ARRAY3D_DESCRIPTOR line = shape(WIDTH, 0, 0, CUDA_ARRAY3D_SURFACE_LDST);
    assert_cuda(cuArray3DCreate(&array, &line));
    assert_cuda(cuSurfRefSetArray(canvas, array, 0));
    assert_cuda(launch("paint", 0));
    assert_int_equal(results()[3], 10);
    assert_cuda(cuTexRefSetArray(image, array, CU_TRSA_OVERRIDE_FORMAT));
    assert_cuda(cuTexRefSetAddressMode(image, 0, CU_TR_ADDRESS_MODE_BORDER));
    CUaddress_mode mode;
    assert_cuda(cuTexRefGetAddressMode(&mode, image, 0));
    assert_int_equal(mode, CU_TR_ADDRESS_MODE_BORDER);
    assert_cuda(launch("reference", 0));
    assert_int_equal(results()[6], 13);
    assert_cuda(launch("paint_by_address", 0));
    assert_int_equal(results()[3], 12);
    assert_cuda(launch("by_address", 0));
    assert_int_equal(results()[6], 15);
    assert_cuda(cuTexRefGetArray(&bound, image));
    assert_ptr_equal(bound, array);
    assert_cuda(cuArrayDestroy(array));
    assert_cuda(cuMemFree(buffer));
}

/* Must be last: a fault stays with the context. */
static void an_object_of_the_wrong_kind_is_a_fault(void **state) {
    (void)state;
    CUarray array;
    CUtexObject texture;
    CUDA_ARRAY3D_DESCRIPTOR box = shape(WIDTH, HEIGHT, 0, 0);
    assert_cuda(cuArray3DCreate(&array, &box));
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array = {array}};
    assert_cuda(cuTexObjectCreate(&texture, &resource, &as_they_are, NULL));
    assert_int_not_equal(launch("layer", texture), CUDA_SUCCESS); /* the array has no layers */
}

int main(int argc, char **argv) {
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_array_is_layered_or_deep_as_its_flags_say),
        cmocka_unit_test(impossible_arrays_are_refused),
        cmocka_unit_test(a_level_is_half_the_one_before_it),
        cmocka_unit_test(a_view_takes_some_layers_and_another_format),
        cmocka_unit_test(what_a_kernel_stores_to_a_surface_is_in_the_array),
        cmocka_unit_test(references_lead_to_what_they_are_bound_to),
        cmocka_unit_test(an_object_of_the_wrong_kind_is_a_fault),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
